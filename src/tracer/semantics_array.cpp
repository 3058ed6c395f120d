// Elements of arrays, known tuples, and attributes that are plain numbers (SEMANTICS D2.1, D6, D7).
// See semantics.h. Stores convert by NumPy's rules for one element; whatever would raise or warn leaves before the store.
#include "tracer/semantics_common.h"

#include <string>

namespace hotloop::tracer {

namespace {

const ir::ArrayType& array_type(Emit& e, const Sym& array) { return e.b().function().array_types[array.array_type]; }

// The index of one axis, checked and wrapped. Exact ints and NumPy integer scalars; bools and floats mean something else.
Result<ValueId> axis_index(Emit& e, const Sym& array, const Sym& index, int axis) {
  if (index.kind != PyKind::Int && !is_np_int(index.kind)) {
    return e.refuse(RefusalReason::kUnsupportedIndex, "index of type " + std::string(ir::pykind_info(index.kind).text));
  }
  ir::Builder& ir = e.b();
  return ir.checked(OpCode::Bound, Type::I64, {int_value(e, index), ir.arr_dim(array.v[0], axis)}, e.before());
}

Result<std::vector<ValueId>> element_indices(Emit& e, const Sym& array, const Sym& index) {
  size_t ndim = array_type(e, array).strides.size();
  std::vector<Sym> items;
  if (index.kind == PyKind::Tuple) {
    items = *index.items;
  } else {
    items.push_back(index);
  }
  if (items.size() != ndim || ndim == 0) {
    return e.refuse(RefusalReason::kUnsupportedIndex, std::to_string(items.size()) + " of " + std::to_string(ndim) + " dimensions");
  }
  std::vector<ValueId> indices;
  for (size_t k = 0; k < ndim; ++k) {
    auto i = axis_index(e, array, items[k], static_cast<int>(k));
    if (!i) return i.refusal();
    indices.push_back(*i);
  }
  return indices;
}

// D6.1-D6.3: a value stored into an integer element.
Result<ValueId> store_int(Emit& e, const Sym& value, Type type) {
  ir::Builder& ir = e.b();
  if (value.kind == PyKind::Bool || value.kind == PyKind::NpBool) return to_type(e, value, type);
  if (value.kind == PyKind::Int) return weak_int_to(e, value, type);
  if (value.kind == PyKind::Float || is_np_real_float(value.kind)) {
    // In range both rules agree (int() then range check; C cast into unsigned): truncation. Out of range leaves.
    return float_to_int(e, value.v[0], part_type(value.kind), type, ExitReason::Overflow);
  }
  Type from = part_type(value.kind);
  if (from == type) return value.v[0];
  if (is_unsigned(type)) return ir.conv(type, value.v[0]);  // NumPy integer scalars wrap into unsigned elements
  bool fits_always = is_signed(from) ? ir::type_size(from) <= ir::type_size(type) : ir::type_size(from) < ir::type_size(type);
  if (!fits_always) {
    IntRange range = int_range(type);
    guard_i64_range(e, int_value(e, value), range.lo, static_cast<int64_t>(range.hi), ExitReason::Overflow);
  }
  return ir.conv(type, value.v[0]);
}

Result<ValueId> store_value(Emit& e, const Sym& value, PyKind elem) {
  if (!is_real_number(value.kind)) return unsupported(e, "store into an array", value);
  Type type = part_type(elem);
  if (elem == PyKind::NpBool) return truth(e, value);
  if (is_int(type)) return store_int(e, value, type);
  if (type == Type::F64) return to_f64(e, value);
  // float32: doubles round once and must stay finite; Python ints go through double, NumPy ints round once.
  if (part_type(value.kind) == Type::F64) return f64_to_f32_checked(e, value.v[0]);
  if (value.kind == PyKind::Int) return e.b().conv(Type::F32, to_f64(e, value));
  return to_type(e, value, Type::F32);
}

Result<Sym> tuple_item(Emit& e, const Sym& tuple, const Sym& index) {
  auto k = known_int(index);
  int64_t n = static_cast<int64_t>(tuple.items->size());
  if (!k || *k >= n || *k < -n) return e.refuse(RefusalReason::kUnsupportedIndex, "index of a tuple that is not a constant in range");
  return (*tuple.items)[static_cast<size_t>(*k < 0 ? *k + n : *k)];
}

Result<Sym> array_attribute(Emit& e, const Sym& array, const char* name) {
  ir::Builder& ir = e.b();
  int ndim = static_cast<int>(array_type(e, array).strides.size());
  std::string_view n = name;
  auto dim = [&](int axis) { return make_sym(e, PyKind::Int, ir.arr_dim(array.v[0], axis)); };
  if (n == "ndim") return make_sym(e, PyKind::Int, ir.const_i64(ndim));
  if (n == "shape") {
    std::vector<Sym> items;
    for (int k = 0; k < ndim; ++k) items.push_back(dim(k));
    return make_tuple(std::move(items));
  }
  if (n == "size") {
    ValueId size = ir.const_i64(1);
    for (int k = 0; k < ndim; ++k) size = ir.binary(OpCode::Mul, Type::I64, size, ir.arr_dim(array.v[0], k));
    return make_sym(e, PyKind::Int, size);
  }
  return e.refuse(RefusalReason::kUnsupportedAttribute, std::string("array.") + name);
}

}  // namespace

Result<Sym> subscript(Emit& e, const Sym& container, const Sym& index) {
  if (container.kind == PyKind::Tuple) return tuple_item(e, container, index);
  if (container.kind != PyKind::Array) return unsupported(e, "subscript", container, index);
  auto indices = element_indices(e, container, index);
  if (!indices) return indices.refusal();
  return make_sym(e, array_type(e, container).elem, e.b().aload(container.array_type, container.v[0], *indices));
}

Result<bool> store_subscript(Emit& e, const Sym& container, const Sym& index, const Sym& value) {
  if (container.kind != PyKind::Array) return unsupported(e, "store", container, value);
  if (!array_type(e, container).writable) return e.refuse(RefusalReason::kReadOnlyArray, "");
  auto indices = element_indices(e, container, index);
  if (!indices) return indices.refusal();
  auto v = store_value(e, value, array_type(e, container).elem);
  if (!v) return v.refusal();
  e.b().astore(container.array_type, container.v[0], *v, *indices);
  return true;
}

Result<Sym> attribute(Emit& e, const Sym& object, PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (text == nullptr) {
    PyErr_Clear();
    return e.refuse(RefusalReason::kUnsupportedAttribute, "");
  }
  std::string_view n = text;
  ir::Builder& ir = e.b();
  if (object.kind == PyKind::Array) return array_attribute(e, object, text);
  bool real = n == "real", imag = n == "imag";
  if (!real && !imag) {
    return e.refuse(RefusalReason::kUnsupportedAttribute, std::string(ir::pykind_info(object.kind).text) + "." + text);
  }
  switch (object.kind) {
    case PyKind::Complex: return make_sym(e, PyKind::Float, object.v[real ? 0 : 1]);
    case PyKind::Float:
      if (real) return object;  // float.real of an exact float is the float itself
      return make_sym(e, PyKind::Float, ir.const_f64(0.0));
    case PyKind::Int:
      if (real) return object;
      return make_sym(e, PyKind::Int, ir.const_i64(0));
    case PyKind::Bool: return make_sym(e, PyKind::Int, real ? to_i64(e, object) : ir.const_i64(0));
    case PyKind::NpFloat32:
    case PyKind::NpFloat64:
      return make_sym(e, object.kind, real ? object.v[0] : ir.const_bits(part_type(object.kind), 0));
    default: return e.refuse(RefusalReason::kUnsupportedAttribute, std::string(ir::pykind_info(object.kind).text) + "." + text);
  }
}

}  // namespace hotloop::tracer
