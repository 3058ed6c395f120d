// Checked integer arithmetic, bound and fcheck. Needs emitter.h. Promises: what an exit's snapshot names is intact when the exit is taken
// (the analysis keeps those values apart from the result); the usual outcome falls through without a taken jump.
#include <bit>
#include <cmath>

#include "codegen/emitter.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

// For types narrower than the 32-bit operation that computed `value`.
void Emitter::exit_unless_fits(const Gp& value, Type type, Label exit) {
  Gp narrow = temp_gp().r32();
  cc_.mov(narrow, value.r32());
  extend(narrow, type);
  cc_.cmp(narrow, value.r32());
  jump_if(CondCode::kNE, exit);
}

void Emitter::add_sub_checked(const Op& op, InstId inst, bool commutes) {
  ValueId a = op.operands[0], b = op.operands[1];
  if (commutes && is_const(a)) std::swap(a, b);
  Label exit = exit_label(op);
  Gp to = sized(result_gp(op), op.type);
  int_binary(inst, to, sgp(a), gp_operand(b), commutes);
  if (type_size(op.type) < 4) exit_unless_fits(to, op.type, exit);
  else jump_if(is_signed(op.type) ? CondCode::kO : CondCode::kC, exit);
}

void Emitter::emit_AddO(const Op& op) { add_sub_checked(op, I::kIdAdd, true); }
void Emitter::emit_SubO(const Op& op) { add_sub_checked(op, I::kIdSub, false); }

void Emitter::emit_MulO(const Op& op) {
  ValueId a = op.operands[0], b = op.operands[1];
  if (is_const(a)) std::swap(a, b);
  Label exit = exit_label(op);
  Type type = op.type;
  Gp to = sized(result_gp(op), type);
  if (type == Type::U64) {
    Gp high = temp_gp(), low = temp_gp();
    move_gp(low, gp(a));
    cc_.mul(high, low, gp(b));
    jump_if(CondCode::kO, exit);
    move_gp(to, low);
  } else if (type == Type::U32) {
    Gp high = temp_gp();
    Gp factor = gp(b);
    move_gp(to, gp(a));
    cc_.imul(to.r64(), factor.r64());
    cc_.mov(high, to.r64());
    cc_.shr(high, Imm(32));
    jump_if(CondCode::kNE, exit);
  } else {
    int_mul(to, sgp(a), gp_operand(b));
    if (type_size(type) < 4) exit_unless_fits(to, type, exit);
    else jump_if(CondCode::kO, exit);
  }
}

void Emitter::emit_NegO(const Op& op) {
  Label exit = exit_label(op);
  Gp to = sized(result_gp(op), op.type);
  Gp from = sgp(op.operands[0]);
  if (is_unsigned(op.type)) {
    cc_.test(from, from);
    jump_if(CondCode::kNE, exit);
    load_const(to, 0, false);
    return;
  }
  move_gp(to, from);
  cc_.neg(to);
  if (type_size(op.type) < 4) exit_unless_fits(to, op.type, exit);
  else jump_if(CondCode::kO, exit);
}

void Emitter::emit_ShlO(const Op& op) {
  Label exit = exit_label(op);
  Gp to = result_gp(op);
  Gp from = gp(op.operands[0]);
  shift_into(to, from, op.operands[1], I::kIdShl, I::kIdShlx, op.type);
  extend(to, op.type);
  Gp back = temp_gp();
  bool arithmetic = is_signed(op.type);
  shift_into(back, to, op.operands[1], arithmetic ? I::kIdSar : I::kIdShr, arithmetic ? I::kIdSarx : I::kIdShrx, op.type);
  cc_.cmp(sized(back, op.type), sized(from, op.type));
  jump_if(CondCode::kNE, exit);
}

// One unsigned comparison on the usual way; negative indices take the other one.
void Emitter::emit_Bound(const Op& op) {
  Label exit = exit_label(op), wrap = new_label(), done = new_label();
  Gp to = result_gp(op);
  ValueId i = op.operands[0], n = op.operands[1];
  if (is_const(i) && const_bits(i) >= 0 && !is_const(n)) {
    cc_.emit(I::kIdCmp, gp(n), gp_operand(i));
    jump_if(CondCode::kLE, exit);
    load_const(to, const_bits(i), false);
    return;
  }
  move_gp(to, gp(i));
  cc_.emit(I::kIdCmp, to, gp_operand(n));
  jump_if(CondCode::kAE, wrap);
  bind_always(done);
  cold_.push_back([this, &op, exit, wrap, done, to, n] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(wrap);
    // `to` still holds i; an exit needs it no more (the snapshot's own copy is elsewhere).
    cc_.emit(I::kIdAdd, to, gp_operand(n));
    cc_.emit(I::kIdCmp, to, gp_operand(n));
    jump_if(CondCode::kB, done);
    jump(exit);
    (void)op;
  });
}

bool Emitter::is_finite_const(ValueId value) const {
  if (!is_const(value)) return false;
  if (type_of(value) == Type::F64) return std::isfinite(std::bit_cast<double>(const_bits(value)));
  return std::isfinite(std::bit_cast<float>(static_cast<uint32_t>(const_bits(value))));
}

// result - result is NaN exactly when the result is infinite or NaN; only then the operands are looked at.
void Emitter::emit_FCheck(const Op& op) {
  Label exit = exit_label(op), look = new_label(), done = new_label();
  Type type = op.type;
  Xmm difference = temp_xmm(type);
  self_difference(difference, type, xmm(op.operands[0]));
  compare_floats(type, difference, difference);
  jump_if(CondCode::kP, look);
  bind_always(done);
  cold_.push_back([this, &op, exit, look, done, type] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(look);
    Label nan = new_label();
    Xmm result = xmm(op.operands[0]);
    compare_floats(type, result, result);
    jump_if(CondCode::kP, nan);
    for (size_t k = 1; k < op.operands.size(); ++k) {
      if (is_finite_const(op.operands[k])) continue;
      Xmm operand_difference = temp_xmm(type);
      self_difference(operand_difference, type, xmm(op.operands[k]));
      compare_floats(type, operand_difference, operand_difference);
      jump_if(CondCode::kP, done);
    }
    jump(exit);
    bind(nan);
    for (size_t k = 1; k < op.operands.size(); ++k) {
      if (is_finite_const(op.operands[k])) continue;
      Xmm operand = xmm(op.operands[k]);
      compare_floats(type, operand, operand);
      jump_if(CondCode::kP, done);
    }
    jump(exit);
  });
}

}  // namespace hotloop::codegen
