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

namespace {

// An object like what was seen; new, null: no memory.
PyObject* make_sample(const SeenItem& seen) {
  const int64_t parts[3] = {seen.kind == PyKind::IntU64 ? -1 : 0, 0, 0};
  if (seen.kind == PyKind::None_) return Py_NewRef(Py_None);
  if (seen.kind == PyKind::Str) return PyUnicode_FromStringAndSize(nullptr, 0);
  if (!seen.is_tuple()) return runtime::box(seen.kind, parts);
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(seen.items.size()));
  for (size_t k = 0; tuple != nullptr && k < seen.items.size(); ++k) {
    PyObject* item = make_sample(seen.items[k]);
    if (item == nullptr) {
      Py_CLEAR(tuple);
    } else {
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(k), item);
    }
  }
  return tuple;
}

bool has_text(const SeenItem& seen) {
  return seen.kind == PyKind::Str || std::any_of(seen.items.begin(), seen.items.end(), has_text);
}

}  // namespace

// A str is no more than an object to native code, but it must be one: what next_item gives may be dropped at any time.
void Recorder::guard_texts(ValueId pointer, const SeenItem& seen, PyObject* sample) {
  if (!has_text(seen)) return;
  const ValueId typed = builder_.as_type(pointer, object(reinterpret_cast<PyObject*>(Py_TYPE(sample))), before());
  if (!seen.is_tuple()) return;
  ValueId count = builder_.const_i64(static_cast<int64_t>(seen.items.size()));
  builder_.guard(builder_.binary(OpCode::Eq, Type::I64, builder_.list_len(typed), count), ExitReason::TypeChange, before());
  for (size_t k = 0; k < seen.items.size(); ++k) {
    if (!has_text(seen.items[k])) continue;
    guard_texts(builder_.tuple_item(typed, builder_.const_i64(static_cast<int64_t>(k))), seen.items[k], PyTuple_GET_ITEM(sample, static_cast<Py_ssize_t>(k)));
  }
}

// The item as what was seen; guarded by before().
Result<Sym> Recorder::as_seen(ValueId item, const SeenItem& seen) {
  PyObject* sample = make_sample(seen);
  if (sample == nullptr) {
    PyErr_Clear();
    return refuse(RefusalReason::kObservationLost, "");
  }
  samples_.push_back(sample);
  guard_texts(item, seen, sample);
  return object_value(*this, item, sample);
}

// Is an object dropped that only the stack is known to hold? What loops walk over that they leave.
bool Recorder::is_dropped_iterator(const State& state) const {
  const Sym& s = state.top().stack.back();
  return state.frames.size() == 1 && !is_untouched(s) && s.kind == PyKind::Object && s.input == ir::kNone && s.object == nullptr && s.obj == ir::kNoValue;
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
  ++kept_ops_;
  const ValueId item = builder_.next_item(it.v[0], seen->is_tuple() && first.op == HL_UNPACK_SEQUENCE && first.unit == in.next_unit);
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
  auto value = as_seen(item, *seen);
  if (!value) return value.refusal();
  inside.top().stack.back() = *value;
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
