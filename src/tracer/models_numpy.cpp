// Models of NumPy functions and scalar types called with scalars (SEMANTICS D1.10, D2.8, D6.4, D8.25): NumPy's own inner loops through
// helpers, warnings by leaving.
#include "tracer/models.h"

#include <string>

namespace hotloop::tracer {

namespace {

// The float dtype in which a unary float function of this operand works: float32 and float64 as they are, wide integers as float64.
// Narrow integers and bools work in float16 or float32: not compiled.
PyKind float_kind(PyKind k) {
  if (is_np_real_float(k)) return k;
  if (k == PyKind::Float || k == PyKind::Int || k == PyKind::NpInt32 || k == PyKind::NpInt64 || k == PyKind::NpUint32 || k == PyKind::NpUint64) {
    return PyKind::NpFloat64;
  }
  return PyKind::Unbound;
}

// Helpers of float32 follow those of float64 in helpers.def in the same order.
ir::HelperId for_type(ir::HelperId f64, Type type) {
  if (type == Type::F64) return f64;
  int offset = static_cast<int>(ir::HelperId::NpExpF32) - static_cast<int>(ir::HelperId::NpExpF64);
  return static_cast<ir::HelperId>(static_cast<int>(f64) + offset);
}

Result<Sym> reported(Emit& e, PyKind kind, ValueId r, std::initializer_list<ValueId> operands) {
  e.b().fcheck(part_type(kind), r, operands, e.before());
  return make_sym(e, kind, r);
}

bool available(Emit& e, ir::HelperId helper) { return e.helpers().at(helper) != nullptr; }

// The dtype of a binary function of two scalars; two Python numbers are int64 and float64, never weak against each other.
PyKind pair_kind(const Sym& a, const Sym& b) {
  auto strong = [](PyKind k) { return k == PyKind::Int ? PyKind::NpInt64 : k == PyKind::Float ? PyKind::NpFloat64 : k; };
  if (!is_np_scalar(a.kind) && !is_np_scalar(b.kind)) return promote(strong(a.kind), strong(b.kind));
  return promote(a.kind, b.kind);
}

}  // namespace

Result<Sym> model_np_sqrt(Emit& e, const ModelCall& call) {
  PyKind kind = float_kind(call.args[0].kind);
  if (kind == PyKind::Unbound) return unsupported(e, "np.sqrt", call.args[0]);
  ValueId x = to_type(e, call.args[0], part_type(kind));
  return reported(e, kind, e.b().unary(OpCode::Sqrt, part_type(kind), x), {x});
}

Result<Sym> model_np_1(Emit& e, const ModelCall& call) {
  PyKind kind = float_kind(call.args[0].kind);
  if (kind == PyKind::Unbound) return unsupported(e, "NumPy function", call.args[0]);
  ir::HelperId helper = for_type(call.helper, part_type(kind));
  if (!available(e, helper)) return e.refuse(RefusalReason::kUnsupportedCall, "numpy." + std::string(call.name));
  ValueId x = to_type(e, call.args[0], part_type(kind));
  return reported(e, kind, e.b().call(helper, {x}), {x});
}

Result<Sym> model_np_2(Emit& e, const ModelCall& call) {
  const Sym &a = call.args[0], &b = call.args[1];
  PyKind kind = pair_kind(a, b);
  if (!is_np_real_float(kind) || (kind == PyKind::NpFloat32 && a.kind != b.kind)) return unsupported(e, "NumPy function", a, b);
  ir::HelperId helper = for_type(call.helper, part_type(kind));
  if (!available(e, helper)) return e.refuse(RefusalReason::kUnsupportedCall, "numpy." + std::string(call.name));
  ValueId x = to_type(e, a, part_type(kind)), y = to_type(e, b, part_type(kind));
  return reported(e, kind, e.b().call(helper, {x, y}), {x, y});
}

// np.abs is a ufunc: floats clear the sign; integers wrap for MIN without a warning; Python numbers are int64 and float64.
Result<Sym> model_np_abs(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  PyKind kind = a.kind == PyKind::Int ? PyKind::NpInt64 : a.kind == PyKind::Float ? PyKind::NpFloat64 : a.kind;
  if (!is_np_real_float(kind) && !is_np_int(kind)) return unsupported(e, "np.abs", a);
  Type type = part_type(kind);
  ValueId x = to_type(e, a, type);
  return make_sym(e, kind, is_unsigned(type) ? x : e.b().unary(OpCode::Abs, type, x));
}

namespace {

Result<Sym> np_round_to(Emit& e, const Sym& a, OpCode code) {
  PyKind kind = a.kind == PyKind::Float ? PyKind::NpFloat64 : a.kind;
  if (!is_np_real_float(kind)) return unsupported(e, "np.floor or np.ceil", a);
  return make_sym(e, kind, e.b().unary(code, part_type(kind), a.v[0]));
}

// maximum and minimum: a NaN operand wins; of equal values the second (SEMANTICS D4.6, D4.16).
Result<Sym> np_extreme(Emit& e, const Sym& a, const Sym& b, OpCode better) {
  PyKind kind = pair_kind(a, b);
  if (!is_np_real_float(kind) || (kind == PyKind::NpFloat32 && a.kind != b.kind)) return unsupported(e, "np.minimum or np.maximum", a, b);
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  ValueId x = to_type(e, a, type), y = to_type(e, b, type);
  ValueId first = ir.binary(OpCode::Or, Type::I1, ir.binary(better, type, x, y), ir.binary(OpCode::Ne, type, x, x));
  return make_sym(e, kind, ir.select(type, first, x, y));
}

}  // namespace

Result<Sym> model_np_floor(Emit& e, const ModelCall& call) { return np_round_to(e, call.args[0], OpCode::Floor); }
Result<Sym> model_np_ceil(Emit& e, const ModelCall& call) { return np_round_to(e, call.args[0], OpCode::Ceil); }
Result<Sym> model_np_minimum(Emit& e, const ModelCall& call) { return np_extreme(e, call.args[0], call.args[1], OpCode::Lt); }
Result<Sym> model_np_maximum(Emit& e, const ModelCall& call) { return np_extreme(e, call.args[0], call.args[1], OpCode::Gt); }

// np.float64(x), np.int32(x), ...: in range a plain conversion; out of range raises, warns or wraps by rules of its own: leave.
Result<Sym> model_np_scalar(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  PyKind kind = PyKind::Unbound;
  ir::pykind_from_text("np." + std::string(call.name), &kind);
  if (kind == PyKind::Unbound || !is_real_number(a.kind)) return unsupported(e, "NumPy scalar type", a);
  if (a.kind == kind) return make_sym(e, kind, a.v[0]);
  Type type = part_type(kind), from = part_type(a.kind);
  if (type == Type::I1) {
    auto t = truth(e, a);
    if (!t) return t.refusal();
    return make_sym(e, kind, *t);
  }
  if (is_int(type)) {
    if (is_float(from)) return make_sym(e, kind, float_to_int(e, a.v[0], from, type, ExitReason::Domain));
    IntRange range = int_range(type);
    int64_t hi = range.hi > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(range.hi);
    if (from != Type::I1) guard_i64_range(e, int_value(e, a), range.lo, hi, ExitReason::Overflow);
    return make_sym(e, kind, to_type(e, a, type));
  }
  if (type == Type::F32 && from == Type::F64) return make_sym(e, kind, f64_to_f32_checked(e, a.v[0]));
  if (type == Type::F32 && a.kind == PyKind::Int) return make_sym(e, kind, e.b().conv(Type::F32, to_f64(e, a)));
  return make_sym(e, kind, to_type(e, a, type));
}

}  // namespace hotloop::tracer
