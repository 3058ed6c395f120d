// Constant folding with the exact semantics of ops.def.
// Needs ir/ir.h. Promises: a folded result has the bits that the evaluator and the machine give; what traps, exits or breaks a precondition,
// and float results that are NaN, are not folded.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "ir/ir.h"

namespace hotloop::optimizer {

// `bits` are the operands in the form of a Const's imm, `from` the type of the first operand (matters for conv). Checked ops fold
// when they would not exit.
std::optional<int64_t> fold(const ir::Op& op, ir::Type from, std::span<const int64_t> bits);

}  // namespace hotloop::optimizer
