// Loops over iterators that native code does not walk over itself. See recorder.h.
//
// Where no Python code can run (next_item.h), the op next_item asks the iterator; what it gives is taken for what was seen while recording. When it
// gives nothing, FOR_ITER's run does what is right: it raises, or ends the loop, or gives the item after all, with which native code leaves. All
// other iterators are asked by that run each time (record_run.cpp).
#include <algorithm>
#include <utility>

#include "runtime/box.h"
#include "tracer/recorder.h"
#include "tracer/semantics_common.h"

namespace hotloop::tracer {

using ir::OpCode;
using ir::Type;

// An object of the kind; owned by the recorder.
PyObject* Recorder::sample_of(PyKind kind) {
  const int64_t parts[3] = {kind == PyKind::IntU64 ? -1 : 0, 0, 0};
  PyObject* sample = kind == PyKind::None_ ? Py_NewRef(Py_None) : kind == PyKind::Str ? PyUnicode_FromStringAndSize(nullptr, 0) : runtime::box(kind, parts);
  if (sample == nullptr) PyErr_Clear();
  if (sample != nullptr) samples_.push_back(sample);
  return sample;
}

// The item as what was seen; guarded by before().
Sym Recorder::as_seen(ValueId item, const SeenItem& seen) {
  Sym object;
  object.kind = PyKind::Object;
  object.v[0] = item;
  const ir::ObjectId text = this->object(reinterpret_cast<PyObject*>(&PyUnicode_Type));
  if (!seen.tuple) {
    PyObject* sample = sample_of(seen.kinds[0]);
    if (seen.kinds[0] == PyKind::Str) object.v[0] = builder_.as_type(item, text, before());
    if (sample == nullptr || seen.kinds[0] == PyKind::Str) return object;
    auto value = object_value(*this, item, sample);
    return value ? *value : object;
  }
  PyObject* sample = PyTuple_New(static_cast<Py_ssize_t>(seen.kinds.size()));
  if (sample == nullptr) {
    PyErr_Clear();
    return object;
  }
  samples_.push_back(sample);
  for (size_t k = 0; k < seen.kinds.size(); ++k) {
    PyObject* part = sample_of(seen.kinds[k]);
    PyTuple_SET_ITEM(sample, static_cast<Py_ssize_t>(k), Py_NewRef(part != nullptr ? part : Py_None));
  }
  auto tuple = object_value(*this, item, sample);
  if (!tuple) return object;
  if (std::find(seen.kinds.begin(), seen.kinds.end(), PyKind::Str) == seen.kinds.end()) return *tuple;
  // A str is no more than an object, but it must be one.
  ValueId count = builder_.const_i64(static_cast<int64_t>(seen.kinds.size()));
  builder_.guard(builder_.binary(OpCode::Eq, Type::I64, object_length(*this, *tuple), count), ExitReason::TypeChange, before());
  for (size_t k = 0; k < seen.kinds.size(); ++k) {
    if (seen.kinds[k] == PyKind::Str) builder_.as_type(builder_.tuple_item(tuple->v[0], builder_.const_i64(static_cast<int64_t>(k))), text, before());
  }
  return *tuple;
}

// FOR_ITER at the end of `block`.
Result<Ways> Recorder::ask_iterator(State state, const HlInstr& in, int block) {
  const FrameInfo& info = *state.top().info;
  const CodeMap& map = info.part->map();
  const CodeObservation* observed = request_.observations != nullptr ? request_.observations->find(info.code) : nullptr;
  const SeenIterator* iterator = observed != nullptr ? observed->iterator(in.op_unit) : nullptr;
  const int body = map.block_at(in.next_unit);
  const HlInstr& first = first_instr(info, body);
  const SeenItem* seen = iterator != nullptr && iterator->plain ? observed->item(first.op_unit) : nullptr;
  const Sym it = peek(state, 1);
  if (seen == nullptr || it.kind != PyKind::Object || state.frames.size() != 1) return run_for_iter(std::move(state), in, block, false);
  const ValueId item = builder_.next_item(it.v[0], seen->tuple && first.op == HL_UNPACK_SEQUENCE && first.unit == in.next_unit);
  ir::Block* parent = builder_.block();
  ir::Op* op = builder_.if_(builder_.binary(OpCode::Ne, Type::Ptr, item, dummy(Type::Ptr)), {});
  const ValueId mark = static_cast<ValueId>(function_->value_types.size());
  builder_.set_block(op->blocks[0]);
  State inside = state;
  Sym object;
  object.kind = PyKind::Object;
  object.v[0] = item;
  push(inside, object);
  begin_trip(inside, in.next_unit);
  const Sym value = as_seen(item, *seen);
  inside.top().stack.back() = value;
  auto ways = follow(std::move(inside), block, body);
  if (!ways) return ways;
  builder_.set_block(op->blocks[1]);
  begin_trip(state, in.unit);
  State fallback = state;
  ++arms_;
  auto end = run_for_iter(std::move(state), in, block, true);
  --arms_;
  if (!end) return end;
  builder_.set_block(parent);
  return merge(op, mark, std::move(*ways), std::move(*end), fallback, {0, block});
}

}  // namespace hotloop::tracer
