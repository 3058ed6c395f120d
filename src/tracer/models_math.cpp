// Models of the math module (SEMANTICS D4.1, D4.17): arguments become doubles; whatever raises in CPython leaves before the call.
// CPython's rule for functions of one argument: NaN from a number is a domain error, inf from a finite number a range or domain error;
// fcheck is exactly that test.
#include "tracer/models.h"

namespace hotloop::tracer {

namespace {

// math functions accept what float() accepts; Python ints round to double (an int64 always fits).
bool takes_double(const Sym& s) { return is_real_number(s.kind); }

Result<Sym> checked_result(Emit& e, ValueId r, std::initializer_list<ValueId> operands) {
  e.b().fcheck(Type::F64, r, operands, e.before());
  return make_sym(e, PyKind::Float, r);
}

// floor, ceil and trunc of a float give an int; ints are themselves.
Result<Sym> to_integral(Emit& e, const Sym& a, OpCode code) {
  if (a.kind == PyKind::Int) return a;
  if (is_py_int_like(a.kind) || is_np_int(a.kind)) {
    if (code == OpCode::Trunc && a.kind != PyKind::Bool) return unsupported(e, "math.trunc", a);  // TypeError for NumPy ints
    guard_exact_double(e, a);  // NumPy ints go through float
    return make_sym(e, PyKind::Int, int_value(e, a));
  }
  if (a.kind != PyKind::Float && a.kind != PyKind::NpFloat64) return unsupported(e, "rounding to int", a);
  ValueId t = e.b().unary(code, Type::F64, to_f64(e, a));
  return make_sym(e, PyKind::Int, float_to_int(e, t, Type::F64, Type::I64, ExitReason::Domain));
}

}  // namespace

Result<Sym> model_math_1(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0])) return unsupported(e, "math function", call.args[0]);
  ValueId x = to_f64(e, call.args[0]);
  return checked_result(e, e.b().call(call.helper, {x}), {x});
}

Result<Sym> model_math_2(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0]) || !takes_double(call.args[1])) return unsupported(e, "math function", call.args[0], call.args[1]);
  ValueId x = to_f64(e, call.args[0]), y = to_f64(e, call.args[1]);
  return checked_result(e, e.b().call(call.helper, {x, y}), {x, y});
}

// log, log2, log10 of a positive number; the rest (NaN included) is the interpreter's.
Result<Sym> model_math_log(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0])) return unsupported(e, "math function", call.args[0]);
  ir::Builder& ir = e.b();
  ValueId x = to_f64(e, call.args[0]);
  ir.guard(ir.binary(OpCode::Gt, Type::F64, x, ir.const_f64(0.0)), ExitReason::Domain, e.before());
  return make_sym(e, PyKind::Float, ir.call(call.helper, {x}));
}

Result<Sym> model_math_sqrt(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0])) return unsupported(e, "math.sqrt", call.args[0]);
  ValueId x = to_f64(e, call.args[0]);
  return checked_result(e, e.b().unary(OpCode::Sqrt, Type::F64, x), {x});
}

Result<Sym> model_math_fabs(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0])) return unsupported(e, "math.fabs", call.args[0]);
  return make_sym(e, PyKind::Float, e.b().unary(OpCode::Abs, Type::F64, to_f64(e, call.args[0])));
}

Result<Sym> model_math_floor(Emit& e, const ModelCall& call) { return to_integral(e, call.args[0], OpCode::Floor); }
Result<Sym> model_math_ceil(Emit& e, const ModelCall& call) { return to_integral(e, call.args[0], OpCode::Ceil); }
Result<Sym> model_math_trunc(Emit& e, const ModelCall& call) { return to_integral(e, call.args[0], OpCode::Trunc); }

Result<Sym> model_math_copysign(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0]) || !takes_double(call.args[1])) return unsupported(e, "math.copysign", call.args[0], call.args[1]);
  return make_sym(e, PyKind::Float, e.b().binary(OpCode::Copysign, Type::F64, to_f64(e, call.args[0]), to_f64(e, call.args[1])));
}

Result<Sym> model_math_isnan(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0])) return unsupported(e, "math.isnan", call.args[0]);
  ValueId x = to_f64(e, call.args[0]);
  return make_bool(e, e.b().binary(OpCode::Ne, Type::F64, x, x));
}

Result<Sym> model_math_isfinite(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0])) return unsupported(e, "math.isfinite", call.args[0]);
  return make_bool(e, e.b().unary(OpCode::IsFinite, Type::F64, to_f64(e, call.args[0])));
}

Result<Sym> model_math_isinf(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0])) return unsupported(e, "math.isinf", call.args[0]);
  ir::Builder& ir = e.b();
  ValueId x = to_f64(e, call.args[0]);
  ValueId number = ir.binary(OpCode::Eq, Type::F64, x, x);
  return make_bool(e, ir.binary(OpCode::And, Type::I1, number, ir.unary(OpCode::Not, Type::I1, ir.unary(OpCode::IsFinite, Type::F64, x))));
}

namespace {

// CPython multiplies by the double nearest to 180 / pi or pi / 180.
Result<Sym> scaled(Emit& e, const Sym& a, double factor) {
  if (!takes_double(a)) return unsupported(e, "math function", a);
  return make_sym(e, PyKind::Float, e.b().binary(OpCode::Mul, Type::F64, to_f64(e, a), e.b().const_f64(factor)));
}

constexpr double kPi = 3.141592653589793238462643383279502884197;

}  // namespace

Result<Sym> model_math_degrees(Emit& e, const ModelCall& call) { return scaled(e, call.args[0], 180.0 / kPi); }
Result<Sym> model_math_radians(Emit& e, const ModelCall& call) { return scaled(e, call.args[0], kPi / 180.0); }

// math.pow: C pow for finite operands with a finite result.
Result<Sym> model_math_pow(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0]) || !takes_double(call.args[1])) return unsupported(e, "math.pow", call.args[0], call.args[1]);
  ir::Builder& ir = e.b();
  ValueId x = to_f64(e, call.args[0]), y = to_f64(e, call.args[1]);
  ValueId r = ir.call(ir::HelperId::PowF64, {x, y});
  auto both = [&](ValueId p, ValueId q) { return ir.binary(OpCode::And, Type::I1, p, q); };
  auto finite = [&](ValueId v) { return ir.unary(OpCode::IsFinite, Type::F64, v); };
  ir.guard(both(both(finite(x), finite(y)), finite(r)), ExitReason::Domain, e.before());
  return make_sym(e, PyKind::Float, r);
}

}  // namespace hotloop::tracer
