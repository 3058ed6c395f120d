// The iterator of the loop at whose header a region is entered: its parts come in as inputs. See recorder.h, record_iterators.cpp.
#include <utility>

#include "ir/iter_path.h"
#include "tracer/iterator_parts.h"
#include "tracer/recorder.h"
#include "tracer/semantics_common.h"

namespace hotloop::tracer {

using ir::OpCode;
using ir::Type;

// The parts of the iterator `it` as inputs. Positions that move by 1 and are where the first of them is are taken to be so each time.
Result<Sym> Recorder::entry_part(PyObject* it, uint32_t path, uint32_t depth, EntryPositions* positions) {
  HlIterKind kind = hl_iter_kind(it);
  auto unsupported = [&] { return refuse(RefusalReason::kUnsupportedIterator, with_advice(Py_TYPE(it)->tp_name)); };
  if (kind == HL_ITER_OTHER || depth >= ir::kMaxIterDepth) return unsupported();
  if (Py_REFCNT(it) != 1) return refuse(RefusalReason::kSharedIterator, Py_TYPE(it)->tp_name);
  uint32_t leaf = kind == HL_ITER_SEQ && depth == 0 ? path : ir::with_iter_step(path, depth, ir::kIterLeaf + static_cast<uint32_t>(kind));
  if (kind == HL_ITER_RANGE) return entry_range(it, leaf, depth == 0, positions);
  Py_ssize_t index = 0;
  PyObject* inner = nullptr;
  if (kind == HL_ITER_ENUMERATE) {
    uint32_t own = ir::with_iter_step(path, depth, ir::kIterEnumerate);
    if (!hl_enumerate_read(it, &index, &inner)) return unsupported();
    auto part = entry_part(inner, own, depth + 1, positions);
    if (!part) return part;
    Sym s = compound(PyKind::Enumerate, {*part});
    auto number = entry_position(own, index, true, positions);
    if (!number) return number.refusal();
    s.v[0] = *number;
    return s;
  }
  if (kind == HL_ITER_ZIP) {
    int strict = 0;
    hl_zip_read(it, &inner, &strict);
    if (PyTuple_GET_SIZE(inner) == 0 || PyTuple_GET_SIZE(inner) > static_cast<Py_ssize_t>(strict != 0 ? ir::kMaxStrict : ir::kMaxZip)) return unsupported();
    std::vector<Sym> items;
    auto parts = entry_components(inner, strict != 0 ? ir::kIterStrict : ir::kIterZip, path, depth, &items, positions);
    if (!parts) return parts.refusal();
    return compound(strict != 0 ? PyKind::StrictZip : PyKind::Zip, std::move(items));
  }
  if (kind == HL_ITER_MAP) {
    PyObject* function = nullptr;
    hl_map_read(it, &inner, &function);
    if (PyTuple_GET_SIZE(inner) > static_cast<Py_ssize_t>(ir::kMaxMap)) return unsupported();
    std::vector<Sym> items{entry_value({ir::SlotKind::kSeqArray, ir::with_iter_step(path, depth, ir::kIterFunction)}, function)};
    if (!plain_callee(items[0]) && (items[0].object == nullptr || !is_known_callable(items[0].object))) return unsupported();
    auto parts = entry_components(inner, ir::kIterMap, path, depth, &items, positions);
    if (!parts) return parts.refusal();
    return compound(PyKind::Map, std::move(items));
  }
  if (!hl_seq_iter_read(it, &inner, &index) || inner == nullptr) return unsupported();
  Sym sequence = entry_value({ir::SlotKind::kSeqArray, leaf}, inner);
  sequence.input = ir::kNone;  // as part of an iterator it is not an object of its own
  bool by_pointer = sequence.kind == PyKind::Array || sequence.kind == PyKind::Str || sequence.kind == PyKind::Bytes || is_sequence_object(sequence.kind);
  if (!by_pointer || !sequence_length(*this, sequence)) return unsupported();
  bool up = hl_iter_is_forward(kind) != 0;
  auto at = entry_position(leaf, index, up, positions);
  if (!at) return at.refusal();
  return compound(up ? PyKind::SeqIter : PyKind::Countdown, {sequence, int_part(*at)});
}

// The iterators in the tuple of a zip or map object.
Result<void> Recorder::entry_components(PyObject* inner, uint32_t first_step, uint32_t path, uint32_t depth, std::vector<Sym>* items, EntryPositions* positions) {
  const Py_ssize_t n = PyTuple_GET_SIZE(inner);
  for (Py_ssize_t k = 0; k < n; ++k) {
    uint32_t step = first_step + 2 * static_cast<uint32_t>(k) + (k + 1 == n ? 1 : 0);
    auto part = entry_part(PyTuple_GET_ITEM(inner, k), ir::with_iter_step(path, depth, step), depth + 1, positions);
    if (!part) return part.refusal();
    items->push_back(*part);
  }
  return {};
}

Result<Sym> Recorder::entry_range(PyObject* it, uint32_t path, bool top, EntryPositions* positions) {
  long start = 0, step = 0, len = 0;
  hl_range_iter_read(it, &start, &step, &len);
  ir::Slot slot = top ? ir::Slot{ir::SlotKind::kStack, ir::iter_stack_item(path)} : ir::Slot{ir::SlotKind::kSeqIndex, path};
  Sym s;
  s.kind = PyKind::RangeIter;
  s.input = static_cast<uint32_t>(function_->inputs.size());
  for (ValueId& v : s.v) {
    v = function_->new_value(Type::I64);
    region_->params.push_back(v);
    input_values_.insert(v);
  }
  ir::Input input;
  input.slot = slot;
  input.kind = PyKind::RangeIter;
  function_->inputs.push_back(input);
  entry_values_.emplace(std::make_pair(static_cast<int>(slot.kind), slot.index), s);
  if (request_.any_step) {
    positions->signs.emplace_back(s.v[2], step > 0);
    return s;
  }
  // The step is nearly always the same number: taken as known, checked once.
  positions->guards.emplace_back(s.v[2], step);
  ValueId number = builder_.const_i64(step);
  s.v[2] = number;
  if (step == 1) s.v[0] = align(s.v[0], start, positions);
  return s;
}

Result<ValueId> Recorder::entry_position(uint32_t path, Py_ssize_t value, bool up, EntryPositions* positions) {
  PyObject* number = PyLong_FromSsize_t(value);
  if (number == nullptr) {
    PyErr_Clear();
    return refuse(RefusalReason::kObservationLost, "");
  }
  Sym s = entry_value({ir::SlotKind::kSeqIndex, path}, number);
  Py_DECREF(number);
  return up ? align(s.v[0], value, positions) : s.v[0];
}

ValueId Recorder::align(ValueId v, int64_t value, EntryPositions* positions) {
  if (positions->first == ir::kNoValue) {
    positions->first = v;
    positions->value = value;
  } else if (positions->value == value) {
    positions->equal.push_back(v);
    return positions->first;
  }
  return v;
}

// One that is asked by FOR_ITER's run (record_run.cpp). Types that are there for good have a version of their own.
Result<void> Recorder::entry_any_iterator(State& state, PyObject* it) {
  const unsigned long flags = Py_TYPE(it)->tp_flags;
  VarRef top{VarRef::Where::kStack, 0, static_cast<int>(state.top().stack.size()) - 1};
  Sym s = fetch(state, top);
  if (s.kind != PyKind::Object) return refuse(RefusalReason::kUnsupportedIterator, with_advice(Py_TYPE(it)->tp_name));
  if ((flags & Py_TPFLAGS_HEAPTYPE) == 0 || (flags & Py_TPFLAGS_IMMUTABLETYPE) != 0) {
    function_->inputs[s.input].object = object(reinterpret_cast<PyObject*>(Py_TYPE(it)));
  }
  return {};
}

// The iterator of the loop at whose header the region is entered.
Result<void> Recorder::entry_iterator(State& state) {
  int index = static_cast<int>(state.top().stack.size()) - 1;
  PyObject* it = index >= 0 ? hl_stack_peek(request_.frame, index) : nullptr;
  if (it == nullptr) return refuse(RefusalReason::kObservationLost, "no iterator");
  if (index > static_cast<int>(ir::kMaxIterStack)) return refuse(RefusalReason::kTooDeep, "");
  if (any_iterator_) return entry_any_iterator(state, it);
  EntryPositions positions;
  auto s = entry_part(it, static_cast<uint32_t>(index), 0, &positions);
  if (!s) return s.refusal();
  ir::SnapshotId before = ir::kNoSnapshot;
  auto guard_equal = [&](ValueId a, ValueId b) {
    if (before == ir::kNoSnapshot) before = snapshot_at(state, request_.header_unit);
    builder_.guard(builder_.binary(OpCode::Eq, Type::I64, a, b), ExitReason::TypeChange, before);
  };
  for (const auto& [v, number] : positions.guards) guard_equal(v, builder_.const_i64(number));
  for (ValueId v : positions.equal) guard_equal(v, positions.first);
  for (const auto& [v, positive] : positions.signs) {
    if (before == ir::kNoSnapshot) before = snapshot_at(state, request_.header_unit);
    builder_.guard(builder_.binary(positive ? OpCode::Gt : OpCode::Lt, Type::I64, v, builder_.const_i64(0)), ExitReason::TypeChange, before);
  }
  state.top().stack.back() = *s;
  return {};
}

}  // namespace hotloop::tracer
