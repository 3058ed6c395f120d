// Labels, jumps, `if`, loops and yields. Needs emitter.h.
//
// Layout: code that leaves (arms that end in an exit or that only leave their loop) goes out of line behind the main body; a label that
// nobody jumps to vanishes; `jcc A; jmp B; A:` becomes `jncc B`. So the code of the usual path is straight.
#include <algorithm>
#include <cassert>

#include "codegen/emitter.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

namespace {

// A cache line: inner loops that begin at another multiple of 16 or 32 ran up to a quarter slower where their branches, and those right behind,
// fell together in an unlucky way (Zen 5, measured over all placements).
constexpr uint32_t kLoopAlignment = 64;

}  // namespace

// ---- labels and jumps -------------------------------------------------------------------------------------------
void Emitter::jump(Label to) {
  // Behind another jump nothing is reached.
  asmjit::BaseNode* node = last_code_node();
  if (node && node->isInst() && node->as<asmjit::InstNode>()->id() == I::kIdJmp) return;
  if (to.id() >= label_uses_.size()) label_uses_.resize(to.id() + 16, 0);
  label_uses_[to.id()]++;
  cc_.jmp(to);
}

void Emitter::jump_if(CondCode code, Label to) {
  if (to.id() >= label_uses_.size()) label_uses_.resize(to.id() + 16, 0);
  label_uses_[to.id()]++;
  cc_.emit(I::jccFromCond(code), to);
}

asmjit::BaseNode* Emitter::last_code_node() const {
  asmjit::BaseNode* node = cc_.cursor();
  while (node && node->isComment()) node = node->prev();
  return node;
}

namespace {

// The label a jump node goes to, or kInvalidId.
uint32_t jump_target(const asmjit::BaseNode* node, bool* conditional) {
  if (!node || !node->isInst()) return asmjit::Globals::kInvalidId;
  const auto* inst = node->as<asmjit::InstNode>();
  if (inst->opCount() != 1 || !inst->op(0).isLabel()) return asmjit::Globals::kInvalidId;
  *conditional = inst->id() != I::kIdJmp;
  return inst->op(0).id();
}

CondCode code_of(const asmjit::BaseNode* node) {
  for (uint8_t code = 0; code < 16; ++code) {
    if (I::jccFromCond(static_cast<CondCode>(code)) == node->as<asmjit::InstNode>()->id()) return static_cast<CondCode>(code);
  }
  return CondCode::kMaxValue;
}

}  // namespace

void Emitter::bind(Label label) {
  if (label.id() >= label_uses_.size()) label_uses_.resize(label.id() + 16, 0);
  bool conditional = false;
  asmjit::BaseNode* last = last_code_node();
  if (jump_target(last, &conditional) == label.id()) {  // jmp L; L:   jcc L; L:
    label_uses_[label.id()]--;
    cc_.removeNode(last);
    last = last_code_node();
    if (!conditional && jump_target(last, &conditional) == label.id() && conditional) {
      label_uses_[label.id()]--;
      cc_.removeNode(last);
    }
  } else if (last && last->isInst() && jump_target(last, &conditional) != asmjit::Globals::kInvalidId && !conditional) {
    asmjit::BaseNode* before = last->prev();
    while (before && before->isComment()) before = before->prev();
    if (jump_target(before, &conditional) == label.id() && conditional) {  // jcc L; jmp M; L:
      auto* inst = before->as<asmjit::InstNode>();
      inst->setId(I::jccFromCond(x86::negateCond(code_of(before))));
      inst->setOp(0, last->as<asmjit::InstNode>()->op(0));
      label_uses_[label.id()]--;
      cc_.removeNode(last);
    }
  }
  if (label_uses_[label.id()] > 0) cc_.bind(label);
}

void Emitter::bind_always(Label label) {
  bind(label);
  if (label.id() >= label_uses_.size() || label_uses_[label.id()] == 0) cc_.bind(label);
}

// ---- parallel copies --------------------------------------------------------------------------------------------
void Emitter::add_copy(std::vector<Copy>* copies, ValueId to, ValueId from) {
  if (from == kNoValue || !in_register(to)) return;
  uint32_t target = note(to).reg;
  if (!is_value(from) || is_const(from)) {
    copies->push_back({a_.registers[target].is_float, target, kNone, from});
  } else if (note(from).reg != target) {
    copies->push_back({a_.registers[target].is_float, target, note(from).reg, from});
  }
}

