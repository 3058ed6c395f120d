// Loops: typing of what they carry, counted and other loops, the peeled first trip, and the ways out of them. See recorder.h.
//
// The types of carried variables are assumed to be those at entry. If the back edge brings another variable, or another form of one, everything that was
// emitted for the loop is dropped and it is built again: with more carried variables, or with the first trip peeled off (a phi never converts a type).
#include <algorithm>
#include <utility>

#include "tracer/recorder.h"

namespace hotloop::tracer {

using ir::OpCode;
using ir::Type;

// The variables that the bytecode of the loop stores to.
std::vector<VarRef> Recorder::stored_in_loop(State& state, int header) {
  const FrameInfo& info = *state.top().info;
  const Part& part = *info.part;
  int frame = static_cast<int>(state.frames.size()) - 1;
  std::vector<VarRef> stored;
  auto add = [&](VarRef ref) {
    if (std::find(stored.begin(), stored.end(), ref) == stored.end()) stored.push_back(ref);
  };
  auto local = [&](int index) { add({VarRef::Where::kLocal, frame, index}); };
  auto name = [&](PyObject* dict, int index) {
    int k = dict == nullptr ? -1 : name_var(dict, PyTuple_GET_ITEM(info.code->co_names, index), true);
    if (k >= 0) add({VarRef::Where::kGlobal, 0, k});
  };
  int loop = part.loop_of(header);
  const auto& blocks = part.map().blocks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (!part.contains(static_cast<int>(b)) || !part.loop_contains(loop, static_cast<int>(b))) continue;
    for (int k = blocks[b].first; k <= blocks[b].last; ++k) {
      const HlInstr& in = part.map().instrs()[static_cast<size_t>(k)];
      switch (in.op) {
        case HL_STORE_FAST_STORE_FAST: local(in.arg2); [[fallthrough]];
        case HL_STORE_FAST:
        case HL_STORE_FAST_LOAD_FAST:
        case HL_DELETE_FAST:
        case HL_LOAD_FAST_AND_CLEAR: local(in.arg); break;
        case HL_STORE_DEREF: add(cell_ref(state, in.arg)); break;
        case HL_STORE_GLOBAL: name(info.globals, in.arg); break;
        case HL_STORE_NAME: name(info.locals, in.arg); break;
        default: break;
      }
    }
  }
  normalise(state);
  return stored;
}

Result<Ways> Recorder::emit_loop(State state, int header, int peels) {
  const FrameInfo& info = *state.top().info;
  std::string key = info.path + ":" + std::to_string(header);
  std::vector<VarRef> carried = stored_in_loop(state, header);
  for (const VarRef& ref : carried_hints_[key]) {
    if (std::find(carried.begin(), carried.end(), ref) == carried.end()) carried.push_back(ref);
  }
  Copies& copies = copies_[key + "+" + std::to_string(peels)];
  int arms = arms_;
  for (int attempt = 0; attempt < 16; ++attempt) {
    ir::Block* parent = builder_.block();
    size_t kept = parent->ops.size();
    LoopContext loop;
    loop.frame = static_cast<int>(state.frames.size()) - 1;
    loop.header = header;
    loop.check = true;
    bool outermost = loop.frame == 0 && header == info.part->entry();
    loop.may_peel = !outermost && peels < kMaxPeels;
    loop.carried = carried;
    loop.copies = copies.assumed;
    loop.kept_ops = kept_ops_;
    loop.always = copies.always;
    loop.varying = copies.varying;
    loops_.push_back(&loop);
    arms_ = 0;
    auto ways = is_counted(state, first_instr(info, header)) ? build_for(state, loop) : build_while(state, loop);
    loops_.pop_back();
    arms_ = arms;
    if (ways ? !learn_copies(state, loop, &copies) : abandoned_ != &loop) {
      if (ways) guard_copies(state, loop);
      return ways;
    }
    abandoned_ = nullptr;
    parent->ops.resize(kept);
    builder_.set_block(parent);
    if (ways) continue;
    if (!loop.parted.empty()) {
      for (const VarPair& pair : loop.parted) copies.give_up(pair);
      continue;
    }
    if (!loop.widen.empty()) {
      normalise(state);
      for (const auto& [ref, came] : loop.widen) {
        auto form = common_form(fetch(state, ref), came);
        if (!form) continue;
        if (becomes_u64(at(state, ref), *form)) {
          if (want_u64_input(at(state, ref))) return refuse(RefusalReason::kTypeChange, "");
          at(state, ref) = as_u64(at(state, ref), snapshot_at(state, first_instr(info, header).unit));
        }
        at(state, ref) = coerce(at(state, ref), *form);
      }
    }
    if (!loop.grow.empty() || !loop.widen.empty()) {
      for (const VarRef& ref : loop.grow) {
        if (std::find(carried.begin(), carried.end(), ref) == carried.end()) carried.push_back(ref);
      }
      carried_hints_[key] = carried;
      normalise(state);
      continue;
    }
    return peel(std::move(state), header, peels);
  }
  return refuse(RefusalReason::kTypeChange, "");
}

