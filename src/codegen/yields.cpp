// Yield plans: where the values at the end of a block really go. Needs analysis.h.
//
// An `if` that is the last thing before its block's yield yields in its parent's place ("absorbs" it): each arm copies straight to the
// carried values or results of the construct around it and jumps on from there, so that an arm which says "stop" is a plain jump out of
// the loop. Selects and nots between the two that ask for one of the `if`'s results are answered per arm when that result is a constant
// in all of them. An `if` that asks for a result of the one right before it is entered directly from the latter's arms ("threaded").
#include <algorithm>

#include "codegen/analysis.h"

namespace hotloop::codegen {
using namespace ir;

namespace {

// A value at the end of a block, written in terms of that block's own yield: operand `index` of it, a fixed value, or a choice.
struct Term {
  enum class Kind : uint8_t { kValue, kSlot, kSelect, kNot };
  Kind kind = Kind::kValue;
  uint32_t index = kNoValue;
  std::vector<Term> parts = {};
};

class YieldPlanner {
 public:
  YieldPlanner(const Function& function, Analysis* analysis) : f_(function), a_(*analysis) {}

  void run() { visit_ops(*f_.body); }

 private:
  struct Goal {
    const Op* target = nullptr;
    std::vector<Term> sources;
    bool has_condition = false;
    Term condition;
  };
  // What stands before a block's yield: an `if`, then ops that choose by its results.
  struct Tail {
    const Op* branch = nullptr;
    std::vector<const Op*> choices;  // last one first
  };

  const Op* def_of(ValueId value) const { return a_.values[value].def; }
  bool is_const(ValueId value) const { return def_of(value) && def_of(value)->code == OpCode::Const; }

  static size_t next_emitted(const Block& block, size_t k) {
    for (++k; k < block.ops.size() && block.ops[k]->code == OpCode::Const;) ++k;
    return k;
  }

  static int slot_of(const Op* branch, ValueId value) {
    auto at = std::find(branch->results.begin(), branch->results.end(), value);
    return at == branch->results.end() ? -1 : static_cast<int>(at - branch->results.begin());
  }

  void visit_ops(const Block& block) {
    for (size_t k = 0; k < block.ops.size(); ++k) {
      const Op* op = block.ops[k];
      if (op->code == OpCode::If) {
        if (absorbs_.count(op) == 0) visit_if(block, k);
      } else if (!op->blocks.empty()) {
        Goal goal = plain_goal(op, 1);
        goal.has_condition = true;
        goal.condition = {Term::Kind::kSlot, 0};
        resolve(*op->blocks[0], goal);
      }
    }
  }

  void visit_if(const Block& block, size_t k) {
    const Op* op = block.ops[k];
    Goal goal = plain_goal(op, 0);
    size_t next = next_emitted(block, k);
    const Op* follower = next < block.ops.size() ? block.ops[next] : nullptr;
    if (follower && follower->code == OpCode::If) {
      int slot = slot_of(op, follower->operands[0]);
      if (slot >= 0) {
        goal.has_condition = true;
        goal.condition = {Term::Kind::kSlot, static_cast<uint32_t>(slot)};
        a_.ops[op].thread = follower;
        a_.ops[follower].threaded = true;
      }
    }
    for (const Block* arm : op->blocks) resolve(*arm, goal);
  }

  static Goal plain_goal(const Op* target, uint32_t first) {
    Goal goal;
    goal.target = target;
    for (uint32_t j = 0; j < target->results.size(); ++j) goal.sources.push_back({Term::Kind::kSlot, j + first});
    return goal;
  }

  // Plans the yields that end `block`: its own one, or those of the arms of the `if` that absorbs it.
  void resolve(const Block& block, const Goal& goal) {
    const Op* last = block.ops.back();
    if (last->code != OpCode::Yield) {
      visit_ops(block);
      return;
    }
    Tail tail = find_tail(block, goal);
    if (tail.branch) {
      absorbs_.emplace(tail.branch, true);
      a_.ops[last].absorbed = true;
    }
    visit_ops(block);
    if (!tail.branch) {
      YieldPlan plan;
      plan.target = goal.target;
      for (const Term& term : goal.sources) plan.sources.push_back(value_of(term, last));
      if (goal.has_condition) plan.condition = value_of(goal.condition, last);
      a_.yields.emplace(last, std::move(plan));
      return;
    }
    Goal inner = goal;
    for (Term& term : inner.sources) term = through(term, last, tail);
    if (inner.has_condition) inner.condition = through(inner.condition, last, tail);
    for (const Block* arm : tail.branch->blocks) resolve(*arm, inner);
  }

  Tail find_tail(const Block& block, const Goal& goal) const {
    Tail tail;
    for (size_t k = block.ops.size() - 1; k-- > 0;) {
      const Op* op = block.ops[k];
      if (op->code == OpCode::Const) continue;
      if (op->code == OpCode::If) {
        tail.branch = op;
        break;
      }
      if (op->code != OpCode::Select && !(op->code == OpCode::Not && op->type == Type::I1)) break;
      tail.choices.push_back(op);
    }
    if (tail.branch && !answers_all(tail, block.ops.back(), goal)) tail.branch = nullptr;
    return tail;
  }

