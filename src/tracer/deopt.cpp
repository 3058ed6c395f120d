// Leaving native code: the interpreter's frames are made to hold what the exit's snapshot says (deoptimisation).
//
// Needs region.h, runtime/box.h, cpython/access.h. Promises (DESIGN T10-T19): all boxes are made before a frame is touched; one object per box
// identity; untouched slots stay; old values are dropped when the frame is complete; pending work is served and exceptions are delivered here.
// Order at an exit: make objects, swap them in, set the ip, drop old values, run materialised callees, serve pending work, set the resume unit.
#include <alloca.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/box.h"
#include "runtime/objects.h"
#include "tracer/iterators.h"
#include "tracer/leaving.h"

namespace hotloop::tracer {
namespace {

constexpr size_t kBallastSize = 64 * 1024;

PyObject* object_at(const Region& region, uint32_t id) { return static_cast<PyObject*>(region.function->objects[id].pointer); }

PyObject* cell_object(const Leaving& l, uint32_t out_index) { return reinterpret_cast<PyObject*>(l.out[out_index]); }

bool make(Leaving& l, const PlanValue& value, PyObject** result);

// Of the children from `first` on.
bool make_tuple(Leaving& l, const PlanValue& value, PyObject** result, uint32_t first = 0) {
  PyObject* tuple = PyTuple_New(value.child_count - first);
  if (tuple == nullptr) return false;
  for (uint32_t k = first; k < value.child_count; ++k) {
    PyObject* item = nullptr;
    if (!make(l, l.plan.values[value.first_child + k], &item)) {
      Py_DECREF(tuple);
      return false;
    }
    PyTuple_SET_ITEM(tuple, k - first, item);
  }
  *result = tuple;
  return true;
}

// An iterator that draws from others, or from a sequence; a row of an array.
bool make_compound(Leaving& l, const PlanValue& value, PyObject** result) {
  PyObject* inner = nullptr;
  if (value.kind == ir::PyKind::Zip || value.kind == ir::PyKind::StrictZip) {
    if (!make_tuple(l, value, &inner)) return false;
    *result = hl_zip_new(inner, value.kind == ir::PyKind::StrictZip);
    Py_DECREF(inner);
    return *result != nullptr;
  }
  if (value.kind == ir::PyKind::Map) {
    PyObject* function = nullptr;
    if (make(l, l.plan.values[value.first_child], &function) && make_tuple(l, value, &inner, 1)) *result = hl_map_new(inner, function);
    Py_XDECREF(function);
    Py_XDECREF(inner);
    return *result != nullptr;
  }
  if (!make(l, l.plan.values[value.first_child], &inner)) return false;
  if (value.kind == ir::PyKind::Enumerate) {
    *result = hl_enumerate_new(inner, l.out[value.out[0]]);
  } else if (value.kind == ir::PyKind::Row) {
    auto* indices = static_cast<int64_t*>(alloca(sizeof(int64_t) * value.child_count));
    for (uint32_t k = 1; k < value.child_count; ++k) indices[k - 1] = l.out[l.plan.values[value.first_child + k].out[0]];
    *result = new_row(inner, indices, value.child_count - 1);
  } else {
    *result = new_sequence_iterator(inner, value.kind == ir::PyKind::Countdown, l.out[l.plan.values[value.first_child + 1].out[0]]);
  }
  Py_DECREF(inner);
  return *result != nullptr;
}

bool make_method(Leaving& l, const PlanValue& value, PyObject** result) {
  PyObject* function = nullptr;
  PyObject* self = nullptr;
  if (make(l, l.plan.values[value.first_child], &function) && make(l, l.plan.values[value.first_child + 1], &self)) {
    // A method written in C is bound by its descriptor.
    const bool descriptor = Py_TYPE(function) == &PyMethodDescr_Type;
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(self));
    *result = descriptor ? Py_TYPE(function)->tp_descr_get(function, self, type) : PyMethod_New(function, self);
  }
  Py_XDECREF(function);
  Py_XDECREF(self);
  return *result != nullptr;
}

// The known object; where the region was compiled for equal code, whose constants are other objects, the live code's own.
PyObject* constant_of(const Leaving& l, uint32_t index) {
  PyObject* object = object_at(l.region, index);
  auto* known = reinterpret_cast<PyCodeObject*>(l.plan.frames[0].code);
  PyCodeObject* live = hl_frame_code(l.frame);
  if (known == nullptr || known == live) return object;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(known->co_consts); ++k) {
    if (PyTuple_GET_ITEM(known->co_consts, k) == object) return PyTuple_GET_ITEM(live->co_consts, k);
  }
  return object;
}

