// Integer arithmetic and bits. Needs emitter.h. Promises: results are in canonical form (emitter.h); `to` may be the register of the
// first operand, and of the second one where reads_late() in registers.cpp does not say otherwise.
#include <bit>
#include <cassert>

#include "codegen/emitter.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

namespace {
bool same(const Gp& a, const Operand& b) { return b.isReg() && b.id() == a.id(); }
}  // namespace

void Emitter::extend(const Gp& reg, Type type) {
  switch (type) {
    case Type::I8: cc_.movsx(reg.r32(), reg.r8()); break;
    case Type::U8: cc_.movzx(reg.r32(), reg.r8()); break;
    case Type::I16: cc_.movsx(reg.r32(), reg.r16()); break;
    case Type::U16: cc_.movzx(reg.r32(), reg.r16()); break;
    default: break;
  }
}

void Emitter::int_binary(InstId inst, const Gp& to, const Gp& a, const Operand& b, bool commutes) {
  if (to.id() == a.id()) {
    cc_.emit(inst, to, b);
  } else if (same(to, b)) {
    assert(commutes);
    (void)commutes;
    cc_.emit(inst, to, a);
  } else {
    move_gp(to, a);
    cc_.emit(inst, to, b);
  }
}

void Emitter::int_arith(const Op& op, InstId inst, bool commutes) {
  ValueId a = op.operands[0], b = op.operands[1];
  if (commutes && is_const(a)) std::swap(a, b);
  Gp to = sized(result_gp(op), op.type);
  Gp left = sgp(a);
  Operand right = gp_operand(b);
  bool apart = to.id() != left.id() && !same(to, right);
  if (apart && inst == I::kIdAdd && right.isReg()) {
    cc_.lea(to, x86::ptr(left.r64(), right.as<Gp>().r64()));
  } else if (apart && inst == I::kIdAdd) {
    cc_.lea(to, x86::ptr(left.r64(), right.as<Imm>().valueAs<int32_t>()));
  } else if (apart && inst == I::kIdSub && right.isImm() && right.as<Imm>().value() != INT32_MIN) {
    cc_.lea(to, x86::ptr(left.r64(), -right.as<Imm>().valueAs<int32_t>()));
  } else {
    int_binary(inst, to, left, right, commutes);
  }
  extend(to, op.type);
}

void Emitter::int_mul(const Gp& to, const Gp& a, const Operand& b) {
  if (b.isImm()) cc_.imul(to, a, b.as<Imm>());
  else int_binary(I::kIdImul, to, a, b, true);
}

void Emitter::int_mul_op(const Op& op) {
  ValueId a = op.operands[0], b = op.operands[1];
  if (is_const(a)) std::swap(a, b);
  Gp to = sized(result_gp(op), op.type);
  auto factor = is_const(b) ? static_cast<uint64_t>(const_bits(b)) : 0;
  if (factor != 0 && std::has_single_bit(factor)) {
    Gp left = sgp(a);
    move_gp(to, left);
    if (factor != 1) cc_.shl(to, Imm(std::countr_zero(factor)));
  } else {
    int_mul(to, sgp(a), gp_operand(b));
  }
  extend(to, op.type);
}

void Emitter::emit_Add(const Op& op) {
  if (is_float(op.type)) float_arith(op, {I::kIdVaddsd, I::kIdAddsd, I::kIdVaddss, I::kIdAddss});
  else int_arith(op, I::kIdAdd, true);
}

void Emitter::emit_Sub(const Op& op) {
  if (is_float(op.type)) float_arith(op, {I::kIdVsubsd, I::kIdSubsd, I::kIdVsubss, I::kIdSubss});
  else int_arith(op, I::kIdSub, false);
}

void Emitter::emit_Mul(const Op& op) {
  if (is_float(op.type)) float_arith(op, {I::kIdVmulsd, I::kIdMulsd, I::kIdVmulss, I::kIdMulss});
  else int_mul_op(op);
}

void Emitter::emit_MulHi(const Op& op) {
  Gp high = temp_gp(), low = temp_gp();
  move_gp(low, gp(op.operands[0]));
  Gp factor = sgp(op.operands[1]);
  if (is_signed(op.type)) cc_.imul(high, low, factor);
  else cc_.mul(high, low, factor);
  move_gp(result_gp(op), high);
}

