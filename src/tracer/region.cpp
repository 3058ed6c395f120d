// See region.h: making and freeing regions, exit plans, the checks at entry.
#include "tracer/region.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "tracer/iterators.h"
#include "runtime/numpy_header.h"
#include "tracer/record.h"
#include "tracer/runtime.h"
#include "tracer/semantics.h"

namespace hotloop::tracer {
namespace {

PyObject* object_at(const Region& region, ir::ObjectId id) {
  return id == ir::kNone ? nullptr : static_cast<PyObject*>(region.function->objects[id].pointer);
}

bool kind_is_numpy(ir::PyKind kind) {
  return (kind >= ir::PyKind::NpBool && kind <= ir::PyKind::NpComplex128) || kind == ir::PyKind::Array;
}

bool value_uses_numpy(const ir::SnapValue& value) {
  return kind_is_numpy(value.kind) || std::any_of(value.children.begin(), value.children.end(), value_uses_numpy);
}

// Does anything in the region follow NumPy's error state?
bool touches_numpy(const Region& region) {
  const ir::Function& f = *region.function;
  if (!f.array_types.empty()) return true;
  for (const ir::Input& input : f.inputs) {
    if (kind_is_numpy(input.kind)) return true;
  }
  for (const ir::ExitInfo& exit : region.exits) {
    if (exit.reason == ir::ExitReason::FpWarning) return true;
  }
  for (const ir::Snapshot& snapshot : f.snapshots) {
    for (const ir::FrameState& frame : snapshot.frames) {
      for (const ir::SlotValue& slot : frame.slots) {
        if (value_uses_numpy(slot.value)) return true;
      }
    }
  }
  return false;
}

bool uses_slot(const ir::Function& f, ir::SlotKind kind) {
  for (const ir::Input& input : f.inputs) {
    if (input.slot.kind == kind) return true;
  }
  for (const ir::Snapshot& snapshot : f.snapshots) {
    for (const ir::FrameState& frame : snapshot.frames) {
      for (const ir::SlotValue& slot : frame.slots) {
        if (slot.slot.kind == kind) return true;
      }
    }
  }
  return false;
}

void watch_dict(Runtime& rt, PyObject* dict) {
  if (dict == nullptr || !PyDict_CheckExact(dict) || rt.dict_watcher < 0) return;
  if (!rt.watched_dicts.insert(dict).second) return;
  if (PyDict_Watch(rt.dict_watcher, dict) < 0) {
    PyErr_Clear();
    rt.watched_dicts.erase(dict);
  }
}

void watch_namespaces(Runtime& rt, Region& region) {
  for (const ir::NamespaceGuard& guard : region.function->namespace_guards) {
    watch_dict(rt, object_at(region, guard.globals));
    watch_dict(rt, object_at(region, guard.builtins));
    PyObject* name = object_at(region, guard.name);
    if (PyUnicode_CHECK_INTERNED(name)) {
      rt.watched_names.insert(name);
    } else {
      rt.watch_all_names = true;
    }
  }
}

// Dictionaries and the region's own code object own us, directly or not: a reference to them would be a cycle that nothing breaks, and an exec
// namespace may hold arrays (T30). They are let go here; the dictionary watcher says when one dies, the code object frees its regions itself.
void let_go_of_owners(Region& region, PyCodeObject* own_code) {
  for (ir::ObjectRef& ref : region.function->objects) {
    auto* object = static_cast<PyObject*>(ref.pointer);
    if (object == nullptr || ref.weak) continue;
    if (PyDict_CheckExact(object)) {
      region.weak_dicts.push_back(object);
      Py_DECREF(object);
    } else if (object == reinterpret_cast<PyObject*>(own_code)) {
      Py_DECREF(object);
    }
  }
}

void note_codes(Region& region, PyCodeObject* own_code) {
  for (const ir::ObjectRef& ref : region.function->objects) {
    auto* object = static_cast<PyObject*>(ref.pointer);
    if (object == nullptr || ref.weak) continue;
    PyCodeObject* code = nullptr;
    if (PyCode_Check(object)) code = reinterpret_cast<PyCodeObject*>(object);
    if (PyFunction_Check(object)) code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(object));
    if (code != nullptr && code != own_code && std::find(region.codes.begin(), region.codes.end(), code) == region.codes.end()) region.codes.push_back(code);
  }
}

QuickRead quick_read(const ir::Input& input) {
  QuickRead read;
  read.parts = input.parts();
  if (input.slot.kind != ir::SlotKind::kLocal) return read;
  read.local = static_cast<int>(input.slot.index);
  read.plain = runtime::plain_part(input.kind);
  if (read.plain.type != nullptr) {
    read.how = QuickRead::How::kPlain;
  } else if (input.kind == ir::PyKind::Int) {
    read.how = QuickRead::How::kInt;
  } else if (input.kind == ir::PyKind::Array) {
    read.how = QuickRead::How::kArray;
  }
  return read;
}

}  // namespace