namespace {

std::vector<ValueId> carried_parts(const State& state, const std::vector<VarRef>& carried) {
  std::vector<ValueId> parts;
  for (const VarRef& ref : carried) collect_parts(at(state, ref), &parts);
  return parts;
}

}  // namespace

// The constant that an op defines in this block or, at the function's beginning, in the region's body.
std::optional<int64_t> Recorder::constant(ValueId v) const {
  auto search = [&](const ir::Block* block) -> std::optional<int64_t> {
    for (size_t k = block->ops.size(); k-- > 0;) {
      const ir::Op* op = block->ops[k];
      if (op->code == OpCode::Const && op->result() == v) return op->imm;
    }
    return std::nullopt;
  };
  auto found = search(builder_.block());
  return found || builder_.block() == region_ ? found : search(region_);
}

// The state in which the carried variables are `values`, from number `used` on: at the head of a body, or behind the loop.
State Recorder::head_state(const State& before, const LoopContext& loop, const std::vector<ValueId>& values, size_t used) {
  State head = before;
  for (const VarRef& ref : loop.carried) {
    Sym& s = at(head, ref);
    std::vector<ValueId> parts;
    collect_parts(s, &parts);
    for (ValueId& v : parts) v = values[used++];
    s = with_parts(s, parts, &boxes_);
  }
  join_copies(head, loop);
  return head;
}

// The element is taken in the state in which the iterator is asked for it.
void Recorder::begin_trip(const State& state, int unit) {
  current_ = &state;
  current_info_ = state.top().info;
  current_unit_ = unit;
  before_ = ir::kNoSnapshot;
}

Result<Ways> Recorder::build_for(State state, LoopContext& loop) {
  const FrameInfo& info = *state.top().info;
  const HlInstr in = first_instr(info, loop.header);
  current_info_ = &info;
  current_op_unit_ = in.op_unit;
  builder_.set_line(line_here());
  for (const VarRef& ref : loop.carried) fetch(state, ref);
  loop.iterator = static_cast<int>(state.top().stack.size()) - 1;
  ir::SnapshotId before = snapshot_at(state, in.unit);
  auto bounds = course(state, before);
  if (!bounds) return bounds.refusal();
  loop.course = &*bounds;
  ValueId mark = static_cast<ValueId>(function_->value_types.size());
  std::vector<ValueId> initial = carried_parts(state, loop.carried);
  if (auto planned = plan_same(state, loop); !planned) return planned.refusal();
  initial_same(loop, &initial);
  ir::Op* op = builder_.for_(bounds->lo, bounds->hi, bounds->step, initial, before);
  ir::Block* body = op->blocks[0];
  ValueId i = body->params[0];

  State head = head_state(state, loop, body->params, 1);
  Sym iterator = state.top().stack.back();
  loop.head = &head;
  ir::Block* parent = builder_.block();
  builder_.set_block(body);
  const ValueId first = loop.needs_first ? builder_.binary(OpCode::Eq, Type::I64, i, bounds->lo) : ir::kNoValue;
  apply_same(head, loop, first, body->params.data() + body->params.size() - loop.flags);
  head.top().stack.back() = iterator_at(iterator, *bounds, i);
  ir::SnapshotId at_head = snapshot_at(head, in.unit);
  builder_.poll(at_head);
  guard_lists(*bounds, i, at_head);
  begin_trip(head, in.unit);
  State inside = head;
  inside.top().stack.back() = iterator_at(iterator, *bounds, builder_.binary(OpCode::Add, Type::I64, i, bounds->step));
  auto pushed = push_element(inside, in, iterator, *bounds, i);
  if (!pushed) return pushed.refusal();
  Result<Ways> ways = Ways{};
  if (*pushed != Step::kEnded) ways = follow(std::move(inside), loop.header, info.part->map().block_at(in.next_unit));
  if (!ways) return ways;
  ways = settle(std::move(*ways), loop.frame, &info, loop.header, false);
  if (!ways) return ways;
  loop.head = nullptr;
  builder_.set_block(parent);
  return finish_loop(op, mark, std::move(state), head, loop, std::move(*ways), true);
}

