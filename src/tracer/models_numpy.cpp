// Models of NumPy functions and scalar types called with scalars (SEMANTICS D1.10, D2.8, D6.4, D8.25): NumPy's own inner loops through
// helpers, warnings by leaving.
#include "tracer/models.h"

#include <algorithm>
#include <string>

namespace hotloop::tracer {

namespace {

// A Python number as an argument of a ufunc is a NumPy scalar of its default dtype.
PyKind strong(PyKind k) {
  switch (k) {
    case PyKind::Bool: return PyKind::NpBool;
    case PyKind::Int: return PyKind::NpInt64;
    case PyKind::Float: return PyKind::NpFloat64;
    case PyKind::Complex: return PyKind::NpComplex128;
    default: return k;
  }
}

// The float dtype in which a float function of operands of this dtype works; Unbound for complex numbers.
PyKind float_kind(PyKind k) {
  if (is_np_real_float(k)) return k;
  if (k != PyKind::NpBool && !is_np_int(k)) return PyKind::Unbound;
  int size = ir::type_size(part_type(k));
  return size == 1 ? PyKind::NpFloat16 : size == 2 ? PyKind::NpFloat32 : PyKind::NpFloat64;
}

// Helpers of float32 and float16 follow those of float64 in helpers.def in the same order.
ir::HelperId for_kind(ir::HelperId f64, PyKind kind) {
  constexpr int block = static_cast<int>(ir::HelperId::NpExpF32) - static_cast<int>(ir::HelperId::NpExpF64);
  static_assert(static_cast<int>(ir::HelperId::NpExpF16) - static_cast<int>(ir::HelperId::NpExpF32) == block);
  int blocks = kind == PyKind::NpFloat64 ? 0 : kind == PyKind::NpFloat32 ? 1 : 2;
  return static_cast<ir::HelperId>(static_cast<int>(f64) + blocks * block);
}

Result<Sym> reported(Emit& e, PyKind kind, ValueId r, std::initializer_list<ValueId> operands) {
  e.b().fcheck(part_type(kind), r, operands, e.before());
  return make_sym(e, kind, r);
}

// The dtype of a binary function of two scalars; two Python numbers are never weak against each other.
PyKind pair_kind(const Sym& a, const Sym& b) {
  if (!is_np_scalar(a.kind) && !is_np_scalar(b.kind)) return promote(strong(a.kind), strong(b.kind));
  return promote(a.kind, b.kind);
}

base::Refusal refuse_function(Emit& e, const ModelCall& call) {
  return call.args.size() == 2 ? unsupported(e, ("numpy." + std::string(call.name)).c_str(), call.args[0], call.args[1])
                               : unsupported(e, ("numpy." + std::string(call.name)).c_str(), call.args[0]);
}

// The operand as a NumPy scalar of the function's dtype.
Sym as_kind(Emit& e, const Sym& s, PyKind kind) { return make_sym(e, kind, to_kind(e, s, kind)); }

// A real argument of a unary ufunc that keeps integers.
Result<Sym> real_argument(Emit& e, const ModelCall& call) {
  PyKind kind = strong(call.args[0].kind);
  if (!is_np_real_float(kind) && !is_np_int(kind)) return refuse_function(e, call);
  return as_kind(e, call.args[0], kind);
}

}  // namespace

Result<Sym> model_np_sqrt(Emit& e, const ModelCall& call) {
  if (is_complex_number(call.args[0].kind)) return np_complex_function(e, call, call.name);
  PyKind kind = float_kind(strong(call.args[0].kind));
  if (kind == PyKind::Unbound) return refuse_function(e, call);
  ValueId x = to_kind(e, call.args[0], kind);
  return reported(e, kind, rounded(e, kind, e.b().unary(OpCode::Sqrt, part_type(kind), x)), {x});
}

Result<Sym> model_np_1(Emit& e, const ModelCall& call) {
  if (is_complex_number(call.args[0].kind)) return np_complex_function(e, call, call.name);
  PyKind kind = float_kind(strong(call.args[0].kind));
  if (kind == PyKind::Unbound) return refuse_function(e, call);
  ir::HelperId helper = for_kind(call.helper, kind);
  if (e.helpers().at(helper) == nullptr) return e.refuse(RefusalReason::kUnsupportedCall, "numpy." + std::string(call.name));
  ValueId x = to_kind(e, call.args[0], kind);
  return reported(e, kind, e.b().call(helper, {x}), {x});
}

Result<Sym> model_np_2(Emit& e, const ModelCall& call) {
  const Sym &a = call.args[0], &b = call.args[1];
  PyKind kind = pair_kind(a, b);
  if ((is_np_int(kind) || kind == PyKind::NpBool) && call.helper != ir::HelperId::NpFmodF64) {  // integers as floats of their own width
    PyKind of_a = float_kind(strong(a.kind)), of_b = float_kind(strong(b.kind));
    bool weak_a = is_np_scalar(b.kind) && !is_np_scalar(a.kind), weak_b = is_np_scalar(a.kind) && !is_np_scalar(b.kind);
    kind = weak_a ? of_b : weak_b ? of_a : std::max(of_a, of_b);
  }
  if (!is_np_real_float(kind)) return refuse_function(e, call);
  ir::HelperId helper = for_kind(call.helper, kind);
  if (e.helpers().at(helper) == nullptr) return e.refuse(RefusalReason::kUnsupportedCall, "numpy." + std::string(call.name));
  ValueId x = to_kind(e, a, kind), y = to_kind(e, b, kind);
  if (call.helper == ir::HelperId::NpNextafterF64 || call.helper == ir::HelperId::NpLogaddexpF64) {  // these may warn for NaN and infinity
    for (ValueId v : {x, y}) e.b().guard(e.b().unary(OpCode::IsFinite, part_type(kind), v), ExitReason::FpWarning, e.before());
  }
  return reported(e, kind, e.b().call(helper, {x, y}), {x, y});
}

// np.power: integers wrap as the operator does, floats go through np.power's loop.
Result<Sym> model_np_power(Emit& e, const ModelCall& call) {
  PyKind kind = pair_kind(call.args[0], call.args[1]);
  if (is_np_real_float(kind)) return model_np_2(e, call);
  if (!is_np_int(kind)) return refuse_function(e, call);
  const Sym& b = call.args[1];
  Sym exponent = known_int(b) ? b : as_kind(e, b, kind);
  return binary(e, BinaryOp::kPower, as_kind(e, call.args[0], kind), exponent);
}

namespace {

// The ufunc of an operator on real scalars: the operator's result where that does not warn (integers wrap silently: the check leaves).
Result<Sym> as_operator(Emit& e, const ModelCall& call, BinaryOp op) {
  PyKind kind = pair_kind(call.args[0], call.args[1]);
  if (!is_np_int(kind) && !is_np_real_float(kind)) return refuse_function(e, call);
  return binary(e, op, as_kind(e, call.args[0], kind), as_kind(e, call.args[1], kind));
}

}  // namespace

Result<Sym> model_np_add(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kAdd); }
Result<Sym> model_np_subtract(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kSubtract); }
Result<Sym> model_np_multiply(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kMultiply); }
Result<Sym> model_np_divide(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kTrueDivide); }
Result<Sym> model_np_floor_divide(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kFloorDivide); }
Result<Sym> model_np_remainder(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kRemainder); }
Result<Sym> model_np_and(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kAnd); }
Result<Sym> model_np_or(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kOr); }
Result<Sym> model_np_xor(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kXor); }
Result<Sym> model_np_left_shift(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kLshift); }
Result<Sym> model_np_right_shift(Emit& e, const ModelCall& call) { return as_operator(e, call, BinaryOp::kRshift); }

