// Models of cmath, of NumPy's functions on complex scalars, and of complex powers: CPython's own functions and NumPy's inner loops through helpers
// (ir/complex_functions.def). Operands and results that are not finite leave: they raise, warn or follow tables of special values.
#include "ir/complex_functions.h"
#include "runtime/numpy_import.h"
#include "tracer/models.h"
#include "tracer/semantics_binary.h"

#include <cfloat>
#include <string>

namespace hotloop::tracer {

namespace {

ValueId both(Emit& e, ValueId a, ValueId b) { return e.b().binary(OpCode::And, Type::I1, a, b); }
ValueId finite(Emit& e, Type type, ComplexParts z) {
  return both(e, e.b().unary(OpCode::IsFinite, type, z.re), e.b().unary(OpCode::IsFinite, type, z.im));
}

// Arguments of cmath that are taken as complex by their value.
bool is_cmath_argument(PyKind k) { return is_py_number(k) || k == PyKind::NpFloat64 || k == PyKind::NpComplex128; }

Result<ComplexParts> cmath_argument(Emit& e, const ModelCall& call) {
  if (!is_cmath_argument(call.args[0].kind)) return unsupported(e, ("cmath." + std::string(call.name)).c_str(), call.args[0]);
  return to_complex(e, call.args[0]);
}

ComplexParts call_parts(Emit& e, ir::HelperId re, ir::HelperId im, std::initializer_list<ValueId> operands) {
  return {e.b().call(re, operands), e.b().call(im, operands)};
}

}  // namespace

Result<Sym> model_cmath_1(Emit& e, const ModelCall& call) {
  const int64_t number = ir::complex_number(ir::find_complex_function(call.name, false), ir::ComplexFlavour::kPython);
  if (number < 0 || !runtime::has_complex_function(number)) return e.refuse(RefusalReason::kUnsupportedCall, "cmath." + std::string(call.name));
  auto z = cmath_argument(e, call);
  if (!z) return z.refusal();
  e.b().guard(finite(e, Type::F64, *z), ExitReason::Domain, e.before());
  ComplexParts r = call_parts(e, ir::HelperId::ComplexRe, ir::HelperId::ComplexIm, {z->re, z->im, e.b().const_i64(number)});
  e.b().guard(finite(e, Type::F64, r), ExitReason::Domain, e.before());
  return make_sym(e, PyKind::Complex, r.re, r.im);
}

// CPython's: s = 2 sqrt(|x| / 8 + hypot(|x| / 8, |y| / 8)), d = |y| / 2s, which are the parts in one order or the other. Zero and subnormal numbers leave.
Result<Sym> model_cmath_sqrt(Emit& e, const ModelCall& call) {
  auto z = cmath_argument(e, call);
  if (!z) return z.refusal();
  ir::Builder& ir = e.b();
  auto bin = [&](OpCode code, ValueId a, ValueId b) { return ir.binary(code, Type::F64, a, b); };
  ValueId x = ir.unary(OpCode::Abs, Type::F64, z->re), y = ir.unary(OpCode::Abs, Type::F64, z->im), least = ir.const_f64(DBL_MIN);
  ValueId normal = ir.binary(OpCode::Or, Type::I1, bin(OpCode::Ge, x, least), bin(OpCode::Ge, y, least));
  ir.guard(both(e, normal, finite(e, Type::F64, *z)), ExitReason::Domain, e.before());
  ValueId eight = ir.const_f64(8.0), two = ir.const_f64(2.0), scaled = bin(OpCode::Div, x, eight);
  ValueId h = ir.call(ir::HelperId::HypotF64, {scaled, bin(OpCode::Div, y, eight)});
  ValueId s = bin(OpCode::Mul, two, ir.unary(OpCode::Sqrt, Type::F64, bin(OpCode::Add, scaled, h)));
  ValueId d = bin(OpCode::Div, y, bin(OpCode::Mul, two, s));
  ValueId right = bin(OpCode::Ge, z->re, ir.const_f64(0.0));
  ValueId im = bin(OpCode::Copysign, ir.select(Type::F64, right, d, s), z->im);
  return make_sym(e, PyKind::Complex, ir.select(Type::F64, right, s, d), im);
}

Result<Sym> model_cmath_phase(Emit& e, const ModelCall& call) {
  auto z = cmath_argument(e, call);
  if (!z) return z.refusal();
  e.b().guard(finite(e, Type::F64, *z), ExitReason::Domain, e.before());
  return make_sym(e, PyKind::Float, e.b().call(ir::HelperId::MathAtan2, {z->im, z->re}));
}

Result<Sym> model_cmath_polar(Emit& e, const ModelCall& call) {
  auto phase = model_cmath_phase(e, call);
  if (!phase) return phase;
  ComplexParts z = to_complex(e, call.args[0]);
  ValueId r = e.b().call(ir::HelperId::HypotF64, {z.re, z.im});
  e.b().guard(e.b().unary(OpCode::IsFinite, Type::F64, r), ExitReason::Domain, e.before());
  Sym pair = make_tuple({make_sym(e, PyKind::Float, r), *phase});
  pair.box = e.new_box();
  return pair;
}

// isnan, isinf, isfinite
Result<Sym> model_cmath_class(Emit& e, const ModelCall& call) {
  auto z = cmath_argument(e, call);
  if (!z) return z.refusal();
  ir::Builder& ir = e.b();
  auto nan = [&](ValueId v) { return ir.binary(OpCode::Ne, Type::F64, v, v); };
  auto infinite = [&](ValueId v) { return ir.unary(OpCode::Not, Type::I1, ir.binary(OpCode::Or, Type::I1, nan(v), ir.unary(OpCode::IsFinite, Type::F64, v))); };
  if (call.name == "isfinite") return make_bool(e, finite(e, Type::F64, *z));
  const bool of_nan = call.name == "isnan";
  return make_bool(e, ir.binary(OpCode::Or, Type::I1, of_nan ? nan(z->re) : infinite(z->re), of_nan ? nan(z->im) : infinite(z->im)));
}

// cmath.log(z, base): the quotient of two logarithms, by Python's own division.
Result<Sym> model_cmath_log(Emit& e, const ModelCall& call) {
  auto log = [&](size_t k) { return model_cmath_1(e, {call.args.subspan(k, 1), call.helper, call.name}); };
  auto of_number = log(0);
  if (!of_number || call.args.size() == 1) return of_number;
  auto of_base = log(1);
  if (!of_base) return of_base;
  return complex_binary(e, BinaryOp::kTrueDivide, *of_number, *of_base);
}

Result<Sym> model_cmath_rect(Emit& e, const ModelCall& call) {
  ir::Builder& ir = e.b();
  for (const Sym& s : call.args) {
    if (!is_py_number(s.kind) || s.kind == PyKind::Complex) return unsupported(e, "cmath.rect", s);
  }
  ValueId r = to_f64(e, call.args[0]), phi = to_f64(e, call.args[1]);
  ir.guard(finite(e, Type::F64, {r, phi}), ExitReason::Domain, e.before());
  auto part = [&](ir::HelperId id) { return ir.binary(OpCode::Mul, Type::F64, r, ir.call(id, {phi})); };
  return make_sym(e, PyKind::Complex, part(ir::HelperId::MathCos), part(ir::HelperId::MathSin));
}

// isclose with its default tolerances: 1e-09 relative, none absolute.
Result<Sym> model_cmath_isclose(Emit& e, const ModelCall& call) {
  ir::Builder& ir = e.b();
  for (const Sym& s : call.args) {
    if (!is_cmath_argument(s.kind)) return unsupported(e, "cmath.isclose", s);
  }
  ComplexParts a = to_complex(e, call.args[0]), b = to_complex(e, call.args[1]);
  ir.guard(both(e, finite(e, Type::F64, a), finite(e, Type::F64, b)), ExitReason::Domain, e.before());
  auto size = [&](ComplexParts z) { return ir.call(ir::HelperId::HypotF64, {z.re, z.im}); };
  auto less = [&](ComplexParts z) { return ir.binary(OpCode::Sub, Type::F64, z.re, z.im); };
  ValueId difference = size({less({a.re, b.re}), less({a.im, b.im})});
  auto within = [&](ComplexParts z) { return ir.binary(OpCode::Le, Type::F64, difference, ir.binary(OpCode::Mul, Type::F64, ir.const_f64(1e-09), size(z))); };
  ValueId same = both(e, ir.binary(OpCode::Eq, Type::F64, a.re, b.re), ir.binary(OpCode::Eq, Type::F64, a.im, b.im));
  return make_bool(e, ir.binary(OpCode::Or, Type::I1, same, ir.binary(OpCode::Or, Type::I1, within(b), within(a))));
}

// A function of NumPy on a complex scalar. `absolute` gives a float.
Result<Sym> np_complex_function(Emit& e, const ModelCall& call, std::string_view name) {
  const Sym& a = call.args[0];
  const PyKind kind = a.kind == PyKind::Complex ? PyKind::NpComplex128 : a.kind;
  if (!is_np_complex(kind)) return unsupported(e, ("numpy." + std::string(call.name)).c_str(), a);
  const int function = ir::find_complex_function(name, true);
  const bool wide = kind == PyKind::NpComplex128;
  const int64_t number = function < 0 ? -1 : ir::complex_number(function, wide ? ir::ComplexFlavour::kNumpy128 : ir::ComplexFlavour::kNumpy64);
  if (number < 0 || !runtime::has_complex_function(number)) return e.refuse(RefusalReason::kUnsupportedCall, "numpy." + std::string(call.name));
  ir::Builder& ir = e.b();
  ComplexParts z = to_complex(e, a);  // float32 parts as doubles: the helper narrows them again
  ir.guard(finite(e, Type::F64, z), ExitReason::FpWarning, e.before());
  ComplexParts r = call_parts(e, ir::HelperId::ComplexRe, ir::HelperId::ComplexIm, {z.re, z.im, ir.const_i64(number)});
  ir.guard(finite(e, Type::F64, r), ExitReason::FpWarning, e.before());
  auto part = [&](ValueId v) { return wide ? v : ir.conv(Type::F32, v); };
  if (name == "absolute") return make_sym(e, part_kind(kind), part(r.re));
  return make_sym(e, kind, part(r.re), part(r.im));
}

// np.angle: arctan2(imag, real) by NumPy's loop.
Result<Sym> model_np_angle(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  const PyKind kind = a.kind == PyKind::Complex ? PyKind::NpComplex128 : a.kind;
  const ir::HelperId helper = kind == PyKind::NpComplex64 ? ir::HelperId::NpArctan2F32 : ir::HelperId::NpArctan2F64;
  if (!is_np_complex(kind) || e.helpers().at(helper) == nullptr) return unsupported(e, "numpy.angle", a);
  const Type type = part_type(kind);
  e.b().guard(finite(e, type, {a.v[0], a.v[1]}), ExitReason::FpWarning, e.before());
  ValueId r = e.b().call(helper, {a.v[1], a.v[0]});
  e.b().fcheck(type, r, {a.v[1], a.v[0]}, e.before());
  return make_sym(e, part_kind(kind), r);
}

// a ** b where one of them is complex: by CPython's function or NumPy's loop.
Result<Sym> complex_power(Emit& e, const Sym& a, const Sym& b, PyKind kind) {
  if (e.helpers().at(ir::HelperId::PowerRe) == nullptr) return unsupported(e, "**", a, b);
  ir::Builder& ir = e.b();
  const bool python = kind == PyKind::Complex;
  const Type type = part_type(kind);
  const ExitReason reason = python ? ExitReason::Domain : ExitReason::FpWarning;
  const auto flavour = python ? ir::ComplexFlavour::kPython : type == Type::F64 ? ir::ComplexFlavour::kNumpy128 : ir::ComplexFlavour::kNumpy64;
  ComplexParts x = to_complex(e, a, type), y = to_complex(e, b, type);
  ir.guard(both(e, finite(e, type, x), finite(e, type, y)), reason, e.before());
  auto as_f64 = [&](ValueId v) { return type == Type::F64 ? v : ir.conv(Type::F64, v); };
  ComplexParts r = call_parts(e, ir::HelperId::PowerRe, ir::HelperId::PowerIm,
                              {as_f64(x.re), as_f64(x.im), as_f64(y.re), as_f64(y.im), ir.const_i64(static_cast<int64_t>(flavour))});
  ir.guard(finite(e, Type::F64, r), reason, e.before());
  if (type == Type::F64) return make_sym(e, kind, r.re, r.im);
  return make_sym(e, kind, ir.conv(type, r.re), ir.conv(type, r.im));
}

}  // namespace hotloop::tracer