void Emitter::emit_And(const Op& op) { int_arith(op, I::kIdAnd, true); }
void Emitter::emit_Or(const Op& op) { int_arith(op, I::kIdOr, true); }
void Emitter::emit_Xor(const Op& op) { int_arith(op, I::kIdXor, true); }

void Emitter::emit_Not(const Op& op) {
  Gp to = sized(result_gp(op), op.type);
  move_gp(to, gp(op.operands[0]));
  if (op.type == Type::I1) {
    cc_.xor_(to, Imm(1));
  } else {
    cc_.not_(to);
    extend(to, op.type);
  }
}

void Emitter::shift_into(const Gp& to, const Gp& a, ValueId count, InstId inst, InstId bmi_inst, Type type) {
  if (is_const(count)) {
    move_gp(to, a);
    int bits = wide(type) ? 63 : 31;
    if ((const_bits(count) & bits) != 0) cc_.emit(inst, sized(to, type), Imm(const_bits(count) & bits));
  } else if (options_.features.bmi2) {
    cc_.emit(bmi_inst, sized(to, type), sized(a, type), sized(gp(count), type));
  } else {
    Gp amount = gp(count);
    move_gp(to, a);
    cc_.emit(inst, sized(to, type), amount.r8());
  }
}

void Emitter::shift(const Op& op, InstId inst, InstId bmi_inst) {
  Gp to = result_gp(op);
  shift_into(to, gp(op.operands[0]), op.operands[1], inst, bmi_inst, op.type);
}

void Emitter::emit_Shl(const Op& op) {
  Gp to = result_gp(op);
  shift_into(to, gp(op.operands[0]), op.operands[1], I::kIdShl, I::kIdShlx, op.type);
  extend(to, op.type);
}

void Emitter::emit_Shr(const Op& op) {
  if (is_signed(op.type)) shift(op, I::kIdSar, I::kIdSarx);
  else shift(op, I::kIdShr, I::kIdShrx);
}

void Emitter::emit_Neg(const Op& op) {
  if (is_float(op.type)) {
    float_logic(I::kIdVxorps, I::kIdXorps, result_xmm(op), xmm(op.operands[0]), mask_const(op.type, true));
    return;
  }
  Gp to = sized(result_gp(op), op.type);
  move_gp(to, gp(op.operands[0]));
  cc_.neg(to);
  extend(to, op.type);
}

void Emitter::emit_Abs(const Op& op) {
  if (is_float(op.type)) {
    float_logic(I::kIdVandps, I::kIdAndps, result_xmm(op), xmm(op.operands[0]), mask_const(op.type, false));
    return;
  }
  Gp to = sized(result_gp(op), op.type);
  Gp from = sgp(op.operands[0]);
  move_gp(to, from);
  if (!is_signed(op.type)) return;
  Gp sign = sized(temp_gp(), op.type);
  move_gp(sign, from);
  cc_.sar(sign, Imm(wide(op.type) ? 63 : 31));
  cc_.xor_(to, sign);
  cc_.sub(to, sign);
  extend(to, op.type);
}

// ---- division ---------------------------------------------------------------------------------------------------
// Powers of two need no division: floor is what an arithmetic shift and a mask compute.
bool Emitter::divide_by_constant(const Op& op, bool want_mod) {
  ValueId b = op.operands[1];
  if (!is_const(b) || const_bits(b) <= 0) return false;
  if (!std::has_single_bit(static_cast<uint64_t>(const_bits(b)))) return divide_by_reciprocal(op, want_mod);
  int shift = std::countr_zero(static_cast<uint64_t>(const_bits(b)));
  Gp to = sized(result_gp(op), op.type);
  Gp from = gp(op.operands[0]);
  if (want_mod) {
    int64_t mask = const_bits(b) - 1;
    if (mask != static_cast<int32_t>(mask)) {
      Gp wide_mask = temp_gp();
      load_const(wide_mask, mask, false);
      move_gp(to, from);
      cc_.and_(to, sized(wide_mask, op.type));
    } else {
      move_gp(to, from);
      cc_.and_(to, Imm(mask));
    }
    return true;
  }
  move_gp(to, from);
  if (shift != 0) cc_.emit(is_signed(op.type) ? I::kIdSar : I::kIdShr, to, Imm(shift));
  return true;
}