Region* make_region(Runtime& rt, std::unique_ptr<ir::Function> function, std::vector<ir::ExitInfo> exits,
                    std::unique_ptr<codegen::CompiledCode> code, HlFrame* frame) {
  auto* region = new Region;
  region->function = std::move(function);
  region->exits = std::move(exits);
  region->exit_states.resize(region->exits.size());
  region->code = std::move(code);
  if (region->code != nullptr) region->entry = region->code->entry();
  const ir::Function& f = *region->function;
  for (const ir::Input& input : f.inputs) {
    region->in_cells += input.parts();
    if (input.kind == ir::PyKind::Array) region->header_words += runtime::header_words(f.array_types[input.array_type].strides.size());
  }
  for (const ir::ArrayType& type : f.array_types) region->array_checks.push_back(runtime::array_check(type));
  for (const ir::Input& input : f.inputs) {
    region->quick_reads.push_back(quick_read(input));
    region->compares_inputs |= input.same_as != ir::kNone;
  }
  for (const ir::ExitInfo& exit : region->exits) {
    if (exit.snapshot == ir::kNoSnapshot) continue;
    const ir::Snapshot& snapshot = f.snapshots[exit.snapshot];
    region->out_cells = std::max(region->out_cells, static_cast<uint32_t>(ir::snapshot_values(snapshot).size()));
    if (exit.op->code != ir::OpCode::Run) continue;
    region->has_runs = true;
    region->out_cells = std::max(region->out_cells, static_cast<uint32_t>(snapshot.frames[0].results.size() + snapshot.frames[0].slots.size()));
  }
  ir::for_each_op(*region->function->body, [&](const ir::Op& op, const ir::Block&) {
    const bool looks = op.code == ir::OpCode::ObjectCall || op.code == ir::OpCode::NextItem;
    if (looks) region->namespace_room = 3 + 2 * f.namespace_guards.size() + f.instances.size();
  });
  const bool by_name = uses_slot(f, ir::SlotKind::kName);
  if (by_name || uses_slot(f, ir::SlotKind::kGlobal) || !f.namespace_guards.empty()) {
    region->globals = hl_frame_globals(frame);
    region->builtins = hl_frame_builtins(frame);
  }
  region->uses_names = by_name;
  if (by_name) region->names = hl_frame_locals(frame);
  region->any_namespace = f.function_guards.empty();
  region->own_code = reinterpret_cast<PyObject*>(hl_frame_code(frame));
  region->needs_errstate = touches_numpy(*region);
  region->attribute_hints.assign(f.attributes.size(), -1);
  note_codes(*region, hl_frame_code(frame));
  watch_namespaces(rt, *region);
  let_go_of_owners(*region, hl_frame_code(frame));
  rt.regions.push_back(region);
  return region;
}