Result<Ways> Recorder::build_while(State state, LoopContext& loop) {
  const FrameInfo& info = *state.top().info;
  const HlInstr& in = first_instr(info, loop.header);
  current_info_ = &info;
  current_op_unit_ = in.op_unit;
  builder_.set_line(line_here());
  for (const VarRef& ref : loop.carried) fetch(state, ref);
  ir::SnapshotId before = snapshot_at(state, in.unit);
  ValueId mark = static_cast<ValueId>(function_->value_types.size());
  std::vector<ValueId> initial = carried_parts(state, loop.carried);
  if (auto planned = plan_same(state, loop); !planned) return planned.refusal();
  if (loop.needs_first) initial.push_back(builder_.const_i1(true));
  initial_same(loop, &initial);
  ir::Op* op = builder_.loop_(initial, before);
  ir::Block* body = op->blocks[0];
  State head = head_state(state, loop, body->params, 0);
  loop.head = &head;
  ir::Block* parent = builder_.block();
  builder_.set_block(body);
  const ValueId* flags = body->params.data() + body->params.size() - loop.flags;
  apply_same(head, loop, loop.needs_first ? flags[-1] : ir::kNoValue, flags);
  builder_.poll(snapshot_at(head, in.unit));
  auto ways = run_block(head, loop.header);
  if (!ways) return ways;
  ways = settle(std::move(*ways), loop.frame, &info, loop.header, false);
  if (!ways) return ways;
  loop.head = nullptr;
  builder_.set_block(parent);
  return finish_loop(op, mark, std::move(state), head, loop, std::move(*ways), false);
}

// The loop op that is being completed: what it yields and what its results are called.
class Recorder::LoopEnd {
 public:
  LoopEnd(Recorder& recorder, ir::Op* op, ValueId mark, const LoopContext& loop, const State& head, Ways& ways)
      : r_(recorder), op_(op), mark_(mark), loop_(loop), head_(head), ways_(ways), carried_results_(op->results.size()) {
    for (size_t k = 0; k < ways.size(); ++k) {
      r_.normalise(ways[k].state);
      if (ways[k].place == latch()) latch_ = k;
    }
  }
  Place latch() const { return {loop_.frame, loop_.header}; }
  size_t ways_out() const { return ways_.size() - (latch_ < ways_.size() ? 1 : 0); }

  // In the body: the values of the carried variables at its end, whichever way it takes.
  void yield_carried() {
    for (const VarRef& ref : loop_.carried) {
      const Sym& like = at(head_, ref);
      std::vector<ValueId> values;
      bool first = true;
      auto take = [&](const Way& way) {
        Sym s = r_.resolve(ref, at(way.state, ref));
        if (!same_shape(s, like)) return;
        std::vector<ValueId> parts;
        collect_parts(s, &parts);
        for (size_t k = 0; k < parts.size(); ++k) {
          if (first) {
            values.push_back(parts[k]);
          } else if (values[k] != parts[k]) {
            values[k] = r_.builder_.select(r_.function_->type_of(parts[k]), r_.flag_value(ways_, way.place), parts[k], values[k]);
          }
        }
        first = false;
      };
      if (latch_ < ways_.size()) take(ways_[latch_]);
      for (size_t k = 0; k < ways_.size(); ++k) {
        if (k != latch_) take(ways_[k]);
      }
      if (first) collect_parts(like, &values);
      yields_.insert(yields_.end(), values.begin(), values.end());
    }
    if (loop_.needs_first && op_->code == OpCode::Loop) yields_.push_back(r_.builder_.const_i1(false));
    r_.yield_same(latch_ < ways_.size() ? &ways_[latch_].state : nullptr, loop_, &yields_);
  }

