// The NumPy scalar half of `binary`, apart because its rules differ throughout (promotion, wrapping, warnings).
// Needs tracer/semantics_common.h. Internal to the semantics files.
#pragma once
#include "tracer/semantics_common.h"

namespace hotloop::tracer {

// Powers with a known exponent up to this are products; more is left to the interpreter.
inline constexpr int64_t kMaxUnrolledPower = 8;

// REQUIRES: both real numbers, at least one a NumPy scalar.
Result<Sym> np_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b);
// REQUIRES: both numbers, at least one complex.
Result<Sym> complex_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b);
// a ** b in `kind`, a complex one (models_complex.cpp).
Result<Sym> complex_power(Emit& e, const Sym& a, const Sym& b, PyKind kind);
Result<Sym> complex_compare(Emit& e, CompareOp op, const Sym& a, const Sym& b);

}  // namespace hotloop::tracer