void release_region(Runtime& rt, Region* region) {
  if (--region->references > 0) return;
  if (rt.session.replaces == region) rt.session.replaces = nullptr;
  std::erase(rt.regions, region);
  PyObject* own = region->own_code;
  for (ir::ObjectRef& ref : region->function->objects) {
    auto* object = static_cast<PyObject*>(ref.pointer);
    if (object == own || std::find(region->weak_dicts.begin(), region->weak_dicts.end(), object) != region->weak_dicts.end()) ref.pointer = nullptr;
  }
  if (region->code != nullptr) rt.stats.code_bytes -= region->code->size();
  ++rt.stats.freed;
  std::unique_ptr<ir::Function> function = std::move(region->function);
  delete region;
  PyObject* error = PyErr_GetRaisedException();
  release_objects(*function);
  PyErr_SetRaisedException(error);
}

void forget_dict(Runtime& rt, PyObject* dict) {
  rt.watched_dicts.erase(dict);
  for (Region* region : rt.regions) {
    const bool own = region->any_namespace && (dict == region->globals || dict == region->names);
    const bool held = std::find(region->weak_dicts.begin(), region->weak_dicts.end(), dict) != region->weak_dicts.end();
    if ((held || region->globals == dict || region->names == dict) && !own) region->dead = true;
    if (region->checked_globals == dict || region->checked_names == dict) region->checked_epoch = 0;
  }
}

// ------------------------------------------------------------------------------------------------- exit plans

namespace {

struct PlanMaker {
  const ir::Snapshot& snapshot;
  ExitPlan& plan;
  std::unordered_map<ir::ValueId, uint32_t> place;  // in Activation::out
  std::unordered_map<uint32_t, uint32_t> boxes;     // box number in the snapshot → 1 + dense place

  uint32_t shared_box(const ir::SnapValue& value) {
    if (value.box == 0) return 0;
    auto [found, fresh] = boxes.try_emplace(value.box, static_cast<uint32_t>(boxes.size()) + 1);
    (void)fresh;
    return found->second;
  }

  void fill(uint32_t at, const ir::SnapValue& value) {
    PlanValue made;
    made.kind = value.kind;
    made.index = value.index;
    made.box = shared_box(value);
    for (size_t k = 0; k < value.values.size() && k < 3; ++k) made.out[k] = place.at(value.values[k]);
    made.child_count = static_cast<uint32_t>(value.children.size());
    made.first_child = static_cast<uint32_t>(plan.values.size());
    plan.values.resize(plan.values.size() + value.children.size());
    plan.values[at] = made;
    for (uint32_t k = 0; k < made.child_count; ++k) fill(made.first_child + k, value.children[k]);
  }
};

}  // namespace

ExitPlan& exit_plan(Region& region, uint32_t exit_id) {
  ExitState& state = region.exit_states[exit_id];
  if (state.plan != nullptr) return *state.plan;
  auto plan = std::make_unique<ExitPlan>();
  const ir::Snapshot& snapshot = region.function->snapshots[region.exits[exit_id].snapshot];
  PlanMaker maker{snapshot, *plan, {}, {}};
  for (ir::ValueId value : ir::snapshot_values(snapshot)) maker.place.emplace(value, static_cast<uint32_t>(maker.place.size()));
  for (const ir::FrameState& frame : snapshot.frames) {
    PlanFrame made;
    made.code = object_at(region, frame.code);
    made.function = object_at(region, frame.function);
    made.function_input = frame.function_input;
    made.resume_unit = frame.resume_unit;
    made.return_unit = frame.return_unit;
    made.stack_depth = static_cast<int>(frame.stack_depth);
    made.drop_result = frame.result_use == ir::ResultUse::kDrop;
    made.first_slot = static_cast<uint32_t>(plan->slots.size());
    made.slot_count = static_cast<uint32_t>(frame.slots.size());
    for (const ir::SlotValue& slot : frame.slots) {
      auto at = static_cast<uint32_t>(plan->values.size());
      plan->values.emplace_back();
      maker.fill(at, slot.value);
      plan->slots.push_back({slot.slot, at});
    }
    plan->frames.push_back(made);
  }
  plan->box_count = static_cast<uint32_t>(maker.boxes.size());
  plan->results = snapshot.frames[0].results;
  state.plan = std::move(plan);
  return *state.plan;
}