  // The ways out, with their states in terms of the op's results. `total`: how many ways there are in all, exhaustion included.
  Ways make_ways_out(size_t total) {
    Ways out;
    for (size_t w = 0; w < ways_.size(); ++w) {
      if (w == latch_) continue;
      Way way = ways_[w];
      rename_carried(way.state);
      rename_others(way);
      bool needs_flag = total > 2 || (total == 2 && out.empty());
      way.flag = needs_flag ? extra(r_.flag_value(ways_, way.place)) : ir::kNoValue;
      out.push_back(std::move(way));
    }
    return out;
  }

  void end_body() {
    std::vector<ValueId> values{r_.flag_value(ways_, latch())};
    values.insert(values.end(), yields_.begin(), yields_.end());
    values.insert(values.end(), extra_values_.begin(), extra_values_.end());
    r_.builder_.yield(values);
  }

  // In the block that holds the op: the extra columns enter the loop as zeros, made before the op.
  void complete_op(ir::Block* parent) {
    if (extra_results_.empty()) return;
    parent->ops.pop_back();
    for (ValueId result : extra_results_) {
      Type type = r_.function_->type_of(result);
      op_->operands.push_back(r_.dummy(type));
      op_->blocks[0]->params.push_back(r_.function_->new_value(type));
      op_->results.push_back(result);
    }
    parent->ops.push_back(op_);
  }

 private:
  // `v` at the end of the body as a result of its own.
  ValueId extra(ValueId v) {
    auto known = std::find(extra_values_.begin(), extra_values_.end(), v);
    if (known != extra_values_.end()) return extra_results_[static_cast<size_t>(known - extra_values_.begin())];
    extra_values_.push_back(v);
    extra_results_.push_back(r_.function_->new_value(r_.function_->type_of(v)));
    return extra_results_.back();
  }
  void rename_carried(State& state) {
    size_t column = 0;
    for (const VarRef& ref : loop_.carried) {
      std::vector<ValueId> parts;
      collect_parts(at(head_, ref), &parts);
      Sym& s = at(state, ref);
      s = r_.resolve(ref, s);
      for (size_t k = 0; k < parts.size(); ++k) parts[k] = op_->results[column + k];
      column += parts.size();
      if (same_shape(s, at(head_, ref))) s = renamed(s, parts);
    }
  }
  void rename_others(Way& way) {
    for (const VarRef& ref : all_variables(way.state, way.place.frame)) {
      Sym& s = at(way.state, ref);
      std::vector<ValueId> parts;
      collect_parts(s, &parts);
      bool any = false;
      for (ValueId& v : parts) {
        if (r_.visible(v, mark_) || contains(op_->results, v) || contains(extra_results_, v)) continue;
        v = extra(v);
        any = true;
      }
      if (any) s = renamed(s, parts);
    }
    prune_same(way.state);
    for (SameIf& one : way.state.same) {
      if (!r_.visible(one.flag, mark_) && !contains(op_->results, one.flag) && !contains(extra_results_, one.flag)) one.flag = extra(one.flag);
    }
  }
  Sym renamed(const Sym& s, const std::vector<ValueId>& parts) {
    Sym out = with_parts(s, parts, &r_.boxes_);
    keep_identity(out, s);
    return out;
  }
  // It is the same value under another name, and so are the forms that it may have, and the items of a tuple.
  static void keep_identity(Sym& out, const Sym& s) {
    out.object = s.object;
    out.input = s.input;
    out.box = s.box;
    for (size_t k = 0; s.items && k < s.items->size(); ++k) keep_identity((*out.items)[k], (*s.items)[k]);
  }
  static bool contains(const std::vector<ValueId>& all, ValueId v) { return std::find(all.begin(), all.end(), v) != all.end(); }