// Other constants: a multiplication by a 64-bit reciprocal instead of a division (Granlund and Montgomery 1994). The dividend is first
// made non-negative and below 2^63, by its complement if need be: floor(n / d) = ~floor(~n / d). For such n, with
// s = ceil(log2 d) - 1 and m = floor(2^(64 + s) / d) + 1 < 2^64, floor(n / d) = n * m >> (64 + s).
bool Emitter::divide_by_reciprocal(const Op& op, bool want_mod) {
  Type type = op.type;
  if (type == Type::U64) return false;  // would need 65 bits
  auto d = static_cast<uint64_t>(const_bits(op.operands[1]));
  int shift = 63 - std::countl_zero(d);  // d is no power of two: ceil(log2 d) - 1
  auto reciprocal = static_cast<uint64_t>(((static_cast<unsigned __int128>(1) << (64 + shift)) / d) + 1);
  Gp to = result_gp(op);
  Gp from = temp_gp(), quotient = temp_gp(), high = temp_gp(), sign = temp_gp();
  conv_int_to_int(from, gp(op.operands[0]), Type::I64, type);
  move_gp(quotient, from);
  if (is_signed(type)) {
    move_gp(sign, from);
    cc_.sar(sign, Imm(63));
    cc_.xor_(quotient, sign);
  }
  Gp low = temp_gp();
  load_const(low, static_cast<int64_t>(reciprocal), false);
  cc_.mul(high, low, quotient);
  if (shift != 0) cc_.shr(high, Imm(shift));
  if (is_signed(type)) cc_.xor_(high, sign);
  if (!want_mod) {
    if (wide(type)) move_gp(to, high);
    else cc_.mov(to.r32(), high.r32());
    return true;
  }
  if (d <= INT32_MAX) {
    cc_.imul(high, high, Imm(static_cast<int64_t>(d)));
  } else {
    load_const(low, static_cast<int64_t>(d), false);
    cc_.imul(high, low);
  }
  cc_.sub(from, high);
  if (wide(type)) move_gp(to, from);
  else cc_.mov(to.r32(), from.r32());
  return true;
}

void Emitter::divide(const Op& op, bool want_mod) {
  if (divide_by_constant(op, want_mod)) return;
  Type type = op.type;
  Gp to = sized(result_gp(op), type);
  Gp b = sgp(op.operands[1]);
  Gp quotient = sized(temp_gp(), type), rest = sized(temp_gp(), type);
  Label done;
  bool may_be_minus_one = want_mod && is_signed(type) && type_size(type) >= 4 &&
                          !(is_const(op.operands[1]) && const_bits(op.operands[1]) != -1);
  if (may_be_minus_one) {  // the remainder is 0, but idiv traps for the smallest dividend
    done = new_label();
    load_const(to, 0, false);
    cc_.cmp(b, Imm(-1));
    jump_if(CondCode::kE, done);
  }
  move_gp(quotient, gp(op.operands[0]));
  if (!is_signed(type)) {
    cc_.xor_(rest.r32(), rest.r32());
    cc_.div(rest, quotient, b);
    move_gp(to, want_mod ? rest : quotient);
    return;
  }
  if (wide(type)) cc_.cqo(rest, quotient);
  else cc_.cdq(rest, quotient);
  cc_.idiv(rest, quotient, b);
  // Truncated to floored: where the remainder is not zero and has the other sign than b, one less (and b more).
  Gp differs = sized(temp_gp(), type);
  move_gp(differs, rest);
  cc_.xor_(differs, b);
  cc_.sar(differs, Imm(wide(type) ? 63 : 31));
  cc_.test(rest, rest);
  cc_.cmovz(differs, rest);
  if (want_mod) {
    cc_.and_(differs, b);
    cc_.add(rest, differs);
    move_gp(to, rest);
    if (may_be_minus_one) bind(done);
  } else {
    cc_.add(quotient, differs);
    move_gp(to, quotient);
  }
}

void Emitter::emit_FloorDiv(const Op& op) {
  if (is_float(op.type)) float_helper(op, HelperId::FloorDivF64, HelperId::FloorDivF32);
  else divide(op, false);
}

void Emitter::emit_FloorMod(const Op& op) {
  if (is_float(op.type)) float_helper(op, HelperId::FloorModF64, HelperId::FloorModF32);
  else divide(op, true);
}

}  // namespace hotloop::codegen
