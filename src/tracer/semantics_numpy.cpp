// Binary operators where a NumPy scalar takes part (SEMANTICS D1, D3, D4): promotion with weak Python numbers, and checks in the place
// of NumPy's warnings: whatever would warn leaves before the operation.
#include "tracer/semantics_binary.h"

namespace hotloop::tracer {

namespace {

// The operand in the result's type. Weak Python ints must fit an integer result type (else OverflowError: leave).
ValueId operand(Emit& e, const Sym& s, Type type) {
  if (s.kind == PyKind::Int && is_int(type)) return weak_int_to(e, s, type);
  if (s.kind == PyKind::Int && type == Type::F32) return e.b().conv(Type::F32, to_f64(e, s));  // NumPy goes through double
  return to_type(e, s, type);
}

Result<Sym> np_bool_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  auto logic = [&](OpCode code) { return make_sym(e, PyKind::NpBool, ir.binary(code, Type::I1, a.v[0], b.v[0])); };
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kOr: return logic(OpCode::Or);
    case BinaryOp::kMultiply:
    case BinaryOp::kAnd: return logic(OpCode::And);
    case BinaryOp::kXor: return logic(OpCode::Xor);
    default: return unsupported(e, "operator", a, b);
  }
}

// Integer division: a zero divisor warns and MIN // -1 overflows: leave.
Sym np_int_division(Emit& e, BinaryOp op, PyKind kind, ValueId x, ValueId y) {
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  ir.guard(ir.binary(OpCode::Ne, type, y, ir.const_bits(type, 0)), ExitReason::ZeroDivide, e.before());
  if (op == BinaryOp::kRemainder) return make_sym(e, kind, ir.binary(OpCode::FloorMod, type, x, y));
  if (is_signed(type)) {
    ValueId fits = ir.binary(OpCode::Or, Type::I1, ir.binary(OpCode::Ne, type, x, ir.const_bits(type, int_range(type).lo)),
                             ir.binary(OpCode::Ne, type, y, ir.const_bits(type, -1)));
    ir.guard(fits, ExitReason::Overflow, e.before());
  }
  return make_sym(e, kind, ir.binary(OpCode::FloorDiv, type, x, y));
}

// Counts outside [0, width) have their own rule (0 or -1): left to the interpreter.
Sym np_shift(Emit& e, BinaryOp op, PyKind kind, ValueId x, ValueId count) {
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  int width = ir::type_size(type) * 8;
  ValueId ok = ir.binary(OpCode::Lt, type, count, ir.const_bits(type, width));
  if (is_signed(type)) ok = ir.binary(OpCode::And, Type::I1, ok, ir.binary(OpCode::Ge, type, count, ir.const_bits(type, 0)));
  ir.guard(ok, ExitReason::Overflow, e.before());
  return make_sym(e, kind, ir.binary(op == BinaryOp::kLshift ? OpCode::Shl : OpCode::Shr, type, x, count));
}

// Integer powers wrap silently; only small known non-negative exponents are compiled.
Result<Sym> np_int_power(Emit& e, PyKind kind, const Sym& a, const Sym& b) {
  auto n = known_int(b);
  if (!n || *n < 0 || *n > kMaxUnrolledPower || !is_np_int(a.kind)) return unsupported(e, "**", a, b);
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  ValueId x = operand(e, a, type), r = *n == 0 ? ir.const_bits(type, 1) : x;
  for (int64_t k = 1; k < *n; ++k) r = ir.binary(OpCode::Mul, type, r, x);
  return make_sym(e, kind, r);
}

