// Objects in compiled code: numbers that become objects when they are stored, and stores into lists. See recorder.h.
//
// Native code borrows: the pointer of a number (Sym::obj) is owned by the list that it was read from or stored into. So what a store drops is
// freed at once only where no variable may be that object; else it is kept until the exit.
#include <algorithm>

#include "runtime/objects.h"
#include "tracer/recorder.h"

namespace hotloop::tracer {

using ir::OpCode;
using ir::Type;

namespace {

bool is_number(PyKind kind) { return is_py_number(kind) || is_np_scalar(kind); }

bool is_borrowed(const Sym& s) {
  if (is_untouched(s) || s.input != ir::kNone || s.object != nullptr) return false;
  if (s.obj != ir::kNoValue || s.kind == PyKind::Object || s.kind == PyKind::Array) return true;
  return s.items && std::any_of(s.items->begin(), s.items->end(), is_borrowed);
}

void becomes(Sym& s, uint32_t box, ValueId object, bool sure = true) {
  if (s.box == box && is_number(s.kind)) {
    s.obj = object;
    s.sure = sure;
  }
  if (!s.items || !std::any_of(s.items->begin(), s.items->end(), [&](const Sym& item) { return item.box == box || item.items; })) return;
  s.items = std::make_shared<std::vector<Sym>>(*s.items);
  for (Sym& item : *s.items) becomes(item, box, object, sure);
}

}  // namespace

ValueId Recorder::known_pointer(const Sym& s) {
  if (s.object != nullptr || s.kind == PyKind::None_) return builder_.object(object(s.object != nullptr ? s.object : Py_None));
  switch (s.kind) {
    case PyKind::Object:
    case PyKind::Str:
    case PyKind::Bytes:
    case PyKind::List:
    case PyKind::TupleObject:
    case PyKind::Array: return s.v[0];
    default: break;
  }
  if (s.obj != ir::kNoValue && s.sure) return s.obj;
  if (s.input == ir::kNone || !is_number(s.kind)) return ir::kNoValue;
  // A second input of the same slot: the number as an object.
  auto [known, fresh] = input_pointers_.try_emplace(s.input, ir::kNoValue);
  if (fresh) {
    ir::Input input;
    input.slot = function_->inputs[s.input].slot;
    input.kind = PyKind::Object;
    known->second = function_->new_value(Type::Ptr);
    region_->params.push_back(known->second);
    input_values_.insert(known->second);
    function_->inputs.push_back(input);
  }
  return known->second;
}

// The value is this object from here on, wherever it has been copied to.
void Recorder::has_become(State& state, const Sym& s, ValueId object) {
  if (s.box == 0 || s.kind == PyKind::Bool || s.kind == PyKind::NpBool) return;
  for_each_value(state, [&](Sym& copy) { becomes(copy, s.box, object); });
  // Others are it at times.
  for (const SameIf& one : std::vector<SameIf>(state.same)) {
    const uint32_t other = one.a.box == s.box ? one.b.box : one.b.box == s.box ? one.a.box : 0;
    const Sym* holder = other != 0 ? holder_of(state, {other, ir::kNone, nullptr}) : nullptr;
    if (holder == nullptr || (holder->obj != ir::kNoValue && holder->sure)) continue;
    const ValueId before = holder->obj != ir::kNoValue ? holder->obj : dummy(Type::Ptr);
    const ValueId either = builder_.select(Type::Ptr, one.flag, object, before);
    for_each_value(state, [&](Sym& copy) { becomes(copy, other, either, false); });
  }
}

// May a variable be an object that only a list owns?
bool Recorder::holds_borrowed(const State& state) const {
  bool any = false;
  for_each_value(state, [&](const Sym& s) { any = any || is_borrowed(s); });
  return any;
}

// Gives `put` the object that the value is, made here where there is none yet (fresh: `put` takes over the reference).
template <typename Put>
void Recorder::put_object(State& state, Sym value, ValueId pointer, ir::SnapshotId before, Put&& put) {
  if (pointer != ir::kNoValue) return put(pointer, false);
  value.obj = pointer_of(state, value);
  auto put_new = [&] {
    const size_t parts = static_cast<size_t>(ir::pykind_info(value.kind).parts);
    ValueId made = builder_.box(value.kind, {value.v, parts}, before);
    put(made, true);
    return made;
  };
  if (value.obj == ir::kNoValue) return has_become(state, value, put_new());
  ir::Block* parent = builder_.block();
  const Type types[] = {Type::Ptr};
  ir::Op* op = builder_.if_(builder_.binary(OpCode::Ne, Type::Ptr, value.obj, dummy(Type::Ptr)), types);
  builder_.set_block(op->blocks[0]);
  put(value.obj, false);
  builder_.yield({&value.obj, 1});
  builder_.set_block(op->blocks[1]);
  ValueId made = put_new();
  builder_.yield({&made, 1});
  builder_.set_block(parent);
  has_become(state, value, op->results[0]);
}

// list[index] = value. The checks come first, so that nothing is made in vain.
Result<Recorder::Step> Recorder::store_item(State& state, const HlInstr& in) {
  const Sym list = peek(state, 2), index = peek(state, 1), value = peek(state, 3);
  ValueId pointer = known_pointer(value);
  if (pointer == ir::kNoValue && !is_number(value.kind)) return refuse(RefusalReason::kUnsupportedType, "store of " + kind_text(value) + " into a list");
  PyObject* sample = sample_item(list, -1);
  if (sample != nullptr && !runtime::is_closed(sample)) {
    auto why = refuse(RefusalReason::kUnsupportedType, "store into a list of objects of type " + std::string(Py_TYPE(sample)->tp_name));
    if (auto ran = run_here(state, in, why)) return *ran;
  }
  auto at = sequence_index(*this, list, index);
  if (!at) return at.refusal();
  ir::SnapshotId before = this->before();
  auto& stack = state.top().stack;
  stack.resize(stack.size() - 3);
  const bool keeps = holds_borrowed(state);
  if (keeps) ++kept_ops_;
  if (pointer == ir::kNoValue && value.kind == PyKind::Float && value.obj == ir::kNoValue && !keeps && !is_known_at_times(state, value)) {
    has_become(state, value, builder_.list_put(list.v[0], *at, value.v[0], before));
    return Step::kNext;
  }
  // Arrays are not closed by their type alone.
  const bool closed = sample != nullptr && runtime::is_closed(sample) && classify(sample, nullptr) != PyKind::Array;
  PyObject* expected = reinterpret_cast<PyObject*>(closed ? Py_TYPE(sample) : &PyFloat_Type);
  builder_.droppable(builder_.list_item(list.v[0], *at), object(expected), keeps, before);
  if (pointer != ir::kNoValue) {
    builder_.list_set(list.v[0], *at, pointer, false, !keeps);
    return Step::kNext;
  }
  put_object(state, value, pointer, before, [&](ValueId object, bool fresh) { builder_.list_set(list.v[0], *at, object, fresh, !keeps); });
  return Step::kNext;
}

// Appends to an exact list; `drop` stack items go, and None comes for a call.
Result<Recorder::Step> Recorder::append_to(State& state, const Sym& list, const Sym& value, int drop, bool leaves_none) {
  ValueId pointer = known_pointer(value);
  if (pointer == ir::kNoValue && !is_number(value.kind)) {
    CallOperands made;
    made.taken = static_cast<size_t>(drop);
    if (!add_value(state, made, value, true)) return refuse(RefusalReason::kUnsupportedType, "append of " + kind_text(value));
    pointer = made.cells[0];
    if (made.kinds != static_cast<int64_t>(PyKind::Object)) pointer = emit_call(ir::ObjectCallId::MakeObject, made.cells, made.kinds, before());
  }
  ir::SnapshotId before = this->before();
  auto& stack = state.top().stack;
  stack.resize(stack.size() - static_cast<size_t>(drop));
  if (leaves_none) push(state, known(*this, Py_None));
  put_object(state, value, pointer, before, [&](ValueId object, bool fresh) { builder_.list_append(list.v[0], object, fresh, before); });
  return Step::kNext;
}

}  // namespace hotloop::tracer
