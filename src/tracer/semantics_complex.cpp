// Binary operators and comparisons of complex numbers: Python's (SEMANTICS D4, D4.4) and those of NumPy's scalars (D4.15, D2.8).
//
// See semantics_binary.h. NumPy's scalars warn where the processor raises a flag: whatever is not finite leaves before the operation.
#include "tracer/semantics_binary.h"

namespace hotloop::tracer {

namespace {

// Arithmetic on parts of one type.
struct Parts {
  ir::Builder& ir;
  Type type;
  ValueId bin(OpCode code, ValueId p, ValueId q) const { return ir.binary(code, type, p, q); }
  ValueId pick(ValueId c, ValueId p, ValueId q) const { return ir.select(type, c, p, q); }
  ValueId both(ValueId p, ValueId q) const { return ir.binary(OpCode::And, Type::I1, p, q); }
  ValueId finite(ValueId v) const { return ir.unary(OpCode::IsFinite, type, v); }
  ValueId finite(ComplexParts z) const { return both(finite(z.re), finite(z.im)); }
  ComplexParts add(OpCode code, ComplexParts a, ComplexParts b) const { return {bin(code, a.re, b.re), bin(code, a.im, b.im)}; }
  ComplexParts product(ComplexParts a, ComplexParts b) const {
    return {bin(OpCode::Sub, bin(OpCode::Mul, a.re, b.re), bin(OpCode::Mul, a.im, b.im)),
            bin(OpCode::Add, bin(OpCode::Mul, a.re, b.im), bin(OpCode::Mul, a.im, b.re))};
  }
};

// Smith's method with the larger part of the divisor as pivot.
struct Smith {
  ValueId by_re;  // whether the real part is the pivot
  ValueId pivot, ratio, denominator;
};
Smith smith(const Parts& p, ComplexParts b, ValueId* abs_re, ValueId* abs_im) {
  Smith s;
  *abs_re = p.ir.unary(OpCode::Abs, p.type, b.re);
  *abs_im = p.ir.unary(OpCode::Abs, p.type, b.im);
  s.by_re = p.bin(OpCode::Ge, *abs_re, *abs_im);
  s.pivot = p.pick(s.by_re, b.re, b.im);
  ValueId other = p.pick(s.by_re, b.im, b.re);
  s.ratio = p.bin(OpCode::Div, other, s.pivot);
  s.denominator = p.bin(OpCode::Add, s.pivot, p.bin(OpCode::Mul, other, s.ratio));
  return s;
}
ComplexParts smith_numerators(const Parts& p, ComplexParts a, const Smith& s) {
  ValueId re = p.bin(OpCode::Add, p.pick(s.by_re, a.re, a.im), p.bin(OpCode::Mul, p.pick(s.by_re, a.im, a.re), s.ratio));
  ValueId im_by_re = p.bin(OpCode::Sub, a.im, p.bin(OpCode::Mul, a.re, s.ratio));
  ValueId im_by_im = p.bin(OpCode::Sub, p.bin(OpCode::Mul, a.im, s.ratio), a.re);
  return {re, p.pick(s.by_re, im_by_re, im_by_im)};
}

// CPython divides by the denominator. A zero divisor raises; a NaN part takes a third way. Both leave.
Sym python_divide(Emit& e, const Parts& p, ComplexParts a, ComplexParts b) {
  ir::Builder& ir = e.b();
  ValueId abs_re, abs_im;
  Smith s = smith(p, b, &abs_re, &abs_im);
  ValueId ordered = ir.binary(OpCode::Or, Type::I1, s.by_re, p.bin(OpCode::Ge, abs_im, abs_re));
  ir.guard(p.both(ordered, p.bin(OpCode::Ne, s.pivot, ir.const_f64(0.0))), ExitReason::ZeroDivide, e.before());
  ComplexParts n = smith_numerators(p, a, s);
  return make_sym(e, PyKind::Complex, p.bin(OpCode::Div, n.re, s.denominator), p.bin(OpCode::Div, n.im, s.denominator));
}

// NumPy multiplies by the reciprocal of the denominator; an infinite one (overflow) would make a finite result: it is checked, too.
ComplexParts numpy_quotient(Emit& e, const Parts& p, ComplexParts a, ComplexParts b) {
  ValueId abs_re, abs_im;
  Smith s = smith(p, b, &abs_re, &abs_im);
  e.b().guard(p.finite(s.denominator), ExitReason::FpWarning, e.before());
  ValueId one = p.type == Type::F64 ? e.b().const_f64(1.0) : e.b().const_f32(1.0F);
  ValueId scale = p.bin(OpCode::Div, one, s.denominator);
  ComplexParts n = smith_numerators(p, a, s);
  return {p.bin(OpCode::Mul, n.re, scale), p.bin(OpCode::Mul, n.im, scale)};
}

// z ** n for a small known n. CPython squares repeatedly, starting from 1+0j.
ComplexParts python_power(const Parts& p, ComplexParts z, int64_t n) {
  ComplexParts r{p.ir.const_f64(1.0), p.ir.const_f64(0.0)};
  for (int64_t mask = 1; mask <= n; mask <<= 1) {
    if ((n & mask) != 0) r = p.product(r, z);
    if ((mask << 1) <= n) z = p.product(z, z);
  }
  return r;
}

Result<Sym> python_complex(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  Parts p{ir, Type::F64};
  if (op == BinaryOp::kPower) {
    auto n = known_int(b);
    if (!n || *n < 1 || *n > kMaxUnrolledPower || a.kind != PyKind::Complex) return complex_power(e, a, b, PyKind::Complex);
    ComplexParts r = python_power(p, {a.v[0], a.v[1]}, *n);
    ir.guard(p.finite(r), ExitReason::Domain, e.before());
    return make_sym(e, PyKind::Complex, r.re, r.im);
  }
  if (op != BinaryOp::kAdd && op != BinaryOp::kSubtract && op != BinaryOp::kMultiply && op != BinaryOp::kTrueDivide) return unsupported(e, "operator", a, b);
  ComplexParts x = to_complex(e, a), y = to_complex(e, b);
  if (op == BinaryOp::kTrueDivide) return python_divide(e, p, x, y);
  ComplexParts r = op == BinaryOp::kMultiply ? p.product(x, y) : p.add(op == BinaryOp::kAdd ? OpCode::Add : OpCode::Sub, x, y);
  return make_sym(e, PyKind::Complex, r.re, r.im);
}

// The product in NumPy's array loop, which may be fused: where neither operand's type holds the other's values (D2.8).
Result<ComplexParts> loop_product(Emit& e, const Parts& p, ComplexParts a, ComplexParts b) {
  bool wide = p.type == Type::F64;
  ir::HelperId re = wide ? ir::HelperId::NpMultiplyReC128 : ir::HelperId::NpMultiplyReC64;
  ir::HelperId im = wide ? ir::HelperId::NpMultiplyImC128 : ir::HelperId::NpMultiplyImC64;
  if (e.helpers().at(re) == nullptr || e.helpers().at(im) == nullptr) return e.refuse(RefusalReason::kUnsupportedOperands, "product of complex numbers");
  return ComplexParts{e.b().call(re, {a.re, a.im, b.re, b.im}), e.b().call(im, {a.re, a.im, b.re, b.im})};
}

// Whether the operation is NumPy's scalar arithmetic; otherwise it is the ufunc's.
bool is_scalar_arithmetic(const Sym& a, const Sym& b, PyKind kind) {
  auto safe = [&](const Sym& s, const Sym& other) { return s.kind == kind && (is_np_scalar(other.kind) || is_py_number(other.kind)); };
  return safe(a, b) || safe(b, a);
}

// NumPy's npy_cpow for a base that is not zero and a small whole exponent.
ComplexParts numpy_power(const Parts& p, Emit& e, const Sym& a, int64_t n) {
  ir::Builder& ir = e.b();
  ComplexParts z{a.v[0], a.v[1]};
  ValueId zero = ir.const_bits(p.type, 0);
  ir.guard(ir.binary(OpCode::Or, Type::I1, p.bin(OpCode::Ne, z.re, zero), p.bin(OpCode::Ne, z.im, zero)), ExitReason::Domain, e.before());
  ComplexParts square = p.product(z, z);
  return n == 2 ? square : p.product(z, square);
}

}  // namespace

namespace {

// A Python complex in front of a np.float64 takes it for the float that it is (the other way round NumPy computes).
bool as_python_float(const Sym& a, const Sym& b) { return a.kind == PyKind::Complex && b.kind == PyKind::NpFloat64; }
Sym python_float(Sym s) {
  s.kind = PyKind::Float;
  s.object = nullptr;
  return s;
}

}  // namespace

Result<Sym> complex_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  if (as_python_float(a, b)) return python_complex(e, op, a, python_float(b));
  if (!is_np_scalar(a.kind) && !is_np_scalar(b.kind)) return python_complex(e, op, a, b);
  PyKind kind = promote(a.kind, b.kind);
  if (!is_np_complex(kind)) return unsupported(e, "operator", a, b);
  Parts p{e.b(), part_type(kind)};
  Result<ComplexParts> r = ComplexParts{};
  if (op == BinaryOp::kPower) {
    auto n = known_int(b);
    if (!n || (*n != 2 && *n != 3) || a.kind != kind) return complex_power(e, a, b, kind);
    r = numpy_power(p, e, a, *n);
  } else {
    ComplexParts x = to_complex(e, a, p.type), y = to_complex(e, b, p.type);
    switch (op) {
      case BinaryOp::kAdd: r = p.add(OpCode::Add, x, y); break;
      case BinaryOp::kSubtract: r = p.add(OpCode::Sub, x, y); break;
      case BinaryOp::kTrueDivide: r = numpy_quotient(e, p, x, y); break;
      case BinaryOp::kMultiply:
        if (is_scalar_arithmetic(a, b, kind)) r = p.product(x, y);
        else r = loop_product(e, p, x, y);
        break;
      default: return unsupported(e, "operator", a, b);
    }
  }
  if (!r) return r.refusal();
  e.b().guard(p.finite(*r), ExitReason::FpWarning, e.before());
  return make_sym(e, kind, r->re, r->im);
}

