// Numbering and modes. Needs ir/. See analysis.h.
#include "codegen/analysis.h"

#include <algorithm>
#include <cassert>

namespace hotloop::codegen {
using namespace ir;

Analysis analyze(const Function& function, const Features& features) {
  Analysis analysis;
  number_ops(function, &analysis);
  plan_yields(function, &analysis);
  choose_modes(function, &analysis);
  assign_registers(function, features, &analysis);
  return analysis;
}

// ---- numbering --------------------------------------------------------------------------------------------------
namespace {

class Numbering {
 public:
  Numbering(const Function& function, Analysis* analysis) : function_(function), a_(*analysis) {}

  void run() {
    a_.values.assign(function_.value_types.size(), {});
    a_.snapshots.reserve(function_.snapshots.size());
    for (const Snapshot& snapshot : function_.snapshots) a_.snapshots.push_back(snapshot_values(snapshot));
    visit(*function_.body, -1);
    a_.op_count = next_;
  }

 private:
  void visit(const Block& block, int32_t loop) {
    for (ValueId param : block.params) a_.values[param].loop = loop;
    for (const Op* op : block.ops) {
      OpNote note;
      note.index = next_++;
      note.loop = loop;
      for (ValueId operand : op->operands) mention(operand, loop);
      if (op->has(kExits) && op->snapshot != kNoSnapshot) {
        for (ValueId value : a_.snapshots[op->snapshot]) mention(value, loop);
      }
      if (op->code == OpCode::If) {
        for (const Block* inner : op->blocks) visit(*inner, loop);
      } else if (!op->blocks.empty()) {
        visit(*op->blocks[0], enter_loop(op, loop));
      }
      if (!op->blocks.empty()) note.end = next_++;
      for (ValueId result : op->results) {
        a_.values[result].def = op;
        a_.values[result].loop = loop;
      }
      a_.ops.emplace(op, note);
    }
  }

  int32_t enter_loop(const Op* op, int32_t parent) {
    auto index = static_cast<int32_t>(a_.loops.size());
    LoopNote note;
    note.op = op;
    note.parent = parent;
    if (parent >= 0) {
      note.depth = a_.loops[parent].depth + 1;
      a_.loops[parent].innermost = false;
    }
    a_.loops.push_back(std::move(note));
    a_.loop_index.emplace(op, index);
    return index;
  }

  // A value read in a loop that does not define it stays alive through all of that loop. Operands are visited after the definition,
  // so the value's own loop is known; entries repeat at most once per read and are made unique later.
  void mention(ValueId value, int32_t loop) {
    ValueNote& note = a_.values[value];
    note.mentions++;
    for (; loop != note.loop && loop >= 0; loop = a_.loops[loop].parent) {
      auto& outer = a_.loops[loop].outer;
      if (outer.empty() || outer.back() != value) outer.push_back(value);
    }
  }

  const Function& function_;
  Analysis& a_;
  uint32_t next_ = 0;
};

}  // namespace

void number_ops(const Function& function, Analysis* analysis) {
  Numbering(function, analysis).run();
  for (LoopNote& loop : analysis->loops) {
    std::sort(loop.outer.begin(), loop.outer.end());
    loop.outer.erase(std::unique(loop.outer.begin(), loop.outer.end()), loop.outer.end());
  }
}

// ---- modes ------------------------------------------------------------------------------------------------------
bool can_fuse(const Function& function, const Op* def) {
  if (!def) return false;
  switch (def->code) {
    case OpCode::Eq:
    case OpCode::Ne:
    case OpCode::Lt:
    case OpCode::Le:
    case OpCode::Gt:
    case OpCode::Ge:
    case OpCode::IsFinite:
      return true;
    case OpCode::And:
    case OpCode::Or:
    case OpCode::Not:
      return def->type == Type::I1;
    case OpCode::Conv:
      return def->type == Type::I1 && function.type_of(def->operands[0]) != Type::I1;
    default:
      return false;
  }
}

namespace {

bool is_removable(const Op* op) {
  return (op->code != OpCode::Poll) && (op_info(op->code).effects & (kWritesArray | kExits | kPoll | kTerminator | kStructured)) == 0;
}

class ModeChooser {
 public:
  ModeChooser(const Function& function, Analysis* analysis) : f_(function), a_(*analysis) {}