// A new reference to what this value is; *result null for Unbound. False: no memory.
bool make(Leaving& l, const PlanValue& value, PyObject** result) {
  PyObject* object = nullptr;
  if (value.box != 0 && l.boxes[value.box - 1] != nullptr) {
    *result = Py_NewRef(l.boxes[value.box - 1]);
    return true;
  }
  switch (value.kind) {
    case ir::PyKind::Unbound: *result = nullptr; return true;
    case ir::PyKind::Const: object = Py_NewRef(constant_of(l, value.index)); break;
    case ir::PyKind::Input: object = Py_XNewRef(l.inputs[value.index]); *result = object; return true;
    case ir::PyKind::Array:
    case ir::PyKind::Str:
    case ir::PyKind::Bytes:
    case ir::PyKind::List:
    case ir::PyKind::TupleObject:
    case ir::PyKind::Object: object = Py_NewRef(cell_object(l, value.out[0])); break;
    case ir::PyKind::Tuple:
      if (!make_tuple(l, value, &object)) return false;
      break;
    case ir::PyKind::Method:
      if (!make_method(l, value, &object)) return false;
      break;
    case ir::PyKind::SeqIter:
    case ir::PyKind::Countdown:
    case ir::PyKind::Enumerate:
    case ir::PyKind::Zip:
    case ir::PyKind::StrictZip:
    case ir::PyKind::Map:
    case ir::PyKind::Row:
      if (!make_compound(l, value, &object)) return false;
      break;
    case ir::PyKind::Either: {
      const uint32_t child = l.out[value.out[0]] != 0 ? value.first_child : value.first_child + 1;
      return make(l, l.plan.values[child], result);
    }
    default: {
      const int64_t parts[3] = {l.out[value.out[0]], l.out[value.out[1]], l.out[value.out[2]]};
      object = runtime::box(value.kind, parts);
    }
  }
  if (object == nullptr) return false;
  if (value.box != 0) l.boxes[value.box - 1] = object;
  *result = object;
  return true;
}

// An iterator that stays where it is: its state is set instead of making a new object.
bool stays_in_place(const Leaving& l, const PlanFrame& frame, const PlanSlot& slot) {
  if (&frame != l.plan.frames.data() || slot.slot.kind != ir::SlotKind::kStack) return false;
  if (static_cast<int>(slot.slot.index) >= static_cast<int>(l.region.function->entry_stack_depth)) return false;
  const PlanValue& value = l.plan.values[slot.value];
  PyObject* there = ir::is_iterator(value.kind) ? hl_stack_peek(l.frame, static_cast<int>(slot.slot.index)) : nullptr;
  return there != nullptr && iterator_fits(l.plan, value, there);
}

void set_in_place(Leaving& l, const PlanSlot& slot) {
  set_iterator(l.plan, l.plan.values[slot.value], hl_stack_peek(l.frame, static_cast<int>(slot.slot.index)), l.out);
}

bool make_all_once(Leaving& l) {
  std::memset(l.boxes, 0, l.plan.box_count * sizeof *l.boxes);
  std::memset(l.made, 0, l.plan.slots.size() * sizeof *l.made);
  for (const PlanFrame& frame : l.plan.frames) {
    for (uint32_t k = frame.first_slot; k < frame.first_slot + frame.slot_count; ++k) {
      const PlanSlot& slot = l.plan.slots[k];
      if (stays_in_place(l, frame, slot)) continue;
      if (make(l, l.plan.values[slot.value], &l.made[k])) continue;
      for (uint32_t j = 0; j < k; ++j) Py_CLEAR(l.made[j]);
      return false;
    }
  }
  return true;
}

void drop_later(Leaving& l, PyObject* old) {
  if (old != nullptr) l.dropped[l.dropped_count++] = old;
}

// namespace[name] = value, or its removal; the old value is kept for later. Only exact dicts with exact str keys: no Python code runs but in
// the dictionary watchers of others.
bool set_name(Leaving& l, PyObject* dict, PyObject* name, PyObject* value) {
  PyObject* old = PyDict_GetItemWithError(dict, name);
  if (old == value && old != nullptr) {
    drop_later(l, value);
    return true;
  }
  drop_later(l, Py_XNewRef(old));
  if (value == nullptr) return old == nullptr || PyDict_DelItem(dict, name) == 0;
  const bool good = PyDict_SetItem(dict, name, value) == 0;
  drop_later(l, value);
  return good;
}