void Emitter::emit_copy(const Copy& copy, bool keep_flags) {
  if (copy.is_float) {
    Xmm to = places_[copy.to].as<Xmm>();
    if (copy.from == kNone) load_float_const(to, type_of(copy.value), const_bits(copy.value), keep_flags);
    else move_xmm(to, places_[copy.from].as<Xmm>());
    return;
  }
  Gp to = places_[copy.to].as<Gp>();
  if (copy.from != kNone) {
    move_gp(to, places_[copy.from].as<Gp>());
    return;
  }
  if (!is_value(copy.value)) {
    load_const(to, copy.value == kAlways ? 1 : 0, keep_flags);
    return;
  }
  int64_t bits = const_bits(copy.value);
  load_const(to, wide(type_of(copy.value)) ? bits : static_cast<int64_t>(static_cast<uint32_t>(bits)), keep_flags);
}

// All sources are read before any target is written, as far as anyone can tell: targets that are nobody's source go first; what is
// left are cycles, each broken by one temporary.
void Emitter::emit_copies(std::vector<Copy> copies, bool keep_flags) {
  while (!copies.empty()) {
    bool moved = false;
    for (size_t k = 0; k < copies.size();) {
      bool needed = false;
      for (size_t j = 0; j < copies.size(); ++j) needed |= j != k && copies[j].from == copies[k].to;
      if (needed) {
        ++k;
        continue;
      }
      emit_copy(copies[k], keep_flags);
      copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(k));
      moved = true;
    }
    if (moved || copies.empty()) continue;
    auto spare = static_cast<uint32_t>(places_.size());
    const uint32_t saved = copies[0].to;
    if (copies[0].is_float) {
      places_.push_back(cc_.newXmmSd());
      move_xmm(places_[spare].as<Xmm>(), places_[saved].as<Xmm>());
    } else {
      places_.push_back(cc_.newUInt64());
      move_gp(places_[spare].as<Gp>(), places_[saved].as<Gp>());
    }
    for (Copy& copy : copies) {
      if (copy.from == saved) copy.from = spare;
    }
  }
}

// ---- yields -----------------------------------------------------------------------------------------------------
void Emitter::emit_Yield(const Op& op) {
  auto at = a_.yields.find(&op);
  if (at != a_.yields.end()) emit_leaf(op, at->second);
}

// Copies, then one way or the other.
void Emitter::leave(ValueId condition, const std::vector<Copy>& copies, Label on_true, Label on_false) {
  if (condition == kAlways || condition == kNever) {
    emit_copies(copies, false);
    jump(condition == kAlways ? on_true : on_false);
  } else if (copies.empty()) {
    branch(condition, on_true, on_false);
  } else if (is_const(condition)) {
    emit_copies(copies, false);
    branch(condition, on_true, on_false);
  } else if (is_simple(condition)) {
    Flags flags = test(condition);
    emit_copies(copies, true);
    jump_flags(flags, on_true, on_false);
  } else {
    Label yes = new_label(), no = new_label();
    branch(condition, yes, no);
    bind(yes);
    emit_copies(copies, false);
    jump(on_true);
    bind(no);
    emit_copies(copies, false);
    jump(on_false);
  }
}

void Emitter::emit_leaf(const Op&, const YieldPlan& plan) {
  std::vector<Copy> copies;
  const Op* target = plan.target;
  if (target->code == OpCode::If) {
    for (size_t k = 0; k < plan.sources.size(); ++k) add_copy(&copies, target->results[k], plan.sources[k]);
    if (plan.condition == kNoValue) {
      emit_copies(copies, false);
      jump(if_labels(target).join);
    } else {
      IfLabels next = if_labels(a_.note(target).thread);
      leave(plan.condition, copies, next.on_true, next.on_false);
    }
    return;
  }
  emit_loop_leaf(plan);
}

