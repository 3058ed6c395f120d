// Lists, tuples that exist as objects, and what their items are: values are taken for what they were while recording, guarded by exact type.
// See semantics.h. A number that came from an object keeps its pointer (Sym::obj): copies of the variable are that very object.
#include "tracer/semantics_common.h"

#include <string>

namespace hotloop::tracer {

namespace {

// Booleans are two objects for good: their value says which.
bool has_identity(PyKind kind) { return kind != PyKind::Bool && kind != PyKind::NpBool; }

void unbox_number(Emit& e, Sym* s, ValueId typed) {
  ir::Builder& ir = e.b();
  if (s->kind == PyKind::Int) {
    s->v[0] = ir.unbox_int(typed, e.before());
    return;
  }
  if (s->kind == PyKind::IntU64) {
    s->v[0] = ir.conv(Type::U64, ir.unbox_int(typed, e.before(), true));
    return;
  }
  const Type type = ir::element_type(s->kind);  // as it lies in memory
  int offset = s->kind == PyKind::Bool ? ir::kLongDigitsOffset : ir::kNumberValueOffset;
  for (int k = 0; k < ir::pykind_info(s->kind).parts; ++k, offset += ir::type_size(type)) s->v[k] = ir.unbox(type, typed, offset);
  if (s->kind == PyKind::NpFloat16) s->v[0] = ir.unary(OpCode::FromHalf, Type::F32, s->v[0]);
}

}  // namespace

Result<Sym> object_value(Emit& e, ValueId pointer, PyObject* sample) {
  ir::Builder& ir = e.b();
  Sym s;
  s.sample = sample;
  ir::ArrayType array_type;
  s.kind = sample == nullptr ? PyKind::Object : classify(sample, &array_type);
  const bool looked_into = s.kind == PyKind::None_ || s.kind == PyKind::Array || is_sequence_object(s.kind) || is_py_number(s.kind) || is_np_scalar(s.kind);
  if (!looked_into) {
    s.kind = PyKind::Object;
    s.v[0] = pointer;
    return s;
  }
  if (s.kind == PyKind::None_) {
    ir.guard(ir.binary(OpCode::Eq, Type::Ptr, pointer, ir.object(e.object(Py_None))), ExitReason::TypeChange, e.before());
    return s;
  }
  if (s.kind == PyKind::Array) {
    s.array_type = ir.function().intern_array_type(array_type);
    s.v[0] = ir.as_array(pointer, s.array_type, e.before());
    return s;
  }
  ValueId typed = ir.as_type(pointer, e.object(reinterpret_cast<PyObject*>(Py_TYPE(sample))), e.before());
  if (is_sequence_object(s.kind)) {
    s.v[0] = typed;
    return s;
  }
  unbox_number(e, &s, typed);
  s.box = e.new_box();
  if (has_identity(s.kind)) {
    s.obj = typed;
    s.sure = true;
  }
  return s;
}

ValueId object_length(Emit& e, const Sym& sequence) { return e.b().list_len(sequence.v[0]); }

Result<ValueId> sequence_index(Emit& e, const Sym& sequence, const Sym& index) {
  if (!is_py_int_like(index.kind) && index.kind != PyKind::IntU64 && !is_np_int(index.kind)) {
    return e.refuse(RefusalReason::kUnsupportedIndex, "index of type " + std::string(ir::pykind_info(index.kind).text));
  }
  return e.b().checked(OpCode::Bound, Type::I64, {int_value(e, index), object_length(e, sequence)}, e.before());
}

Result<Sym> sequence_item(Emit& e, const Sym& sequence, ValueId index, PyObject* sample) {
  if (sample == nullptr) sample = e.seen_result();
  if (sample == nullptr) return e.refuse(RefusalReason::kUnsupportedType, "item of a list that was empty or not seen");
  ir::Builder& ir = e.b();
  const bool list = sequence.kind == PyKind::List;
  return object_value(e, list ? ir.list_item(sequence.v[0], index) : ir.tuple_item(sequence.v[0], index), sample);
}

PyObject* sample_item(const Sym& sequence, int64_t index) {
  PyObject* object = sequence.sample;
  if (object == nullptr || (!PyList_CheckExact(object) && !PyTuple_CheckExact(object))) return nullptr;
  const Py_ssize_t size = Py_SIZE(object);
  if (size == 0) return nullptr;
  if (index < 0) index += size;
  PyObject** items = PySequence_Fast_ITEMS(object);
  PyObject* item = items[index >= 0 && index < size ? index : 0];
  // Where some ints are of 2^63 and more, all are taken for such words.
  constexpr Py_ssize_t kLooked = 16;
  const PyKind kind = PyLong_CheckExact(item) ? classify(item, nullptr) : PyKind::Unbound;
  for (Py_ssize_t k = 0; kind == PyKind::Int && k < size && k < kLooked; ++k) {
    if (PyLong_CheckExact(items[k]) && classify(items[k], nullptr) == PyKind::IntU64) return items[k];
  }
  return item;
}

}  // namespace hotloop::tracer