// np.abs is a ufunc: floats clear the sign; integers wrap for MIN without a warning.
Result<Sym> model_np_abs(Emit& e, const ModelCall& call) {
  if (is_complex_number(call.args[0].kind)) return np_complex_function(e, call, "absolute");
  auto a = real_argument(e, call);
  if (!a) return a;
  Type type = part_type(a->kind);
  return make_sym(e, a->kind, is_unsigned(type) ? a->v[0] : e.b().unary(OpCode::Abs, type, a->v[0]));
}

// np.negative wraps silently.
Result<Sym> model_np_negative(Emit& e, const ModelCall& call) {
  auto a = real_argument(e, call);
  if (!a) return a;
  return make_sym(e, a->kind, e.b().unary(OpCode::Neg, part_type(a->kind), a->v[0]));
}

Result<Sym> model_np_positive(Emit& e, const ModelCall& call) { return real_argument(e, call); }

Result<Sym> model_np_square(Emit& e, const ModelCall& call) {
  auto a = real_argument(e, call);
  if (!a) return a;
  Type type = part_type(a->kind);
  ValueId r = e.b().binary(OpCode::Mul, type, a->v[0], a->v[0]);
  if (is_int(type)) return make_sym(e, a->kind, r);
  return reported(e, a->kind, rounded(e, a->kind, r), {a->v[0]});
}

