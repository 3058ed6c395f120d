// The emitter's core: dispatch, registers, constants. See emitter.h.
#include "codegen/emitter.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "ir/text.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

Emitter::Emitter(x86::Compiler& cc, const Function& function, const Analysis& analysis, const HelperTable& helpers,
                 const EmitterOptions& options)
    : cc_(cc), f_(function), a_(analysis), helpers_(helpers), options_(options) {
  snapshot_exits_.assign(function.snapshots.size(), 0);
  snapshot_tails_.resize(function.snapshots.size());
}

bool Emitter::emit_function() {
  asmjit::FuncNode* node = nullptr;
  if (region_signature(cc_, &node) != asmjit::kErrorOk) return false;
  if (avx()) node->frame().setAvxEnabled();
  // Where an instruction wants a fixed register (division, shifts, calls), the register allocator may move another value out of the way into a register
  // that it does not count as used (seen in asmjit 2022-12-10): all that the caller expects back are saved.
  node->frame().addDirtyRegs(asmjit::RegGroup::kGp, asmjit::Support::bitMask(uint32_t{x86::Gp::kIdBx}, uint32_t{x86::Gp::kIdBp}, uint32_t{x86::Gp::kIdR12},
                                                                             uint32_t{x86::Gp::kIdR13}, uint32_t{x86::Gp::kIdR14}, uint32_t{x86::Gp::kIdR15}));
  for (const RegisterNote& reg : a_.registers) {
    if (reg.is_float) places_.push_back(cc_.newXmmSd());
    else places_.push_back(cc_.newUInt64());
    prefer_register(places_.back().as<asmjit::BaseReg>(), reg.depth);
  }
  Gp argument = cc_.newUIntPtr();
  node->setArg(0, argument);
  activation_slot_ = cc_.newStack(8, 8);
  activation_slot_.setSize(8);
  exit_id_ = cc_.newUInt32();
  return_ = new_label();
  cc_.mov(activation_slot_, argument);
  int poll_depth = -1;
  for_each_op(*f_.body, [&](Op& op, Block&) {
    if (op.code == OpCode::Poll) poll_depth = std::max(poll_depth, a_.depth_of(a_.note(&op).loop));
  });
  if (poll_depth >= 0) {
    breaker_ = cc_.newUIntPtr();
    prefer_register(breaker_, poll_depth);
    Gp never = cc_.newUIntPtr();  // without a breaker: the padding, which is zero
    cc_.mov(breaker_, x86::qword_ptr(argument, offsetof(Activation, breaker)));
    cc_.lea(never, x86::ptr(argument, offsetof(Activation, padding)));
    cc_.test(breaker_, breaker_);
    cc_.cmovz(breaker_, never);
  }
  Gp inputs = cc_.newUIntPtr();
  cc_.mov(inputs, x86::qword_ptr(argument, offsetof(Activation, in)));
  for (size_t k = 0; k < f_.body->params.size(); ++k) {
    ValueId param = f_.body->params[k];
    if (!in_register(param)) continue;
    auto offset = static_cast<int32_t>(8 * k);
    Type type = type_of(param);
    if (type == Type::F64) cc_.emit(avx() ? I::kIdVmovsd : I::kIdMovsd, xmm_place(param), x86::qword_ptr(inputs, offset));
    else if (type == Type::F32) cc_.emit(avx() ? I::kIdVmovss : I::kIdMovss, xmm_place(param), x86::dword_ptr(inputs, offset));
    else if (wide(type)) cc_.mov(gp_place(param), x86::qword_ptr(inputs, offset));
    else cc_.mov(gp_place(param).r32(), x86::dword_ptr(inputs, offset));
  }
  emit_block(*f_.body);
  emit_cold();
  bind_always(return_);
  cc_.ret(exit_id_);
  cc_.endFunc();
  return problem_.empty();
}

void Emitter::refuse(const std::string& problem) {
  if (problem_.empty()) problem_ = problem;
}

void Emitter::emit_block(const Block& block) {
  for (const Op* op : block.ops) {
    const OpNote& op_note = a_.note(op);
    if (op_note.dead || op->code == OpCode::Const) continue;
    if (op->code == OpCode::Yield && op_note.absorbed) continue;
    ValueId result = op->result();
    if (result != kNoValue && !op->has(kStructured)) {
      Mode mode = note(result).mode;
      if (mode == Mode::kFused || mode == Mode::kMemory || mode == Mode::kAtExit) continue;
    }
    emit_op(*op);
  }
}

void Emitter::emit_op(const Op& op) {
  temps_gp_used_ = temps_xmm_used_ = 0;
  loop_ = a_.note(&op).loop;
  if (options_.comments) {
    std::string text = ir::print(f_, op);
    cc_.comment(text.c_str(), text.size());
  }
  if (options_.force_exits && ir::may_be_forced(op)) count_down(op);
  switch (op.code) {
#define HL_OP(name, text, operands, result, effects, fp, doc) \
  case OpCode::name: emit_##name(op); break;
#include "ir/ops.def"
#undef HL_OP
  }
}

