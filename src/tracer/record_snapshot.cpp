// Snapshots: what the interpreter's frames must hold when a region is left at some point of the recording.
// See recorder.h. The frame of the region is sparse (only what differs from its entry), inlined frames are complete.
#include "tracer/recorder.h"

namespace hotloop::tracer {

ir::SnapshotId Recorder::before() {
  if (before_ == ir::kNoSnapshot) before_ = snapshot_at(*current_, current_unit_);
  return before_;
}

// What the value is besides known objects and pointers, or another number that it may be.
ir::SnapValue Recorder::snap_value(const Sym& s, const State* state) {
  ir::SnapValue value;
  value.kind = s.kind;
  value.box = s.box;
  if (s.input != ir::kNone && s.kind != PyKind::Unbound && s.kind != PyKind::None_ && !ir::is_iterator(s.kind)) {
    value.kind = PyKind::Input;
    value.index = s.input;
    value.box = 0;
    return value;
  }
  if (s.object != nullptr && s.kind != PyKind::None_) {
    value.kind = PyKind::Const;
    value.index = object(s.object);
    value.box = 0;
    return value;
  }
  if (s.obj != ir::kNoValue) {
    ir::SnapValue object;
    object.kind = PyKind::Object;
    object.values.push_back(s.obj);
    if (s.sure) return object;
    Sym plain = s;
    plain.obj = ir::kNoValue;
    value = {};
    value.kind = PyKind::Either;
    value.values.push_back(builder_.binary(ir::OpCode::Ne, ir::Type::Ptr, s.obj, dummy(ir::Type::Ptr)));
    value.children = {std::move(object), snap_value(plain, state)};
    return value;
  }
  if (s.kind == PyKind::Array) value.index = s.array_type;
  int n = ir::pykind_info(s.kind).parts;
  for (int k = 0; k < n; ++k) value.values.push_back(s.v[k]);
  if (s.items) {
    for (const Sym& item : *s.items) value.children.push_back(snap_value(item, state));
  }
  return state == nullptr ? value : snap_choice(s, std::move(value), *state);
}

// `own`, or what else the value may be.
ir::SnapValue Recorder::snap_choice(const Sym& s, ir::SnapValue own, const State& state) {
  std::vector<SameIf> others = others_of(state, s);
  for (size_t k = others.size(); k-- > 0;) {
    Sym known;
    known.kind = s.kind;
    known.input = others[k].b.input;
    known.object = others[k].b.object;
    const Sym* other = others[k].b.is_known() ? &known : holder_of(state, others[k].b);
    if (other == nullptr) continue;
    ir::SnapValue choice;
    choice.kind = PyKind::Either;
    choice.values.push_back(others[k].flag);
    choice.children = {snap_value(*other, nullptr), std::move(own)};
    own = std::move(choice);
  }
  return own;
}

namespace {

bool asks_for_object(const Sym& s) {
  if (s.obj != ir::kNoValue && !s.sure) return true;
  if (!s.items) return false;
  for (const Sym& item : *s.items) {
    if (asks_for_object(item)) return true;
  }
  return false;
}

}  // namespace

// Does a snapshot of this state need ops that tell whether a number is an object?
bool Recorder::asks_for_objects(const State& state) {
  for (const FrameVals& frame : state.frames) {
    for (const Sym& s : frame.locals) {
      if (asks_for_object(s)) return true;
    }
    for (const Sym& s : frame.stack) {
      if (asks_for_object(s)) return true;
    }
  }
  for (const Sym& s : state.globals) {
    if (asks_for_object(s)) return true;
  }
  return false;
}

// Does the slot of the entry frame still hold what it held at entry?
bool Recorder::unchanged(const Sym& s, ir::Slot slot) {
  if (is_untouched(s)) return true;
  return s.input != ir::kNone && function_->inputs[s.input].slot == slot;
}

void Recorder::add_slots(const State& state, int frame, ir::FrameState* out) {
  const FrameVals& vals = state.frames[static_cast<size_t>(frame)];
  bool entry_frame = frame == 0;
  auto add = [&](ir::Slot slot, const Sym& s) {
    if (entry_frame && unchanged(s, slot)) return;
    out->slots.push_back({slot, snap_value(s, &state)});
  };
  for (size_t k = 0; k < vals.locals.size(); ++k) {
    int kind = hl_local_kind(vals.info->code, static_cast<int>(k));
    bool cell = kind == HL_LOCAL_CELL || kind == HL_LOCAL_FREE;
    if (!entry_frame && (cell || vals.locals[k].kind == PyKind::Unbound)) continue;  // closures are shared: their cells are variables of their own
    add({cell ? ir::SlotKind::kCell : ir::SlotKind::kLocal, static_cast<uint32_t>(k)}, vals.locals[k]);
  }
  for (size_t k = 0; k < vals.stack.size(); ++k) {
    ir::Slot slot{ir::SlotKind::kStack, static_cast<uint32_t>(k)};
    if (entry_frame && k >= function_->entry_stack_depth) {
      out->slots.push_back({slot, snap_value(vals.stack[k], &state)});
    } else {
      add(slot, vals.stack[k]);
    }
  }
  if (!entry_frame) return;
  for (size_t k = 0; k < state.globals.size(); ++k) add(name_vars_[k].slot, state.globals[k]);
}

ir::SnapshotId Recorder::snapshot_at(const State& state, int unit) {
  ir::Snapshot snapshot;
  for (size_t f = 0; f < state.frames.size(); ++f) {
    const FrameVals& vals = state.frames[f];
    ir::FrameState frame;
    frame.code = vals.info->code_object;
    frame.function = vals.info->function_object;
    frame.function_input = vals.info->function_input;
    bool innermost = f + 1 == state.frames.size();
    frame.resume_unit = innermost ? unit : state.frames[f + 1].info->call_unit;
    if (!innermost) frame.return_unit = state.frames[f + 1].info->return_unit;
    frame.stack_depth = static_cast<uint32_t>(vals.stack.size());
    add_slots(state, static_cast<int>(f), &frame);
    snapshot.frames.push_back(std::move(frame));
  }
  function_->snapshots.push_back(std::move(snapshot));
  return static_cast<ir::SnapshotId>(function_->snapshots.size() - 1);
}

ir::SnapshotId Recorder::snapshot_at_place(const State& state, const Place& place) {
  if (place.block != kReturn) {
    const FrameInfo& info = *state.top().info;
    return snapshot_at(state, info.part->map().blocks()[static_cast<size_t>(place.block)].unit);
  }
  State caller = state;
  Sym result = caller.top().stack.back();
  int unit = caller.top().info->return_unit;
  caller.frames.pop_back();
  caller.top().stack.push_back(result);
  return snapshot_at(caller, unit);
}

}  // namespace hotloop::tracer
