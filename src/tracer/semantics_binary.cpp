// Binary operators on Python numbers (SEMANTICS D3.1, D4) and the dispatch to the NumPy scalar rules.
// See semantics.h. Each function states which cases leave through the snapshot so that the interpreter raises.
#include "tracer/semantics_binary.h"
#include "tracer/semantics_wide.h"

namespace hotloop::tracer {

namespace {

// a // b and a % b leave for a zero divisor; a // b also for MIN // -1 (beyond 64 bits).
Result<Sym> int_division(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  ValueId x = to_i64(e, a), y = to_i64(e, b);
  auto divisor = known_int(b);
  if (!divisor || *divisor == 0) {
    ir.guard(ir.binary(OpCode::Ne, Type::I64, y, ir.const_i64(0)), ExitReason::ZeroDivide, e.before());
  }
  if (op == BinaryOp::kRemainder) {
    Sym r = make_sym(e, PyKind::Int, ir.binary(OpCode::FloorMod, Type::I64, x, y));
    auto size = [&](ValueId v) { return ir.conv(Type::U64, ir.unary(OpCode::Abs, Type::I64, v)); };
    const bool one_digit = divisor && std::abs(*divisor) < kTwoDigits;
    if (a.kind == PyKind::Int && !one_digit) {
      ValueId agree = ir.binary(OpCode::Ge, Type::I64, ir.binary(OpCode::Xor, Type::I64, x, y), ir.const_i64(0));
      note_untouched_dividend(e, r, a, size(x), size(y), agree);
    }
    return r;
  }
  if (!divisor || *divisor == -1) {
    ValueId fits = ir.binary(OpCode::Or, Type::I1, ir.binary(OpCode::Ne, Type::I64, x, ir.const_i64(INT64_MIN)),
                             ir.binary(OpCode::Ne, Type::I64, y, ir.const_i64(-1)));
    ir.guard(fits, ExitReason::Overflow, e.before());
  }
  return make_sym(e, PyKind::Int, ir.binary(OpCode::FloorDiv, Type::I64, x, y));
}

// int / int is the correctly rounded quotient: one double division when both are exact doubles, else leave.
Result<Sym> int_true_divide(Emit& e, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  guard_exact_double(e, a);
  guard_exact_double(e, b);
  ValueId x = to_f64(e, a), y = to_f64(e, b);
  if (auto d = known_int(b); !d || *d == 0) {
    ir.guard(ir.binary(OpCode::Ne, Type::F64, y, ir.const_f64(0.0)), ExitReason::ZeroDivide, e.before());
  }
  return make_sym(e, PyKind::Float, ir.binary(OpCode::Div, Type::F64, x, y));
}

// Negative counts raise: leave. Right shifts by more than 63 are shifts by 63; left shifts must have a count below 64.
Result<Sym> int_shift(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  ValueId x = to_i64(e, a), count = to_i64(e, b);
  auto n = known_int(b);
  bool known_small = n && *n >= 0 && *n <= 63;
  if (op == BinaryOp::kRshift) {
    if (!known_small) {
      ir.guard(ir.binary(OpCode::Ge, Type::I64, count, ir.const_i64(0)), ExitReason::Domain, e.before());
      count = ir.select(Type::I64, ir.binary(OpCode::Lt, Type::I64, count, ir.const_i64(63)), count, ir.const_i64(63));
    }
    return make_sym(e, PyKind::Int, ir.binary(OpCode::Shr, Type::I64, x, count));
  }
  if (!known_small) guard_i64_range(e, count, 0, 63, ExitReason::Overflow);
  return make_sym(e, PyKind::Int, ir.checked(OpCode::ShlO, Type::I64, {x, count}, e.before()));
}

Result<Sym> float_power(Emit& e, const Sym& a, const Sym& b);

// int ** small known exponent as checked products (every intermediate fits if the result does: |x|^k <= |x|^n), other exponents through
// helpers. Negative exponents give floats: known ones are powers of floats, others leave.
Result<Sym> int_power(Emit& e, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  auto n = known_int(b);
  if (n && *n < 0) {
    guard_exact_double(e, a);
    return float_power(e, a, b);
  }
  if (n && *n == 0) return make_sym(e, PyKind::Int, ir.const_i64(1));
  ValueId x = to_i64(e, a), r = x;
  if (n && *n <= kMaxUnrolledPower) {
    for (int64_t k = 1; k < *n; ++k) r = ir.checked(OpCode::MulO, Type::I64, {r, x}, e.before());
    return make_sym(e, PyKind::Int, r);
  }
  ValueId exponent = to_i64(e, b);
  if (!n) ir.guard(ir.binary(OpCode::Ge, Type::I64, exponent, ir.const_i64(0)), ExitReason::Domain, e.before());
  ir.guard(ir.call(ir::HelperId::IntPowerFits, {x, exponent}), ExitReason::Overflow, e.before());
  return make_sym(e, PyKind::Int, ir.call(ir::HelperId::IntPower, {x, exponent}));
}

Result<Sym> int_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  auto checked = [&](OpCode code) { return make_sym(e, PyKind::Int, ir.checked(code, Type::I64, {to_i64(e, a), to_i64(e, b)}, e.before())); };
  auto bits = [&](OpCode code) {
    if (a.kind == PyKind::Bool && b.kind == PyKind::Bool) return make_bool(e, ir.binary(code, Type::I1, a.v[0], b.v[0]));
    Sym r = make_sym(e, PyKind::Int, ir.binary(code, Type::I64, to_i64(e, a), to_i64(e, b)));
    if (code != OpCode::And) return r;
    for (const Sym* s : {&a, &b}) {
      if (auto mask = known_int(*s); mask && *mask >= 0) return ranged(r, static_cast<uint64_t>(*mask));
    }
    return r;
  };
  switch (op) {
    case BinaryOp::kAdd: return checked(OpCode::AddO);
    case BinaryOp::kSubtract: return checked(OpCode::SubO);
    case BinaryOp::kMultiply: return checked(OpCode::MulO);
    case BinaryOp::kAnd: return bits(OpCode::And);
    case BinaryOp::kOr: return bits(OpCode::Or);
    case BinaryOp::kXor: return bits(OpCode::Xor);
    case BinaryOp::kFloorDivide:
    case BinaryOp::kRemainder: return int_division(e, op, a, b);
    case BinaryOp::kTrueDivide: return int_true_divide(e, a, b);
    case BinaryOp::kLshift:
    case BinaryOp::kRshift: return int_shift(e, op, a, b);
    case BinaryOp::kPower: return int_power(e, a, b);
    case BinaryOp::kMatmul: return unsupported(e, "@", a, b);
  }
  return unsupported(e, "operator", a, b);
}

// float ** float is C pow for finite operands where it neither raises nor turns complex. The result must be a normal number (or come
// from zero): CPython looks at errno, which the C library may set for results that underflow (SEMANTICS D4.12).
Result<Sym> float_power(Emit& e, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  ValueId x = to_f64(e, a), y = to_f64(e, b), zero = ir.const_f64(0.0);
  auto all = [&](ValueId p, ValueId q) { return ir.binary(OpCode::And, Type::I1, p, q); };
  auto any = [&](ValueId p, ValueId q) { return ir.binary(OpCode::Or, Type::I1, p, q); };
  auto exponent = known_real(b);
  ValueId ok = ir.unary(OpCode::IsFinite, Type::F64, x);
  if (!exponent) ok = all(ok, ir.unary(OpCode::IsFinite, Type::F64, y));
  if (!exponent || *exponent != static_cast<double>(static_cast<int64_t>(*exponent))) {
    ValueId whole = ir.binary(OpCode::Eq, Type::F64, ir.unary(OpCode::Floor, Type::F64, y), y);
    ok = all(ok, any(ir.binary(OpCode::Ge, Type::F64, x, zero), whole));
  }
  if (!exponent || *exponent < 0) {
    ok = all(ok, any(ir.binary(OpCode::Ne, Type::F64, x, zero), ir.binary(OpCode::Ge, Type::F64, y, zero)));
  }
  ir.guard(ok, ExitReason::Domain, e.before());
  ValueId r = ir.call(ir::HelperId::PowF64, {x, y});
  ValueId normal = ir.binary(OpCode::Ge, Type::F64, ir.unary(OpCode::Abs, Type::F64, r), ir.const_f64(2.2250738585072014e-308));
  ValueId good = all(ir.unary(OpCode::IsFinite, Type::F64, r), any(normal, ir.binary(OpCode::Eq, Type::F64, x, zero)));
  ir.guard(good, ExitReason::Domain, e.before());
  return make_sym(e, PyKind::Float, r);
}

Result<Sym> float_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  auto simple = [&](OpCode code) { return make_sym(e, PyKind::Float, ir.binary(code, Type::F64, to_f64(e, a), to_f64(e, b))); };
  auto divide = [&](OpCode code) {
    if (auto d = known_real(b); !d || *d == 0) {
      ir.guard(ir.binary(OpCode::Ne, Type::F64, to_f64(e, b), ir.const_f64(0.0)), ExitReason::ZeroDivide, e.before());
    }
    return simple(code);
  };
  switch (op) {
    case BinaryOp::kAdd: return simple(OpCode::Add);
    case BinaryOp::kSubtract: return simple(OpCode::Sub);
    case BinaryOp::kMultiply: return simple(OpCode::Mul);
    case BinaryOp::kTrueDivide: return divide(OpCode::Div);
    case BinaryOp::kFloorDivide: return divide(OpCode::FloorDiv);
    case BinaryOp::kRemainder: return divide(OpCode::FloorMod);
    case BinaryOp::kPower: return float_power(e, a, b);
    default: return unsupported(e, "bit operator", a, b);
  }
}