// ------------------------------------------------------------------------------------------------- entry

namespace {

bool read_attribute(Region& region, uint32_t index, PyObject* const* objects, PyObject** value) {
  const ir::InstanceAttribute& attribute = region.function->attributes[index];
  PyObject* object = instance_of_region(region, attribute.instance, objects);
  if (attribute.offset == 0) return hl_instance_get(object, object_at(region, attribute.name), &region.attribute_hints[index], value) >= 0;
  *value = *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + attribute.offset);
  return true;
}

}  // namespace

// The object in an input's slot, borrowed; null where there is none.
PyObject* slot_object(Region& region, HlFrame* frame, const ir::Slot& slot, PyObject* const* objects) {
  const int index = static_cast<int>(slot.index);
  PyObject* object = nullptr;
  switch (slot.kind) {
    case ir::SlotKind::kLocal: return hl_local_get(frame, index);
    case ir::SlotKind::kStack: return hl_stack_peek(frame, index);
    case ir::SlotKind::kSeqArray:
    case ir::SlotKind::kSeqIndex: return nullptr;  // parts of an iterator: unbox_iterator
    case ir::SlotKind::kCell: object = hl_local_get(frame, index); break;
    case ir::SlotKind::kObjectCell: object = cell_of_region(region, slot.index, objects); break;
    case ir::SlotKind::kMethodSelf: return PyMethod_GET_SELF(objects[slot.index]);
    case ir::SlotKind::kGlobal: return PyDict_GetItemWithError(hl_frame_globals(frame), object_at(region, slot.index));
    case ir::SlotKind::kName: return PyDict_GetItemWithError(hl_frame_locals(frame), object_at(region, slot.index));
    case ir::SlotKind::kAttribute: return read_attribute(region, slot.index, objects, &object) ? object : nullptr;
  }
  return object != nullptr && PyCell_Check(object) ? hl_cell_get(object) : nullptr;
}

