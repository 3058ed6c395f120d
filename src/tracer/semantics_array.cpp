// Elements of arrays, known tuples, and attributes that are plain numbers (SEMANTICS D2.1, D6, D7).
// See semantics.h. Stores convert by NumPy's rules for one element; whatever would raise or warn leaves before the store.
#include "tracer/semantics_common.h"
#include "tracer/semantics_text.h"
#include "tracer/semantics_wide.h"

#include <algorithm>
#include <string>

namespace hotloop::tracer {

namespace {

const ir::ArrayType& array_type(Emit& e, const Sym& array) { return e.b().function().array_types[array.array_type]; }

// An array, or a row of one: the leading indices that are fixed, and how many axes are left.
struct View {
  Sym array;
  std::vector<ValueId> fixed;
  size_t axes = 0;
};

std::optional<View> view_of(Emit& e, const Sym& s) {
  View view;
  if (s.kind == PyKind::Array) {
    view.array = s;
  } else if (s.kind == PyKind::Row) {
    view.array = (*s.items)[0];
    for (size_t k = 1; k < s.items->size(); ++k) view.fixed.push_back((*s.items)[k].v[0]);
  } else {
    return std::nullopt;
  }
  view.axes = array_type(e, view.array).strides.size() - view.fixed.size();
  return view;
}

ValueId axis_length(Emit& e, const View& view, size_t axis) { return e.b().arr_dim(view.array.v[0], static_cast<int>(view.fixed.size() + axis)); }

// The index of one axis, checked and wrapped. Exact ints and NumPy integer scalars; bools and floats mean something else.
Result<ValueId> axis_index(Emit& e, const View& view, const Sym& index, size_t axis) {
  if (index.kind != PyKind::Int && index.kind != PyKind::IntU64 && !is_np_int(index.kind)) {
    return e.refuse(RefusalReason::kUnsupportedIndex, "index of type " + std::string(ir::pykind_info(index.kind).text));
  }
  return e.b().checked(OpCode::Bound, Type::I64, {int_value(e, index), axis_length(e, view, axis)}, e.before());
}

// The indices into the array: the fixed ones and those given.
Result<std::vector<ValueId>> element_indices(Emit& e, const View& view, const Sym& index) {
  std::vector<Sym> items;
  if (index.kind == PyKind::Tuple) {
    items = *index.items;
  } else {
    items.push_back(index);
  }
  if (items.size() > view.axes || items.empty()) {
    return e.refuse(RefusalReason::kUnsupportedIndex, std::to_string(items.size()) + " of " + std::to_string(view.axes) + " dimensions");
  }
  std::vector<ValueId> indices = view.fixed;
  for (size_t k = 0; k < items.size(); ++k) {
    auto i = axis_index(e, view, items[k], k);
    if (!i) return i.refusal();
    indices.push_back(*i);
  }
  return indices;
}

// The element, or the row that too few indices for one leave.
Result<Sym> element_or_row(Emit& e, const View& view, const std::vector<ValueId>& indices) {
  const ir::ArrayType& type = array_type(e, view.array);
  if (indices.size() < type.strides.size()) {
    std::vector<Sym> items{view.array};
    for (ValueId v : indices) {
      Sym index;
      index.kind = PyKind::Int;
      index.v[0] = v;
      items.push_back(index);
    }
    Sym row = make_sym(e, PyKind::Row, ir::kNoValue);
    row.items = std::make_shared<std::vector<Sym>>(std::move(items));
    return row;
  }
  Sym s = make_sym(e, type.elem, ir::kNoValue);
  for (int part = 0; part < ir::pykind_info(type.elem).parts; ++part) s.v[part] = e.b().aload(view.array.array_type, view.array.v[0], indices, part);
  if (type.elem == PyKind::NpFloat16) s.v[0] = e.b().unary(OpCode::FromHalf, Type::F32, s.v[0]);
  return s;
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
  if (value.kind == PyKind::IntU64 && type != Type::U64) return weak_int_to(e, plain_int(e, value), type);
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

// The parts of an element of this kind made from `value`, in memory's types.
Result<ComplexParts> store_value(Emit& e, const Sym& value, PyKind elem) {
  ir::Builder& ir = e.b();
  if (!is_number(value.kind)) return unsupported(e, "store into an array", value);
  Type type = part_type(elem);
  if (elem == PyKind::NpBool) {
    auto t = truth(e, value);
    if (!t) return t.refusal();
    return ComplexParts{*t, ir::kNoValue};
  }
  if (is_np_complex(elem)) return to_complex(e, value, type);
  if (!is_real_number(value.kind)) return unsupported(e, "store of a complex number into a real array", value);  // raises or warns
  if (is_int(type)) {
    auto v = store_int(e, value, type);
    if (!v) return v.refusal();
    return ComplexParts{*v, ir::kNoValue};
  }
  ValueId v = to_kind(e, value, elem);
  if (elem == PyKind::NpFloat16) v = ir.unary(OpCode::ToHalf, Type::U16, v);
  return ComplexParts{v, ir::kNoValue};
}

Result<Sym> tuple_item(Emit& e, const Sym& tuple, const Sym& index) {
  auto k = known_int(index);
  int64_t n = static_cast<int64_t>(tuple.items->size());
  if (!k || *k >= n || *k < -n) return e.refuse(RefusalReason::kUnsupportedIndex, "index of a tuple that is not a constant in range");
  return (*tuple.items)[static_cast<size_t>(*k < 0 ? *k + n : *k)];
}

Result<Sym> array_attribute(Emit& e, const View& view, const char* name) {
  ir::Builder& ir = e.b();
  std::string_view n = name;
  auto dim = [&](size_t axis) { return make_sym(e, PyKind::Int, axis_length(e, view, axis)); };
  if (n == "ndim") return make_sym(e, PyKind::Int, ir.const_i64(static_cast<int64_t>(view.axes)));
  if (n == "shape") {
    std::vector<Sym> items;
    for (size_t k = 0; k < view.axes; ++k) items.push_back(dim(k));
    return make_tuple(std::move(items));
  }
  if (n == "size") {
    ValueId size = ir.const_i64(1);
    for (size_t k = 0; k < view.axes; ++k) size = ir.binary(OpCode::Mul, Type::I64, size, axis_length(e, view, k));
    return make_sym(e, PyKind::Int, size);
  }
  return e.refuse(RefusalReason::kUnsupportedAttribute, std::string("array.") + name);
}

}  // namespace

Result<ValueId> sequence_length(Emit& e, const Sym& sequence) {
  if (is_text(sequence)) return text_length(e, sequence);
  if (is_sequence_object(sequence.kind)) return object_length(e, sequence);
  auto view = view_of(e, sequence);
  if (!view || view->axes == 0) return unsupported(e, "len()", sequence);
  return axis_length(e, *view, 0);
}

Result<Sym> item_at(Emit& e, const Sym& sequence, ValueId position) {
  if (is_text(sequence)) return text_item(e, sequence, position);
  if (is_sequence_object(sequence.kind)) return sequence_item(e, sequence, position, sample_item(sequence, -1));
  auto view = view_of(e, sequence);
  if (!view) return unsupported(e, "iteration", sequence);
  std::vector<ValueId> indices = view->fixed;
  indices.push_back(position);
  return element_or_row(e, *view, indices);
}

Result<Sym> subscript(Emit& e, const Sym& container, const Sym& index) {
  if (container.kind == PyKind::Tuple) return tuple_item(e, container, index);
  if (is_text(container)) return text_subscript(e, container, index);
  if (auto text = as_text(e, container)) return text_subscript(e, *text, index);
  if (is_sequence_object(container.kind)) {
    auto i = sequence_index(e, container, index);
    if (!i) return i.refusal();
    return sequence_item(e, container, *i, sample_item(container, known_int(index).value_or(-1)));
  }
  auto view = view_of(e, container);
  if (!view) return unsupported(e, "subscript", container, index);
  auto indices = element_indices(e, *view, index);
  if (!indices) return indices.refusal();
  return element_or_row(e, *view, *indices);
}

namespace {

// a[i] = (x, y, z): NumPy makes a float64 array of floats, and copies it.
bool is_row_of_floats(const Sym& value) {
  return value.kind == PyKind::Tuple && value.items && value.items->size() <= 8 && value.items->size() > 1 &&
         std::all_of(value.items->begin(), value.items->end(), [](const Sym& item) { return item.kind == PyKind::Float; });
}

Result<bool> store_row(Emit& e, const View& view, std::vector<ValueId> indices, const Sym& value) {
  const auto count = static_cast<int64_t>(value.items->size());
  ir::Builder& ir = e.b();
  const ValueId length = ir.arr_dim(view.array.v[0], static_cast<int>(indices.size()));
  ir.guard(ir.binary(OpCode::Eq, Type::I64, length, ir.const_i64(count)), ExitReason::TypeChange, e.before());
  indices.push_back(ir::kNoValue);
  for (int64_t k = 0; k < count; ++k) {
    indices.back() = ir.const_i64(k);
    ir.astore(view.array.array_type, view.array.v[0], (*value.items)[static_cast<size_t>(k)].v[0], indices, 0);
  }
  return true;
}

}  // namespace

Result<bool> store_subscript(Emit& e, const Sym& container, const Sym& index, const Sym& value) {
  auto view = view_of(e, container);
  if (!view) return unsupported(e, "store", container, value);
  const ir::ArrayType& type = array_type(e, view->array);
  if (!type.writable) return e.refuse(RefusalReason::kReadOnlyArray, "");
  auto indices = element_indices(e, *view, index);
  if (!indices) return indices.refusal();
  if (indices->size() + 1 == type.strides.size() && is_row_of_floats(value) && type.elem == PyKind::NpFloat64) return store_row(e, *view, *indices, value);
  if (indices->size() < type.strides.size()) return e.refuse(RefusalReason::kUnsupportedIndex, "store into a row as a whole");
  auto v = store_value(e, value, type.elem);
  if (!v) return v.refusal();
  e.b().astore(view->array.array_type, view->array.v[0], v->re, *indices);
  if (v->im != ir::kNoValue) e.b().astore(view->array.array_type, view->array.v[0], v->im, *indices, 1);
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
  if (auto view = view_of(e, object)) return array_attribute(e, *view, text);
  bool real = n == "real", imag = n == "imag";
  if (!real && !imag) {
    return e.refuse(RefusalReason::kUnsupportedAttribute, std::string(ir::pykind_info(object.kind).text) + "." + text);
  }
  if (object.kind == PyKind::Complex) return make_sym(e, PyKind::Float, object.v[real ? 0 : 1]);
  if (is_np_complex(object.kind)) return make_sym(e, part_kind(object.kind), object.v[real ? 0 : 1]);
  if (object.kind == PyKind::Bool) return make_sym(e, PyKind::Int, real ? to_i64(e, object) : ir.const_i64(0));
  if (object.kind == PyKind::Float || object.kind == PyKind::Int) {
    if (real) return object;  // an exact float or int is its own real part
    return make_sym(e, object.kind, ir.const_bits(part_type(object.kind), 0));
  }
  if (is_np_scalar(object.kind) && real) return object;  // likewise
  if (is_np_scalar(object.kind)) return make_sym(e, object.kind, ir.const_bits(part_type(object.kind), 0));
  return e.refuse(RefusalReason::kUnsupportedAttribute, std::string(ir::pykind_info(object.kind).text) + "." + text);
}

}  // namespace hotloop::tracer