Result<Sym> np_int_binary(Emit& e, BinaryOp op, PyKind kind, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  if (op == BinaryOp::kPower) return np_int_power(e, kind, a, b);
  ValueId x = operand(e, a, type), y = operand(e, b, type);
  auto checked = [&](OpCode code) { return make_sym(e, kind, ir.checked(code, type, {x, y}, e.before())); };
  switch (op) {
    case BinaryOp::kAdd: return checked(OpCode::AddO);
    case BinaryOp::kSubtract: return checked(OpCode::SubO);
    case BinaryOp::kMultiply: return checked(OpCode::MulO);
    case BinaryOp::kAnd: return make_sym(e, kind, ir.binary(OpCode::And, type, x, y));
    case BinaryOp::kOr: return make_sym(e, kind, ir.binary(OpCode::Or, type, x, y));
    case BinaryOp::kXor: return make_sym(e, kind, ir.binary(OpCode::Xor, type, x, y));
    case BinaryOp::kFloorDivide:
    case BinaryOp::kRemainder: return np_int_division(e, op, kind, x, y);
    case BinaryOp::kLshift:
    case BinaryOp::kRshift: return np_shift(e, op, kind, x, y);
    default: return unsupported(e, "operator", a, b);
  }
}

// // and % of floats: finite operands, non-zero divisor, finite result; all else warns or is rare: leave.
Sym np_float_floor(Emit& e, OpCode code, PyKind kind, ValueId x, ValueId y) {
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  ValueId zero = ir.const_bits(type, 0);
  auto both = [&](ValueId p, ValueId q) { return ir.binary(OpCode::And, Type::I1, p, q); };
  ValueId ok = both(both(ir.unary(OpCode::IsFinite, type, x), ir.unary(OpCode::IsFinite, type, y)), ir.binary(OpCode::Ne, type, y, zero));
  ir.guard(ok, ExitReason::FpWarning, e.before());
  ValueId r = ir.binary(code, type, x, y);
  ir.guard(ir.unary(OpCode::IsFinite, type, r), ExitReason::FpWarning, e.before());
  return make_sym(e, kind, r);
}

Result<Sym> np_float_binary(Emit& e, BinaryOp op, PyKind kind, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  // Scalar powers are C pow only where both operands convert safely to the result type; integer scalars take the array loop (D3.5, D4.12).
  if (op == BinaryOp::kPower && (is_np_int(a.kind) || is_np_int(b.kind) || a.kind == PyKind::NpBool || b.kind == PyKind::NpBool)) {
    return unsupported(e, "**", a, b);
  }
  // A Python float that is weak against float32 may overflow in the conversion (a warning): leave.
  auto convert = [&](const Sym& s) {
    return s.kind == PyKind::Float && type == Type::F32 && !s.is_const() ? f64_to_f32_checked(e, s.v[0]) : operand(e, s, type);
  };
  for (const Sym* s : {&a, &b}) {
    if (auto v = known_real(*s); v && type == Type::F32 && s->kind == PyKind::Float && (*v > 3.4e38 || *v < -3.4e38)) return unsupported(e, "operator", a, b);
  }
  ValueId x = convert(a), y = convert(b);
  auto reported = [&](ValueId r) {
    ir.fcheck(type, r, {x, y}, e.before());
    return make_sym(e, kind, r);
  };
  switch (op) {
    case BinaryOp::kAdd: return reported(ir.binary(OpCode::Add, type, x, y));
    case BinaryOp::kSubtract: return reported(ir.binary(OpCode::Sub, type, x, y));
    case BinaryOp::kMultiply: return reported(ir.binary(OpCode::Mul, type, x, y));
    case BinaryOp::kTrueDivide: return reported(ir.binary(OpCode::Div, type, x, y));
    case BinaryOp::kFloorDivide: return np_float_floor(e, OpCode::FloorDiv, kind, x, y);
    case BinaryOp::kRemainder: return np_float_floor(e, OpCode::FloorMod, kind, x, y);
    case BinaryOp::kPower: return reported(ir.call(type == Type::F64 ? ir::HelperId::PowF64 : ir::HelperId::PowF32, {x, y}));
    default: return unsupported(e, "bit operator", a, b);
  }
}

}  // namespace

Result<Sym> np_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  PyKind kind = promote(a.kind, b.kind);
  if (kind == PyKind::Unbound) return unsupported(e, "operator", a, b);
  if (op == BinaryOp::kTrueDivide && !is_np_real_float(kind)) kind = PyKind::NpFloat64;  // D1.9
  if (is_np_real_float(kind)) return np_float_binary(e, op, kind, a, b);
  if (kind == PyKind::NpBool) return np_bool_binary(e, op, a, b);
  return np_int_binary(e, op, kind, a, b);
}

}  // namespace hotloop::tracer