  void run() {
    split_yields();
    find_still_values();
    visit(*f_.body);
    for (ValueNote& note : a_.values) {
      if (note.def && note.def->code == OpCode::Const) note.mode = Mode::kConst;
      else if (note.mode == Mode::kRegister && note.uses + note.fused_uses == 0) note.mode = Mode::kDead;
    }
    for (ValueId param : f_.body->params) {
      ValueNote& note = a_.values[param];
      if (note.mode == Mode::kRegister && note.fused_uses == 0 && note.uses == note.snapshot_uses) note.mode = Mode::kInput;
    }
  }

 private:
  // A loop's yield is taken apart: what goes to the carried values when it goes on, and what when it leaves. The condition itself is a
  // constant on either way.
  void split_yields() {
    for (auto& [yield, plan] : a_.yields) {
      if (plan.target->code == OpCode::If) continue;
      plan.leaving = plan.sources;
      if (!plan.has_value_condition() || is_const(plan.condition)) continue;
      for (size_t k = 0; k < plan.sources.size(); ++k) {
        const ValueId source = plan.sources[k];
        if (source == plan.condition) {
          plan.sources[k] = kAlways, plan.leaving[k] = kNever;
        } else if (negates(source, plan.condition) || negates(plan.condition, source)) {
          plan.sources[k] = kNever, plan.leaving[k] = kAlways;
        }
      }
    }
  }

  bool is_const(ValueId value) const { return a_.values[value].def && a_.values[value].def->code == OpCode::Const; }
  bool negates(ValueId value, ValueId other) const {
    const Op* def = a_.values[value].def;
    return def && def->code == OpCode::Not && def->type == Type::I1 && def->operands[0] == other;
  }
  bool goes_on(const YieldPlan& plan) const {
    return plan.has_value_condition() ? !is_const(plan.condition) || a_.values[plan.condition].def->imm != 0 : plan.condition == kAlways;
  }
  bool leaves(const YieldPlan& plan) const {
    return plan.has_value_condition() ? !is_const(plan.condition) || a_.values[plan.condition].def->imm == 0 : plan.condition == kNever;
  }
  bool same_constant(ValueId initial, ValueId source) const {
    if (!is_const(initial)) return false;
    const int64_t bits = a_.values[initial].def->imm;
    if (!is_value(source)) return bits == (source == kAlways ? 1 : 0);
    return is_const(source) && a_.values[source].def->imm == bits;
  }

  void find_still_values() {
    std::vector<bool> goes_round(a_.loops.size(), false);
    for (LoopNote& loop : a_.loops) {
      loop.last_index.assign(loop.op->results.size(), loop.op->code == OpCode::For);
      loop.constant.assign(loop.op->results.size(), true);
    }
    for (auto& [yield, plan] : a_.yields) {
      if (plan.target->code == OpCode::If || !goes_on(plan)) continue;
      const auto number = static_cast<size_t>(a_.loop_index.at(plan.target));
      LoopNote& loop = a_.loops[number];
      goes_round[number] = true;
      const size_t first = Analysis::first_initial(plan.target);
      for (size_t k = 0; k < plan.sources.size(); ++k) {
        if (plan.sources[k] != plan.target->blocks[0]->params[0]) loop.last_index[k] = false;
        if (!same_constant(plan.target->operands[first + k], plan.sources[k])) loop.constant[k] = false;
      }
    }
    for (size_t number = 0; number < a_.loops.size(); ++number) {
      LoopNote& loop = a_.loops[number];
      for (size_t k = 0; k < loop.last_index.size(); ++k) {
        // A body that always leaves yields nothing: no last index.
        if (goes_round[number] && a_.values[Analysis::carried_param(loop.op, k)].mentions == 0) continue;
        loop.last_index[k] = loop.constant[k] = false;
      }
    }
  }

