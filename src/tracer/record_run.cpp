// Instructions that may run Python code, recorded as `run`: they are done in the live frame, and native code goes on behind them. See recorder.h.
//
// Behind a run the frame holds objects in every variable that the run's snapshot gives, no longer what it held at entry. So every snapshot of the region
// gives those variables (complete_snapshots), and a number that was made an object there stays that object (note_made).
#include <algorithm>

#include "tracer/recorder.h"
#include "tracer/runtime.h"

namespace hotloop::tracer {

namespace {

constexpr size_t kMaxRuns = 4;  // places in a region: more of them, and little is left to compile


// Is the object made anew each time that the value is put into a frame?
bool is_made(const Sym& s) {
  if (is_untouched(s) || s.input != ir::kNone || s.object != nullptr || s.sure) return false;
  if (s.kind == PyKind::Bool || s.kind == PyKind::NpBool || ir::is_iterator(s.kind)) return false;
  if (s.kind == PyKind::Either) return false;  // it may be unbound, or be made or not
  const ir::PyKindInfo& info = ir::pykind_info(s.kind);
  return s.items != nullptr || (info.parts > 0 && info.part_type != ir::Type::Ptr);
}

}  // namespace

// Is all that is known of the value still true behind Python code? Headers are only looked at of arrays that came in.
bool Recorder::survives_run(const Sym& s) const {
  if (is_untouched(s)) return true;
  if (s.kind == PyKind::Array && s.object == nullptr && input_values_.count(s.v[0]) == 0) return false;
  return !s.items || std::all_of(s.items->begin(), s.items->end(), [this](const Sym& item) { return survives_run(item); });
}

bool Recorder::survives_run(const State& state) const {
  auto all = [this](const std::vector<Sym>& values) { return std::all_of(values.begin(), values.end(), [this](const Sym& s) { return survives_run(s); }); };
  return all(state.frames[0].locals) && all(state.frames[0].stack) && all(state.globals);
}

// Nothing: the instruction is none that `run` can do here.
std::optional<Recorder::Step> Recorder::run_here(State& state, const HlInstr& in) {
  const int operands = run_operands(in.op);
  if (operands == 0 || no_runs_ || state.frames.size() != 1) return std::nullopt;  // in a callee: T25
  if (run_units_.count(in.op_unit) == 0 && run_units_.size() >= kMaxRuns) return std::nullopt;
  normalise(state);
  for (int k = 1; k <= operands; ++k) peek(state, k);
  if (!survives_run(state)) return std::nullopt;
  run_units_.insert(in.op_unit);
  ir::SnapshotId snapshot = before();
  builder_.run(snapshot);
  auto& stack = state.top().stack;
  stack.resize(stack.size() - static_cast<size_t>(operands));
  const ir::FrameState frame = function_->snapshots[snapshot].frames[0];
  note_made(state, frame);
  return Step::kNext;
}

// The numbers and tuples in the frame's variables are the objects that the run has put there.
void Recorder::note_made(State& state, const ir::FrameState& frame) {
  std::vector<std::pair<Sym*, ValueId>> made;
  for (size_t k = 0; k < frame.slots.size(); ++k) {
    const ir::Slot& slot = frame.slots[k].slot;
    Sym* s = nullptr;
    if (slot.kind == ir::SlotKind::kLocal || slot.kind == ir::SlotKind::kCell) s = &state.top().locals[slot.index];
    if (slot.kind == ir::SlotKind::kStack && slot.index < state.top().stack.size()) s = &state.top().stack[slot.index];
    for (size_t j = 0; j < name_vars_.size(); ++j) {
      if (name_vars_[j].slot == slot) s = &state.globals[j];
    }
    if (s != nullptr && is_made(*s)) made.emplace_back(s, builder_.made(k));
  }
  for (auto& [s, object] : made) {
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

// What Python code may do to instances, cells and functions that came in is not looked at behind a run: not in the same region.
bool Recorder::runs_do_not_fit() const {
  if (run_units_.empty()) return false;
  const auto& guards = function_->function_guards;
  return !function_->instances.empty() || !function_->cells.empty() ||
         std::any_of(guards.begin(), guards.end(), [](const ir::FunctionGuard& guard) { return guard.input != ir::kNone; });
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
      slots.push_back({slot, snap_value(initial)});
    }
  }
}

}  // namespace hotloop::tracer
