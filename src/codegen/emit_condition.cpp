// Conditions: comparisons as flags, jumps on them, and as 0 or 1 in a register. Needs emitter.h.
// Promises: float comparisons are false for NaN (ne: true) and quiet: < and <= are turned round to `b > a`, which ucomis answers in the
// carry flag alone; only == and != look at parity.
#include <cassert>

#include "codegen/emitter.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

Flags Flags::negated() const {
  Flags other;
  other.code = x86::negateCond(code);
  other.parity = parity == Parity::kAndOrdered ? Parity::kOrUnordered : parity == Parity::kOrUnordered ? Parity::kAndOrdered : Parity::kIgnore;
  return other;
}

namespace {

CondCode int_code(OpCode code, bool is_signed) {
  switch (code) {
    case OpCode::Eq: return CondCode::kE;
    case OpCode::Ne: return CondCode::kNE;
    case OpCode::Lt: return is_signed ? CondCode::kL : CondCode::kB;
    case OpCode::Le: return is_signed ? CondCode::kLE : CondCode::kBE;
    case OpCode::Gt: return is_signed ? CondCode::kG : CondCode::kA;
    default: return is_signed ? CondCode::kGE : CondCode::kAE;
  }
}

}  // namespace

Flags Emitter::compare_ints(const Op& op) {
  ValueId a = op.operands[0], b = op.operands[1];
  CondCode code = int_code(op.code, is_signed(op.type));
  if (is_const(a) && !is_const(b)) {
    std::swap(a, b);
    code = x86::reverseCond(code);
  }
  Gp left = sgp(a);
  if (is_const(b) && const_bits(b) == 0) cc_.test(left, left);
  else cc_.emit(I::kIdCmp, left, gp_operand(b));
  return {code, Flags::Parity::kIgnore};
}

// Emits the compare of a comparison, isfinite, conversion to i1 or boolean load.
Flags Emitter::compare(const Op& op) {
  Type type = type_of(op.operands[0]);
  ValueId a = op.operands[0];
  if (op.code == OpCode::Load) {
    Mem byte = address(op);
    byte.setSize(1);
    cc_.cmp(byte, Imm(0));
    return {CondCode::kNE, Flags::Parity::kIgnore};
  }
  if (op.code == OpCode::IsFinite) {
    Xmm difference = temp_xmm(type);
    self_difference(difference, type, xmm(a));
    compare_floats(type, difference, difference);
    return {CondCode::kNP, Flags::Parity::kIgnore};
  }
  if (op.code == OpCode::Conv) {
    if (is_float(type)) {
      Xmm zero = temp_xmm(type);
      zero_xmm(zero);
      compare_floats(type, xmm(a), zero);
      return {CondCode::kNE, Flags::Parity::kOrUnordered};
    }
    cc_.test(sgp(a), sgp(a));
    return {CondCode::kNE, Flags::Parity::kIgnore};
  }
  if (!is_float(type)) return compare_ints(op);
  ValueId b = op.operands[1];
  switch (op.code) {
    case OpCode::Eq: compare_floats(type, xmm(a), xmm_operand(b)); return {CondCode::kE, Flags::Parity::kAndOrdered};
    case OpCode::Ne: compare_floats(type, xmm(a), xmm_operand(b)); return {CondCode::kNE, Flags::Parity::kOrUnordered};
    case OpCode::Gt: compare_floats(type, xmm(a), xmm_operand(b)); return {CondCode::kA, Flags::Parity::kIgnore};
    case OpCode::Ge: compare_floats(type, xmm(a), xmm_operand(b)); return {CondCode::kAE, Flags::Parity::kIgnore};
    case OpCode::Lt: compare_floats(type, xmm(b), xmm_operand(a)); return {CondCode::kA, Flags::Parity::kIgnore};
    default: compare_floats(type, xmm(b), xmm_operand(a)); return {CondCode::kAE, Flags::Parity::kIgnore};
  }
}

// One compare decides it: anything but a fused and / or.
bool Emitter::is_simple(ValueId condition) const {
  const ValueNote& value = note(condition);
  if (value.mode == Mode::kConst) return false;
  if (value.mode != Mode::kFused) return true;
  if (value.def->code == OpCode::Not) return is_simple(value.def->operands[0]);
  return value.def->code != OpCode::And && value.def->code != OpCode::Or;
}

Flags Emitter::test(ValueId condition) {
  const ValueNote& value = note(condition);
  if (value.mode != Mode::kFused) {
    Gp reg = sgp(condition);
    cc_.test(reg, reg);
    return {CondCode::kNE, Flags::Parity::kIgnore};
  }
  if (value.def->code == OpCode::Not) return test(value.def->operands[0]).negated();
  return compare(*value.def);
}