void Emitter::emit_loop_leaf(const YieldPlan& plan) {
  const Op* target = plan.target;
  const LoopLabels& labels = loop_labels_.at(target);
  std::vector<Copy> staying, leaving;
  for (size_t k = 0; k < plan.sources.size(); ++k) {
    add_copy(&staying, Analysis::carried_param(target, k), plan.sources[k]);
    add_copy(&leaving, Analysis::carried_param(target, k), plan.leaving[k]);
  }
  const bool fixed = !plan.has_value_condition() || is_const(plan.condition);
  if (!fixed) {
    go_on_or_leave(plan, staying, leaving);
    return;
  }
  const bool goes_on = plan.has_value_condition() ? const_bits(plan.condition) != 0 : plan.condition == kAlways;
  emit_copies(goes_on ? staying : leaving, false);
  if (goes_on) jump(target->code == OpCode::For ? labels.latch : labels.head);
  else jump(labels.exit);
}

// Whether the copies may be made although the loop is left: nothing that is wanted then is overwritten.
bool Emitter::spares(const std::vector<Copy>& copies, const YieldPlan& plan) const {
  for (const Copy& copy : copies) {
    for (ValueId source : plan.leaving) {
      if (is_value(source) && in_register(source) && note(source).reg == copy.to) return false;
    }
  }
  return true;
}

// The usual way is the one that goes on: what the other one copies is done only there.
void Emitter::go_on_or_leave(const YieldPlan& plan, const std::vector<Copy>& staying, const std::vector<Copy>& leaving) {
  const LoopLabels& labels = loop_labels_.at(plan.target);
  const bool is_for = plan.target->code == OpCode::For;
  const Label on = is_for ? labels.latch : labels.head;
  auto same = [](const Copy& a, const Copy& b) { return a.to == b.to && a.from == b.from && a.value == b.value; };
  if (leaving.empty() && staying.empty()) {
    branch(plan.condition, on, labels.exit);
    return;
  }
  if (staying.size() == leaving.size() && std::equal(staying.begin(), staying.end(), leaving.begin(), same)) {
    leave(plan.condition, staying, on, labels.exit);
    return;
  }
  const Label out = leaving.empty() ? labels.exit : new_label();
  if (!is_for && !staying.empty() && is_simple(plan.condition) && spares(staying, plan)) {
    const Flags flags = test(plan.condition);
    emit_copies(staying, true);
    jump_flags(flags, on, out);
  } else {
    const Label stay = staying.empty() ? on : new_label();
    branch(plan.condition, stay, out);
    if (!staying.empty()) {
      bind(stay);
      emit_copies(staying, false);
      jump(on);
    }
  }
  if (leaving.empty()) return;
  const Label exit = labels.exit;
  auto write = [this, out, exit, leaving] {
    bind(out);
    emit_copies(leaving, false);
    jump(exit);
  };
  if (!is_for) {
    write();
    return;
  }
  keep(exit);
  cold_.push_back(write);
}

// ---- if ---------------------------------------------------------------------------------------------------------
Emitter::IfLabels& Emitter::if_labels(const Op* op) {
  auto at = if_labels_.find(op);
  if (at == if_labels_.end()) at = if_labels_.emplace(op, IfLabels{new_label(), new_label(), new_label()}).first;
  return at->second;
}

// Whether control never comes back from the block to what follows its `if` within the loop it is in: it ends in an exit, or every
// yield leaves the loop.
bool Emitter::leaves(const Block& block) const {
  const Op* last = block.ops.back();
  if (last->code == OpCode::Exit) return true;
  if (a_.note(last).absorbed) {
    for (size_t k = block.ops.size() - 1; k-- > 0;) {
      const Op* op = block.ops[k];
      if (op->code != OpCode::If) continue;  // only constants and choices stand behind it
      return leaves(*op->blocks[0]) && leaves(*op->blocks[1]);
    }
  }
  auto at = a_.yields.find(last);
  if (at == a_.yields.end() || at->second.target->code == OpCode::If) return false;
  ValueId condition = at->second.condition;
  if (!at->second.has_value_condition()) return condition == kNever;
  return is_const(condition) && const_bits(condition) == 0;
}

// Whether the condition is hardly ever `outcome`: floats are finite.
bool Emitter::is_unlikely(ValueId condition, bool outcome) const {
  const Op* def = note(condition).def;
  if (!def) return false;
  switch (def->code) {
    case OpCode::IsFinite: return !outcome;
    case OpCode::Not: return def->type == Type::I1 && is_unlikely(def->operands[0], !outcome);
    case OpCode::And: return def->type == Type::I1 && !outcome && (is_unlikely(def->operands[0], false) || is_unlikely(def->operands[1], false));
    case OpCode::Or: return def->type == Type::I1 && outcome && (is_unlikely(def->operands[0], true) || is_unlikely(def->operands[1], true));
    default: return false;
  }
}

