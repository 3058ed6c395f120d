// Models of the math module (SEMANTICS D4.1, D4.17): arguments become doubles; whatever raises in CPython leaves before the call.
// CPython's rule for functions of one argument: NaN from a number is a domain error, inf from a finite number a range or domain error;
// fcheck is exactly that test.
#include "tracer/models.h"

#include <string>

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
  if (a.kind != PyKind::Float && !is_np_real_float(a.kind)) return unsupported(e, "rounding to int", a);
  if (code == OpCode::Trunc && a.kind != PyKind::Float && a.kind != PyKind::NpFloat64) return unsupported(e, "math.trunc", a);  // TypeError
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

// log(x, base): the quotient of two logarithms.
Result<Sym> model_math_log_base(Emit& e, const ModelCall& call) {
  auto top = model_math_log(e, ModelCall{call.args.first(1), call.helper, call.name});
  if (!top || call.args.size() == 1) return top;
  auto bottom = model_math_log(e, ModelCall{call.args.subspan(1), call.helper, call.name});
  if (!bottom) return bottom.refusal();
  return binary(e, BinaryOp::kTrueDivide, *top, *bottom);
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

// A function of CPython's own or of libm whose result must be a finite number, or NaN for NaN; everything else is the interpreter's.
Result<Sym> model_math_finite(Emit& e, const ModelCall& call) {
  ir::Builder& ir = e.b();
  ir::HelperId helper = call.helper;
  if (helper == ir::HelperId::MathHypot && call.args.size() == 3) helper = ir::HelperId::MathHypot3;
  if (static_cast<int>(call.args.size()) != ir::helper_argument_count(helper) || e.helpers().at(helper) == nullptr) {
    return e.refuse(RefusalReason::kUnsupportedArguments, "math." + std::string(call.name));
  }
  ValueId x[3] = {};
  for (size_t k = 0; k < call.args.size(); ++k) {
    if (!takes_double(call.args[k])) return unsupported(e, "math function", call.args[k]);
    x[k] = to_f64(e, call.args[k]);
    ir.guard(ir.unary(OpCode::IsFinite, Type::F64, x[k]), ExitReason::Domain, e.before());
  }
  if (call.helper == ir::HelperId::MathRemainder) {
    ir.guard(ir.binary(OpCode::Ne, Type::F64, x[1], ir.const_f64(0.0)), ExitReason::ZeroDivide, e.before());
  }
  ValueId r = call.args.size() == 1 ? ir.call(helper, {x[0]}) : call.args.size() == 2 ? ir.call(helper, {x[0], x[1]}) : ir.call(helper, {x[0], x[1], x[2]});
  ir.guard(ir.unary(OpCode::IsFinite, Type::F64, r), ExitReason::Domain, e.before());
  return make_sym(e, PyKind::Float, r);
}

// gcd, lcm, isqrt, comb, perm, factorial: -1 says that it raises or does not fit.
Result<Sym> model_math_int(Emit& e, const ModelCall& call) {
  ir::Builder& ir = e.b();
  ValueId x[2] = {};
  for (size_t k = 0; k < call.args.size(); ++k) {
    if (!is_py_int_like(call.args[k].kind) && !is_np_int(call.args[k].kind)) return unsupported(e, "math function", call.args[k]);
    x[k] = int_value(e, call.args[k]);
  }
  ValueId r = call.args.size() == 1 ? ir.call(call.helper, {x[0]}) : ir.call(call.helper, {x[0], x[1]});
  ir.guard(ir.binary(OpCode::Ge, Type::I64, r, ir.const_i64(0)), ExitReason::Domain, e.before());
  return make_sym(e, PyKind::Int, r);
}

Result<Sym> model_math_ldexp(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0]) || !is_py_int_like(call.args[1].kind)) return unsupported(e, "math.ldexp", call.args[0], call.args[1]);
  ValueId x = to_f64(e, call.args[0]);
  return checked_result(e, e.b().call(call.helper, {x, to_i64(e, call.args[1])}), {x});
}

Result<Sym> model_math_frexp(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0])) return unsupported(e, "math.frexp", call.args[0]);
  ValueId x = to_f64(e, call.args[0]);
  return make_tuple({make_sym(e, PyKind::Float, e.b().call(ir::HelperId::MathFrexp, {x})),
                     make_sym(e, PyKind::Int, e.b().call(ir::HelperId::MathFrexpExp, {x}))});
}

// modf of a finite number: both parts carry its sign.
Result<Sym> model_math_modf(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0])) return unsupported(e, "math.modf", call.args[0]);
  ir::Builder& ir = e.b();
  ValueId x = to_f64(e, call.args[0]);
  ir.guard(ir.unary(OpCode::IsFinite, Type::F64, x), ExitReason::Domain, e.before());
  ValueId whole = ir.unary(OpCode::Trunc, Type::F64, x);
  ValueId fraction = ir.binary(OpCode::Copysign, Type::F64, ir.binary(OpCode::Sub, Type::F64, x, whole), x);
  return make_tuple({make_sym(e, PyKind::Float, fraction), make_sym(e, PyKind::Float, whole)});
}

// isclose with its default tolerances: 1e-09 relative, none absolute.
Result<Sym> model_math_isclose(Emit& e, const ModelCall& call) {
  if (!takes_double(call.args[0]) || !takes_double(call.args[1])) return unsupported(e, "math.isclose", call.args[0], call.args[1]);
  ir::Builder& ir = e.b();
  ValueId a = to_f64(e, call.args[0]), b = to_f64(e, call.args[1]);
  auto size = [&](ValueId v) { return ir.unary(OpCode::Abs, Type::F64, v); };
  auto within = [&](ValueId v) { return size(ir.binary(OpCode::Mul, Type::F64, ir.const_f64(1e-09), v)); };
  ValueId difference = size(ir.binary(OpCode::Sub, Type::F64, b, a));
  ValueId near = ir.binary(OpCode::Or, Type::I1, ir.binary(OpCode::Le, Type::F64, difference, within(b)), ir.binary(OpCode::Le, Type::F64, difference, within(a)));
  ValueId finite = ir.binary(OpCode::And, Type::I1, ir.unary(OpCode::IsFinite, Type::F64, a), ir.unary(OpCode::IsFinite, Type::F64, b));
  return make_bool(e, ir.binary(OpCode::Or, Type::I1, ir.binary(OpCode::Eq, Type::F64, a, b), ir.binary(OpCode::And, Type::I1, finite, near)));
}

}  // namespace hotloop::tracer