void Emitter::jump_flags(const Flags& flags, Label on_true, Label on_false) {
  if (flags.parity == Flags::Parity::kAndOrdered) jump_if(CondCode::kP, on_false);
  if (flags.parity == Flags::Parity::kOrUnordered) jump_if(CondCode::kP, on_true);
  jump_if(flags.code, on_true);
  jump(on_false);
}

void Emitter::branch(ValueId condition, Label on_true, Label on_false) {
  const ValueNote& value = note(condition);
  if (value.mode == Mode::kConst) {
    jump(const_bits(condition) != 0 ? on_true : on_false);
  } else if (is_simple(condition)) {
    jump_flags(test(condition), on_true, on_false);
  } else if (value.def->code == OpCode::Not) {
    branch(value.def->operands[0], on_false, on_true);
  } else {
    Label second = new_label();
    if (value.def->code == OpCode::And) branch(value.def->operands[0], second, on_false);
    else branch(value.def->operands[0], on_true, second);
    bind(second);
    branch(value.def->operands[1], on_true, on_false);
  }
}

// mov leaves the flags alone, and the byte that setcc writes then is not merged with unknown ones. Operands of the compare have been read.
void Emitter::set_flags(const Gp& to, const Flags& flags) {
  auto set = [this](CondCode code, const Gp& reg) {
    cc_.mov(reg.r32(), Imm(0));
    cc_.emit(I::setccFromCond(code), reg.r8());
  };
  if (flags.parity == Flags::Parity::kIgnore) {
    set(flags.code, to);
    return;
  }
  Gp parity = temp_gp();
  bool ordered = flags.parity == Flags::Parity::kAndOrdered;
  set(ordered ? CondCode::kNP : CondCode::kP, parity);
  set(flags.code, to);
  cc_.emit(ordered ? I::kIdAnd : I::kIdOr, to.r32(), parity.r32());
}

// A condition that is needed as a value.
void Emitter::materialize(const Op& op) {
  Flags flags = compare(op);
  set_flags(result_gp(op), flags);
}

void Emitter::emit_Eq(const Op& op) { materialize(op); }
void Emitter::emit_Ne(const Op& op) { materialize(op); }
void Emitter::emit_Lt(const Op& op) { materialize(op); }
void Emitter::emit_Le(const Op& op) { materialize(op); }
void Emitter::emit_Gt(const Op& op) { materialize(op); }
void Emitter::emit_Ge(const Op& op) { materialize(op); }
void Emitter::emit_IsFinite(const Op& op) { materialize(op); }

void Emitter::emit_Select(const Op& op) {
  if (is_float(op.type)) {
    float_select(op);
    return;
  }
  Gp to = result_gp(op);
  ValueId condition = op.operands[0], a = op.operands[1], b = op.operands[2];
  bool one_flag = is_simple(condition);
  Flags flags;
  if (one_flag) {
    // Constants first: loading them may not come between the compare and its user, except as a plain mov.
    flags = test(condition);
    one_flag = flags.parity == Flags::Parity::kIgnore;
    if (!one_flag) {
      Gp yes = gp(a);
      if (flags.parity == Flags::Parity::kAndOrdered) {
        move_gp(to, yes);
        Gp no = gp(b);
        cc_.cmovp(to, no);
        cc_.emit(I::cmovccFromCond(x86::negateCond(flags.code)), to, no);
      } else {
        Gp no = gp(b);
        move_gp(to, no);
        cc_.cmovp(to, yes);
        cc_.emit(I::cmovccFromCond(flags.code), to, yes);
      }
      return;
    }
  }
  if (one_flag) {
    if (in_register(a) && gp_place(a).id() == to.id()) {
      cc_.emit(I::cmovccFromCond(x86::negateCond(flags.code)), to, gp(b));
    } else {
      if (in_register(b)) move_gp(to, gp(b));
      else load_const(to, wide(op.type) ? const_bits(b) : static_cast<int64_t>(static_cast<uint32_t>(const_bits(b))), true);
      cc_.emit(I::cmovccFromCond(flags.code), to, gp(a));
    }
    return;
  }
  Label yes = new_label(), no = new_label(), done = new_label();
  branch(condition, yes, no);
  bind(yes);
  move_gp(to, gp(a));
  jump(done);
  bind(no);
  move_gp(to, gp(b));
  bind(done);
}

}  // namespace hotloop::codegen
