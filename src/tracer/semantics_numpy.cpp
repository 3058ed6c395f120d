// Binary operators on real numbers where a NumPy scalar takes part (SEMANTICS D1, D3, D4): promotion with weak Python numbers, and checks in
// the place of NumPy's warnings: whatever would warn leaves before the operation.
#include "tracer/semantics_binary.h"

namespace hotloop::tracer {

namespace {

bool is_bool(PyKind k) { return k == PyKind::Bool || k == PyKind::NpBool; }

// Two booleans: + and | are or, * and & are and; // % ** << >> work in int8 (Unbound here), - raises.
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

bool in_int8_for_bools(BinaryOp op) {
  return op == BinaryOp::kFloorDivide || op == BinaryOp::kRemainder || op == BinaryOp::kPower || op == BinaryOp::kLshift || op == BinaryOp::kRshift;
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

// Counts outside [0, width) give 0, or -1 for a right shift of a negative number (D3.6).
Sym np_shift(Emit& e, BinaryOp op, PyKind kind, ValueId x, ValueId count, std::optional<int64_t> known_count) {
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  Type unsigned_type = is_unsigned(type) ? type : static_cast<Type>(static_cast<int>(type) - static_cast<int>(Type::I8) + static_cast<int>(Type::U8));
  const int width = ir::type_size(type) * 8;
  OpCode code = op == BinaryOp::kLshift ? OpCode::Shl : OpCode::Shr;
  if (known_count && *known_count >= 0 && *known_count < width) return make_sym(e, kind, ir.binary(code, type, x, count));
  ValueId as_unsigned = unsigned_type == type ? count : ir.conv(unsigned_type, count);
  ValueId inside = ir.binary(OpCode::Lt, unsigned_type, as_unsigned, ir.const_bits(unsigned_type, width));
  ValueId small = ir.binary(OpCode::And, type, count, ir.const_bits(type, width - 1));
  ValueId beyond = code == OpCode::Shr && is_signed(type) ? ir.binary(OpCode::Shr, type, x, ir.const_bits(type, width - 1)) : ir.const_bits(type, 0);
  return make_sym(e, kind, ir.select(type, inside, ir.binary(code, type, x, small), beyond));
}

// Integer powers wrap silently; negative exponents raise: leave.
Sym np_int_power(Emit& e, PyKind kind, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  ValueId x = to_kind(e, a, kind);
  auto n = known_int(b);
  if (n && *n >= 0 && *n <= kMaxUnrolledPower) {
    ValueId r = *n == 0 ? ir.const_bits(type, 1) : x;
    for (int64_t k = 1; k < *n; ++k) r = ir.binary(OpCode::Mul, type, r, x);
    return make_sym(e, kind, r);
  }
  ValueId y = to_kind(e, b, kind);
  if (is_signed(type)) ir.guard(ir.binary(OpCode::Ge, type, y, ir.const_bits(type, 0)), ExitReason::Domain, e.before());
  auto wide = [&](ValueId v) { return type == Type::I64 ? v : ir.conv(Type::I64, v); };
  ValueId r = ir.call(ir::HelperId::IntPower, {wide(x), wide(y)});
  return make_sym(e, kind, type == Type::I64 ? r : ir.conv(type, r));
}

Result<Sym> np_int_binary(Emit& e, BinaryOp op, PyKind kind, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  if (op == BinaryOp::kPower) return np_int_power(e, kind, a, b);
  ValueId x = to_kind(e, a, kind), y = to_kind(e, b, kind);
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
    case BinaryOp::kRshift: return np_shift(e, op, kind, x, y, known_int(b));
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
  if (kind == PyKind::NpFloat16 && code == OpCode::FloorMod) {  // NumPy computes the quotient, too, which may overflow
    ValueId quotient = rounded(e, kind, ir.binary(OpCode::FloorDiv, type, x, y));
    ir.guard(ir.unary(OpCode::IsFinite, type, quotient), ExitReason::FpWarning, e.before());
  }
  ValueId r = rounded(e, kind, ir.binary(code, type, x, y));
  ir.guard(ir.unary(OpCode::IsFinite, type, r), ExitReason::FpWarning, e.before());
  return make_sym(e, kind, r);
}

// Scalar powers are C pow only where one operand has the result's type, into which the other converts safely; otherwise it is np.power's
// loop (D3.5, D4.12). Half precision works in float32.
Result<ValueId> np_float_power(Emit& e, PyKind kind, const Sym& a, const Sym& b, ValueId x, ValueId y) {
  bool scalar = a.kind == kind || b.kind == kind;
  bool wide = part_type(kind) == Type::F64;
  if (!scalar && kind == PyKind::NpFloat16) return unsupported(e, "**", a, b);
  ir::HelperId helper = scalar ? (wide ? ir::HelperId::PowF64 : ir::HelperId::PowF32) : (wide ? ir::HelperId::NpPowerF64 : ir::HelperId::NpPowerF32);
  if (e.helpers().at(helper) == nullptr) return unsupported(e, "**", a, b);
  return e.b().call(helper, {x, y});
}

Result<Sym> np_float_binary(Emit& e, BinaryOp op, PyKind kind, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  Type type = part_type(kind);
  ValueId x = to_kind(e, a, kind), y = to_kind(e, b, kind);
  auto reported = [&](ValueId r) {
    r = rounded(e, kind, r);
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
    case BinaryOp::kPower: {
      // 0 ** -inf: newer C libraries report a division by zero, and so NumPy warns.
      ValueId zero = ir.const_bits(type, 0);
      ValueId pole = ir.binary(OpCode::And, Type::I1, ir.binary(OpCode::Eq, type, x, zero), ir.binary(OpCode::Lt, type, y, zero));
      ir.guard(ir.unary(OpCode::Not, Type::I1, pole), ExitReason::FpWarning, e.before());
      auto r = np_float_power(e, kind, a, b, x, y);
      if (!r) return r.refusal();
      return reported(*r);
    }
    default: return unsupported(e, "bit operator", a, b);
  }
}

}  // namespace

Result<Sym> np_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  PyKind kind = promote(a.kind, b.kind);
  if (kind == PyKind::Unbound) return unsupported(e, "operator", a, b);
  bool floating = is_np_real_float(kind);
  if (op == BinaryOp::kTrueDivide && !floating) {  // D1.9
    kind = PyKind::NpFloat64;
    floating = true;
  }
  if (floating) return np_float_binary(e, op, kind, a, b);
  if (is_bool(a.kind) && is_bool(b.kind)) {
    if (!in_int8_for_bools(op)) return np_bool_binary(e, op, a, b);
    kind = PyKind::NpInt8;
  }
  return np_int_binary(e, op, kind, a, b);
}

}  // namespace hotloop::tracer
