// See iterators.h.
#include "tracer/iterators.h"

#include "runtime/box.h"

namespace hotloop::tracer {
namespace {

bool alone(PyObject* object) { return object != nullptr && Py_REFCNT(object) == 1; }

// One step from a zip or map object to the iterator that it names; the last one also says how many there are.
PyObject* component_of(PyObject* it, uint32_t step) {
  PyObject* inner = nullptr;
  PyObject* function = nullptr;
  int strict = 0;
  uint32_t offset = step - ir::kIterZip;
  if (step >= ir::kIterMap) {
    offset = step - ir::kIterMap;
    if (!hl_map_read(it, &inner, &function)) return nullptr;
  } else {
    const bool wants_strict = step >= ir::kIterStrict;
    if (wants_strict) offset = step - ir::kIterStrict;
    if (!hl_zip_read(it, &inner, &strict) || (strict != 0) != wants_strict) return nullptr;
  }
  if (!alone(inner)) return nullptr;
  const auto component = static_cast<Py_ssize_t>(offset / 2);
  const bool last = offset % 2 != 0;
  const Py_ssize_t size = PyTuple_GET_SIZE(inner);
  return component >= size || (last && component + 1 != size) ? nullptr : PyTuple_GET_ITEM(inner, component);
}

// The iterator that `path` leads to (or the function of a map object), if nobody else holds it or one on the way to it.
PyObject* iterator_part(HlFrame* frame, uint32_t path) {
  PyObject* it = hl_stack_peek(frame, static_cast<int>(ir::iter_stack_item(path)));
  for (uint32_t depth = 0; alone(it); ++depth) {
    const uint32_t step = ir::iter_step(path, depth);
    if (step == 0) return hl_iter_kind(it) == HL_ITER_SEQ ? it : nullptr;
    if (step == ir::kIterFunction) {
      PyObject* inner = nullptr;
      PyObject* function = nullptr;
      return hl_map_read(it, &inner, &function) ? function : nullptr;
    }
    if (step >= ir::kIterZip) {
      it = component_of(it, step);
    } else if (step >= ir::kIterLeaf) {
      return hl_iter_kind(it) == static_cast<HlIterKind>(step - ir::kIterLeaf) ? it : nullptr;
    } else {
      Py_ssize_t number = 0;
      PyObject* inner = nullptr;
      if (!hl_enumerate_read(it, &number, &inner)) return nullptr;
      if (ir::iter_step(path, depth + 1) == 0) return it;
      it = inner;
    }
  }
  return nullptr;
}

bool leads_to_function(uint32_t path) {
  for (uint32_t depth = 0; ir::iter_step(path, depth) != 0; ++depth) {
    if (ir::iter_step(path, depth) == ir::kIterFunction) return true;
  }
  return false;
}

}  // namespace

bool unbox_iterator(const Region& region, const ir::Input& input, HlFrame* frame, int64_t* cells, PyObject** object, bool exact_strides) {
  *object = nullptr;
  PyObject* part = iterator_part(frame, input.slot.index);
  if (part == nullptr) return false;
  if (leads_to_function(input.slot.index)) {
    *object = part;
    if (input.kind == ir::PyKind::Const) return part == region.function->objects[input.object].pointer;
    *cells = reinterpret_cast<int64_t>(part);  // its code is looked at with the other functions that come in
    return input.kind == ir::PyKind::Object;
  }
  if (input.kind == ir::PyKind::RangeIter) return runtime::unbox(input.kind, part, cells);
  Py_ssize_t index = 0;
  PyObject* sequence = nullptr;
  if (hl_iter_kind(part) == HL_ITER_ENUMERATE) {
    if (!hl_enumerate_read(part, &index, &sequence)) return false;
  } else if (!hl_seq_iter_read(part, &sequence, &index) || sequence == nullptr) {
    return false;
  }
  if (input.slot.kind == ir::SlotKind::kSeqIndex) {
    *cells = index;
    return true;
  }
  *object = sequence;
  *cells = reinterpret_cast<int64_t>(sequence);
  if (input.kind == ir::PyKind::Array) return runtime::array_matches(sequence, region.array_checks[input.array_type], exact_strides);
  if (input.kind == ir::PyKind::List) return Py_TYPE(sequence) == &PyList_Type;
  if (input.kind == ir::PyKind::TupleObject) return Py_TYPE(sequence) == &PyTuple_Type;
  return runtime::unbox(input.kind, sequence, cells);
}

namespace {

bool all_fit(const ExitPlan& plan, const PlanValue& value, uint32_t first, PyObject* inner) {
  if (PyTuple_GET_SIZE(inner) + first != value.child_count) return false;
  for (uint32_t k = first; k < value.child_count; ++k) {
    if (!iterator_fits(plan, plan.values[value.first_child + k], PyTuple_GET_ITEM(inner, k - first))) return false;
  }
  return true;
}

}  // namespace

bool iterator_fits(const ExitPlan& plan, const PlanValue& value, PyObject* iterator) {
  const HlIterKind kind = hl_iter_kind(iterator);
  switch (value.kind) {
    case ir::PyKind::RangeIter: return kind == HL_ITER_RANGE;
    case ir::PyKind::SeqIter: return hl_iter_is_forward(kind);
    case ir::PyKind::Countdown: return kind == HL_ITER_REVERSED || kind == HL_ITER_REVERSED_LIST;
    case ir::PyKind::Enumerate: {
      Py_ssize_t number = 0;
      PyObject* inner = nullptr;
      return hl_enumerate_read(iterator, &number, &inner) && iterator_fits(plan, plan.values[value.first_child], inner);
    }
    case ir::PyKind::Zip:
    case ir::PyKind::StrictZip: {
      PyObject* inner = nullptr;
      int strict = 0;
      return hl_zip_read(iterator, &inner, &strict) && all_fit(plan, value, 0, inner);
    }
    case ir::PyKind::Map: {
      PyObject* inner = nullptr;
      PyObject* function = nullptr;
      return hl_map_read(iterator, &inner, &function) && all_fit(plan, value, 1, inner);
    }
    default: return false;
  }
}

void set_iterator(const ExitPlan& plan, const PlanValue& value, PyObject* iterator, const int64_t* out) {
  PyObject* inner = nullptr;
  switch (value.kind) {
    case ir::PyKind::RangeIter: {
      const int64_t next = out[value.out[0]], stop = out[value.out[1]], step = out[value.out[2]];
      hl_range_iter_set(iterator, next, step, runtime::range_length(next, stop, step));
      return;
    }
    case ir::PyKind::Enumerate: {
      Py_ssize_t number = 0;
      if (!hl_enumerate_read(iterator, &number, &inner)) return;
      hl_enumerate_set_index(iterator, out[value.out[0]]);
      set_iterator(plan, plan.values[value.first_child], inner, out);
      return;
    }
    case ir::PyKind::Map: {
      PyObject* function = nullptr;
      if (!hl_map_read(iterator, &inner, &function)) return;
      for (uint32_t k = 1; k < value.child_count; ++k) set_iterator(plan, plan.values[value.first_child + k], PyTuple_GET_ITEM(inner, k - 1), out);
      return;
    }
    case ir::PyKind::Zip:
    case ir::PyKind::StrictZip: {
      int strict = 0;
      if (!hl_zip_read(iterator, &inner, &strict)) return;
      for (uint32_t k = 0; k < value.child_count; ++k) set_iterator(plan, plan.values[value.first_child + k], PyTuple_GET_ITEM(inner, k), out);
      return;
    }
    default: hl_seq_iter_set_index(iterator, out[plan.values[value.first_child + 1].out[0]]); return;
  }
}

PyObject* new_sequence_iterator(PyObject* sequence, bool countdown, Py_ssize_t index) {
  PyObject* it = countdown ? PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyReversed_Type), sequence) : PyObject_GetIter(sequence);
  if (it != nullptr && !hl_seq_iter_set_index(it, index)) {
    PyErr_SetString(PyExc_SystemError, "hotloop: not an iterator over a sequence");
    Py_CLEAR(it);
  }
  return it;
}

PyObject* new_row(PyObject* base, const int64_t* indices, uint32_t count) {
  PyObject* key = PyTuple_New(count);
  for (uint32_t k = 0; key != nullptr && k < count; ++k) {
    PyObject* index = PyLong_FromLongLong(indices[k]);
    if (index == nullptr) {
      Py_CLEAR(key);
    } else {
      PyTuple_SET_ITEM(key, k, index);
    }
  }
  PyObject* row = key == nullptr ? nullptr : PyObject_GetItem(base, key);
  Py_XDECREF(key);
  return row;
}

}  // namespace hotloop::tracer
