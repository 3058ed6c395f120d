// Algebraic identities of single ops that are exact for every operand (floats: -0.0, infinities and NaN included).
// Needs optimizer/editor.h. Promises: the value returned has the same bits as the op's result; the op itself is not touched.
#pragma once
#include <vector>

#include "optimizer/editor.h"

namespace hotloop::optimizer {

// What the op's result equals, or kNoValue. New ops (which dominate the place of `op`) are appended to `out`.
ValueId identity(Editor& editor, Op& op, std::vector<Op*>& out);

// The compare that holds exactly when `code` does not (ints: all; floats: eq and ne only), or Const when there is none.
OpCode inverse_compare(OpCode code, Type type);
inline bool is_compare(OpCode code) { return code >= OpCode::Eq && code <= OpCode::Ge; }

}  // namespace hotloop::optimizer
