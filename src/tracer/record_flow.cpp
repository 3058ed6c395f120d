// Control flow: blocks, edges, branches, and which joins belong to which branch. See recorder.h for the scheme.
#include <algorithm>
#include <utility>

#include "tracer/recorder.h"

namespace hotloop::tracer {

const HlInstr& Recorder::first_instr(const FrameInfo& info, int block) const {
  const CodeMap& map = info.part->map();
  return map.instrs()[static_cast<size_t>(map.blocks()[static_cast<size_t>(block)].first)];
}

Result<Ways> Recorder::run_from(State state, int block) {
  const FrameInfo* info = state.top().info;
  int frame = static_cast<int>(state.frames.size()) - 1;
  bool header = info->part->is_header(block);
  auto ways = header ? emit_loop(std::move(state), block, 0) : run_block(std::move(state), block);
  if (!ways) return ways;
  return settle(std::move(*ways), frame, info, block, header);
}

// Runs the places that belong here: joins that `block` dominates immediately, or what follows the loop of the header `block`.
Result<Ways> Recorder::settle(Ways ways, int frame, const FrameInfo* info, int block, bool after_loop) {
  for (;;) {
    int k = owned_way(ways, frame, *info, block, after_loop);
    if (k < 0) return ways;
    size_t index = static_cast<size_t>(k);
    if (ways.size() == 1) {
      int next = ways[0].place.block;
      auto more = run_from(std::move(ways[0].state), next);
      if (!more) return more;
      ways = std::move(*more);
      continue;
    }
    auto more = run_owned(std::move(ways), index);
    if (!more) return more;
    ways = std::move(*more);
  }
}

int Recorder::owned_way(const Ways& ways, int frame, const FrameInfo& info, int block, bool after_loop) {
  const Part& part = *info.part;
  int best = -1;
  int here = after_loop ? part.place_of(block) : part.loop_of(block);
  for (size_t k = 0; k < ways.size(); ++k) {
    const Place& place = ways[k].place;
    if (place.frame != frame || place.block == kReturn) continue;
    if (part.place_of(place.block) != here) continue;
    if (here >= 0 && part.loops()[static_cast<size_t>(here)].header == place.block) continue;
    int above = part.dominator(place.block);
    bool owned = after_loop ? part.loop_contains(part.loop_of(block), above) : above == block;
    if (!owned) continue;
    if (best < 0 || part.order(place.block) < part.order(ways[static_cast<size_t>(best)].place.block)) best = static_cast<int>(k);
  }
  return best;
}

// One of several ways goes on here; the others pass by.
Result<Ways> Recorder::run_owned(Ways ways, size_t k, int peels) {
  Way mine = std::move(ways[k]);
  ways.erase(ways.begin() + static_cast<std::ptrdiff_t>(k));
  State fallback = mine.state;
  Place place = mine.place;
  bool straight = mine.flag != ir::kNoValue;
  ValueId condition = straight ? mine.flag : ways[0].flag;
  if (ways.size() == 1) ways[0].flag = ir::kNoValue;
  ir::Block* parent = builder_.block();
  ir::Op* op = builder_.if_(condition, {});
  ValueId mark = static_cast<ValueId>(function_->value_types.size());
  builder_.set_block(op->blocks[straight ? 0 : 1]);
  ++arms_;
  auto gone_on = peels >= 0 ? emit_loop(std::move(mine.state), place.block, peels) : run_from(std::move(mine.state), place.block);
  --arms_;
  if (!gone_on) return gone_on;
  builder_.set_block(parent);
  if (straight) return merge(op, mark, std::move(*gone_on), std::move(ways), fallback, place);
  return merge(op, mark, std::move(ways), std::move(*gone_on), fallback, place);
}

Recorder::Edge Recorder::edge_kind(const FrameInfo& info, int from, int to) {
  const Part& part = *info.part;
  if (!part.contains(to)) return Edge::kExit;
  if (part.is_back_edge(from, to)) return Edge::kWay;
  if (part.place_of(to) != part.loop_of(from) || part.forward_sources(to) > 1) return Edge::kWay;
  return Edge::kInline;
}

ExitReason Recorder::edge_reason(const FrameInfo& info, int from, int to) {
  if (info.part->inside_region(to)) return ExitReason::Path;
  return from == info.part->entry() && first_instr(info, from).op == HL_FOR_ITER ? ExitReason::Finished : ExitReason::Left;
}

// Goes along an edge at the end of an arm or body: runs what only this edge leads to.
Result<Ways> Recorder::follow(State state, int from, int to) {
  const FrameInfo& info = *state.top().info;
  switch (edge_kind(info, from, to)) {
    case Edge::kExit:
      builder_.exit(edge_reason(info, from, to), snapshot_at_place(state, {static_cast<int>(state.frames.size()) - 1, to}));
      return Ways{};
    case Edge::kInline: return run_from(std::move(state), to);
    case Edge::kWay: break;
  }
  return make_way(std::move(state), {static_cast<int>(state.frames.size()) - 1, to});
}

Result<Ways> Recorder::make_way(State state, Place place) {
  for (size_t k = loops_.size(); k-- > 0;) {
    LoopContext& loop = *loops_[k];
    if (loop.frame != place.frame || loop.header != place.block) continue;
    if (!loop.check) break;
    auto fits = check_latch(state, loop);
    if (!fits) return fits.refusal();
    if (!*fits) return Ways{};
    flush_kept(state, loop);
    break;
  }
  Ways ways;
  ways.push_back({place, std::move(state), ir::kNoValue});
  return ways;
}

// The back edge must bring every variable in the form in which the loop's head has it.
Result<bool> Recorder::check_latch(State& state, LoopContext& loop) {
  normalise(state);
  State head = *loop.head;
  normalise(head);
  const Place latch{loop.frame, loop.header};
  bool outermost = loop.frame == 0 && loop.header == infos_[0]->part->entry();
  std::vector<VarRef> other_form;
  std::string what;
  for (const VarRef& ref : all_variables(head, loop.frame)) {
    if (ref.where == VarRef::Where::kStack && ref.frame == loop.frame && ref.index == loop.iterator) continue;
    Sym& came = at(state, ref);
    const Sym& had = at(head, ref);
    if (same_sym(came, had)) continue;
    if (had.kind == PyKind::TupleObject) make_tuple_object(state, ref, snapshot_at_place(state, latch));
    bool carried = std::find(loop.carried.begin(), loop.carried.end(), ref) != loop.carried.end();
    if (!carried) {
      if (is_untouched(had) && same_sym(came, resolve(ref, had))) continue;
      if (is_untouched(came) && same_sym(resolve(ref, came), had)) continue;
      loop.grow.push_back(ref);
      continue;
    }
    came = resolve(ref, came);
    if (becomes_u64(came, had)) came = as_u64(came, snapshot_at_place(state, latch));
    if (fits_form(came, had)) continue;
    // The same number, of which it is known or not which object it is.
    bool u64_only = becomes_u64(had, came);
    bool object_only = u64_only || (came.kind == had.kind && !came.items && (came.obj != ir::kNoValue || had.obj != ir::kNoValue));
    bool may_widen = (object_only || !is_live(head, ref, latch) || (!outermost && !loop.may_peel)) && common_form(had, came).has_value();
    if (may_widen) {
      loop.widen.emplace_back(ref, came);
    } else {
      other_form.push_back(ref);
    }
    what = kind_text(had) + " then " + kind_text(came);
  }
  if (!loop.grow.empty() || !loop.widen.empty() || (!other_form.empty() && loop.may_peel)) {
    abandoned_ = &loop;
    return refuse(RefusalReason::kTypeChange, what);
  }
  if (!other_form.empty()) {
    builder_.exit(ExitReason::TypeChange, snapshot_at_place(state, latch));
    return false;
  }
  compare_copies(state, loop);
  if (!loop.parted.empty()) {
    abandoned_ = &loop;
    return refuse(RefusalReason::kTypeChange, "");
  }
  for (const VarRef& ref : loop.carried) at(state, ref) = coerce(resolve(ref, at(state, ref)), at(head, ref));
  compare_same(state, loop);
  return true;
}

Result<Ways> Recorder::run_block(State state, int block, int first) {
  const CodeMap& map = state.top().info->part->map();
  const CodeBlock& body = map.blocks()[static_cast<size_t>(block)];
  for (int k = first < 0 ? body.first : first; k <= body.last; ++k) {
    const HlInstr& in = map.instrs()[static_cast<size_t>(k)];
    if (function_->value_types.size() > kMaxValues) return refuse(RefusalReason::kTooLarge, "");
    current_ = &state;
    current_info_ = state.top().info;
    current_unit_ = in.unit;
    current_op_unit_ = in.op_unit;
    current_instr_ = k;
    current_last_ = body.last;
    before_ = ir::kNoSnapshot;
    made_here_.clear();
    builder_.set_line(line_here());
    if (asks_for_objects(state)) before();  // emits ops: they must stand in front of whatever the instruction does
    for (ValueId flag = flag_looked_into(state, in); flag != ir::kNoValue; flag = flag_looked_into(state, in)) {
      auto sides = split(state, flag, block, k);
      if (!sides) return sides.refusal();
      if (*sides) return std::move(**sides);
    }
    bool last = k == body.last;
    narrow_for(state, in, last);
    if (last && (in.target >= 0 || in.op == HL_RETURN_VALUE || in.op == HL_RETURN_CONST)) return end_block(std::move(state), in, block);
    auto done = step(state, in);
    if (!done) return done.refusal();
    if (*done == Step::kEnded) return Ways{};
    if (run_end_ < 0) native_.insert(&in);
    if (run_end_ >= 0) {  // the run has done the next ones too; it ends where this block does at the latest
      while (k < body.last && map.instrs()[static_cast<size_t>(k) + 1].unit < run_end_) ++k;
      run_end_ = -1;
    }
  }
  if (!body.next.empty()) {  // control falls into the next block: as before its first instruction
    current_unit_ = map.blocks()[static_cast<size_t>(body.next[0])].unit;
    before_ = ir::kNoSnapshot;
    narrow_all(state);
  }
  return follow(std::move(state), block, body.next.empty() ? kNoBlock : body.next[0]);
}

Result<Ways> Recorder::end_block(State state, const HlInstr& in, int block) {
  const CodeMap& map = state.top().info->part->map();
  current_ = &state;
  switch (in.op) {
    case HL_JUMP:
    case HL_JUMP_BACKWARD: {
      // A jump to a block of its own is settled by the caller, as a join would be: no arm is open here.
      return follow(std::move(state), block, map.block_at(in.target));
    }
    case HL_RETURN_VALUE:
    case HL_RETURN_CONST: {
      if (state.frames.size() == 1) {
        builder_.exit(ExitReason::Left, before());
        return Ways{};
      }
      Sym result = in.op == HL_RETURN_CONST ? known(*this, PyTuple_GET_ITEM(map.code()->co_consts, in.arg)) : pop(state);
      state.top().stack.assign(1, result);
      return make_way(std::move(state), {static_cast<int>(state.frames.size()) - 1, kReturn});
    }
    case HL_POP_JUMP_IF_TRUE:
    case HL_POP_JUMP_IF_FALSE:
    case HL_POP_JUMP_IF_NONE:
    case HL_POP_JUMP_IF_NOT_NONE: return end_conditional(std::move(state), in, block);
    case HL_FOR_ITER: return ask_iterator(std::move(state), in, block);
    default: {
      auto done = unsupported(in);
      if (!done) return done.refusal();
      return Ways{};
    }
  }
}

int Recorder::known_truth(const Sym& s, ValueId v) {
  if (s.object == Py_True) return 1;
  if (s.object == Py_False || s.kind == PyKind::None_) return 0;
  auto number = constant(v);
  if (number) return *number != 0 ? 1 : 0;
  return -1;
}

Result<Ways> Recorder::end_conditional(State state, const HlInstr& in, int block) {
  const CodeMap& map = state.top().info->part->map();
  current_ = &state;
  int jump = map.block_at(in.target);
  int fall = map.block_at(in.next_unit);
  Sym s = peek(state, 1);
  if (in.op == HL_POP_JUMP_IF_NONE || in.op == HL_POP_JUMP_IF_NOT_NONE) {
    // An object that came in is not None once its type is asked for.
    PyObject* object = s.kind == PyKind::Object ? instance_object(s) : nullptr;
    const bool is_instance = object != nullptr && instance_of(s, object).ok();
    if ((s.kind == PyKind::Object && !is_instance) || s.kind == PyKind::Either) {
      auto done = unsupported(in);
      if (!done) return done.refusal();
      return Ways{};
    }
    pop(state);
    bool jumps = (s.kind == PyKind::None_) == (in.op == HL_POP_JUMP_IF_NONE);
    return follow(std::move(state), block, jumps ? jump : fall);
  }
  auto condition = truth(*this, s);
  if (!condition) {
    if (may_be_rare()) {
      left_out_ = condition.refusal();
      builder_.exit(ExitReason::Unsupported, before());
      return Ways{};
    }
    return condition.refusal();
  }
  // A side that leaves does so before the jump: the snapshot must hold whichever way it goes (forced exits take it at any time).
  bool leaves = edge_kind(*state.top().info, block, jump) == Edge::kExit || edge_kind(*state.top().info, block, fall) == Edge::kExit;
  if (leaves) before();
  pop(state);
  bool jump_if_true = in.op == HL_POP_JUMP_IF_TRUE;
  int known_to_be = known_truth(s, *condition);
  if (known_to_be >= 0) return follow(std::move(state), block, (known_to_be == 1) == jump_if_true ? jump : fall);
  return branch(std::move(state), in, *condition, block, jump_if_true ? jump : fall, jump_if_true ? fall : jump);
}

Result<Ways> Recorder::branch(State state, const HlInstr&, ValueId condition, int block, int if_true, int if_false) {
  const FrameInfo& info = *state.top().info;
  int frame = static_cast<int>(state.frames.size()) - 1;
  bool exit_true = edge_kind(info, block, if_true) == Edge::kExit;
  bool exit_false = edge_kind(info, block, if_false) == Edge::kExit;
  if (exit_false) {
    builder_.guard(condition, edge_reason(info, block, if_false), before_);
    return follow(std::move(state), block, if_true);
  }
  if (exit_true) {
    ValueId inverse = builder_.unary(ir::OpCode::Not, ir::Type::I1, condition);
    builder_.guard(inverse, edge_reason(info, block, if_true), before_);
    return follow(std::move(state), block, if_false);
  }
  ir::Block* parent = builder_.block();
  ir::Op* op = builder_.if_(condition, {});
  ValueId mark = static_cast<ValueId>(function_->value_types.size());
  ++arms_;
  builder_.set_block(op->blocks[0]);
  auto a = follow(state, block, if_true);
  if (!a) {
    --arms_;
    return a;
  }
  builder_.set_block(op->blocks[1]);
  auto b = follow(state, block, if_false);
  --arms_;
  if (!b) return b;
  builder_.set_block(parent);
  return merge(op, mark, std::move(*a), std::move(*b), state, {frame, if_true});
}

}  // namespace hotloop::tracer
