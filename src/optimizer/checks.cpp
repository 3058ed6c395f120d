// Check elimination: bounds, guards and overflow checks that ranges prove are dropped; what is left and does not vary in a loop, or varies
// monotonically with its index, is checked in front of the loop instead (hoist.cpp), outward through all loops.
//
// Needs gvn and licm before (invariant operands outside). Preserves T36: a moved check stands directly in front of its loop and leaves through
// the loop's `before` snapshot. Run with `final` last: checked additions say "does not wrap", plain ones do not.
#include "optimizer/checks.h"

#include <algorithm>

namespace hotloop::optimizer {

using namespace ir;

bool CheckElimination::run() {
  for_each_op(*function_.body, [](Op& op, Block&) { op.mark = 0; });
  block(*function_.body, false);
  return editor_.finish();
}

void CheckElimination::block(Block& b, bool conditional) {
  const Ops old = std::move(b.ops);
  b.ops.clear();
  b.ops.reserve(old.size() + 8);
  for (Op* op : old) process(op, b.ops, conditional);
}

void CheckElimination::keep(Op* op, Ops& out) {
  for (ValueId v : op->results) set_depth(v, here());
  facts_.define(*op);
  out.push_back(op);
}

ValueId CheckElimination::place(Ops& out, OpCode code, Type type, std::initializer_list<ValueId> operands, int32_t line) {
  Op* op = editor_.make(code, type, operands, line);
  keep(op, out);
  return op->result();
}

void CheckElimination::process(Op* op, Ops& out, bool conditional) {
  editor_.resolve_operands(*op);
  switch (op->code) {
    case OpCode::If:
    case OpCode::For:
    case OpCode::Loop: return structured(op, out, conditional);
    case OpCode::Bound: return bound(op, out, conditional);
    case OpCode::Guard: return guard(op, out, conditional);
    case OpCode::AddO:
    case OpCode::SubO:
    case OpCode::MulO:
    case OpCode::NegO:
    case OpCode::ShlO: return arithmetic(op, out, conditional);
    case OpCode::FloorMod:
      if (is_int(op->type)) return modulo(op, out);
      break;
    case OpCode::ArrDim: dims_.try_emplace({op->operands[0], op->imm}, op->result()); break;
    default: break;
  }
  if (op->code >= OpCode::Eq && op->code <= OpCode::Ge && is_int(op->type)) {
    for (bool truth : {true, false}) {
      if (!facts_.prove(op->result(), truth)) continue;
      editor_.replace(op->result(), editor_.const_i1(truth));
      return;
    }
  }
  // What was put in front of an inner loop may go further.
  if (options_.hoist && here() > 0 && op->code != OpCode::Const && is_speculatable(editor_, *op)) {
    bool fixed = true;
    for (ValueId v : op->operands) fixed = fixed && invariant(v);
    if (fixed) {
      for (ValueId v : op->results) set_depth(v, here() - 1);
      facts_.define(*op);
      loops_.back().before.push_back(op);
      editor_.set_changed();
      return;
    }
  }
  keep(op, out);
}

void CheckElimination::structured(Op* op, Ops& out, bool conditional) {
  if (op->code == OpCode::If) return if_(op, out);
  loop(op, out, conditional);
}

void CheckElimination::if_(Op* op, Ops& out) {
  const ValueId condition = op->operands[0];
  std::vector<Interval> joined(op->results.size(), Interval{1, 0});
  for (int side = 0; side < 2; ++side) {
    Block& inner = *op->blocks[side];
    const Facts::Mark mark = facts_.mark();
    facts_.assume(condition, side == 0);
    block(inner, true);
    if (!ends_in_exit(inner)) {
      for (size_t k = 0; k < op->results.size(); ++k) {
        const ValueId v = inner.ops.back()->operands[k];
        if (!is_int(function_.type_of(v))) continue;
        const Interval range = facts_.tight_range(v);
        if (joined[k].lo > joined[k].hi) joined[k] = range;
        else joined[k] = {std::min(joined[k].lo, range.lo), std::max(joined[k].hi, range.hi)};
      }
    }
    facts_.rollback(mark);
  }
  for (size_t k = 0; k < op->results.size(); ++k) {
    set_depth(op->results[k], here());
    if (joined[k].lo <= joined[k].hi) facts_.refine(op->results[k], joined[k]);
  }
  out.push_back(op);
  const bool leaves[] = {ends_in_exit(*op->blocks[0]), ends_in_exit(*op->blocks[1])};
  if (leaves[0] != leaves[1]) facts_.assume(condition, leaves[1]);
}

void CheckElimination::loop(Op* op, Ops& out, bool conditional) {
  Loop around{op, {}, kNoValue, kNoValue, op->snapshot != kNoSnapshot, op->code == OpCode::Loop};
  if (op->code == OpCode::For) {
    const Interval step = facts_.range(op->operands[2]);
    around.runs = (step.lo >= 1 && facts_.prove_le(op->operands[0], op->operands[1], -1)) ||
                  (step.hi <= -1 && facts_.prove_le(op->operands[1], op->operands[0], -1));
  }
  loops_.push_back(std::move(around));
  for (ValueId v : op->blocks[0]->params) set_depth(v, here());
  const Facts::Mark mark = facts_.mark();
  if (op->code == OpCode::For) assume_upward(*op->blocks[0]);
  facts_.enter_loop(*op);
  block(*op->blocks[0], false);
  facts_.rollback(mark);
  const Ops before = std::move(loops_.back().before);
  loops_.pop_back();
  for (Op* moved : before) process(moved, out, conditional);
  if (options_.hoist) hoist_loads(*op, out);
  if (options_.final) carry_stores(*op, out);
  for (ValueId v : op->results) set_depth(v, here());
  facts_.leave_loop(*op);
  out.push_back(op);
}

// Loads of a loop without stores whose place is fixed and known to be inside the array even when the loop makes no trip.
void CheckElimination::hoist_loads(Op& loop, Ops& out) {
  Block& body = *loop.blocks[0];
  bool any = false;
  for (const Op* op : body.ops) any = any || op->code == OpCode::ALoad;
  if (!any || has_effect_inside(body, kWritesArray)) return;
  size_t kept = 0;
  for (Op* op : body.ops) {
    bool moves = op->code == OpCode::ALoad;
    if (moves) {
      for (ValueId& v : op->operands) {
        v = editor_.find(v);
        moves = moves && depth_of(v) <= here();
      }
    }
    if (moves && load_in_bounds(*op)) {
      keep(op, out);
      editor_.set_changed();
    } else {
      body.ops[kept++] = op;
    }
  }
  body.ops.resize(kept);
}

bool CheckElimination::load_in_bounds(const Op& load) {
  for (size_t axis = 0; axis + 1 < load.operands.size(); ++axis) {
    const auto dim = dims_.find({load.operands[0], static_cast<int64_t>(axis)});
    if (dim == dims_.end()) return false;
    const ValueId index = load.operands[1 + axis];
    if (!facts_.prove_at_least(index, 0) || !facts_.prove_le(index, editor_.find(dim->second), -1)) return false;
  }
  return true;
}

void CheckElimination::bound(Op* op, Ops& out, bool conditional) {
  const ValueId i = op->operands[0];
  const ValueId n = op->operands[1];
  const bool not_negative = facts_.prove_at_least(i, 0);
  if (not_negative && facts_.prove_le(i, n, -1)) {
    editor_.replace(op->result(), i);
    return;
  }
  if (!not_negative && facts_.prove_at_most(i, -1) && facts_.prove_at_least(n, 0)) {
    // Counts from the end: i + n, which cannot overflow, must not be negative.
    Op* sum = editor_.make(OpCode::Add, Type::I64, {i, n}, op->line);
    process(sum, out, conditional);
    Op* ge = editor_.make(OpCode::Ge, Type::I64, {sum->result(), editor_.const_i64(0)}, op->line);
    process(ge, out, conditional);
    Op* check = editor_.make(OpCode::Guard, Type::None, {editor_.find(ge->result())}, op->line);
    check->imm = static_cast<int64_t>(ExitReason::Bounds);
    check->snapshot = op->snapshot;
    guard(check, out, conditional);
    editor_.replace(op->result(), sum->result());
    return;
  }
  if (can_hoist()) {
    // An index from outside of all loops may well count from the end; one that an outer loop steps through hardly.
    const bool entry_value = !not_negative && depth_of(i) == 0;
    ValueId index = entry_value ? hoist_fixed_bound(*op) : kNoValue;
    if (index == kNoValue && hoist_bound(*op, conditional)) index = i;
    if (index == kNoValue && !not_negative && !entry_value) index = hoist_fixed_bound(*op);
    if (index != kNoValue) {
      editor_.replace(op->result(), index);
      return;
    }
  }
  if (not_negative) {  // no wrap to provide for
    Op* lt = editor_.make(OpCode::Lt, Type::I64, {i, n}, op->line);
    keep(lt, out);
    Op* check = editor_.make(OpCode::Guard, Type::None, {lt->result()}, op->line);
    check->imm = static_cast<int64_t>(ExitReason::Bounds);
    check->snapshot = op->snapshot;
    out.push_back(check);
    facts_.assume(lt->result(), true);
    editor_.replace(op->result(), i);
    return;
  }
  keep(op, out);
}

void CheckElimination::guard(Op* op, Ops& out, bool conditional) {
  const ValueId condition = editor_.find(op->operands[0]);
  op->operands[0] = condition;
  if (facts_.prove(condition, true)) {
    editor_.set_changed();
    return;
  }
  if (!facts_.prove(condition, false) && can_hoist() && hoist_guard(*op, conditional)) {
    facts_.assume(condition, true);
    editor_.set_changed();
    return;
  }
  facts_.assume(condition, true);
  out.push_back(op);
}

void CheckElimination::arithmetic(Op* op, Ops& out, bool conditional) {
  if (facts_.fits(*op)) {
    keep(op, out);
    if (!options_.final) return;
    make_plain(*op);
    editor_.set_changed();
    return;
  }
  if (can_hoist() && !conditional && hoist_arithmetic(op)) {
    // Either moved away, or now plain and known not to wrap.
    if (!op->has(kExits)) out.push_back(op);
    editor_.set_changed();
    return;
  }
  keep(op, out);
}

// x % n with x at most one n away from the result's range: a compare instead of a division.
void CheckElimination::modulo(Op* op, Ops& out) {
  const ValueId x = op->operands[0];
  const ValueId n = op->operands[1];
  const Wide least = facts_.tight_range(n).lo;
  if (least < 1) return keep(op, out);
  const bool below = facts_.prove_le(x, n, -1);
  const bool not_negative = facts_.prove_at_least(x, 0);
  if (below && not_negative) {
    editor_.replace(op->result(), x);
    return;
  }
  const ValueId zero = editor_.constant(op->type, 0);
  ValueId result = kNoValue;
  if (not_negative && facts_.prove_le(x, n, least - 1)) {
    const ValueId less = place(out, OpCode::Lt, op->type, {x, n}, op->line);
    const ValueId reduced = place(out, OpCode::Sub, op->type, {x, n}, op->line);
    result = place(out, OpCode::Select, op->type, {less, x, reduced}, op->line);
  } else if (below && is_signed(op->type) && facts_.prove_at_least(x, -least)) {
    const ValueId negative = place(out, OpCode::Lt, op->type, {x, zero}, op->line);
    const ValueId raised = place(out, OpCode::Add, op->type, {x, n}, op->line);
    result = place(out, OpCode::Select, op->type, {negative, raised, x}, op->line);
  } else {
    return keep(op, out);
  }
  facts_.refine(result, {0, facts_.tight_range(n).hi - 1});
  facts_.add_le(result, n, -1);
  editor_.replace(op->result(), result);
}

bool eliminate_checks(Function& function, const CheckOptions& options) { return CheckElimination(function, options).run(); }

}  // namespace hotloop::optimizer