namespace {

// The type of an instance is what it was at recording, and has not been changed since.
bool type_holds(Region& region, const ir::Instance& instance, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (reinterpret_cast<PyObject*>(type) != object_at(region, instance.type)) return false;
  if (hl_type_has_version(type, instance.version)) return true;
  region.dead = true;  // that version never comes back
  return false;
}

// Known objects: before their attributes are read.
bool known_instances_hold(Region& region) {
  for (const ir::Instance& instance : region.function->instances) {
    if (instance.object != ir::kNone && !type_holds(region, instance, object_at(region, instance.object))) return false;
  }
  return true;
}

// One variable for each attribute: no two instances are one object or share a dictionary, and the names of one all stand for it.
bool instances_distinct(const Region& region, HlFrame* frame, PyObject* const* objects) {
  const ir::Function& f = *region.function;
  for (uint32_t k = 0; k < f.instances.size(); ++k) {
    PyObject* object = instance_of_region(region, k, objects);
    PyObject* dict = hl_instance_dict(object);
    if (dict != nullptr && (dict == hl_frame_globals(frame) || dict == hl_frame_locals(frame))) return false;
    for (uint32_t j = 0; j < k; ++j) {
      PyObject* other = instance_of_region(region, j, objects);
      if (other == object || (dict != nullptr && hl_instance_dict(other) == dict)) return false;
    }
  }
  for (size_t k = 0; k < f.inputs.size(); ++k) {
    const uint32_t instance = f.inputs[k].instance;
    if (instance == ir::kNone) continue;
    if (objects[k] != instance_of_region(region, instance, objects)) return false;
    if (f.instances[instance].object != ir::kNone && objects[k] != object_at(region, f.instances[instance].object)) return false;
  }
  return true;
}

// What is known of an object beyond its being there.
bool object_fits(Region& region, const ir::Input& input, PyObject* object) {
  if (input.instance != ir::kNone && !type_holds(region, region.function->instances[input.instance], object)) return false;
  if (input.code != ir::kNone && (!PyFunction_Check(object) || PyFunction_GET_CODE(object) != object_at(region, input.code))) return false;
  if (input.unknown && input.instance == ir::kNone && input.code == ir::kNone && input.method == ir::kNone) return classify(object, nullptr) == ir::PyKind::Object;
  return input.method == ir::kNone || (Py_TYPE(object) == &PyMethod_Type && PyMethod_GET_FUNCTION(object) == object_at(region, input.method));
}

PyObject* closure_cell(const Region& region, const ir::ClosureRef& ref, PyObject* const* objects) {
  auto* function = reinterpret_cast<PyFunctionObject*>(ref.input != ir::kNone ? objects[ref.input] : object_at(region, ref.function));
  return PyTuple_GET_ITEM(function->func_closure, static_cast<Py_ssize_t>(ref.number));
}

// One variable for each cell, see ir::ClosureCell.
bool cells_distinct(const Region& region, HlFrame* frame, PyObject* const* objects) {
  const std::vector<ir::ClosureCell>& cells = region.function->cells;
  PyCodeObject* code = hl_frame_code(frame);
  for (uint32_t k = 0; k < cells.size(); ++k) {
    PyObject* cell = cell_of_region(region, k, objects);
    for (const ir::ClosureRef& ref : cells[k].refs) {
      if (closure_cell(region, ref, objects) != cell) return false;
    }
    for (int local = 0; local < hl_local_count(code); ++local) {
      if (hl_local_kind(code, local) == HL_LOCAL_FAST) continue;
      const bool same = hl_local_get(frame, local) == cell;
      if (same != (static_cast<uint32_t>(local) == cells[k].local)) return false;
    }
    for (uint32_t j = 0; j < k; ++j) {
      if (cell_of_region(region, j, objects) == cell) return false;
    }
  }
  return true;
}

// Functions that came in as inputs; their code has been looked at.
bool input_functions_hold(const Region& region, HlFrame* frame, PyObject* const* objects) {
  for (const ir::FunctionGuard& guard : region.function->function_guards) {
    if (guard.input == ir::kNone) continue;
    auto* function = reinterpret_cast<PyFunctionObject*>(objects[guard.input]);
    if (function->func_defaults != object_at(region, guard.defaults) || function->func_kwdefaults != nullptr) return false;
    if (function->func_globals != hl_frame_globals(frame) || function->func_builtins != hl_frame_builtins(frame)) return false;
  }
  return true;
}

bool unbox_input(Region& region, const ir::Input& input, HlFrame* frame, int64_t* cells, PyObject** object, PyObject* const* objects,
                 bool exact_strides) {
  if (input.slot.kind == ir::SlotKind::kSeqArray || input.slot.kind == ir::SlotKind::kSeqIndex) {
    if (!unbox_iterator(region, input, frame, cells, object, exact_strides)) return false;
    return input.kind != ir::PyKind::Object || object_fits(region, input, *object);
  }
  PyObject* value = nullptr;
  if (input.slot.kind == ir::SlotKind::kAttribute) {
    if (!read_attribute(region, input.slot.index, objects, &value)) return false;
  } else {
    value = slot_object(region, frame, input.slot, objects);
  }
  *object = value;
  switch (input.kind) {
    case ir::PyKind::Array:
      cells[0] = reinterpret_cast<int64_t>(value);
      return runtime::array_matches(value, region.array_checks[input.array_type], exact_strides);
    case ir::PyKind::Object:
      cells[0] = reinterpret_cast<int64_t>(value);
      if (value == nullptr || (input.object != ir::kNone && reinterpret_cast<PyObject*>(Py_TYPE(value)) != object_at(region, input.object))) return false;
      return object_fits(region, input, value);
    case ir::PyKind::List: cells[0] = reinterpret_cast<int64_t>(value); return value != nullptr && Py_TYPE(value) == &PyList_Type;
    case ir::PyKind::TupleObject: cells[0] = reinterpret_cast<int64_t>(value); return value != nullptr && Py_TYPE(value) == &PyTuple_Type;
    case ir::PyKind::Const: return value != nullptr && value == object_at(region, input.object);
    default: return runtime::unbox(input.kind, value, cells);
  }
}

// The dictionary that a guard is about. Where nothing is inlined, the namespaces of the recording stand for those of the frame at hand.
PyObject* guarded_dict(const Region& region, ir::ObjectId id, HlFrame* frame) {
  PyObject* dict = object_at(region, id);
  if (!region.any_namespace) return dict;
  if (dict == region.globals) return hl_frame_globals(frame);
  return dict == region.names ? hl_frame_locals(frame) : dict;
}

bool namespace_guard_holds(Runtime& rt, const Region& region, const ir::NamespaceGuard& guard, HlFrame* frame) {
  PyObject* name = object_at(region, guard.name);
  PyObject* dict = guarded_dict(region, guard.globals, frame);
  if (dict == nullptr || !PyDict_CheckExact(dict)) return false;
  watch_dict(rt, dict);
  PyObject* value = PyDict_GetItemWithError(dict, name);
  if (value == nullptr && guard.builtins != ir::kNone) {
    PyObject* builtins = guarded_dict(region, guard.builtins, frame);
    if (PyDict_CheckExact(builtins)) value = PyDict_GetItemWithError(builtins, name);
  }
  PyErr_Clear();
  return value != nullptr && value == object_at(region, guard.value);
}

bool types_hold(Region& region) {
  for (const ir::TypeGuard& guard : region.function->type_guards) {
    if (hl_type_has_version(reinterpret_cast<PyTypeObject*>(object_at(region, guard.type)), guard.version)) continue;
    region.dead = true;
    return false;
  }
  return true;
}

bool functions_hold(const Region& region) {
  for (const ir::FunctionGuard& guard : region.function->function_guards) {
    if (guard.input != ir::kNone) continue;
    auto* function = reinterpret_cast<PyFunctionObject*>(object_at(region, guard.function));
    if (function->func_code != object_at(region, guard.code) || function->func_defaults != object_at(region, guard.defaults) ||
        function->func_kwdefaults != object_at(region, guard.kwdefaults)) {
      return false;
    }
  }
  return true;
}

}  // namespace

