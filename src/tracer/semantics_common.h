// Small helpers shared by the semantics_*.cpp files: making Syms, converting parts, range guards, NumPy promotion.
// Needs tracer/semantics.h. Internal to the semantics files.
#pragma once
#include <optional>

#include "tracer/semantics.h"

namespace hotloop::tracer {

using base::RefusalReason;
using base::Result;
using ir::ExitReason;
using ir::OpCode;
using ir::PyKind;
using ir::Type;
using ir::ValueId;

inline Type part_type(PyKind kind) { return ir::pykind_info(kind).part_type; }

// A fresh unboxed value (new identity).
Sym make_sym(Emit& e, PyKind kind, ValueId a, ValueId b = ir::kNoValue, ValueId c = ir::kNoValue);
inline Sym make_bool(Emit& e, ValueId a) { return make_sym(e, PyKind::Bool, a); }
Sym make_tuple(std::vector<Sym> items);

// The same value with its identity forgotten (numeric constants become plain values).
inline bool is_real_number(PyKind k) {
  return k == PyKind::Bool || k == PyKind::Int || k == PyKind::IntU64 || k == PyKind::Float || k == PyKind::NpBool || is_np_int(k) || is_np_real_float(k);
}
inline bool is_number(PyKind k) { return is_real_number(k) || k == PyKind::Complex || is_np_complex(k); }
inline bool is_complex_number(PyKind k) { return k == PyKind::Complex || is_np_complex(k); }
// The kind of the parts of a NumPy complex.
inline PyKind part_kind(PyKind complex) { return complex == PyKind::NpComplex64 ? PyKind::NpFloat32 : PyKind::NpFloat64; }
inline bool is_py_int_like(PyKind k) { return k == PyKind::Bool || k == PyKind::Int; }

// The value of a known Python int or bool, if it is one.
std::optional<int64_t> known_int(const Sym& s);
std::optional<double> known_real(const Sym& s);

// Part 0 of a real number in another machine type. Exact or rounding once; REQUIRES the value in range for float-to-int.
ValueId to_type(Emit& e, const Sym& s, Type type);
inline ValueId to_f64(Emit& e, const Sym& s) { return to_type(e, s, Type::F64); }
inline ValueId to_i64(Emit& e, const Sym& s) { return to_type(e, s, Type::I64); }

struct ComplexParts {
  ValueId re, im;
};
// Any number as complex with parts of type F64 or F32 by NumPy's rules for operands; reals get imag 0.0 (CPython <= 3.13 converts first,
// SEMANTICS D4.4). A double that becomes infinite as F32 leaves.
ComplexParts to_complex(Emit& e, const Sym& s, Type part = Type::F64);

// Leaves unless lo <= v <= hi (v is i64).
void guard_i64_range(Emit& e, ValueId v, int64_t lo, int64_t hi, ExitReason reason);
// Leaves unless the i64 is exactly representable as a double by magnitude (|v| <= 2^53). Nothing for small known ints.
void guard_exact_double(Emit& e, const Sym& s);
// The i64 value of an integer Sym whose type is any integer kind; u64 beyond the signed range leaves.
ValueId int_value(Emit& e, const Sym& s);

// A real Sym as a value of the NumPy integer type `type`, by the rule for weak Python ints (out of range leaves: OverflowError).
ValueId weak_int_to(Emit& e, const Sym& s, Type type);
struct IntRange {
  int64_t lo;
  uint64_t hi;
};
IntRange int_range(Type type);

// A float value (f64 or f32) truncated to an integer type; leaves when the truncated value is outside (NaN too).
ValueId float_to_int(Emit& e, ValueId v, Type from, Type to, ExitReason reason);
// f64 to f32 as NumPy casts; leaves where a finite value becomes infinite (a warning).
ValueId f64_to_f32_checked(Emit& e, ValueId v);

// A float value (f64 or f32) as a half, carried as f32; leaves where a finite value becomes infinite (a warning).
ValueId to_half_checked(Emit& e, ValueId v, Type from);

// A real number as an operand of the NumPy kind: weak Python numbers leave where NumPy raises or warns, everything else is cast safely.
ValueId to_kind(Emit& e, const Sym& s, PyKind kind);
// A float result in `kind`: rounded to half where that is the kind, as it is otherwise.
ValueId rounded(Emit& e, PyKind kind, ValueId r);

// The dtype kind of a NumPy binary operation where at least one is a NumPy scalar (SEMANTICS D1, weak Python numbers).
// Unbound: not supported here.
PyKind promote(PyKind a, PyKind b);
PyKind kind_of_type(Type type);  // I32 -> NpInt32 ...

base::Refusal unsupported(Emit& e, const char* what, const Sym& a, const Sym& b);
base::Refusal unsupported(Emit& e, const char* what, const Sym& a);

}  // namespace hotloop::tracer