  // Whether the arms of the `if` know the answer to every choice behind it, and nobody but the yield and other choices needs them.
  bool answers_all(const Tail& tail, const Op* yield, const Goal& goal) const {
    for (const Op* choice : tail.choices) {
      const Op* asks = choice;
      ValueId question = choice->operands[0];
      for (; def_of(question) && def_of(question)->code == OpCode::Not && is_choice(tail, def_of(question)); question = asks->operands[0]) asks = def_of(question);
      int slot = slot_of(tail.branch, question);
      if (slot < 0 || !constant_in_arms(tail.branch, static_cast<size_t>(slot))) return false;
      uint32_t mentions = 0;
      for (size_t j = 0; j < yield->operands.size(); ++j) {
        if (yield->operands[j] != choice->result()) continue;
        ++mentions;
        // There is no value for the answer to a not: it can only be the condition.
        bool is_condition = goal.has_condition && goal.condition.kind == Term::Kind::kSlot && goal.condition.index == j;
        bool is_source = std::any_of(goal.sources.begin(), goal.sources.end(), [j](const Term& term) { return mentions_slot(term, j); });
        if (choice->code == OpCode::Not && (!is_condition || is_source)) return false;
      }
      for (const Op* other : tail.choices) {
        for (size_t j = 0; j < other->operands.size(); ++j) {
          if (other->operands[j] != choice->result()) continue;
          ++mentions;
          if (choice->code == OpCode::Not && j != 0) return false;
        }
      }
      if (mentions != a_.values[choice->result()].mentions) return false;
    }
    return true;
  }

  static bool mentions_slot(const Term& term, size_t slot) {
    if (term.kind == Term::Kind::kSlot) return term.index == slot;
    return std::any_of(term.parts.begin(), term.parts.end(), [slot](const Term& part) { return mentions_slot(part, slot); });
  }

  static bool is_choice(const Tail& tail, const Op* op) {
    return std::find(tail.choices.begin(), tail.choices.end(), op) != tail.choices.end();
  }

  bool constant_in_arms(const Op* branch, size_t slot) const {
    for (const Block* arm : branch->blocks) {
      const Op* yield = arm->ops.back();
      if (yield->code != OpCode::Yield) continue;
      ValueId value = yield->operands[slot];
      if (is_const(value)) continue;
      // The arm's own last `if` may know.
      const Op* inner = nullptr;
      for (size_t k = arm->ops.size() - 1; k-- > 0 && !inner;) {
        if (arm->ops[k]->code != OpCode::Const) inner = arm->ops[k];
      }
      if (!inner || inner->code != OpCode::If) return false;
      int inner_slot = slot_of(inner, value);
      if (inner_slot < 0 || !constant_in_arms(inner, static_cast<size_t>(inner_slot))) return false;
    }
    return true;
  }

  ValueId value_of(const Term& term, const Op* yield) const {
    switch (term.kind) {
      case Term::Kind::kValue: return term.index;
      case Term::Kind::kSlot: return yield->operands[term.index];
      case Term::Kind::kNot: return is_true(value_of(term.parts[0], yield)) ? kNever : kAlways;
      default: return value_of(term.parts[is_true(value_of(term.parts[0], yield)) ? 1 : 2], yield);
    }
  }
  bool is_true(ValueId answer) const { return answer == kAlways || (answer != kNever && def_of(answer)->imm != 0); }

  // The same value in terms of the yields of the tail's arms.
  Term through(const Term& term, const Op* yield, const Tail& tail) const {
    if (term.kind == Term::Kind::kValue) return term;
    if (term.kind == Term::Kind::kSlot) return in_arms(yield->operands[term.index], tail);
    Term mapped{term.kind};
    for (const Term& part : term.parts) mapped.parts.push_back(through(part, yield, tail));
    return mapped;
  }
  Term in_arms(ValueId value, const Tail& tail) const {
    int slot = slot_of(tail.branch, value);
    if (slot >= 0) return {Term::Kind::kSlot, static_cast<uint32_t>(slot)};
    const Op* def = def_of(value);
    if (!def || !is_choice(tail, def)) return {Term::Kind::kValue, value};
    Term choice{def->code == OpCode::Not ? Term::Kind::kNot : Term::Kind::kSelect};
    for (ValueId operand : def->operands) choice.parts.push_back(in_arms(operand, tail));
    return choice;
  }

  const Function& f_;
  Analysis& a_;
  std::unordered_map<const Op*, bool> absorbs_;
};

}  // namespace

void plan_yields(const Function& function, Analysis* analysis) { YieldPlanner(function, analysis).run(); }

}  // namespace hotloop::codegen