  Recorder& r_;
  ir::Op* op_;
  ValueId mark_;
  const LoopContext& loop_;
  const State& head_;
  Ways& ways_;
  size_t latch_ = SIZE_MAX;
  size_t carried_results_;
  std::vector<ValueId> yields_, extra_values_, extra_results_;
};

// Ends the body with its yield and makes the ways out of the loop. `state`: before the loop. The current block is the one that holds the op.
Result<Ways> Recorder::finish_loop(ir::Op* op, ValueId mark, State state, const State& head, LoopContext& loop, Ways ways, bool is_for) {
  ir::Block* parent = builder_.block();
  Ways out;
  size_t total = is_for ? 1 : 0;
  if (!ways.empty()) {
    LoopEnd end(*this, op, mark, loop, head, ways);
    builder_.set_block(op->blocks[0]);
    end.yield_carried();
    total += end.ways_out();
    out = end.make_ways_out(total);
    end.end_body();
    builder_.set_block(parent);
    end.complete_op(parent);
  }
  if (is_for) return after_exhaustion(op, std::move(state), loop, std::move(out));
  if (out.empty()) {  // never reached
    ir::Snapshot before = function_->snapshots[op->snapshot];
    function_->snapshots.push_back(std::move(before));
    builder_.exit(ExitReason::Path, static_cast<ir::SnapshotId>(function_->snapshots.size() - 1));
  }
  return out;
}

// Does the counted loop make a trip?
ValueId Recorder::any_trip(const Course& course) {
  auto step = constant(course.step);
  ValueId up = ir::kNoValue, down = ir::kNoValue;
  if (!step || *step > 0) up = builder_.binary(OpCode::Lt, Type::I64, course.lo, course.hi);
  if (!step || *step < 0) down = builder_.binary(OpCode::Gt, Type::I64, course.lo, course.hi);
  if (step) return up != ir::kNoValue ? up : down;
  ValueId rises = builder_.binary(OpCode::Gt, Type::I64, course.step, builder_.const_i64(0));
  return builder_.select(Type::I1, rises, up, down);
}

// Adds the way that a counted loop takes when it has run out, or leaves there.
Result<Ways> Recorder::after_exhaustion(ir::Op* op, State state, LoopContext& loop, Ways out) {
  const FrameInfo& info = *state.top().info;
  state = head_state(state, loop, op->results, 0);
  const ValueId no_trip = loop.needs_first ? builder_.unary(OpCode::Not, Type::I1, any_trip(*loop.course)) : ir::kNoValue;
  apply_same(state, loop, no_trip, op->results.data() + carried_parts(state, loop.carried).size());
  const HlInstr& in = first_instr(info, loop.header);
  int to = info.part->map().block_at(in.target);
  auto any_flag = [&] {
    ValueId any = out[0].flag;
    for (size_t k = 1; k < out.size(); ++k) any = builder_.binary(OpCode::Or, Type::I1, any, out[k].flag);
    return any;
  };
  if (!loop.course->lists.empty() || loop.course->together != ir::kNoValue) leave_if_grown(loop, state, out.empty() ? ir::kNoValue : any_flag(), in.unit);
  for (int k = 0; k < in.arg; ++k) state.top().stack.pop_back();
  if (edge_kind(info, loop.header, to) == Edge::kExit) {
    ExitReason reason = edge_reason(info, loop.header, to);
    ir::SnapshotId snapshot = snapshot_at_place(state, {loop.frame, to});
    if (out.empty()) {
      builder_.exit(reason, snapshot);
      return out;
    }
    exit_if(builder_.unary(OpCode::Not, Type::I1, any_flag()), reason, snapshot);
    if (out.size() == 1) out[0].flag = ir::kNoValue;
    return out;
  }
  size_t others = out.size();
  ValueId flag = others > 1 ? builder_.unary(OpCode::Not, Type::I1, any_flag()) : ir::kNoValue;
  auto last = make_way(std::move(state), {loop.frame, to});
  if (!last) return last;
  for (Way& way : *last) {
    way.flag = flag;
    out.push_back(std::move(way));
  }
  return out;
}

