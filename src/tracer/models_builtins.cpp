// Models of builtins on numbers: abs min max int float bool complex len range round divmod pow (SEMANTICS D2.3, D2.4).
#include "tracer/models.h"
#include "tracer/semantics_text.h"
#include "tracer/semantics_wide.h"

#include <string>

namespace hotloop::tracer {

namespace {

// abs(complex) is hypot in the precision of the parts; parts that are not finite and results that overflow are left to the interpreter.
Sym abs_complex(Emit& e, const Sym& a) {
  ir::Builder& ir = e.b();
  Type part = part_type(a.kind);
  ValueId r = ir.call(part == Type::F64 ? ir::HelperId::HypotF64 : ir::HelperId::HypotF32, {a.v[0], a.v[1]});
  ir.guard(ir.unary(OpCode::IsFinite, part, r), ExitReason::Domain, e.before());
  ValueId finite = ir.binary(OpCode::And, Type::I1, ir.unary(OpCode::IsFinite, part, a.v[0]), ir.unary(OpCode::IsFinite, part, a.v[1]));
  ir.guard(finite, ExitReason::Domain, e.before());
  return make_sym(e, a.kind == PyKind::Complex ? PyKind::Float : part_kind(a.kind), r);
}

// min and max keep the first operand unless a later one compares better; operands of one kind only, since the result is an operand.
Result<Sym> extreme(Emit& e, const ModelCall& call, CompareOp better) {
  for (const Sym& s : call.args) {
    if (s.kind != call.args[0].kind || !is_real_number(s.kind)) return unsupported(e, "min or max of different types", call.args[0], s);
  }
  ir::Builder& ir = e.b();
  Sym best = call.args[0];
  for (size_t k = 1; k < call.args.size(); ++k) {
    auto c = compare(e, better, call.args[k], best);
    if (!c) return c.refusal();
    const Sym& other = call.args[k];
    Sym chosen = make_sym(e, best.kind, ir.select(part_type(best.kind), c->v[0], other.v[0], best.v[0]));
    if (other.obj != ir::kNoValue || best.obj != ir::kNoValue) {
      auto pointer = [&](const Sym& s) { return s.obj != ir::kNoValue ? s.obj : ir.const_bits(Type::Ptr, 0); };
      const ValueId x = pointer(other), y = pointer(best);
      chosen.obj = ir.select(Type::Ptr, c->v[0], x, y);
      chosen.sure = other.sure && best.sure;
    }
    e.note_choice(chosen, c->v[0], other, best);
    best = chosen;
  }
  return best;
}

// A float as a Python int: the integral value t must fit 64 bits (NaN and inf raise: leave).
Result<Sym> integral(Emit& e, ValueId t) { return make_sym(e, PyKind::Int, float_to_int(e, t, Type::F64, Type::I64, ExitReason::Domain)); }

// An integer scalar or a bool as a Python int.
Sym int_of_np(Emit& e, const Sym& a) {
  Sym s = make_sym(e, PyKind::Int, int_value(e, a));
  const Type type = part_type(a.kind);
  return is_signed(type) ? s : ranged(s, type == Type::U64 ? static_cast<uint64_t>(INT64_MAX) : int_range(type).hi);
}

}  // namespace

Result<Sym> model_abs(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  ir::Builder& ir = e.b();
  if (is_complex_number(a.kind)) return abs_complex(e, a);
  if (!is_real_number(a.kind)) return unsupported(e, "abs", a);
  if (a.kind == PyKind::NpBool) return make_sym(e, a.kind, a.v[0]);
  PyKind kind = a.kind == PyKind::Bool ? PyKind::Int : a.kind;
  Type type = part_type(kind);
  ValueId x = to_type(e, a, type);
  if (is_unsigned(type)) return make_sym(e, kind, x);
  if (is_signed(type)) {  // abs(MIN) does not fit
    ir.guard(ir.binary(OpCode::Ne, type, x, ir.const_bits(type, int_range(type).lo)), ExitReason::Overflow, e.before());
  }
  Sym r = make_sym(e, kind, ir.unary(OpCode::Abs, type, x));
  if (a.kind == PyKind::Int) e.note_choice(r, ir.binary(OpCode::Ge, type, x, ir.const_bits(type, 0)), a, Sym{});
  return r;
}

Result<Sym> model_min(Emit& e, const ModelCall& call) { return extreme(e, call, CompareOp::kLt); }
Result<Sym> model_max(Emit& e, const ModelCall& call) { return extreme(e, call, CompareOp::kGt); }

Result<Sym> model_int(Emit& e, const ModelCall& call) {
  if (call.args.empty()) return make_sym(e, PyKind::Int, e.b().const_i64(0));
  const Sym& a = call.args[0];
  if (a.kind == PyKind::Int || a.kind == PyKind::IntU64) return a;
  if (a.kind == PyKind::NpUint64) return make_sym(e, PyKind::IntU64, a.v[0]);
  if (!is_real_number(a.kind)) return unsupported(e, "int()", a);
  if (is_float(part_type(a.kind))) return integral(e, to_f64(e, a));
  return int_of_np(e, a);
}

Result<Sym> model_float(Emit& e, const ModelCall& call) {
  if (call.args.empty()) return make_sym(e, PyKind::Float, e.b().const_f64(0.0));
  const Sym& a = call.args[0];
  if (a.kind == PyKind::Float) return a;
  if (!is_real_number(a.kind)) return unsupported(e, "float()", a);
  return make_sym(e, PyKind::Float, to_f64(e, a));
}

Result<Sym> model_bool(Emit& e, const ModelCall& call) {
  if (call.args.empty()) return known(e, Py_False);
  auto t = truth(e, call.args[0]);
  if (!t) return t.refusal();
  return make_bool(e, *t);
}

Result<Sym> model_complex(Emit& e, const ModelCall& call) {
  ir::Builder& ir = e.b();
  if (call.args.empty()) return make_sym(e, PyKind::Complex, ir.const_f64(0.0), ir.const_f64(0.0));
  const Sym& a = call.args[0];
  if (call.args.size() == 1 && a.kind == PyKind::Complex) return a;
  if (call.args.size() == 1 && is_np_complex(a.kind)) {
    ComplexParts z = to_complex(e, a);
    return make_sym(e, PyKind::Complex, z.re, z.im);
  }
  for (const Sym& s : call.args) {
    if (!is_real_number(s.kind)) return unsupported(e, "complex()", s);
  }
  return make_sym(e, PyKind::Complex, to_f64(e, a), call.args.size() == 2 ? to_f64(e, call.args[1]) : ir.const_f64(0.0));
}

Result<Sym> model_len(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  if (a.kind == PyKind::Tuple) return make_sym(e, PyKind::Int, e.b().const_i64(static_cast<int64_t>(a.items->size())));
  auto text = as_text(e, a);
  auto length = sequence_length(e, text ? *text : a);
  if (!length) return length.refusal();
  return make_sym(e, PyKind::Int, *length);
}

Result<Sym> model_range(Emit& e, const ModelCall& call) {
  ir::Builder& ir = e.b();
  ValueId parts[3] = {ir.const_i64(0), ir::kNoValue, ir.const_i64(1)};
  std::vector<ValueId> given;
  for (const Sym& s : call.args) {
    if (!is_py_int_like(s.kind) && !is_np_int(s.kind)) return unsupported(e, "range()", s);
    given.push_back(int_value(e, s));
  }
  if (given.size() == 1) {
    parts[1] = given[0];
  } else {
    for (size_t k = 0; k < given.size(); ++k) parts[k] = given[k];
  }
  if (call.args.size() == 3) {
    auto step = known_int(call.args[2]);
    if (!step || *step == 0) ir.guard(ir.binary(OpCode::Ne, Type::I64, parts[2], ir.const_i64(0)), ExitReason::Domain, e.before());
  }
  return make_sym(e, PyKind::Range, parts[0], parts[1], parts[2]);
}

namespace {

// Python floats: the correctly rounded decimal. Digits beyond what any double has give the float itself; negative ones are rare.
Result<Sym> round_float(Emit& e, const Sym& a, const Sym& digits) {
  ir::Builder& ir = e.b();
  if (!is_py_int_like(digits.kind)) return unsupported(e, "round()", a, digits);
  ValueId n = to_i64(e, digits);
  guard_i64_range(e, n, 0, 300, ExitReason::Domain);
  ValueId r = ir.call(ir::HelperId::RoundDecimal, {a.v[0], n});
  ir.guard(ir.unary(OpCode::IsFinite, Type::F64, r), ExitReason::Domain, e.before());
  return make_sym(e, PyKind::Float, r);
}

}  // namespace

// NumPy multiplies, rounds and divides in the scalar's own precision (SEMANTICS D4.5). A known number of digits from 0 to 8.
Result<Sym> round_np_float(Emit& e, const Sym& a, const Sym& digits) {
  ir::Builder& ir = e.b();
  auto n = known_int(digits);
  if (!n || *n < 0 || *n > 8 || !is_np_real_float(a.kind)) return unsupported(e, "round()", a, digits);
  Type type = part_type(a.kind);
  if (*n == 0) return make_sym(e, a.kind, ir.unary(OpCode::Rint, type, a.v[0]));
  double power = 1;
  for (int64_t k = 0; k < *n; ++k) power *= 10;
  if (a.kind == PyKind::NpFloat16 && power > 10000) return unsupported(e, "round()", a, digits);  // not a half
  ValueId factor = type == Type::F64 ? ir.const_f64(power) : ir.const_f32(static_cast<float>(power));
  ValueId scaled = rounded(e, a.kind, ir.binary(OpCode::Mul, type, a.v[0], factor));
  ir.guard(ir.unary(OpCode::IsFinite, type, scaled), ExitReason::FpWarning, e.before());
  return make_sym(e, a.kind, rounded(e, a.kind, ir.binary(OpCode::Div, type, ir.unary(OpCode::Rint, type, scaled), factor)));
}

Result<Sym> model_round(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  if (call.args.size() == 2 && call.args[1].kind != PyKind::None_) {
    const Sym& digits = call.args[1];
    auto n = known_int(digits);
    if (a.kind == PyKind::Float) return round_float(e, a, digits);
    if (is_np_real_float(a.kind)) return round_np_float(e, a, digits);
    if (!n || *n < 0) return unsupported(e, "round()", a, digits);
    if (a.kind == PyKind::Int) return a;  // the very object
    if (is_py_int_like(a.kind)) return make_sym(e, PyKind::Int, to_i64(e, a));
    if (is_np_int(a.kind)) return make_sym(e, a.kind, a.v[0]);
    return unsupported(e, "round()", a, digits);
  }
  if (a.kind == PyKind::Int) return a;
  if (is_py_int_like(a.kind) || is_np_int(a.kind)) return make_sym(e, PyKind::Int, int_value(e, a));
  if (a.kind != PyKind::Float && !is_np_real_float(a.kind)) return unsupported(e, "round()", a);
  return integral(e, e.b().unary(OpCode::Rint, Type::F64, to_f64(e, a)));
}

Result<Sym> model_divmod(Emit& e, const ModelCall& call) {
  auto q = binary(e, BinaryOp::kFloorDivide, call.args[0], call.args[1]);
  if (!q) return q.refusal();
  auto r = binary(e, BinaryOp::kRemainder, call.args[0], call.args[1]);
  if (!r) return r.refusal();
  return make_tuple({*q, *r});
}

// pow(a, b, m) of ints: negative exponents, and what is not a positive modulus, leave.
Result<Sym> model_pow(Emit& e, const ModelCall& call) {
  if (call.args.size() == 2 || call.args[2].kind == PyKind::None_) return binary(e, BinaryOp::kPower, call.args[0], call.args[1]);
  for (const Sym& s : call.args) {
    if (!is_py_int_like(s.kind)) return unsupported(e, "pow() with a modulus", s);
  }
  ir::Builder& ir = e.b();
  ValueId r = ir.call(ir::HelperId::PowerMod, {to_i64(e, call.args[0]), to_i64(e, call.args[1]), to_i64(e, call.args[2])});
  ir.guard(ir.binary(OpCode::Ge, Type::I64, r, ir.const_i64(0)), ExitReason::Domain, e.before());
  return make_sym(e, PyKind::Int, r);
}

// ---------------------------------------------------------------------------------------------------- methods of numbers

// The value itself; of a complex number with the other sign of the imaginary part.
Result<Sym> model_conjugate(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  if (is_complex_number(a.kind)) return make_sym(e, a.kind, a.v[0], e.b().unary(OpCode::Neg, part_type(a.kind), a.v[1]));
  if (a.kind == PyKind::Bool) return make_sym(e, PyKind::Int, to_i64(e, a));
  if (a.kind == PyKind::Int || a.kind == PyKind::Float) return a;
  if (!is_np_int(a.kind) && !is_np_real_float(a.kind)) return unsupported(e, "conjugate()", a);
  return make_sym(e, a.kind, a.v[0]);
}

Result<Sym> model_is_integer(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  ir::Builder& ir = e.b();
  if (is_py_int_like(a.kind) || is_np_int(a.kind)) return known(e, Py_True);
  if (a.kind != PyKind::Float && !is_np_real_float(a.kind)) return unsupported(e, "is_integer()", a);
  Type type = part_type(a.kind);
  ValueId whole = ir.binary(OpCode::Eq, type, ir.unary(OpCode::Trunc, type, a.v[0]), a.v[0]);
  return make_bool(e, ir.binary(OpCode::And, Type::I1, whole, ir.unary(OpCode::IsFinite, type, a.v[0])));
}

Result<Sym> model_bits(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  if (!is_py_int_like(a.kind)) return unsupported(e, "bit method", a);
  return make_sym(e, PyKind::Int, e.b().call(call.helper, {to_i64(e, a)}));
}

// item() of a NumPy scalar: the Python number of the same value.
Result<Sym> model_item(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  if (a.kind == PyKind::NpBool) return make_bool(e, a.v[0]);
  if (a.kind == PyKind::NpUint64) return make_sym(e, PyKind::IntU64, a.v[0]);
  if (is_np_int(a.kind)) return int_of_np(e, a);
  if (is_np_real_float(a.kind)) return make_sym(e, PyKind::Float, to_f64(e, a));
  if (!is_np_complex(a.kind)) return unsupported(e, "item()", a);
  ComplexParts z = to_complex(e, a);
  return make_sym(e, PyKind::Complex, z.re, z.im);
}

}  // namespace hotloop::tracer