Result<Sym> complex_compare(Emit& e, CompareOp op, const Sym& a, const Sym& b) {
  if (as_python_float(a, b)) return complex_compare(e, op, a, python_float(b));
  ir::Builder& ir = e.b();
  bool python = !is_np_scalar(a.kind) && !is_np_scalar(b.kind);
  bool equality = op == CompareOp::kEq || op == CompareOp::kNe;
  if (python && !equality) return unsupported(e, "ordering comparison", a, b);
  PyKind kind = python ? PyKind::Complex : promote(a.kind, b.kind);
  if (!is_complex_number(kind)) return unsupported(e, "comparison", a, b);
  if (python) {  // exact: an int beyond 2^53 is not rounded
    guard_exact_double(e, a);
    guard_exact_double(e, b);
  }
  Parts p{ir, part_type(kind)};
  ComplexParts x = to_complex(e, a, p.type), y = to_complex(e, b, p.type);
  auto result = [&](ValueId v) { return python ? make_bool(e, v) : make_sym(e, PyKind::NpBool, v); };
  if (equality) {
    OpCode code = op == CompareOp::kEq ? OpCode::Eq : OpCode::Ne;
    return result(ir.binary(op == CompareOp::kEq ? OpCode::And : OpCode::Or, Type::I1, p.bin(code, x.re, y.re), p.bin(code, x.im, y.im)));
  }
  // Lexicographic; a NaN anywhere has rules of its own.
  auto number = [&](ValueId v) { return p.bin(OpCode::Eq, v, v); };
  ir.guard(p.both(p.both(number(x.re), number(x.im)), p.both(number(y.re), number(y.im))), ExitReason::Domain, e.before());
  OpCode strict = op == CompareOp::kLt || op == CompareOp::kLe ? OpCode::Lt : OpCode::Gt;
  OpCode code = op == CompareOp::kLt ? OpCode::Lt : op == CompareOp::kLe ? OpCode::Le : op == CompareOp::kGt ? OpCode::Gt : OpCode::Ge;
  ValueId tie = p.both(p.bin(OpCode::Eq, x.re, y.re), p.bin(code, x.im, y.im));
  return result(ir.binary(OpCode::Or, Type::I1, p.bin(strict, x.re, y.re), tie));
}

}  // namespace hotloop::tracer