PyObject* instance_of_region(const Region& region, uint32_t instance, PyObject* const* objects) {
  const ir::Instance& known = region.function->instances[instance];
  return known.input != ir::kNone ? objects[known.input] : object_at(region, known.object);
}

PyObject* cell_of_region(const Region& region, uint32_t cell, PyObject* const* objects) {
  return closure_cell(region, region.function->cells[cell].refs[0], objects);
}

bool namespaces_hold(Runtime& rt, Region& region, HlFrame* frame) {
  if (region.dead) return false;
  PyObject* globals = hl_frame_globals(frame);
  PyObject* names = region.uses_names ? hl_frame_locals(frame) : nullptr;
  if (region.globals != nullptr) {
    if (hl_frame_builtins(frame) != region.builtins || (!region.any_namespace && globals != region.globals)) return false;
    if (region.uses_names && (names == nullptr || !PyDict_CheckExact(names) || (!region.any_namespace && names != region.names))) return false;
    // One mapping for both at recording (module code), or two: names that alias must alias here too.
    if (region.uses_names && (names == globals) != (region.names == region.globals)) return false;
  }
  if (region.checked_epoch == rt.namespace_epoch && region.checked_globals == globals && region.checked_names == names) return true;
  for (const ir::NamespaceGuard& guard : region.function->namespace_guards) {
    if (!namespace_guard_holds(rt, region, guard, frame)) return false;
  }
  if (rt.dict_watcher < 0) return true;
  region.checked_epoch = rt.namespace_epoch;
  region.checked_globals = globals;
  region.checked_names = names;
  return true;
}