bool Recorder::may_run_no_trip(const FrameInfo& info, const HlInstr& in) const {
  const CodeObservation* seen = request_.observations != nullptr ? request_.observations->find(info.code) : nullptr;
  return seen != nullptr && seen->ran_no_trip(in.op_unit);
}

// Runs the first trip before the loop, so that the loop itself begins with the types of later trips.
Result<Ways> Recorder::peel(State state, int header, int peels) {
  const FrameInfo& info = *state.top().info;
  const HlInstr& in = first_instr(info, header);
  current_info_ = &info;
  current_op_unit_ = in.op_unit;
  builder_.set_line(line_here());
  if (!is_counted(state, in)) return first_trip(std::move(state), header, peels, nullptr);
  ir::SnapshotId before = snapshot_at(state, in.unit);
  auto bounds = course(state, before);
  if (!bounds) return bounds.refusal();
  if (bounds->together != ir::kNoValue) builder_.guard(bounds->together, ExitReason::Bounds, before);
  ValueId any = any_trip(*bounds);
  if (!may_run_no_trip(info, in)) {
    builder_.guard(any, ExitReason::ZeroTrip, before);
    return first_trip(std::move(state), header, peels, &*bounds);
  }
  ir::Block* parent = builder_.block();
  ir::Op* op = builder_.if_(any, {});
  ValueId mark = static_cast<ValueId>(function_->value_types.size());
  int frame = static_cast<int>(state.frames.size()) - 1;
  builder_.set_block(op->blocks[0]);
  auto some = first_trip(state, header, peels, &*bounds);
  if (!some) return some;
  builder_.set_block(op->blocks[1]);
  State skipped = state;
  for (int k = 0; k < in.arg; ++k) skipped.top().stack.pop_back();
  int to = info.part->map().block_at(in.target);
  Result<Ways> none = Ways{};
  if (edge_kind(info, header, to) == Edge::kExit) {
    builder_.exit(edge_reason(info, header, to), snapshot_at_place(skipped, {frame, to}));
  } else {
    none = make_way(std::move(skipped), {frame, to});
  }
  if (!none) return none;
  builder_.set_block(parent);
  return merge(op, mark, std::move(*some), std::move(*none), state, {frame, header});
}

Result<Ways> Recorder::first_trip(State state, int header, int peels, const Course* course) {
  const FrameInfo& info = *state.top().info;
  LoopContext loop;
  loop.frame = static_cast<int>(state.frames.size()) - 1;
  loop.header = header;
  const HlInstr& in = first_instr(info, header);
  loops_.push_back(&loop);
  Result<Ways> ways = Ways{};
  if (course != nullptr) {
    Sym iterator = state.top().stack.back();
    State here = state;
    begin_trip(here, in.unit);
    guard_lists(*course, course->lo, before());
    ValueId next = builder_.binary(OpCode::Add, Type::I64, course->lo, course->step);
    state.top().stack.back() = iterator_at(iterator, *course, next);
    auto pushed = push_element(state, in, iterator, *course, course->lo);
    if (!pushed) {
      loops_.pop_back();
      return pushed.refusal();
    }
    if (*pushed != Step::kEnded) ways = follow(std::move(state), header, info.part->map().block_at(in.next_unit));
  } else {
    ways = run_block(std::move(state), header);
  }
  if (ways) ways = settle(std::move(*ways), loop.frame, &info, header, false);
  loops_.pop_back();
  if (!ways) return ways;
  const Place latch{loop.frame, header};
  for (size_t k = 0; k < ways->size(); ++k) {
    Way& way = (*ways)[k];
    if (!(way.place == latch)) continue;
    if (ways->size() == 1) return emit_loop(std::move(way.state), header, peels + 1);
    return run_owned(std::move(*ways), k, peels + 1);
  }
  return ways;
}

}  // namespace hotloop::tracer
