// Side exits: guards, poll, exit, their cold stubs and forced exits. Needs emitter.h, ir/activation.h.
//
// A stub stores the snapshot's values to Activation::out and returns the exit id. Stubs that share a snapshot share the stores. The
// activation's address lies in the stack frame, so that it takes no register of the loops.
#include "codegen/emitter.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

Gp Emitter::activation() {
  Gp reg = temp_gp();
  cc_.mov(reg, activation_slot_);
  return reg;
}

Label Emitter::exit_label(const Op& op) {
  auto [at, fresh] = stubs_.emplace(&op, Label());
  if (fresh) {
    at->second = new_label();
    stub_list_.push_back(&op);
    if (op.snapshot != kNoSnapshot) snapshot_exits_[op.snapshot]++;
  }
  return at->second;
}

void Emitter::emit_Guard(const Op& op) {
  Label stub = exit_label(op), on = new_label();
  branch(op.operands[0], on, stub);
  bind(on);
}

void Emitter::emit_Exit(const Op& op) { jump(exit_label(op)); }

void Emitter::emit_Poll(const Op& op) {
  cc_.cmp(x86::byte_ptr(breaker_), Imm(0));
  jump_if(CondCode::kNE, exit_label(op));
}

void Emitter::count_down(const Op& op) {
  Label forced = new_label(), stub = exit_label(op);
  cc_.sub(x86::qword_ptr(activation(), offsetof(Activation, force_countdown)), Imm(1));
  jump_if(CondCode::kE, forced);
  cold_.push_back([this, forced, stub] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(forced);
    cc_.mov(x86::dword_ptr(activation(), offsetof(Activation, forced)), Imm(1));
    jump(stub);
  });
}

void Emitter::emit_cold() {
  // Cold code may find more cold code and more stubs.
  size_t next_cold = 0, next_stub = 0;
  in_cold_ = true;
  while (next_cold < cold_.size() || next_stub < stub_list_.size()) {
    loop_ = -2;
    if (next_cold < cold_.size()) {
      auto emit = std::move(cold_[next_cold++]);
      emit();
    } else {
      const Op* op = stub_list_[next_stub++];
      emit_stub(*op, stubs_.at(op));
    }
  }
}

void Emitter::emit_stub(const Op& op, Label label) {
  temps_gp_used_ = temps_xmm_used_ = 0;
  if (options_.comments) {
    std::string text = "exit " + std::to_string(op.exit_id);
    cc_.comment(text.c_str(), text.size());
  }
  bind(label);
  cc_.mov(exit_id_, Imm(op.exit_id));
  if (op.snapshot == kNoSnapshot || a_.snapshots[op.snapshot].empty()) {
    jump(return_);
    return;
  }
  Label& tail = snapshot_tails_[op.snapshot];
  if (tail.isValid()) {
    jump(tail);
    return;
  }
  if (snapshot_exits_[op.snapshot] > 1) {
    tail = new_label();
    bind_always(tail);
  }
  store_snapshot(op.snapshot);
  jump(return_);
}

// An operand of what an exit computes: in a register or an immediate, an input that is still where it came from, or computed here, too.
template <typename Use>
void Emitter::exit_operand(ValueId value, Use&& use) {
  if (note(value).mode == Mode::kAtExit) {
    Gp scratch = temp_gp();
    compute_at_exit(*note(value).def, scratch);
    return use(scratch);
  }
  if (is_const(value)) return use(gp_operand(value));
  if (note(value).mode != Mode::kInput) return use(gp_place(value));
  Gp inputs = temp_gp();
  cc_.mov(inputs, x86::qword_ptr(activation(), offsetof(Activation, in)));
  use(input_cell(inputs, value));
}

Mem Emitter::input_cell(const Gp& inputs, ValueId value) {
  size_t index = 0;
  while (f_.body->params[index] != value) ++index;
  return x86::qword_ptr(inputs, static_cast<int32_t>(8 * index));
}

void Emitter::compute_at_exit(const Op& def, const Gp& to) {
  if (def.code == OpCode::Eq || def.code == OpCode::Ne) {
    exit_operand(def.operands[0], [&](const Operand& from) { cc_.emit(I::kIdMov, to, from); });
    exit_operand(def.operands[1], [&](const Operand& from) { cc_.emit(I::kIdCmp, to, from); });
    cc_.mov(to.r32(), Imm(0));
    cc_.emit(def.code == OpCode::Eq ? I::kIdSete : I::kIdSetne, to.r8());
    return;
  }
  exit_operand(def.operands[0], [&](const Operand& from) { cc_.emit(I::kIdMov, to, from); });
  if (def.code == OpCode::Not) {
    cc_.xor_(to, Imm(1));
    return;
  }
  const auto id = def.code == OpCode::Add ? I::kIdAdd : def.code == OpCode::Sub ? I::kIdSub : def.code == OpCode::And ? I::kIdAnd : I::kIdOr;
  exit_operand(def.operands[1], [&](const Operand& from) { cc_.emit(id, to, from); });
}

void Emitter::store_snapshot(SnapshotId snapshot) {
  Gp base = activation();
  Gp out = temp_gp(), inputs, scratch = temp_gp();
  cc_.mov(out, x86::qword_ptr(base, offsetof(Activation, out)));
  const auto& values = a_.snapshots[snapshot];
  for (size_t k = 0; k < values.size(); ++k) {
    ValueId value = values[k];
    Type type = type_of(value);
    Mem cell = x86::qword_ptr(out, static_cast<int32_t>(8 * k));
    if (is_const(value)) {
      int64_t bits = type == Type::F32 ? static_cast<int64_t>(static_cast<uint32_t>(const_bits(value))) : const_bits(value);
      if (bits == static_cast<int32_t>(bits)) {
        cc_.mov(cell, Imm(bits));
      } else {
        cc_.mov(scratch, Imm(bits));
        cc_.mov(cell, scratch);
      }
    } else if (note(value).mode == Mode::kAtExit) {
      compute_at_exit(*note(value).def, scratch);
      cc_.mov(cell, scratch);
    } else if (note(value).mode == Mode::kInput) {
      if (!inputs.isValid()) {
        inputs = temp_gp();
        cc_.mov(inputs, x86::qword_ptr(base, offsetof(Activation, in)));
      }
      cc_.mov(scratch, input_cell(inputs, value));
      cc_.mov(cell, scratch);
    } else if (type == Type::F64) {
      cc_.emit(avx() ? I::kIdVmovsd : I::kIdMovsd, cell, xmm_place(value));
    } else if (type == Type::F32) {
      // (Not movd: asmjit would replace a spilled operand of it by memory, which that instruction does not have.)
      cc_.emit(avx() ? I::kIdVmovss : I::kIdMovss, x86::dword_ptr(out, static_cast<int32_t>(8 * k)), xmm_place(value));
      cc_.mov(x86::dword_ptr(out, static_cast<int32_t>(8 * k + 4)), Imm(0));
    } else if (is_signed(type) && !wide(type)) {
      cc_.movsxd(scratch, gp_place(value).r32());
      cc_.mov(cell, scratch);
    } else {
      cc_.mov(cell, gp_place(value));
    }
  }
}

}  // namespace hotloop::codegen