// A call beside which a jump out of line is nothing.
bool Emitter::calls(const Block& block) const {
  return std::any_of(block.ops.begin(), block.ops.end(), [](const Op* op) { return op->code == OpCode::Call; });
}

// Code out of line is written after the labels it jumps to have been bound: they must not vanish.
void Emitter::keep(Label label) {
  if (!label.isValid()) return;
  if (label.id() >= label_uses_.size()) label_uses_.resize(label.id() + 16, 0);
  label_uses_[label.id()]++;
}

void Emitter::keep_targets(const Block& block) {
  for_each_op(const_cast<Block&>(block), [&](const Op& op, Block&) {
    auto at = op.code == OpCode::Yield ? a_.yields.find(&op) : a_.yields.end();
    if (at == a_.yields.end()) return;
    const Op* target = at->second.target;
    if (target->code == OpCode::If) {
      if (if_labels_.find(target) == if_labels_.end()) return;  // an `if` inside the block
      keep(if_labels_.at(target).join);
      if (!a_.note(target).thread) return;
      IfLabels next = if_labels(a_.note(target).thread);
      keep(next.on_true);
      keep(next.on_false);
    } else if (loop_labels_.find(target) != loop_labels_.end()) {
      keep(loop_labels_.at(target).latch);
      keep(loop_labels_.at(target).exit);
    }
  });
}

void Emitter::emit_If(const Op& op) {
  IfLabels labels = if_labels(&op);
  const Block& yes = *op.blocks[0];
  const Block& no = *op.blocks[1];
  // An arm that is nothing but an exit is its stub.
  auto plain_exit = [this](const Block& block) {
    for (const Op* inner : block.ops) {
      if (inner->code == OpCode::Exit) return true;
      if (inner->code != OpCode::Const && !a_.note(inner).dead) return false;
    }
    return false;
  };
  bool threaded = a_.note(&op).threaded;
  bool yes_cold = leaves(yes) || is_unlikely(op.operands[0], true);
  bool no_cold = !yes_cold && (leaves(no) || is_unlikely(op.operands[0], false) || (calls(no) && !calls(yes)));
  if (!threaded) {
    if (plain_exit(yes)) labels.on_true = exit_label(*yes.ops.back());
    if (plain_exit(no)) labels.on_false = exit_label(*no.ops.back());
    branch(op.operands[0], labels.on_true, labels.on_false);
  }
  auto emit_arm = [this](const Block& block, Label label) {
    bind(label);
    emit_block(block);
  };
  auto put = [&](const Block& block, Label label, bool cold) {
    if (!threaded && plain_exit(block)) return;
    if (cold) keep_targets(block);
    if (cold) cold_.push_back([emit_arm, &block, label] { emit_arm(block, label); });
    else emit_arm(block, label);
  };
  // The arm that stays comes first, right behind the branch.
  if (yes_cold) {
    put(yes, labels.on_true, true);
    put(no, labels.on_false, false);
  } else {
    put(yes, labels.on_true, false);
    put(no, labels.on_false, no_cold);
  }
  bind(labels.join);
}

// ---- loops ------------------------------------------------------------------------------------------------------
// Number of trips of a `for` whose step is not known, computed unsigned so that nothing can overflow; 0 when there is none.
Gp Emitter::trip_count(const Op& op) {
  Gp count = cc_.newUInt64(), step = temp_gp(), rest = temp_gp();
  Gp lo = gp(op.operands[0]), hi = gp(op.operands[1]);
  Label down = new_label(), divide = new_label(), none = new_label(), done = new_label();
  move_gp(step, gp(op.operands[2]));
  cc_.test(step, step);
  jump_if(CondCode::kS, down);
  cc_.cmp(lo, hi);
  jump_if(CondCode::kGE, none);
  move_gp(count, hi);
  cc_.sub(count, lo);
  jump(divide);
  bind(down);
  cc_.cmp(lo, hi);
  jump_if(CondCode::kLE, none);
  move_gp(count, lo);
  cc_.sub(count, hi);
  cc_.neg(step);
  bind(divide);
  cc_.sub(count, Imm(1));
  cc_.xor_(rest.r32(), rest.r32());
  cc_.div(rest, count, step);
  cc_.add(count, Imm(1));  // at most 2^64 - 1 trips
  jump(done);
  bind(none);
  cc_.xor_(count.r32(), count.r32());
  bind(done);
  return count;
}