  void visit(const Block& block) {
    for (size_t k = block.ops.size(); k-- > 0;) visit_op(block, k);
  }

  void visit_op(const Block& block, size_t k) {
    Op* op = block.ops[k];
    OpNote& note = a_.ops[op];
    if (op->code == OpCode::Yield) {
      visit_yield(op, note);
      return;
    }
    if (op->has(kStructured)) {
      visit_structured(op, note);
      return;
    }
    ValueId result = op->result();
    if (result != kNoValue && is_removable(op)) {
      ValueNote& value = a_.values[result];
      if (value.mode == Mode::kMemory) return;  // its user has seen the operands
      if (value.uses + value.fused_uses == 0) {
        note.dead = true;
        return;
      }
      if (value.fused_uses == 0 && value.uses == value.snapshot_uses && moves_to_exits(op)) {
        value.mode = Mode::kAtExit;
        for (ValueId operand : op->operands) {
          use(operand);
          a_.values[operand].snapshot_uses++;  // only exits read it, too
        }
        return;
      }
      if (value.uses == 0 && value.mentions == 1 && fuses_load(block, k)) value.mode = Mode::kFused;
      if (value.uses == 0 && can_fuse(f_, op) && !value.fused_elsewhere && value.fused_uses <= fuse_limit(op)) value.mode = Mode::kFused;
    }
    if (op->has(kExits)) use_snapshot(op);
    bool asks = asks_only(op);
    for (size_t j = 0; j < op->operands.size(); ++j) {
      if (asks || (op->code == OpCode::Select && j == 0)) use_condition(op->operands[j], note.loop);
      else if (!fold_load(block, k, j)) use(op->operands[j]);
    }
  }

  static uint32_t fuse_limit(const Op* op) { return op->code == OpCode::And || op->code == OpCode::Or ? 1 : 4; }

  // The iterator's next state, `i + step`: as good as free at an exit, but a register all through the loop otherwise. Only for the index
  // of a `for`, which is alive to the end of its loop anyway. Likewise whether it is the first trip, and whether there is a pointer; and what
  // is made of the former.
  bool moves_to_exits(const Op* op) const {
    const bool compares = (op->code == OpCode::Eq || op->code == OpCode::Ne) && (op->type == Type::I64 || op->type == Type::Ptr);
    if (compares) return is_const(op->operands[1]) || is_for_index(op->operands[0]);
    if (op->type == Type::I1 && (op->code == OpCode::And || op->code == OpCode::Or || op->code == OpCode::Not)) {
      return std::any_of(op->operands.begin(), op->operands.end(), [&](ValueId v) { return a_.values[v].def && moves_to_exits(a_.values[v].def); });
    }
    if (op->type != Type::I64 || (op->code != OpCode::Add && op->code != OpCode::Sub)) return false;
    return is_const(op->operands[1]) && is_for_index(op->operands[0]);
  }
  bool is_for_index(ValueId value) const {
    const ValueNote& note = a_.values[value];
    if (note.def || note.loop < 0) return false;
    const Op* loop = a_.loops[note.loop].op;
    return loop->code == OpCode::For && loop->blocks[0]->params[0] == value;
  }

  // A boolean element that the next `if`, guard or select asks for is compared in memory.
  static bool fuses_load(const Block& block, size_t k) {
    const Op* load = block.ops[k];
    if (load->code != OpCode::Load || load->type != Type::I1) return false;
    for (size_t j = k + 1; j < block.ops.size() && j < k + 16; ++j) {
      const Op* op = block.ops[j];
      bool asks = op->code == OpCode::If || op->code == OpCode::Guard || op->code == OpCode::Select;
      if (asks && op->operands[0] == load->result()) return true;
      if (op->has(kWritesArray) || op->has(kStructured)) return false;
    }
    return false;
  }

  // Ops that only need to know whether their i1 operands are true.
  bool asks_only(const Op* op) const {
    if (op->code == OpCode::Guard) return true;
    return op->result() != kNoValue && a_.values[op->result()].mode == Mode::kFused && op->type == Type::I1 &&
           (op->code == OpCode::And || op->code == OpCode::Or || op->code == OpCode::Not);
  }