bool guards_hold(Runtime& rt, Region& region, PyThreadState* ts, HlFrame* frame) {
  if (!namespaces_hold(rt, region, frame) || !functions_hold(region) || !types_hold(region)) return false;
  // Calls that are inlined must be possible: near the limit the interpreter makes them and raises at the right one.
  if (!region.codes.empty() && hl_recursion_headroom(ts) <= kMaxInlineDepth) return false;
  if (hl_other_tools_active(ts, hl_frame_code(frame))) return false;
  for (PyCodeObject* code : region.codes) {
    if (hl_other_tools_active(ts, code)) return false;
  }
  return !region.needs_errstate || rt.errstate.is_default(ts);
}

namespace {

bool read_input(Region& region, size_t k, HlFrame* frame, int64_t* cells, PyObject** objects, bool exact_strides) {
  const ir::Input& input = region.function->inputs[k];
  const QuickRead& quick = region.quick_reads[k];
  if (quick.how == QuickRead::How::kGeneral) return unbox_input(region, input, frame, cells, &objects[k], objects, exact_strides);
  PyObject* value = objects[k] = hl_local_get(frame, quick.local);
  if (value == nullptr) return false;
  switch (quick.how) {
    case QuickRead::How::kPlain:
      if (Py_TYPE(value) != quick.plain.type) return false;
      std::memcpy(cells, reinterpret_cast<const char*>(value) + quick.plain.offset, sizeof *cells);
      return true;
    case QuickRead::How::kInt:
      if (!PyLong_CheckExact(value)) return false;
      if (!PyUnstable_Long_IsCompact(reinterpret_cast<PyLongObject*>(value))) return runtime::unbox(input.kind, value, cells);
      *cells = PyUnstable_Long_CompactValue(reinterpret_cast<PyLongObject*>(value));
      return true;
    default:
      *cells = reinterpret_cast<int64_t>(value);
      return runtime::array_matches(value, region.array_checks[input.array_type], exact_strides);
  }
}

bool objects_are_apart(const Region& region, HlFrame* frame, PyObject* const* objects) {
  const ir::Function& f = *region.function;
  return (f.instances.empty() || instances_distinct(region, frame, objects)) && (f.cells.empty() || cells_distinct(region, frame, objects)) &&
         (f.function_guards.empty() || input_functions_hold(region, frame, objects));
}

}  // namespace

bool unbox_inputs(Region& region, HlFrame* frame, int64_t* in, PyObject** objects, bool exact_strides) {
  if (!known_instances_hold(region)) return false;
  const std::vector<ir::Input>& inputs = region.function->inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!read_input(region, k, frame, in, objects, exact_strides)) {
      PyErr_Clear();
      return false;
    }
    in += region.quick_reads[k].parts;
  }
  for (size_t k = 0; region.compares_inputs && k < inputs.size(); ++k) {
    if (inputs[k].same_as != ir::kNone && objects[k] != objects[inputs[k].same_as]) return false;
  }
  return objects_are_apart(region, frame, objects);
}

bool is_looked_into(const ir::Input& input) {
  return input.instance != ir::kNone || input.code != ir::kNone || input.method != ir::kNone;
}

bool entry_facts_hold(Region& region, HlFrame* frame, PyObject* const* objects) {
  if (!known_instances_hold(region)) return false;
  const std::vector<ir::Input>& inputs = region.function->inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (is_looked_into(inputs[k]) && !object_fits(region, inputs[k], objects[k])) return false;
  }
  return objects_are_apart(region, frame, objects);
}

}  // namespace hotloop::tracer
