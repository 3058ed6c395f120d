// Instructions that are left to the interpreter's own C functions in the middle of native code, recorded as `run`: they are done in the live frame,
// and native code goes on behind them. See recorder.h.
//
// What one of them leaves on the stack is an unknown object. So a run goes on over the instructions behind it until no such object is left there but
// those that can be taken for what was seen while recording (guarded behind the run), or that are dropped, or stored into a variable: the whole of
// `print(f"{x}")`, or `name = d.get(k)`, is one run.
//
// FOR_ITER of an iterator that native code does not walk over itself is the beginning of a run, too: with what unpacks and stores the item. The first
// object that such a run leaves is null where the iterator had none left: then it is gone from the stack, and the rest of the run was not done.
//
// Behind a run the frame holds objects in every variable that the run's snapshot gives, no longer what it held at entry. So every snapshot of the region
// gives those variables (complete_snapshots), and a number that was made an object there stays that object (note_made).
#include <algorithm>

#include "runtime/box.h"
#include "runtime/objects.h"
#include "tracer/iterator_parts.h"
#include "tracer/perform.h"
#include "tracer/recorder.h"

namespace hotloop::tracer {

namespace {

constexpr size_t kMaxRuns = 24;         // places in a region: more of them, and little is left to compile
constexpr size_t kMaxInstructions = 64;  // of one run

Sym as_object(ValueId pointer) {
  Sym s;
  s.kind = PyKind::Object;
  s.v[0] = pointer;
  return s;
}

// Is the object made anew each time that the value is put into a frame?
bool is_made(const Sym& s) {
  if (is_untouched(s) || s.input != ir::kNone || s.object != nullptr || s.sure) return false;
  if (s.kind == PyKind::Bool || s.kind == PyKind::NpBool) return false;
  if (s.kind == PyKind::Either) return false;  // it may be unbound, or be made or not
  if (ir::is_iterator(s.kind)) return true;
  const ir::PyKindInfo& info = ir::pykind_info(s.kind);
  return s.items != nullptr || (info.parts > 0 && info.part_type != ir::Type::Ptr);
}

}  // namespace

// Is all that is known of the value still true behind Python code, or can it be asked again? Headers are only looked at of arrays that came in.
bool Recorder::survives_run(const Sym& s) const {
  if (is_untouched(s)) return true;
  if (s.kind == PyKind::Array && s.object == nullptr && input_values_.count(s.v[0]) == 0) return false;
  if (s.kind == PyKind::Tuple && s.items && std::any_of(s.items->begin(), s.items->end(), [](const Sym& item) { return ir::is_iterator(item.kind); })) return false;
  return !s.items || std::all_of(s.items->begin(), s.items->end(), [this](const Sym& item) { return survives_run(item); });
}

bool Recorder::survives_run(const State& state) const {
  auto all = [this](const std::vector<Sym>& values) {
    return std::all_of(values.begin(), values.end(), [this](const Sym& s) { return s.kind == PyKind::Array || survives_run(s); });
  };
  return all(state.frames[0].locals) && all(state.frames[0].stack) && all(state.globals);
}

// ------------------------------------------------------------------------------------------------- what one run covers

// The stack and the variables while the run's instructions are gone through. Items: what was on the stack before, or numbered unknown objects.
struct Recorder::RunPlan {
  struct Item {
    int before = -1;      // place in the stack before the run
    int unknown = -1;     // number of the unknown object
    bool is_null = false; // of a call
  };
  struct Unknown {
    PyKind seen = PyKind::Object;
    PyObject* sample = nullptr;    // borrowed; what a variable that it goes to holds now
    bool part_of_call = false;     // may be NULL
    ir::Slot slot;                 // where it lies at the end
    bool survives = false;
  };
  struct Stored {
    HlInstr in;
    Item item;
  };
  std::vector<Item> stack;
  std::vector<Unknown> unknowns;
  std::vector<Stored> stored;      // in this order
  size_t count = 0;                // instructions
  bool alone = false;              // no more than one
  int end_unit = 0;
  std::vector<Sym> values;         // by number of the unknown object
  int asked = -1;                  // place in the stack of the iterator that a FOR_ITER asks