// instance.name = value, or its removal where it was there; the old value is kept for later. The class has no say in it: see ir::Instance.
bool set_attribute(Leaving& l, uint32_t index, PyObject* value) {
  const ir::InstanceAttribute& attribute = l.region.function->attributes[index];
  PyObject* owner = instance_of_region(l.region, attribute.instance, l.inputs);
  if (attribute.offset != 0) {
    auto** place = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(owner) + attribute.offset);
    drop_later(l, *place);
    *place = value;
    return true;
  }
  PyObject* name = object_at(l.region, attribute.name);
  PyObject* old = nullptr;
  hl_instance_get(owner, name, &l.region.attribute_hints[index], &old);
  drop_later(l, value);
  if (old == value) return true;
  drop_later(l, Py_XNewRef(old));
  return PyObject_GenericSetAttr(owner, name, value) == 0;
}

}  // namespace

// Locals, cells and names of the live frame. False: an exception is set (no memory for a new key); the rest is done all the same.
bool swap_slots(Leaving& l, const PlanFrame& frame) {
  bool good = true;
  for (uint32_t k = frame.first_slot; k < frame.first_slot + frame.slot_count; ++k) {
    const ir::Slot& slot = l.plan.slots[k].slot;
    PyObject* value = l.made[k];
    switch (slot.kind) {
      case ir::SlotKind::kLocal: drop_later(l, hl_local_swap(l.frame, static_cast<int>(slot.index), value)); break;
      case ir::SlotKind::kCell: drop_later(l, hl_cell_swap(hl_local_get(l.frame, static_cast<int>(slot.index)), value)); break;
      case ir::SlotKind::kGlobal: good &= set_name(l, hl_frame_globals(l.frame), object_at(l.region, slot.index), value); break;
      case ir::SlotKind::kName: good &= set_name(l, hl_frame_locals(l.frame), object_at(l.region, slot.index), value); break;
      case ir::SlotKind::kObjectCell: drop_later(l, hl_cell_swap(cell_of_region(l.region, slot.index, l.inputs), value)); break;
      case ir::SlotKind::kAttribute: good &= set_attribute(l, slot.index, value); break;
      default: continue;  // stack: rebuild_stack
    }
    l.made[k] = nullptr;
  }
  return good;
}

// Items of the live frame's stack: pops down to the lowest listed item, then puts back what stays and pushes what is new.
void rebuild_stack(Leaving& l, const PlanFrame& frame, PyObject** scratch) {
  const int old_depth = hl_stack_depth(l.frame), new_depth = frame.stack_depth;
  int lowest = std::min(old_depth, new_depth);
  for (uint32_t k = frame.first_slot; k < frame.first_slot + frame.slot_count; ++k) {
    const PlanSlot& slot = l.plan.slots[k];
    if (slot.slot.kind != ir::SlotKind::kStack) continue;
    if (stays_in_place(l, frame, slot)) {
      if (static_cast<int>(slot.slot.index) < new_depth) set_in_place(l, slot);
    } else {
      lowest = std::min(lowest, static_cast<int>(slot.slot.index));
    }
  }
  for (int k = old_depth; k > lowest; --k) scratch[k - 1] = hl_stack_pop(l.frame);
  for (int k = old_depth; k < new_depth; ++k) scratch[k] = nullptr;
  for (uint32_t k = frame.first_slot; k < frame.first_slot + frame.slot_count; ++k) {
    const ir::Slot& slot = l.plan.slots[k].slot;
    const int at = static_cast<int>(slot.index);
    // In-place iterators above `lowest` are in scratch already (made is null for them and for a NULL that is pushed).
    if (slot.kind != ir::SlotKind::kStack || at < lowest) continue;
    const bool in_place = l.made[k] == nullptr && ir::is_iterator(l.plan.values[l.plan.slots[k].value].kind);
    if (in_place) continue;
    if (at < old_depth) drop_later(l, scratch[at]);
    scratch[at] = l.made[k];
    l.made[k] = nullptr;
  }
  for (int k = lowest; k < new_depth; ++k) hl_stack_push(l.frame, scratch[k]);
  auto& context = *static_cast<RunContext*>(l.activation->context);
  if (context.has_ended) {  // FOR_ITER is next: it finds an iterator that has none left
    context.has_ended = false;
    drop_later(l, hl_stack_pop(l.frame));
    hl_stack_push(l.frame, Py_NewRef(l.rt.ended_iterator));
  }
  for (int k = std::max(new_depth, lowest); k < old_depth; ++k) drop_later(l, scratch[k]);
}