Result<Sym> model_np_reciprocal(Emit& e, const ModelCall& call) {
  auto a = real_argument(e, call);
  if (!a) return a;
  if (!is_np_real_float(a->kind)) return refuse_function(e, call);
  Type type = part_type(a->kind);
  ValueId one = type == Type::F64 ? e.b().const_f64(1.0) : e.b().const_f32(1.0F);
  return reported(e, a->kind, rounded(e, a->kind, e.b().binary(OpCode::Div, type, one, a->v[0])), {a->v[0]});
}

// sign of floats: 1, -1, 0 (never -0), NaN.
Result<Sym> model_np_sign(Emit& e, const ModelCall& call) {
  auto a = real_argument(e, call);
  if (!a) return a;
  ir::Builder& ir = e.b();
  Type type = part_type(a->kind);
  ValueId x = a->v[0], zero = ir.const_bits(type, 0);
  auto whole = [&](int v) { return type == Type::F64 ? ir.const_f64(v) : type == Type::F32 ? ir.const_f32(static_cast<float>(v)) : ir.const_bits(type, v); };
  ValueId r = ir.select(type, ir.binary(OpCode::Gt, type, x, zero), whole(1), zero);
  if (!is_unsigned(type)) r = ir.select(type, ir.binary(OpCode::Lt, type, x, zero), whole(-1), r);
  if (is_float(type)) r = ir.select(type, ir.binary(OpCode::Ne, type, x, x), x, r);
  return make_sym(e, a->kind, r);
}

namespace {

// floor, ceil and trunc keep integers; rint makes floats of them.
Result<Sym> np_round_to(Emit& e, const ModelCall& call, OpCode code) {
  PyKind kind = strong(call.args[0].kind);
  if (is_np_int(kind) && code != OpCode::Rint) return as_kind(e, call.args[0], kind);
  kind = is_np_int(kind) ? float_kind(kind) : kind;
  if (!is_np_real_float(kind)) return refuse_function(e, call);
  return make_sym(e, kind, e.b().unary(code, part_type(kind), to_kind(e, call.args[0], kind)));
}

// maximum and minimum: a NaN operand wins; of equal values the second, of halves the first (SEMANTICS D4.6, D4.16).
Result<Sym> np_extreme(Emit& e, const ModelCall& call, OpCode better) {
  PyKind kind = pair_kind(call.args[0], call.args[1]);
  if (!is_np_real_float(kind) && !is_np_int(kind)) return refuse_function(e, call);
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  ValueId x = to_kind(e, call.args[0], kind), y = to_kind(e, call.args[1], kind);
  if (kind == PyKind::NpFloat16) better = better == OpCode::Lt ? OpCode::Le : OpCode::Ge;
  ValueId first = ir.binary(better, type, x, y);
  if (is_float(type)) first = ir.binary(OpCode::Or, Type::I1, first, ir.binary(OpCode::Ne, type, x, x));
  return make_sym(e, kind, ir.select(type, first, x, y));
}

// isnan, isinf, isfinite: of integers and booleans known; of complex numbers from both parts.
enum class FloatClass : uint8_t { kNan, kInf, kFinite };
Result<Sym> np_class(Emit& e, const ModelCall& call, FloatClass wanted) {
  const Sym& a = call.args[0];
  PyKind kind = strong(a.kind);
  ir::Builder& ir = e.b();
  if (is_np_int(kind) || kind == PyKind::NpBool) return make_sym(e, PyKind::NpBool, ir.const_i1(wanted == FloatClass::kFinite));
  if (!is_np_real_float(kind) && !is_np_complex(kind)) return refuse_function(e, call);
  Type type = part_type(kind);
  auto test = [&](ValueId v) {
    if (wanted == FloatClass::kFinite) return ir.unary(OpCode::IsFinite, type, v);
    if (wanted == FloatClass::kNan) return ir.binary(OpCode::Ne, type, v, v);
    return ir.binary(OpCode::And, Type::I1, ir.binary(OpCode::Eq, type, v, v), ir.unary(OpCode::Not, Type::I1, ir.unary(OpCode::IsFinite, type, v)));
  };
  ValueId r = test(a.v[0]);
  if (is_np_complex(kind)) r = ir.binary(wanted == FloatClass::kFinite ? OpCode::And : OpCode::Or, Type::I1, r, test(a.v[1]));
  return make_sym(e, PyKind::NpBool, r);
}

}  // namespace

