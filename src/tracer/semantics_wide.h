// Python ints beyond 64 bits within an expression, and those in 0 .. 2^64 - 1 (kinds Int128, IntU128, IntU64).
// Needs tracer/semantics_common.h. Promises: values are exact; a result has the smallest kind that surely holds it, by ranges known while recording.
//
// `(a * b + c) & mask`: the product and the sum are made as 128-bit numbers, of which the mask leaves 64. Whatever else looks at such a number
// gets it as Int or IntU64, or leaves (narrow_int): exits make the int object from both halves.
#pragma once
#include <optional>

#include "tracer/semantics_common.h"

namespace hotloop::tracer {

inline bool is_wide_int(PyKind k) { return k == PyKind::Int128 || k == PyKind::IntU128; }
inline bool is_any_int(PyKind k) { return is_py_int_like(k) || k == PyKind::IntU64 || is_wide_int(k); }

// a OP b, kept wide where it may need that. Nothing: the operator or the ranges do not allow it.
std::optional<Sym> wide_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b);
// An int of which it is known that it lies in 0 .. most.
inline constexpr int64_t kTwoDigits = int64_t{1} << 30;  // CPython's ints of this size and more
void note_untouched_dividend(Emit& e, const Sym& r, const Sym& a, ValueId of_a, ValueId of_b, ValueId agree);
Sym ranged(Sym s, uint64_t most);
// The same as Int or IntU64; leaves through before() where it does not fit. Ints of other kinds stay as they are.
Sym narrow_int(Emit& e, const Sym& s);
// Any int as Int (Bool stays); leaves through before() where it does not fit 64 bits and a sign. Other values stay as they are.
Sym plain_int(Emit& e, const Sym& s);

}  // namespace hotloop::tracer