void Emitter::emit_For(const Op& op) {
  const LoopNote& loop = a_.loops[a_.loop_index.at(&op)];
  LoopLabels labels{new_label(), new_label(), new_label()};
  loop_labels_.emplace(&op, labels);
  ValueId lo = op.operands[0], hi = op.operands[1], step = op.operands[2];
  Gp count;
  if (!is_const(step)) {
    count = trip_count(op);
    prefer_register(count, loop.depth);
  }
  std::vector<Copy> copies;
  add_copy(&copies, op.blocks[0]->params[0], lo);
  for (size_t k = 0; k < op.results.size(); ++k) add_copy(&copies, Analysis::carried_param(&op, k), op.operands[3 + k]);
  emit_copies(copies, false);
  Gp index = gp_place(op.blocks[0]->params[0]);
  bool up = is_const(step) && const_bits(step) > 0;
  if (!is_const(step)) {
    cc_.test(count, count);
    jump_if(CondCode::kE, labels.exit);
  } else if (!(is_const(lo) && is_const(hi) && (up ? const_bits(lo) < const_bits(hi) : const_bits(lo) > const_bits(hi)))) {
    cc_.emit(I::kIdCmp, index, gp_operand(hi));
    jump_if(up ? CondCode::kGE : CondCode::kLE, labels.exit);
  }
  if (loop.innermost) cc_.align(asmjit::AlignMode::kCode, kLoopAlignment);
  bind_always(labels.head);
  emit_block(*op.blocks[0]);
  bind(labels.latch);
  loop_ = a_.loop_index.at(&op);
  temps_gp_used_ = temps_xmm_used_ = 0;
  cc_.emit(I::kIdAdd, index, gp_operand(step));
  if (!is_const(step)) {
    cc_.sub(count, Imm(1));
    jump_if(CondCode::kNE, labels.head);
  } else {
    // A step beyond 1 may carry the index over the end of the type, behind hi.
    bool may_wrap = const_bits(step) != 1 && const_bits(step) != -1;
    Label out = may_wrap ? new_label() : Label();
    if (may_wrap) jump_if(CondCode::kO, out);
    cc_.emit(I::kIdCmp, index, gp_operand(hi));
    jump_if(up ? CondCode::kL : CondCode::kG, labels.head);
    if (may_wrap) bind(out);
  }
  set_last_indices(op, loop);
  bind(labels.exit);
}

// Behind the latch: the index is one step too far.
void Emitter::set_last_indices(const Op& op, const LoopNote& loop) {
  Gp index = gp_place(op.blocks[0]->params[0]);
  for (size_t k = 0; k < loop.last_index.size(); ++k) {
    ValueId param = Analysis::carried_param(&op, k);
    if (!loop.last_index[k] || !in_register(param)) continue;
    Gp to = gp_place(param);
    ValueId step = op.operands[2];
    if (is_const(step) && const_bits(step) == static_cast<int32_t>(const_bits(step)) && const_bits(step) != INT32_MIN) {
      cc_.lea(to, x86::ptr(index, static_cast<int32_t>(-const_bits(step))));
    } else {
      move_gp(to, index);
      cc_.emit(I::kIdSub, to, gp_operand(step));
    }
  }
}

void Emitter::emit_Loop(const Op& op) {
  LoopLabels labels{new_label(), Label(), new_label()};
  loop_labels_.emplace(&op, labels);
  std::vector<Copy> copies;
  for (size_t k = 0; k < op.results.size(); ++k) add_copy(&copies, Analysis::carried_param(&op, k), op.operands[k]);
  emit_copies(copies, false);
  if (a_.loops[a_.loop_index.at(&op)].innermost) cc_.align(asmjit::AlignMode::kCode, kLoopAlignment);
  bind_always(labels.head);
  emit_block(*op.blocks[0]);
  bind(labels.exit);
}

}  // namespace hotloop::codegen