  Item fresh(bool part_of_call = false) {
    unknowns.emplace_back();
    unknowns.back().part_of_call = part_of_call;
    Item item;
    item.unknown = static_cast<int>(unknowns.size()) - 1;
    return item;
  }
  Item pop() {
    Item item = stack.back();
    stack.pop_back();
    return item;
  }
  void store(const HlInstr& in, int index) {
    HlInstr one = in;
    one.arg = index;
    if (one.op != HL_STORE_NAME && one.op != HL_STORE_GLOBAL && one.op != HL_STORE_DEREF) one.op = HL_STORE_FAST;
    stored.push_back({one, pop()});
  }
  bool is_known(const Item& item) const {
    if (item.unknown < 0) return true;
    const Unknown& unknown = unknowns[static_cast<size_t>(item.unknown)];
    return unknown.seen != PyKind::Object;
  }
  // Nothing is on the stack of which nothing is known.
  bool settled() const { return std::all_of(stack.begin(), stack.end(), [this](const Item& item) { return is_known(item); }); }
  void see_top(PyKind kind) {
    if (!stack.empty() && stack.back().unknown >= 0) unknowns[static_cast<size_t>(stack.back().unknown)].seen = kind;
  }
};

// Goes over one instruction. False: it cannot be part of a run.
bool Recorder::plan_one(RunPlan& plan, const State& state, const HlInstr& in) const {
  const StackEffect effect = stack_effect(in);
  if (!effect.can || static_cast<size_t>(effect.pops) > plan.stack.size()) return false;
  switch (in.op) {
    case HL_COPY: plan.stack.push_back(plan.stack[plan.stack.size() - static_cast<size_t>(in.arg)]); return true;
    case HL_SWAP: std::swap(plan.stack.back(), plan.stack[plan.stack.size() - static_cast<size_t>(in.arg)]); return true;
    case HL_PUSH_NULL:
      plan.stack.emplace_back();
      plan.stack.back().is_null = true;
      return true;
    case HL_DELETE_FAST: return false;
    case HL_STORE_FAST: plan.store(in, in.arg); return true;
    case HL_STORE_FAST_LOAD_FAST:
      plan.store(in, in.arg);
      plan.stack.push_back(plan.fresh());
      return true;
    case HL_STORE_FAST_STORE_FAST:
      plan.store(in, in.arg);
      plan.store(in, in.arg2);
      return true;
    case HL_STORE_NAME:
    case HL_STORE_GLOBAL: {
      PyObject* dict = stored_namespace(*state.frames[0].info, in.op == HL_STORE_NAME);
      if (!is_entry_namespace(dict) || !PyDict_CheckExact(dict)) return false;
      plan.store(in, in.arg);
      return true;
    }
    case HL_STORE_DEREF: plan.store(in, in.arg); return true;
    default: break;
  }
  // A call takes its NULLs and methods; nothing else may.
  plan.stack.resize(plan.stack.size() - static_cast<size_t>(effect.pops));
  const bool pair = (in.op == HL_LOAD_ATTR || in.op == HL_LOAD_GLOBAL) && in.arg2 == 1;
  for (int k = 0; k < effect.pushes; ++k) plan.stack.push_back(plan.fresh(pair));
  return true;
}

// The instructions from `in` on that one run covers. False: it cannot begin with `in`.
bool Recorder::plan_run(const State& state, const HlInstr& in, RunPlan* plan) const {
  const FrameInfo& info = *state.frames[0].info;
  const CodeMap& map = info.part->map();
  const CodeObservation* seen = request_.observations != nullptr ? request_.observations->find(info.code) : nullptr;
  for (size_t k = 0; k < state.frames[0].stack.size(); ++k) {
    plan->stack.emplace_back();
    plan->stack.back().before = static_cast<int>(k);
  }
  auto at = std::lower_bound(map.instrs().begin(), map.instrs().end(), in.unit, [](const HlInstr& one, int unit) { return one.unit < unit; });
  if (at == map.instrs().end() || at->unit != in.unit) return false;
  for (; plan->count < kMaxInstructions; ++at) {
    if (!plan_one(*plan, state, *at)) break;
    ++plan->count;
    plan->end_unit = at->next_unit;
    auto next = at + 1;
    const bool next_block = next != map.instrs().end() && map.block_at(next->unit) != kNoBlock && !(at->op == HL_FOR_ITER && is_body_of(info, *at));
    const bool block_ends = next == map.instrs().end() || next->target >= 0 || !stack_effect(*next).can || next_block;
    if (next != map.instrs().end() && seen != nullptr) plan->see_top(seen->top(next->op_unit).kind);
    if (block_ends || plan->alone) break;
    const bool dropped = next->op == HL_POP_TOP && plan->stack.back().unknown >= 0;
    if (plan->settled() && !dropped) break;
  }
  return plan->count > 0;
}

// Where the unknown objects that are left lie, and what they are taken for. False: part of a call is among them.
bool Recorder::place_unknowns(RunPlan& plan) {
  auto place = [&](const RunPlan::Item& item, ir::Slot slot, PyObject* sample) {
    if (item.is_null || item.unknown < 0) return !item.is_null;
    RunPlan::Unknown& unknown = plan.unknowns[static_cast<size_t>(item.unknown)];
    if (unknown.part_of_call) return false;
    if (unknown.survives) return true;
    unknown.survives = true;
    unknown.slot = slot;
    unknown.sample = sample;
    return true;
  };
  for (size_t k = 0; k < plan.stored.size(); ++k) {
    const RunPlan::Stored& one = plan.stored[k];
    auto later = [&](const RunPlan::Stored& other) { return other.in.op == one.in.op && other.in.arg == one.in.arg; };
    if (std::any_of(plan.stored.begin() + static_cast<std::ptrdiff_t>(k) + 1, plan.stored.end(), later)) continue;
    if (!place(one.item, slot_of(one.in), object_now(stored_variable(one.in)))) return false;
  }
  for (size_t k = 0; k < plan.stack.size(); ++k) {
    if (plan.stack[k].before >= 0) continue;
    if (!place(plan.stack[k], {ir::SlotKind::kStack, static_cast<uint32_t>(k)}, nullptr)) return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------- the run itself

// False: the instruction is none that `run` can do here.
bool Recorder::prepare_run(State& state, const HlInstr& in, const base::Refusal& why, RunPlan* plan) {
  if (state.frames.size() != 1 || !stack_effect(in).can) return false;  // in a callee: T25
  if (run_units_.count(in.op_unit) == 0 && run_units_.size() >= kMaxRuns) return false;
  if (!plan_run(state, in, plan)) return false;
  normalise(state);
  auto& stack = state.top().stack;
  for (size_t k = 0; k < stack.size(); ++k) {
    if (k >= static_cast<size_t>(function_->entry_stack_depth)) fetch(state, {VarRef::Where::kStack, 0, static_cast<int>(k)});
  }
  if (!survives_run(state) || !place_unknowns(*plan)) return false;
  normalise(state);  // names may have become variables
  if (run_units_.insert(in.op_unit).second && !plan->alone) function_->left.push_back(why);
  return true;
}

// The run itself. Gives the objects of the plan's results, after FOR_ITER's item if it begins with that.
std::vector<ValueId> Recorder::emit_run(State& state, const HlInstr& in, const RunPlan& plan) {
  const ir::SnapshotId id = snapshot_at(state, in.unit);
  ir::FrameState& frame = function_->snapshots[id].frames[0];
  frame.return_unit = plan.end_unit;
  if (in.op == HL_FOR_ITER) frame.results.push_back({ir::SlotKind::kStack, static_cast<uint32_t>(state.top().stack.size())});
  for (const RunPlan::Unknown& unknown : plan.unknowns) {
    if (unknown.survives) frame.results.push_back(unknown.slot);
  }
  builder_.run(id);
  const ir::FrameState given = frame;
  std::vector<ValueId> objects;
  for (size_t k = 0; k < given.results.size(); ++k) objects.push_back(builder_.made(k));
  note_made(state, given, plan);
  return objects;
}

// Nothing: the instruction is none that `run` can do here.
std::optional<Recorder::Step> Recorder::run_here(State& state, const HlInstr& in, const base::Refusal& why) {
  RunPlan plan;
  if (!prepare_run(state, in, why, &plan)) return std::nullopt;
  take_results(state, plan, emit_run(state, in, plan));
  current_unit_ = plan.end_unit;
  before_ = ir::kNoSnapshot;
  look_at_results(state, plan);
  look_at_arrays(state);
  run_end_ = plan.end_unit;
  return Step::kNext;
}

// Is what follows FOR_ITER reached from there only?
bool Recorder::is_body_of(const FrameInfo& info, const HlInstr& in) const {
  const int from = info.part->map().block_at(in.unit), to = info.part->map().block_at(in.next_unit);
  if (from == kNoBlock || to == kNoBlock || !info.part->contains(to) || info.part->is_header(to)) return false;
  return info.part->forward_sources(to) == 1 && info.part->place_of(to) == info.part->loop_of(from);
}

// FOR_ITER at the end of `block`, done by the interpreter's own function. to_end: an item is not expected, native code leaves with it.
Result<Ways> Recorder::run_for_iter(State state, const HlInstr& in, int block, bool to_end) {
  const FrameInfo& info = *state.top().info;
  const CodeMap& map = info.part->map();
  RunPlan plan;
  plan.alone = to_end;
  plan.asked = static_cast<int>(state.top().stack.size()) - 1;
  const CodeObservation* seen = request_.observations != nullptr ? request_.observations->find(info.code) : nullptr;
  const SeenIterator* iterator = seen != nullptr ? seen->iterator(in.op_unit) : nullptr;
  auto why = refuse(RefusalReason::kUnsupportedIterator, iterator != nullptr ? with_advice(iterator->type.c_str()) : kind_text(state.top().stack.back()));
  if (!prepare_run(state, in, why, &plan)) return why;
  std::vector<ValueId> objects = emit_run(state, in, plan);
  const ValueId item = objects[0];
  objects.erase(objects.begin());
  State ended = state;
  ended.top().stack.pop_back();
  ir::Block* parent = builder_.block();
  ir::Op* op = builder_.if_(builder_.binary(ir::OpCode::Ne, ir::Type::Ptr, item, dummy(ir::Type::Ptr)), {});
  ValueId mark = static_cast<ValueId>(function_->value_types.size());
  builder_.set_block(op->blocks[0]);
  take_results(state, plan, objects);
  begin_trip(state, plan.end_unit);
  Result<Ways> body = Ways{};
  if (to_end) {
    builder_.exit(ExitReason::Breaker, before());
  } else {
    look_at_results(state, plan);
    look_at_arrays(state);
    body = follow_run(std::move(state), plan, block, in);
    if (!body) return body;
  }
  const Place behind{0, map.block_at(in.target)};
  builder_.set_block(op->blocks[1]);
  begin_trip(ended, map.blocks()[static_cast<size_t>(behind.block)].unit);
  look_at_arrays(ended);
  ++arms_;
  auto end = follow(ended, block, behind.block);
  --arms_;
  if (!end) return end;
  builder_.set_block(parent);
  return merge(op, mark, std::move(*body), std::move(*end), ended, behind);
}

// Goes on behind a run that began with FOR_ITER.
Result<Ways> Recorder::follow_run(State state, const RunPlan& plan, int block, const HlInstr& in) {
  const FrameInfo& info = *state.top().info;
  const CodeMap& map = info.part->map();
  const int body = map.block_at(in.next_unit);
  if (plan.count == 1) return follow(std::move(state), block, body);
  const int next = map.blocks()[static_cast<size_t>(body)].first + static_cast<int>(plan.count) - 1;
  auto ways = run_block(std::move(state), body, next);
  if (!ways) return ways;
  return settle(std::move(*ways), 0, &info, body, false);
}

// The stack and the variables behind the run; unknown objects are no more than that.
void Recorder::take_results(State& state, RunPlan& plan, const std::vector<ValueId>& objects) {
  size_t next = 0;
  plan.values.resize(plan.unknowns.size());
  for (size_t k = 0; k < plan.unknowns.size(); ++k) {
    if (plan.unknowns[k].survives) plan.values[k] = as_object(objects[next++]);
  }
  const std::vector<Sym> old = state.top().stack;
  auto value = [&](const RunPlan::Item& item) {
    if (item.is_null) return Sym{};
    return item.unknown >= 0 ? plan.values[static_cast<size_t>(item.unknown)] : old[static_cast<size_t>(item.before)];
  };
  std::vector<Sym> stack;
  for (const RunPlan::Item& item : plan.stack) stack.push_back(value(item));
  state.top().stack = std::move(stack);
  for (const RunPlan::Stored& one : plan.stored) at(state, stored_variable(one.in)) = value(one.item);
}

// Results are taken for what was seen while recording: guarded behind the run, where the frame has them as objects.
void Recorder::look_at_results(State& state, RunPlan& plan) {
  std::vector<Sym> known = plan.values;
  for (size_t k = 0; k < plan.unknowns.size(); ++k) {
    const RunPlan::Unknown& unknown = plan.unknowns[k];
    if (!unknown.survives) continue;
    PyObject* sample = unknown.sample;
    if (sample == nullptr && unknown.seen != PyKind::Object) {
      const int64_t zeros[3] = {0, 0, 0};
      sample = unknown.seen == PyKind::None_ ? Py_NewRef(Py_None) : runtime::box(unknown.seen, zeros);
      if (sample == nullptr) PyErr_Clear();
      if (sample != nullptr) samples_.push_back(sample);
    }
    if (sample == nullptr) continue;
    auto value = object_value(*this, plan.values[k].v[0], sample);
    if (value) known[k] = *value;
  }
  auto replace = [&](Sym& s) {
    for (size_t k = 0; k < plan.values.size(); ++k) {
      if (plan.unknowns[k].survives && s.kind == PyKind::Object && s.v[0] == plan.values[k].v[0]) s = known[k];
    }
  };
  for (Sym& s : state.top().stack) replace(s);
  for (Sym& s : state.top().locals) replace(s);
  for (Sym& s : state.globals) replace(s);
}

// Arrays that did not come in may have another header now.
void Recorder::look_at_arrays(State& state) {
  std::vector<std::pair<ValueId, ValueId>> again;
  auto look = [&](Sym& s) {
    if (is_untouched(s) || s.kind != PyKind::Array || s.object != nullptr || input_values_.count(s.v[0]) != 0) return;
    for (const auto& [old, fresh] : again) {
      if (s.v[0] == fresh) return;
      if (s.v[0] == old) {
        s.v[0] = fresh;
        return;
      }
    }
    const ValueId fresh = builder_.as_array(s.v[0], s.array_type, before());
    again.emplace_back(s.v[0], fresh);
    s.v[0] = fresh;
  };
  for (Sym& s : state.top().locals) look(s);
  for (Sym& s : state.top().stack) look(s);
  for (Sym& s : state.globals) look(s);
}

// The variable of the region's own frame that a store is to, and its slot.
VarRef Recorder::stored_variable(const HlInstr& in) {
  if (in.op == HL_STORE_FAST || in.op == HL_STORE_DEREF) return {VarRef::Where::kLocal, 0, in.arg};
  const FrameInfo& info = *infos_[0];
  PyObject* dict = stored_namespace(info, in.op == HL_STORE_NAME);
  return {VarRef::Where::kGlobal, 0, name_var(dict, PyTuple_GET_ITEM(info.code->co_names, in.arg), true)};
}

ir::Slot Recorder::slot_of(const HlInstr& in) {
  const VarRef variable = stored_variable(in);
  if (variable.where == VarRef::Where::kGlobal) return name_vars_[static_cast<size_t>(variable.index)].slot;
  return {in.op == HL_STORE_DEREF ? ir::SlotKind::kCell : ir::SlotKind::kLocal, static_cast<uint32_t>(in.arg)};
}

// A stack item that the run has taken: what was there may be gone.
bool Recorder::is_consumed(const RunPlan& plan, const ir::Slot& slot) {
  if (slot.kind != ir::SlotKind::kStack) return false;
  return std::none_of(plan.stack.begin(), plan.stack.end(), [&](const RunPlan::Item& item) { return item.before == static_cast<int>(slot.index); });
}

// The iterator of a loop that is under way lies on the stack, where nobody finds it.
bool Recorder::is_loop_iterator(const State& state, const ir::Slot& slot) const {
  if (slot.kind != ir::SlotKind::kStack || slot.index >= state.frames[0].stack.size()) return false;
  return ir::is_iterator(state.frames[0].stack[slot.index].kind);
}

// The numbers and tuples in the frame's variables are the objects that the run has put there.
void Recorder::note_made(State& state, const ir::FrameState& frame, const RunPlan& plan) {
  std::vector<std::pair<Sym*, ValueId>> made;
  auto is_stored = [&](const ir::Slot& slot) {  // what was put there may be gone
    return std::any_of(plan.stored.begin(), plan.stored.end(), [&](const RunPlan::Stored& one) { return slot_of(one.in) == slot; });
  };
  for (size_t k = 0; k < frame.slots.size(); ++k) {
    const ir::Slot& slot = frame.slots[k].slot;
    Sym* s = nullptr;
    if (is_stored(slot) || is_consumed(plan, slot)) continue;
    // The one that FOR_ITER asks goes on as the object that has been asked.
    const bool asked = slot.kind == ir::SlotKind::kStack && static_cast<int>(slot.index) == plan.asked;
    if (!asked && is_loop_iterator(state, slot)) continue;
    if (slot.kind == ir::SlotKind::kLocal || slot.kind == ir::SlotKind::kCell) s = &state.top().locals[slot.index];
    if (slot.kind == ir::SlotKind::kStack && slot.index < state.top().stack.size()) s = &state.top().stack[slot.index];
    for (size_t j = 0; j < name_vars_.size(); ++j) {
      if (name_vars_[j].slot == slot) s = &state.globals[j];
    }
    if (s != nullptr && is_made(*s)) made.emplace_back(s, builder_.made(frame.results.size() + k));
  }
  for (auto& [s, object] : made) {
    if (ir::is_iterator(s->kind)) {  // it may have been advanced
      *s = as_object(object);
      continue;
    }
    if (s->box != 0) has_become(state, *s, object);
    adopt(*s, object);
  }
}

// The value is this object, and so are the items of a tuple.
void Recorder::adopt(Sym& s, ValueId object) {
  s.obj = object;
  s.sure = true;
  if (s.kind != PyKind::Tuple) return;
  s.items = std::make_shared<std::vector<Sym>>(*s.items);
  for (size_t k = 0; k < s.items->size(); ++k) {
    Sym& item = (*s.items)[k];
    if (is_made(item)) adopt(item, builder_.tuple_item(object, builder_.const_i64(static_cast<int64_t>(k))));
  }
}

void Recorder::complete_snapshots() {
  std::vector<ir::Slot> given;
  ir::for_each_op(*region_, [&](ir::Op& op, ir::Block&) {
    if (op.code != ir::OpCode::Run) return;
    for (const ir::SlotValue& entry : function_->snapshots[op.snapshot].frames[0].slots) {
      if (entry.slot.kind != ir::SlotKind::kStack && std::find(given.begin(), given.end(), entry.slot) == given.end()) given.push_back(entry.slot);
    }
  });
  for (const ir::Slot& slot : given) {
    Sym initial;
    if (slot.kind == ir::SlotKind::kLocal || slot.kind == ir::SlotKind::kCell) {
      initial = resolve({VarRef::Where::kLocal, 0, static_cast<int>(slot.index)}, untouched());
    } else {
      auto var = std::find_if(name_vars_.begin(), name_vars_.end(), [&](const NameVar& v) { return v.slot == slot; });
      if (var == name_vars_.end()) continue;
      initial = var->initial;
    }
    for (ir::Snapshot& snapshot : function_->snapshots) {
      if (snapshot.frames.empty()) continue;
      auto& slots = snapshot.frames[0].slots;
      if (std::any_of(slots.begin(), slots.end(), [&](const ir::SlotValue& entry) { return entry.slot == slot; })) continue;
      slots.push_back({slot, snap_value(initial, nullptr)});
    }
  }
}

}  // namespace hotloop::tracer