Sym as_np_u64(const Sym& s) {
  if (s.kind != PyKind::IntU64) return s;
  Sym out;
  out.kind = PyKind::NpUint64;
  out.v[0] = s.v[0];
  return out;
}

}  // namespace

Result<Sym> binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  if (a.kind == PyKind::IntU64 || b.kind == PyKind::IntU64) {
    if (auto r = wide_binary(e, op, a, b)) return narrow_int(e, *r);
    // With np.uint64 the very type of NumPy; with others a value that does not fit Int raises or is rare.
    if (a.kind == PyKind::NpUint64 || b.kind == PyKind::NpUint64) return np_binary(e, op, as_np_u64(a), as_np_u64(b));
    return binary(e, op, plain_int(e, a), plain_int(e, b));
  }
  if (!is_number(a.kind) || !is_number(b.kind)) return unsupported(e, "operator", a, b);
  if (is_complex_number(a.kind) || is_complex_number(b.kind)) return complex_binary(e, op, a, b);
  if (is_py_number(a.kind) && is_py_number(b.kind)) {
    if (a.kind == PyKind::Float || b.kind == PyKind::Float) return float_binary(e, op, a, b);
    return int_binary(e, op, a, b);
  }
  return np_binary(e, op, a, b);
}

}  // namespace hotloop::tracer