// ---- places -----------------------------------------------------------------------------------------------------
Gp Emitter::gp_place(ValueId v) { return places_[note(v).reg].as<Gp>(); }
Xmm Emitter::xmm_place(ValueId v) { return places_[note(v).reg].as<Xmm>(); }

// asmjit packs virtual registers by uses per length of life plus this weight / 100; by itself it knows nothing of loops.
void Emitter::prefer_register(const asmjit::BaseReg& reg, int depth) {
  cc_.virtRegByReg(reg)->setWeight(static_cast<uint32_t>(std::min(depth, 6)) * 40 + 1);
}

Gp Emitter::temp_gp() {
  auto& pool = temps_gp_[loop_];
  if (temps_gp_used_ == pool.size()) {
    pool.push_back(cc_.newUInt64());
    prefer_register(pool.back(), a_.depth_of(loop_));
  }
  return pool[temps_gp_used_++];
}

Xmm Emitter::temp_xmm(Type) {
  auto& pool = temps_xmm_[loop_];
  if (temps_xmm_used_ == pool.size()) {
    pool.push_back(cc_.newXmmSd());
    prefer_register(pool.back(), a_.depth_of(loop_));
  }
  return pool[temps_xmm_used_++];
}

Gp Emitter::gp(ValueId v) {
  if (in_register(v)) return gp_place(v);
  assert(is_const(v));
  Gp reg = temp_gp();
  load_const(reg, wide(type_of(v)) ? const_bits(v) : static_cast<int64_t>(static_cast<uint32_t>(const_bits(v))), true);
  return reg;
}

Xmm Emitter::xmm(ValueId v) {
  if (in_register(v)) return xmm_place(v);
  Xmm reg = temp_xmm(type_of(v));
  if (is_const(v)) load_float_const(reg, type_of(v), const_bits(v), true);
  else cc_.emit(pick({I::kIdVmovsd, I::kIdMovsd, I::kIdVmovss, I::kIdMovss}, type_of(v)), reg, xmm_operand(v));
  return reg;
}

Gp Emitter::result_gp(const Op& op) { return in_register(op.result()) ? gp_place(op.result()) : temp_gp(); }
Xmm Emitter::result_xmm(const Op& op) { return in_register(op.result()) ? xmm_place(op.result()) : temp_xmm(op.type); }

Operand Emitter::gp_operand(ValueId v) {
  if (is_const(v)) {
    int64_t bits = const_bits(v);
    if (!wide(type_of(v))) return Imm(static_cast<int32_t>(bits));
    if (bits == static_cast<int32_t>(bits)) return Imm(bits);
  }
  return sgp(v);
}

Operand Emitter::xmm_operand(ValueId v) {
  const ValueNote& value = note(v);
  if (value.mode == Mode::kConst) return float_const(type_of(v), const_bits(v));
  if (value.mode == Mode::kMemory) return address(*value.def);
  return xmm(v);
}

// ---- constants --------------------------------------------------------------------------------------------------
void Emitter::load_const(const Gp& to, int64_t bits, bool keep_flags) {
  if (bits == 0 && !keep_flags) cc_.xor_(to.r32(), to.r32());
  else if (bits == static_cast<int64_t>(static_cast<uint32_t>(bits))) cc_.mov(to.r32(), Imm(static_cast<uint32_t>(bits)));
  else cc_.mov(to, Imm(bits));
}

Mem Emitter::float_const(Type type, int64_t bits) {
  return type == Type::F64 ? cc_.newUInt64Const(asmjit::ConstPoolScope::kLocal, static_cast<uint64_t>(bits))
                           : cc_.newUInt32Const(asmjit::ConstPoolScope::kLocal, static_cast<uint32_t>(bits));
}

void Emitter::load_float_const(const Xmm& to, Type type, int64_t bits, bool) {
  bool zero = type == Type::F64 ? bits == 0 : static_cast<uint32_t>(bits) == 0;
  if (zero) zero_xmm(to);  // does not touch the flags
  else cc_.emit(pick({I::kIdVmovsd, I::kIdMovsd, I::kIdVmovss, I::kIdMovss}, type), to, float_const(type, bits));
}

Mem Emitter::mask_const(Type type, bool sign) {
  uint64_t one = type == Type::F64 ? UINT64_C(0x8000000000000000) : UINT64_C(0x8000000080000000);
  if (!sign) one = ~one;
  uint64_t both[2] = {one, one};
  return cc_.newConst(asmjit::ConstPoolScope::kLocal, both, 16);
}

void Emitter::move_gp(const Gp& to, const Gp& from) {
  if (to.id() != from.id()) cc_.mov(to.r64(), from.r64());
}

void Emitter::move_xmm(const Xmm& to, const Xmm& from) {
  if (to.id() != from.id()) cc_.emit(avx() ? I::kIdVmovaps : I::kIdMovaps, to, from);
}

void Emitter::emit_Const(const Op&) {}  // an immediate where it is used

}  // namespace hotloop::codegen