Result<Sym> model_np_floor(Emit& e, const ModelCall& call) { return np_round_to(e, call, OpCode::Floor); }
Result<Sym> model_np_ceil(Emit& e, const ModelCall& call) { return np_round_to(e, call, OpCode::Ceil); }
Result<Sym> model_np_trunc(Emit& e, const ModelCall& call) { return np_round_to(e, call, OpCode::Trunc); }
Result<Sym> model_np_rint(Emit& e, const ModelCall& call) { return np_round_to(e, call, OpCode::Rint); }
Result<Sym> model_np_minimum(Emit& e, const ModelCall& call) { return np_extreme(e, call, OpCode::Lt); }
Result<Sym> model_np_maximum(Emit& e, const ModelCall& call) { return np_extreme(e, call, OpCode::Gt); }
Result<Sym> model_np_isnan(Emit& e, const ModelCall& call) { return np_class(e, call, FloatClass::kNan); }
Result<Sym> model_np_isinf(Emit& e, const ModelCall& call) { return np_class(e, call, FloatClass::kInf); }
Result<Sym> model_np_isfinite(Emit& e, const ModelCall& call) { return np_class(e, call, FloatClass::kFinite); }

Result<Sym> model_np_conjugate(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  if (!is_complex_number(a.kind)) return real_argument(e, call);
  return make_sym(e, strong(a.kind), a.v[0], e.b().unary(OpCode::Neg, part_type(a.kind), a.v[1]));
}

// np.real and np.imag give the attribute of that name.
Result<Sym> model_np_real(Emit& e, const ModelCall& call) {
  if (!is_number(call.args[0].kind)) return refuse_function(e, call);
  PyObject* name = PyUnicode_InternFromString(std::string(call.name).c_str());
  if (name == nullptr) {
    PyErr_Clear();
    return refuse_function(e, call);
  }
  auto r = attribute(e, call.args[0], name);
  Py_DECREF(name);
  return r;
}

// np.round(x, digits) of a float scalar, Python's included.
Result<Sym> model_np_round(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  PyKind kind = strong(a.kind);
  if (!is_np_real_float(kind)) return refuse_function(e, call);
  Sym x = make_sym(e, kind, a.v[0]);
  if (call.args.size() == 2) return round_np_float(e, x, call.args[1]);
  return make_sym(e, kind, e.b().unary(OpCode::Rint, part_type(kind), x.v[0]));
}

// np.float64(x), np.int32(x), ...: in range a plain conversion; out of range raises, warns or wraps by rules of its own: leave.
Result<Sym> model_np_scalar(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  PyKind kind = PyKind::Unbound;
  ir::pykind_from_text("np." + std::string(call.name), &kind);
  if (kind == PyKind::Unbound || !is_number(a.kind)) return unsupported(e, "NumPy scalar type", a);
  if (a.kind == kind) return make_sym(e, kind, a.v[0], a.v[1]);
  Type type = part_type(kind), from = part_type(a.kind);
  if (type == Type::I1) {
    auto t = truth(e, a);
    if (!t) return t.refusal();
    return make_sym(e, kind, *t);
  }
  if (is_np_complex(kind)) {
    ComplexParts z = to_complex(e, a, type);
    return make_sym(e, kind, z.re, z.im);
  }
  if (!is_real_number(a.kind)) return unsupported(e, "NumPy scalar type", a);
  if (is_int(type)) {
    if (a.kind == PyKind::IntU64 && type == Type::U64) return make_sym(e, kind, a.v[0]);
    if (is_float(from)) return make_sym(e, kind, float_to_int(e, a.v[0], from, type, ExitReason::Domain));
    IntRange range = int_range(type);
    int64_t hi = range.hi > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(range.hi);
    if (from != Type::I1) guard_i64_range(e, int_value(e, a), range.lo, hi, ExitReason::Overflow);
    return make_sym(e, kind, to_type(e, a, type));
  }
  return make_sym(e, kind, to_kind(e, a, kind));
}

}  // namespace hotloop::tracer
