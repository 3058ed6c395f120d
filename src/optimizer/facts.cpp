// Facts: scopes, searches, assumptions, loops. (What single ops mean is in facts_ops.cpp.) Needs optimizer/facts.h. Promises: as there.
#include "optimizer/facts.h"

#include <algorithm>

namespace hotloop::optimizer {

using namespace ir;

Interval type_interval(Type type) {
  if (type == Type::I1) return {0, 1};
  if (!is_int(type)) return {-(static_cast<Wide>(1) << 100), static_cast<Wide>(1) << 100};
  const int width = type_size(type) * 8;
  if (is_unsigned(type)) return {0, (static_cast<Wide>(1) << width) - 1};
  const Wide half = static_cast<Wide>(1) << (width - 1);
  return {-half, half - 1};
}

Facts::Facts(Editor& editor) : editor_(editor) {
  const Function& f = editor.function();
  const size_t count = f.value_types.size();
  ranges_.reserve(count + 64);
  for (Type type : f.value_types) ranges_.push_back(type_interval(type));
  upper_.assign(count, kNone);
  lower_.assign(count, kNone);
}

void Facts::grow(ValueId v) {
  while (ranges_.size() <= v) ranges_.push_back(type_interval(editor_.function().type_of(static_cast<ValueId>(ranges_.size()))));
  upper_.resize(ranges_.size(), kNone);
  lower_.resize(ranges_.size(), kNone);
}

Interval Facts::range(ValueId v) const {
  if (const Op* op = editor_.def(v); op != nullptr && op->code == OpCode::Const) {
    const Wide c = op->type == Type::U64 ? static_cast<Wide>(static_cast<uint64_t>(op->imm)) : static_cast<Wide>(op->imm);
    return {c, c};
  }
  return v < ranges_.size() ? ranges_[v] : type_interval(editor_.function().type_of(v));
}

void Facts::rollback(const Mark& mark) {
  while (edges_.size() > mark.edges) {
    const Edge& e = edges_.back();
    upper_[e.low] = e.next_of_low;
    lower_[e.high] = e.next_of_high;
    edges_.pop_back();
  }
  while (range_trail_.size() > mark.ranges) {
    ranges_[range_trail_.back().first] = range_trail_.back().second;
    range_trail_.pop_back();
  }
  known_.resize(mark.known);
  choices_.resize(mark.choices);
}

void Facts::refine(ValueId v, Interval interval) {
  grow(v);
  const Interval old = ranges_[v];
  const Interval now{std::max(old.lo, interval.lo), std::min(old.hi, interval.hi)};
  if (now.lo == old.lo && now.hi == old.hi) return;
  range_trail_.emplace_back(v, old);
  ranges_[v] = now;
}

void Facts::add_le(ValueId a, ValueId b, Wide c) {
  if (a == b) return;
  grow(std::max(a, b));
  const Interval range_a = range(a);
  const Interval range_b = range(b);
  refine(a, {range_a.lo, range_b.hi + c});
  refine(b, {range_a.lo - c, range_b.hi});
  if (editor_.is_const(a) || editor_.is_const(b)) return;  // the intervals say it
  edges_.push_back(Edge{a, b, c, upper_[a], lower_[b]});
  upper_[a] = lower_[b] = static_cast<uint32_t>(edges_.size() - 1);
}

void Facts::equal(ValueId a, ValueId b, Wide c) {
  add_le(a, b, c);
  add_le(b, a, -c);
}

// ---- proofs ----------------------------------------------------------------------------------------------------

struct Facts::Path {
  ValueId values[12];
  int size = 0;
  int budget = 80;
  bool contains(ValueId v) const { return std::find(values, values + size, v) != values + size; }
};

// a <= goal + c ?
bool Facts::search(ValueId a, Term goal, Wide c, int depth, Path& path) const {
  const Interval range_a = range(a);
  if (goal.v == kNoValue) {
    if (range_a.hi <= goal.c + c) return true;
  } else {
    if (a == goal.v) return goal.c + c >= 0;
    if (range_a.hi <= range(goal.v).lo + goal.c + c) return true;
  }
  if (depth == 0 || --path.budget < 0 || path.contains(a) || a >= upper_.size()) return false;
  path.values[path.size++] = a;
  bool proved = false;
  for (uint32_t k = upper_[a]; k != kNone && !proved; k = edges_[k].next_of_low) {
    proved = search(edges_[k].high, goal, c - edges_[k].c, depth - 1, path);
  }
  if (!proved) {
    const Op* op = editor_.def(a);
    proved = op != nullptr && op->code == OpCode::Select && search(editor_.find(op->operands[1]), goal, c, depth - 1, path) &&
             search(editor_.find(op->operands[2]), goal, c, depth - 1, path);
  }
  --path.size;
  return proved;
}

bool Facts::prove_le(Term a, Term b) const {
  if (a.v == kNoValue && b.v == kNoValue) return a.c <= b.c;
  if (a.v == kNoValue) return lower_limit(b.v) + b.c >= a.c;
  if (editor_.is_const(a.v)) return prove_le(Term{kNoValue, range(a.v).lo + a.c}, b);
  if (b.v != kNoValue && !is_integer(b.v)) return false;
  if (!is_integer(a.v)) return false;
  Path path;
  return search(a.v, b, -a.c, 10, path);
}

void Facts::limit(ValueId v, Wide c, bool upper, int depth, int& budget, Wide& best) const {
  const Interval r = range(v);
  best = upper ? std::min(best, r.hi + c) : std::max(best, r.lo + c);
  if (depth == 0 || v >= upper_.size()) return;
  for (uint32_t k = upper ? upper_[v] : lower_[v]; k != kNone; k = upper ? edges_[k].next_of_low : edges_[k].next_of_high) {
    if (--budget < 0) return;
    const Edge& e = edges_[k];
    if (upper) limit(e.high, c + e.c, upper, depth - 1, budget, best);
    else limit(e.low, c - e.c, upper, depth - 1, budget, best);
  }
}

Wide Facts::upper_limit(ValueId v) const {
  int budget = 20;
  Wide best = range(v).hi;
  limit(v, 0, true, 4, budget, best);
  return best;
}

Wide Facts::lower_limit(ValueId v) const {
  int budget = 20;
  Wide best = range(v).lo;
  limit(v, 0, false, 4, budget, best);
  return best;
}

std::vector<Term> Facts::bounds(ValueId v, const Wanted& wanted, bool upper) const {
  std::vector<Term> found;
  std::vector<Term> queue{Term{v, 0}};
  std::vector<ValueId> seen{v};
  for (size_t k = 0; k < queue.size() && k < 24 && found.size() < 3; ++k) {
    const Term at = queue[k];
    if (wanted(at.v)) {
      found.push_back(at);
      continue;
    }
    if (at.v >= upper_.size()) continue;
    for (uint32_t e = upper ? upper_[at.v] : lower_[at.v]; e != kNone; e = upper ? edges_[e].next_of_low : edges_[e].next_of_high) {
      const ValueId next = upper ? edges_[e].high : edges_[e].low;
      if (std::find(seen.begin(), seen.end(), next) != seen.end()) continue;
      seen.push_back(next);
      queue.push_back(Term{next, upper ? at.c + edges_[e].c : at.c - edges_[e].c});
    }
  }
  return found;
}

bool Facts::prove(ValueId condition, bool truth) const {
  if (const auto bits = editor_.const_bits(condition)) return (*bits != 0) == truth;
  for (const auto& [known, value] : known_) {
    if (known == condition) return value == truth;
  }
  const Op* op = editor_.def(condition);
  if (op == nullptr) return false;
  if (op->code == OpCode::Not) return prove(editor_.find(op->operands[0]), !truth);
  if (op->operands.size() != 2) return false;
  const ValueId a = editor_.find(op->operands[0]);
  const ValueId b = editor_.find(op->operands[1]);
  if (op->type == Type::I1) {
    if (op->code != OpCode::And && op->code != OpCode::Or) return false;
    const bool need_both = (op->code == OpCode::And) == truth;
    return need_both ? prove(a, truth) && prove(b, truth) : prove(a, truth) || prove(b, truth);
  }
  if (!is_int(op->type)) return false;
  switch (op->code) {
    case OpCode::Lt: return truth ? prove_le(a, b, -1) : prove_le(b, a, 0);
    case OpCode::Le: return truth ? prove_le(a, b, 0) : prove_le(b, a, -1);
    case OpCode::Gt: return truth ? prove_le(b, a, -1) : prove_le(a, b, 0);
    case OpCode::Ge: return truth ? prove_le(b, a, 0) : prove_le(a, b, -1);
    case OpCode::Eq:
    case OpCode::Ne:
      if ((op->code == OpCode::Eq) == truth) return prove_le(a, b, 0) && prove_le(b, a, 0);
      return prove_le(a, b, -1) || prove_le(b, a, -1);
    default: return false;
  }
}

// ---- assumptions -----------------------------------------------------------------------------------------------

void Facts::assume(ValueId condition, bool truth) {
  if (editor_.is_const(condition)) return;
  known_.emplace_back(condition, truth);
  const Op* op = editor_.def(condition);
  if (op == nullptr) return;
  if (op->code == OpCode::Not) assume(editor_.find(op->operands[0]), !truth);
  if (op->operands.size() != 2) return;
  const ValueId a = editor_.find(op->operands[0]);
  const ValueId b = editor_.find(op->operands[1]);
  if (op->type == Type::I1) {
    if ((op->code == OpCode::And && truth) || (op->code == OpCode::Or && !truth)) {
      assume(a, truth);
      assume(b, truth);
    } else if (op->code == OpCode::Or && truth) {
      choices_.push_back(condition);
    }
    return;
  }
  if (!is_int(op->type)) return;
  switch (op->code) {
    case OpCode::Lt: truth ? add_le(a, b, -1) : add_le(b, a, 0); break;
    case OpCode::Le: truth ? add_le(a, b, 0) : add_le(b, a, -1); break;
    case OpCode::Gt: truth ? add_le(b, a, -1) : add_le(a, b, 0); break;
    case OpCode::Ge: truth ? add_le(b, a, 0) : add_le(a, b, -1); break;
    case OpCode::Eq:
    case OpCode::Ne:
      if ((op->code == OpCode::Eq) == truth) {
        equal(a, b, 0);
      } else if (prove_le(a, b, 0)) {  // a != b at the end of a's interval
        add_le(a, b, -1);
      } else if (prove_le(b, a, 0)) {
        add_le(b, a, -1);
      }
      break;
    default: break;
  }
}

// `a or b` with one side refuted by what is known by now.
void Facts::resolve_choices() {
  const size_t first = choices_.size() > 24 ? choices_.size() - 24 : 0;
  for (size_t k = first; k < choices_.size() && k < first + 64; ++k) {  // what is assumed may be a choice again
    const Op* op = editor_.def(choices_[k]);
    const ValueId a = editor_.find(op->operands[0]);
    const ValueId b = editor_.find(op->operands[1]);
    if (prove(b, false)) assume(a, true);
    else if (prove(a, false)) assume(b, true);
  }
}

// ---- loops -----------------------------------------------------------------------------------------------------

bool Facts::not_negative(ValueId v, int depth) const {
  if (range(v).lo >= 0) return true;
  const Op* op = editor_.def(v);
  if (op == nullptr) {
    const Op* owner = editor_.param_owner(v);
    if (depth == 0 || owner == nullptr || owner->code != OpCode::For || owner->blocks[0]->params[0] != v) return false;
    const auto step = editor_.const_bits(editor_.find(owner->operands[2]));
    return step && *step > 0 && not_negative(editor_.find(owner->operands[0]), depth - 1);
  }
  if (depth == 0) return false;
  switch (op->code) {
    case OpCode::Const: return op->imm >= 0;
    case OpCode::ArrDim:
    case OpCode::ListLen:
    case OpCode::Bound: return true;
    case OpCode::Conv: {
      const Type from = editor_.function().type_of(op->operands[0]);
      return from == Type::I1 || (is_unsigned(from) && type_size(from) < type_size(op->type));
    }
    case OpCode::Select: return not_negative(editor_.find(op->operands[1]), depth - 1) && not_negative(editor_.find(op->operands[2]), depth - 1);
    case OpCode::And: return not_negative(editor_.find(op->operands[1]), depth - 1) || not_negative(editor_.find(op->operands[0]), depth - 1);
    case OpCode::AddO: return not_negative(editor_.find(op->operands[1]), depth - 1) && not_negative(editor_.find(op->operands[0]), depth - 1);
    default: return false;
  }
}

// Is v >= param (sign +1) or v <= param (sign -1) at the end of every trip? Looks through checked additions, choices and inner loops.
bool Facts::grows(ValueId v, ValueId param, int sign, int depth) const {
  if (v == param) return true;
  const Op* op = editor_.def(v);
  if (op == nullptr || depth == 0) return false;
  auto operand = [&](size_t k) { return editor_.find(op->operands[k]); };
  auto const_sign_ok = [&](ValueId c, int wanted) {
    if (wanted > 0) return not_negative(c, 3);
    const auto bits = editor_.const_bits(c);
    return bits && (*bits == 0 || (*bits < 0 && !is_unsigned(editor_.function().type_of(c))));  // u64 bits are no negative number
  };
  switch (op->code) {
    case OpCode::AddO:
      return (grows(operand(0), param, sign, depth - 1) && const_sign_ok(operand(1), sign)) ||
             (grows(operand(1), param, sign, depth - 1) && const_sign_ok(operand(0), sign));
    case OpCode::SubO: return grows(operand(0), param, sign, depth - 1) && const_sign_ok(operand(1), -sign);
    case OpCode::Select: {
      ValueId x, y;
      const int kind = minimum_or_maximum(editor_, *op, &x, &y);
      if (kind == sign && (grows(x, param, sign, depth - 1) || grows(y, param, sign, depth - 1))) return true;
      return grows(operand(1), param, sign, depth - 1) && grows(operand(2), param, sign, depth - 1);
    }
    case OpCode::If: {
      const size_t k = static_cast<size_t>(std::find(op->results.begin(), op->results.end(), v) - op->results.begin());
      for (const Block* block : op->blocks) {
        if (!ends_in_exit(*block) && !grows(editor_.find(block->ops.back()->operands[k]), param, sign, depth - 1)) return false;
      }
      return true;
    }
    case OpCode::For:
    case OpCode::Loop: {
      const size_t k = static_cast<size_t>(std::find(op->results.begin(), op->results.end(), v) - op->results.begin());
      const Block& body = *op->blocks[0];
      if (!grows(operand(first_carried_operand(*op) + k), param, sign, depth - 1)) return false;
      if (ends_in_exit(body)) return true;
      return grows(editor_.find(body.ops.back()->operands[1 + k]), body.params[first_carried_param(*op) + k], sign, depth - 1);
    }
    default: return false;
  }
}

void Facts::enter_loop(const Op& loop) {
  const Block& body = *loop.blocks[0];
  for (size_t k = 0; k < carried_count(loop); ++k) {
    const ValueId param = body.params[first_carried_param(loop) + k];
    if (!is_integer(param) || ends_in_exit(body)) continue;
    const ValueId initial = editor_.find(loop.operands[first_carried_operand(loop) + k]);
    const ValueId next = editor_.find(body.ops.back()->operands[1 + k]);
    if (grows(next, param, 1, 6)) add_le(initial, param, 0);
    else if (grows(next, param, -1, 6)) add_le(param, initial, 0);
  }
  if (loop.code == OpCode::For) {
    const ValueId i = body.params[0];
    const ValueId lo = editor_.find(loop.operands[0]);
    const ValueId hi = editor_.find(loop.operands[1]);
    const Interval step = tight_range(editor_.find(loop.operands[2]));
    if (step.lo >= 1) {
      add_le(lo, i, 0);
      add_le(i, hi, -1);
      add_le(lo, hi, -1);
    } else if (step.hi <= -1) {
      add_le(i, lo, 0);
      add_le(hi, i, -1);
      add_le(hi, lo, -1);
    }
  }
  resolve_choices();
}

void Facts::leave_loop(const Op& loop) {
  const Block& body = *loop.blocks[0];
  for (size_t k = 0; k < carried_count(loop); ++k) {
    const ValueId result = loop.results[k];
    if (!is_integer(result) || ends_in_exit(body)) continue;
    const ValueId initial = editor_.find(loop.operands[first_carried_operand(loop) + k]);
    const ValueId next = editor_.find(body.ops.back()->operands[1 + k]);
    const ValueId param = body.params[first_carried_param(loop) + k];
    if (grows(next, param, 1, 6)) add_le(initial, result, 0);
    else if (grows(next, param, -1, 6)) add_le(result, initial, 0);
  }
}

}  // namespace hotloop::optimizer