void drop_old_values(Leaving& l) {
  if (l.dropped_count == 0 && l.activation->keep_begin == nullptr) return;
  PyObject* error = hl_has_exception(l.ts) ? PyErr_GetRaisedException() : nullptr;
  const int tracing = hl_tracing_swap(l.ts, 0);
  for (int k = 0; k < l.dropped_count; ++k) Py_DECREF(l.dropped[k]);
  l.dropped_count = 0;
  runtime::drop_kept(l.activation);
  hl_tracing_swap(l.ts, tracing);
  if (error != nullptr || hl_has_exception(l.ts)) PyErr_SetRaisedException(error);
}

bool raise_error_of_iterator(Leaving& l) {
  auto& context = *static_cast<RunContext*>(l.activation->context);
  if (context.error == nullptr) return false;
  PyErr_SetRaisedException(std::exchange(context.error, nullptr));
  return true;
}

// What the callback returns when an exception is set that was raised at `unit` of the live frame.
PyObject* deliver(Leaving& l, int unit) {
  ++l.rt.stats.exceptions;
  if (hl_deliver_exception(l.ts, l.frame, unit)) Py_RETURN_NONE;
  return nullptr;
}

namespace {

// A function that a map object calls has raised: StopIteration is the end of the loop that asks the map object. The iterator that it finds then is one
// that has none left.
bool ends_loop(Leaving& l, int unit) {
  HlInstr in;
  if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return false;
  PyObject* error = PyErr_GetRaisedException();
  if (hl_decode(hl_frame_code(l.frame), unit, &in) < 0 || in.op != HL_FOR_ITER) {
    PyErr_SetRaisedException(error);
    return false;
  }
  Py_DECREF(error);
  Py_DECREF(hl_stack_pop(l.frame));
  hl_stack_push(l.frame, Py_NewRef(l.rt.ended_iterator));
  return true;
}

// The slots of an inlined frame as hl_run_frames takes them. False: no memory.
bool fill_inlined(Leaving& l, const PlanFrame& frame, HlInlinedFrame* inlined) {
  PyObject* function = frame.function_input != ir::kNone ? l.inputs[frame.function_input] : frame.function;
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  const size_t locals = static_cast<size_t>(hl_local_count(code));
  auto** block = static_cast<PyObject**>(PyMem_Calloc(locals + static_cast<size_t>(frame.stack_depth) + 1, sizeof(PyObject*)));
  if (block == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  inlined->func = Py_NewRef(function);  // what holds it may be among the old values
  inlined->locals = block;
  inlined->stack = block + locals;
  inlined->stack_depth = frame.stack_depth;
  inlined->unit = frame.resume_unit;
  inlined->use = frame.drop_result ? HL_RESULT_DROP : HL_RESULT_PUSH;
  for (uint32_t k = frame.first_slot; k < frame.first_slot + frame.slot_count; ++k) {
    const ir::Slot& slot = l.plan.slots[k].slot;
    PyObject* value = l.made[k];
    l.made[k] = nullptr;
    switch (slot.kind) {
      case ir::SlotKind::kLocal: block[slot.index] = value; break;
      case ir::SlotKind::kStack: inlined->stack[slot.index] = value; break;
      case ir::SlotKind::kCell:
        block[slot.index] = PyCell_New(value);
        Py_XDECREF(value);
        if (block[slot.index] == nullptr) return false;
        break;
      case ir::SlotKind::kGlobal:
        if (!set_name(l, PyFunction_GET_GLOBALS(function), object_at(l.region, slot.index), value)) return false;
        break;
      default: Py_XDECREF(value); break;
    }
  }
  return true;
}

void free_inlined(HlInlinedFrame* frames, int count, bool with_values) {
  for (int k = 0; k < count; ++k) {
    if (frames[k].locals == nullptr) continue;
    if (with_values) {
      for (PyObject** p = frames[k].locals; p < frames[k].stack + frames[k].stack_depth; ++p) Py_CLEAR(*p);
    }
    PyMem_Free(frames[k].locals);
    Py_DECREF(frames[k].func);
  }
}

// Runs the inlined callees to their end in real frames. The live frame is complete. New reference, or null with an exception.
PyObject* run_callees(Leaving& l) {
  const int count = static_cast<int>(l.plan.frames.size()) - 1;
  auto* frames = static_cast<HlInlinedFrame*>(alloca(sizeof(HlInlinedFrame) * static_cast<size_t>(count)));
  std::memset(frames, 0, sizeof(HlInlinedFrame) * static_cast<size_t>(count));
  for (int k = 0; k < count; ++k) {
    if (!fill_inlined(l, l.plan.frames[static_cast<size_t>(k) + 1], &frames[k])) {
      free_inlined(frames, count, true);
      for (size_t j = 0; j < l.plan.slots.size(); ++j) Py_CLEAR(l.made[j]);
      return nullptr;
    }
  }
  drop_old_values(l);
  PyObject* result = hl_run_frames(l.ts, frames, count, 0);
  free_inlined(frames, count, false);
  return result;
}

}  // namespace

// After everything else: pending calls, signals and the like are served with the frame complete (T10), then the frame goes on at `unit`.
PyObject* go_on_at(Leaving& l, int unit) {
  if (hl_breaker_pending(l.ts)) {
    hl_frame_set_unit(l.frame, unit);
    if (hl_service_pending(l.ts) < 0) return deliver(l, unit);
  }
  hl_frame_set_resume(l.frame, unit);
  Py_RETURN_NONE;
}

namespace {

PyObject* rebuild(Leaving& l, PyObject** scratch) {
  const PlanFrame& outer = l.plan.frames[0];
  const bool named = swap_slots(l, outer);
  rebuild_stack(l, outer, scratch);
  hl_frame_set_unit(l.frame, outer.resume_unit);
  if (!named) {
    drop_old_values(l);
    for (size_t k = 0; k < l.plan.slots.size(); ++k) Py_CLEAR(l.made[k]);
    return deliver(l, outer.resume_unit);
  }
  if (l.plan.frames.size() == 1) {
    drop_old_values(l);
    return raise_error_of_iterator(l) ? deliver(l, outer.resume_unit) : go_on_at(l, outer.resume_unit);
  }
  PyObject* result = run_callees(l);
  drop_old_values(l);
  if (result == nullptr) return ends_loop(l, outer.resume_unit) ? go_on_at(l, outer.resume_unit) : deliver(l, outer.resume_unit);
  if (outer.drop_result) {
    Py_DECREF(result);
  } else {
    hl_stack_push(l.frame, result);
  }
  return go_on_at(l, outer.return_unit);
}

}  // namespace

LeavingSize leaving_size(HlFrame* frame, const ExitPlan& plan) {
  const size_t slots = plan.slots.size();
  const size_t stack = static_cast<size_t>(std::max(hl_stack_depth(frame), plan.frames[0].stack_depth));
  return {slots, plan.box_count, slots * 2 + stack + 1, stack};  // dropped: at most two per slot, each old stack item, an iterator that has ended
}

Leaving make_leaving(Runtime& rt, PyThreadState* ts, HlFrame* frame, Region& region, const ExitPlan& plan, ir::Activation* activation,
                     PyObject* const* inputs, PyObject** block) {
  PyObject** boxes = block + plan.slots.size();
  return {rt, ts, frame, region, plan, activation->out, inputs, block, boxes, boxes + plan.box_count, 0, activation};
}

bool make_all(Leaving& l) {
  if (make_all_once(l)) return true;
  PyErr_Clear();
  PyMem_RawFree(l.rt.ballast);
  l.rt.ballast = nullptr;
  return make_all_once(l);
}

PyObject* leave(Runtime& rt, PyThreadState* ts, HlFrame* frame, Region& region, uint32_t exit_id, ir::Activation* activation, PyObject* const* inputs) {
  const ExitPlan& plan = exit_plan(region, exit_id);
  const LeavingSize size = leaving_size(frame, plan);
  auto** block = static_cast<PyObject**>(alloca(sizeof(PyObject*) * (size.all() + 1)));
  Leaving l = make_leaving(rt, ts, frame, region, plan, activation, inputs, block);
  if (!make_all(l)) {
    // Not even the reserve was enough. What native code has computed since entry is lost to the variables, as the MemoryError tells.
    drop_old_values(l);
    return deliver(l, hl_frame_unit(frame));
  }
  if (rt.ballast == nullptr) rt.ballast = PyMem_RawMalloc(kBallastSize);
  return rebuild(l, block + size.made + size.boxes + size.dropped);
}

}  // namespace hotloop::tracer