  void visit_yield(const Op* op, const OpNote& note) {
    auto at = a_.yields.find(op);
    if (at == a_.yields.end()) return;
    YieldPlan& plan = at->second;
    const bool is_if = plan.target->code == OpCode::If;
    const LoopNote* loop = is_if ? nullptr : &a_.loops[a_.loop_index.at(plan.target)];
    for (size_t k = 0; k < plan.sources.size(); ++k) {
      const bool still = !is_if && (loop->last_index[k] || loop->constant[k] || !goes_on(plan));
      const bool dead = plan.target->code == OpCode::Loop && a_.values[Analysis::carried_param(plan.target, k)].mentions == 0;
      keep_source(&plan.sources[k], needed(plan.target, k) && !still && !dead);
      if (!is_if) keep_source(&plan.leaving[k], is_read(plan.target->results[k]) && leaves(plan));
    }
    if (plan.has_value_condition()) use_condition(plan.condition, note.loop);
  }

  void keep_source(ValueId* source, bool is_needed) {
    if (!is_needed) *source = kNoValue;
    else if (is_value(*source)) use(*source);
  }

  bool is_read(ValueId value) const { return a_.values[value].uses + a_.values[value].fused_uses > 0; }

  bool needed(const Op* target, size_t k) const {
    if (is_read(target->results[k])) return true;
    return target->code != OpCode::If && a_.values[Analysis::carried_param(target, k)].mentions > 0;
  }

  void visit_structured(const Op* op, const OpNote& note) {
    for (size_t j = op->blocks.size(); j-- > 0;) visit(*op->blocks[j]);
    if (op->code == OpCode::If) {
      if (!note.threaded) use_condition(op->operands[0], note.loop);
      return;
    }
    size_t first = Analysis::first_initial(op);
    for (size_t j = 0; j < first; ++j) use(op->operands[j]);
    if (op->code == OpCode::For) use(op->blocks[0]->params[0]);  // the latch counts with it
    for (size_t j = 0; j < op->results.size(); ++j) {
      if (needed(op, j)) use(op->operands[first + j]);
    }
  }

  void use(ValueId value) { a_.values[value].uses++; }
  void use_condition(ValueId value, int32_t loop) {
    ValueNote& note = a_.values[value];
    note.fused_uses++;
    if (note.loop != loop) note.fused_elsewhere = true;
  }
  void use_snapshot(const Op* op) {
    if (op->snapshot == kNoSnapshot) return;
    for (ValueId value : a_.snapshots[op->snapshot]) {
      a_.values[value].uses++;
      a_.values[value].snapshot_uses++;
    }
  }

  // Float arithmetic takes its second operand from memory when that is a load that nobody else needs and no store lies between.
  // (Never the first one: which of two NaNs survives depends on the order.)
  bool fold_load(const Block& block, size_t k, size_t j) {
    const Op* op = block.ops[k];
    bool arithmetic = op->code == OpCode::Add || op->code == OpCode::Mul || op->code == OpCode::Sub || op->code == OpCode::Div;
    if (j != 1 || !arithmetic || !is_float(op->type)) return false;
    ValueNote& value = a_.values[op->operands[j]];
    if (!value.def || value.def->code != OpCode::Load || value.mentions != 1 || value.def->type != op->type) return false;
    for (size_t distance = 1; distance <= 48 && distance <= k; ++distance) {
      const Op* other = block.ops[k - distance];
      if (other == value.def) {
        value.mode = Mode::kMemory;
        for (ValueId operand : other->operands) use(operand);
        return true;
      }
      if (other->has(kWritesArray) || other->has(kStructured)) return false;
    }
    return false;
  }

  const Function& f_;
  Analysis& a_;
};

}  // namespace

void choose_modes(const Function& function, Analysis* analysis) { ModeChooser(function, analysis).run(); }

}  // namespace hotloop::codegen
