// See semantics_common.h; also known() and classify(): from an object to its kind.
#include "tracer/semantics_common.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/box.h"
#include "runtime/numpy_api.h"
#include "tracer/semantics_wide.h"

namespace hotloop::tracer {

Sym make_sym(Emit& e, PyKind kind, ValueId a, ValueId b, ValueId c) {
  Sym s;
  s.kind = kind;
  s.v[0] = a;
  s.v[1] = b;
  s.v[2] = c;
  s.box = e.new_box();
  return s;
}

Sym make_tuple(std::vector<Sym> items) {
  Sym s;
  s.kind = PyKind::Tuple;
  s.items = std::make_shared<std::vector<Sym>>(std::move(items));
  return s;
}

std::optional<int64_t> known_int(const Sym& s) {
  if (s.object == nullptr) return std::nullopt;
  if (s.kind == PyKind::Bool) return s.object == Py_True ? 1 : 0;
  if (s.kind != PyKind::Int) return std::nullopt;
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(s.object, &overflow);
  if (overflow != 0) return std::nullopt;
  return v;
}

std::optional<double> known_real(const Sym& s) {
  if (s.object == nullptr) return std::nullopt;
  if (s.kind == PyKind::Float) return PyFloat_AS_DOUBLE(s.object);
  if (auto v = known_int(s)) return static_cast<double>(*v);
  return std::nullopt;
}

ValueId to_type(Emit& e, const Sym& s, Type type) {
  Type from = part_type(s.kind);
  if (from == type) return s.v[0];
  if (s.kind == PyKind::IntU64 && type != Type::F64) return to_type(e, plain_int(e, s), type);
  if (s.object != nullptr && s.kind == PyKind::Float && type == Type::F32) return e.b().const_f32(static_cast<float>(PyFloat_AS_DOUBLE(s.object)));
  if (auto v = known_int(s)) {
    if (type == Type::F64) return e.b().const_f64(static_cast<double>(*v));
    if (type == Type::I64) return e.b().const_i64(*v);
  }
  return e.b().conv(type, s.v[0]);
}

ComplexParts to_complex(Emit& e, const Sym& s, Type part) {
  if (is_complex_number(s.kind)) {
    auto convert = [&](ValueId v) {
      Type from = part_type(s.kind);
      return from == part ? v : part == Type::F64 ? e.b().conv(part, v) : f64_to_f32_checked(e, v);
    };
    return {convert(s.v[0]), convert(s.v[1])};
  }
  return {to_kind(e, s, part == Type::F64 ? PyKind::NpFloat64 : PyKind::NpFloat32), e.b().const_bits(part, 0)};
}

ValueId to_half_checked(Emit& e, ValueId v, Type from) {
  ir::Builder& b = e.b();
  ValueId r = from == Type::F32 ? b.unary(OpCode::RoundHalf, Type::F32, v) : b.call(ir::HelperId::HalfOfF64, {v});
  ValueId ok = b.binary(OpCode::Or, Type::I1, b.unary(OpCode::IsFinite, Type::F32, r),
                        b.unary(OpCode::Not, Type::I1, b.unary(OpCode::IsFinite, from, v)));
  b.guard(ok, ExitReason::FpWarning, e.before());
  return r;
}

namespace {

ValueId as_half(Emit& e, const Sym& s) {
  Type from = part_type(s.kind);
  if (auto v = known_real(s); v && std::fabs(*v) < 65504) return e.b().const_f32(ir::half_to_f32(ir::f64_to_half(*v)));
  if (from == Type::I1 || from == Type::I8 || from == Type::U8) return e.b().conv(Type::F32, s.v[0]);  // exact
  if (s.kind == PyKind::Int) return to_half_checked(e, to_f64(e, s), Type::F64);
  if (!is_float(from)) return to_half_checked(e, e.b().conv(Type::F32, s.v[0]), Type::F32);
  return to_half_checked(e, s.v[0], from);
}

}  // namespace

ValueId to_kind(Emit& e, const Sym& s, PyKind kind) {
  Type type = part_type(kind);
  if (s.kind == kind) return s.v[0];
  if (s.kind == PyKind::IntU64) return kind == PyKind::NpUint64 ? s.v[0] : to_kind(e, plain_int(e, s), kind);
  if (s.kind == PyKind::Int && is_int(type)) return weak_int_to(e, s, type);
  if (kind == PyKind::NpFloat16) return as_half(e, s);
  if (type == Type::F32) {
    if (s.kind == PyKind::Int) return e.b().conv(type, to_f64(e, s));  // NumPy goes through double
    if (part_type(s.kind) == Type::F64) return f64_to_f32_checked(e, s.v[0]);
  }
  return to_type(e, s, type);
}

ValueId rounded(Emit& e, PyKind kind, ValueId r) {
  return kind == PyKind::NpFloat16 ? e.b().unary(OpCode::RoundHalf, Type::F32, r) : r;
}

void guard_i64_range(Emit& e, ValueId v, int64_t lo, int64_t hi, ExitReason reason) {
  ir::Builder& b = e.b();
  // lo <= v <= hi as one unsigned comparison of v - lo with hi - lo.
  ValueId shifted = lo == 0 ? v : b.binary(OpCode::Sub, Type::I64, v, b.const_i64(lo));
  ValueId span = b.const_bits(Type::U64, static_cast<int64_t>(static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo)));
  b.guard(b.binary(OpCode::Le, Type::U64, b.conv(Type::U64, shifted), span), reason, e.before());
}

void guard_exact_double(Emit& e, const Sym& s) {
  constexpr int64_t kLimit = int64_t{1} << 53;
  if (part_type(s.kind) != Type::I64 && part_type(s.kind) != Type::U64) return;  // narrower types always fit
  if (auto v = known_int(s); v && *v >= -kLimit && *v <= kLimit) return;
  guard_i64_range(e, int_value(e, s), -kLimit, kLimit, ExitReason::Overflow);
}

ValueId int_value(Emit& e, const Sym& s) {
  ir::Builder& b = e.b();
  if (part_type(s.kind) == Type::U64) {
    b.guard(b.binary(OpCode::Le, Type::U64, s.v[0], b.const_bits(Type::U64, INT64_MAX)), ExitReason::Overflow, e.before());
  }
  return to_type(e, s, Type::I64);
}

IntRange int_range(Type type) {
  switch (type) {
    case Type::I8: return {INT8_MIN, INT8_MAX};
    case Type::I16: return {INT16_MIN, INT16_MAX};
    case Type::I32: return {INT32_MIN, INT32_MAX};
    case Type::I64: return {INT64_MIN, INT64_MAX};
    case Type::U8: return {0, UINT8_MAX};
    case Type::U16: return {0, UINT16_MAX};
    case Type::U32: return {0, UINT32_MAX};
    case Type::U64: return {0, UINT64_MAX};
    default: return {0, 1};
  }
}

ValueId weak_int_to(Emit& e, const Sym& s, Type type) {
  IntRange range = int_range(type);
  if (type == Type::I64 || s.kind == PyKind::Bool) return to_type(e, s, type);
  int64_t hi = range.hi > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(range.hi);
  if (auto v = known_int(s); v && *v >= range.lo && *v <= hi) return e.b().const_bits(type, *v);
  guard_i64_range(e, to_i64(e, s), range.lo, hi, ExitReason::Overflow);
  return to_type(e, s, type);
}

ValueId float_to_int(Emit& e, ValueId v, Type from, Type to, ExitReason reason) {
  ir::Builder& b = e.b();
  if (from == Type::F32) v = b.conv(Type::F64, v);
  ValueId t = b.unary(OpCode::Trunc, Type::F64, v);
  IntRange range = int_range(to);
  // The bounds lo and hi + 1 are exact doubles for every integer type.
  double lo = static_cast<double>(range.lo);
  double above = std::ldexp(1.0, is_signed(to) ? ir::type_size(to) * 8 - 1 : ir::type_size(to) * 8);
  ValueId ok = b.binary(OpCode::And, Type::I1, b.binary(OpCode::Ge, Type::F64, t, b.const_f64(lo)),
                        b.binary(OpCode::Lt, Type::F64, t, b.const_f64(above)));
  b.guard(ok, reason, e.before());
  return b.conv(to, t);
}

ValueId f64_to_f32_checked(Emit& e, ValueId v) {
  ir::Builder& b = e.b();
  ValueId r = b.conv(Type::F32, v);
  ValueId ok = b.binary(OpCode::Or, Type::I1, b.unary(OpCode::IsFinite, Type::F32, r),
                        b.unary(OpCode::Not, Type::I1, b.unary(OpCode::IsFinite, Type::F64, v)));
  b.guard(ok, ExitReason::FpWarning, e.before());
  return r;
}

PyKind kind_of_type(Type type) {
  switch (type) {
    case Type::I1: return PyKind::NpBool;
    case Type::I8: return PyKind::NpInt8;
    case Type::I16: return PyKind::NpInt16;
    case Type::I32: return PyKind::NpInt32;
    case Type::I64: return PyKind::NpInt64;
    case Type::U8: return PyKind::NpUint8;
    case Type::U16: return PyKind::NpUint16;
    case Type::U32: return PyKind::NpUint32;
    case Type::U64: return PyKind::NpUint64;
    case Type::F32: return PyKind::NpFloat32;
    case Type::F64: return PyKind::NpFloat64;
    default: return PyKind::Unbound;
  }
}

namespace {

PyKind promote_ints(Type a, Type b) {
  if (is_signed(a) == is_signed(b)) return kind_of_type(ir::type_size(a) >= ir::type_size(b) ? a : b);
  Type s = is_signed(a) ? a : b;
  Type u = is_signed(a) ? b : a;
  if (ir::type_size(s) > ir::type_size(u)) return kind_of_type(s);
  switch (u) {  // the next wider signed type
    case Type::U8: return PyKind::NpInt16;
    case Type::U16: return PyKind::NpInt32;
    case Type::U32: return PyKind::NpInt64;
    default: return PyKind::NpFloat64;
  }
}

PyKind promote_int_float(Type integer, PyKind floating) {
  int size = ir::type_size(integer);  // of bool: one byte
  if (floating == PyKind::NpFloat64 || size > 2) return PyKind::NpFloat64;
  return floating == PyKind::NpFloat16 && size == 1 ? floating : PyKind::NpFloat32;
}

// Of two NumPy real kinds.
PyKind promote_reals(PyKind a, PyKind b) {
  bool fa = is_np_real_float(a), fb = is_np_real_float(b);
  if (fa && fb) return std::max(a, b);  // pykind.def has them by size
  if (fa) return promote_int_float(part_type(b), a);
  if (fb) return promote_int_float(part_type(a), b);
  if (a == PyKind::NpBool) return b;
  if (b == PyKind::NpBool) return a;
  return promote_ints(part_type(a), part_type(b));
}

// The complex kind that holds every value of a NumPy kind.
PyKind complex_for(PyKind k) {
  if (is_np_complex(k)) return k;
  return promote_reals(k, PyKind::NpFloat32) == PyKind::NpFloat32 ? PyKind::NpComplex64 : PyKind::NpComplex128;
}

// b is a weak Python number.
PyKind promote_weak(PyKind a, PyKind b) {
  switch (b) {
    case PyKind::Bool: return a;
    case PyKind::Int:
    case PyKind::IntU64: return a == PyKind::NpBool ? PyKind::NpInt64 : a;
    case PyKind::Float: return is_np_real_float(a) || is_np_complex(a) ? a : PyKind::NpFloat64;
    default: return a == PyKind::NpFloat16 || a == PyKind::NpFloat32 || a == PyKind::NpComplex64 ? PyKind::NpComplex64 : PyKind::NpComplex128;
  }
}

}  // namespace

PyKind promote(PyKind a, PyKind b) {
  if (!is_number(a) || !is_number(b)) return PyKind::Unbound;
  if (is_np_scalar(b) && !is_np_scalar(a)) std::swap(a, b);
  if (!is_np_scalar(a)) return PyKind::Unbound;
  if (!is_np_scalar(b)) return promote_weak(a, b);
  if (is_np_complex(a) || is_np_complex(b)) return std::max(complex_for(a), complex_for(b));
  return promote_reals(a, b);
}

base::Refusal unsupported(Emit& e, const char* what, const Sym& a, const Sym& b) {
  for (const Sym* s : {&a, &b}) {
    if (auto refusal = e.refuse_object(*s)) return *refusal;
  }
  std::string text = std::string(what) + ": " + std::string(ir::pykind_info(a.kind).text) + ", " + std::string(ir::pykind_info(b.kind).text);
  return e.refuse(RefusalReason::kUnsupportedOperands, text);
}

base::Refusal unsupported(Emit& e, const char* what, const Sym& a) {
  if (auto refusal = e.refuse_object(a)) return *refusal;
  return e.refuse(RefusalReason::kUnsupportedOperands, std::string(what) + ": " + std::string(ir::pykind_info(a.kind).text));
}

// ---------------------------------------------------------------------------------------------------- objects

namespace {

PyKind np_scalar_kind(PyTypeObject* type) {
  struct Row {
    PyTypeObject* type;
    PyKind kind;
  };
  const Row rows[] = {
      {&PyFloat64ArrType_Type, PyKind::NpFloat64}, {&PyFloat32ArrType_Type, PyKind::NpFloat32}, {&PyInt64ArrType_Type, PyKind::NpInt64},
      {&PyInt32ArrType_Type, PyKind::NpInt32},     {&PyUInt8ArrType_Type, PyKind::NpUint8},     {&PyBoolArrType_Type, PyKind::NpBool},
      {&PyInt8ArrType_Type, PyKind::NpInt8},       {&PyInt16ArrType_Type, PyKind::NpInt16},     {&PyUInt16ArrType_Type, PyKind::NpUint16},
      {&PyUInt32ArrType_Type, PyKind::NpUint32},   {&PyUInt64ArrType_Type, PyKind::NpUint64},   {&PyComplex64ArrType_Type, PyKind::NpComplex64},
      {&PyComplex128ArrType_Type, PyKind::NpComplex128}, {&PyHalfArrType_Type, PyKind::NpFloat16},
  };
  for (const Row& row : rows) {
    if (row.type == type) return row.kind;
  }
  return PyKind::Object;
}

// Element kinds by type number; `long` and `long long` are both 8 bytes on the platforms that hotloop supports.
PyKind element_kind(int type_num) {
  switch (type_num) {
    case NPY_BOOL: return PyKind::NpBool;
    case NPY_BYTE: return PyKind::NpInt8;
    case NPY_SHORT: return PyKind::NpInt16;
    case NPY_INT: return PyKind::NpInt32;
    case NPY_LONG: return PyKind::NpInt64;
    case NPY_UBYTE: return PyKind::NpUint8;
    case NPY_USHORT: return PyKind::NpUint16;
    case NPY_UINT: return PyKind::NpUint32;
    case NPY_ULONG: return PyKind::NpUint64;
    case NPY_HALF: return PyKind::NpFloat16;
    case NPY_FLOAT: return PyKind::NpFloat32;
    case NPY_DOUBLE: return PyKind::NpFloat64;
    case NPY_CFLOAT: return PyKind::NpComplex64;
    case NPY_CDOUBLE: return PyKind::NpComplex128;
    default: return PyKind::Object;
  }
}

PyKind classify_array(PyArrayObject* array, ir::ArrayType* out) {
  PyKind elem = element_kind(PyArray_TYPE(array));
  if (elem == PyKind::Object || !PyArray_ISNOTSWAPPED(array) || !PyArray_ISALIGNED(array)) return PyKind::Object;
  if (out != nullptr) {
    out->elem = elem;
    out->writable = PyArray_ISWRITEABLE(array) != 0;
    out->strides.clear();
    const npy_intp itemsize = PyArray_ITEMSIZE(array);
    for (int k = 0; k < PyArray_NDIM(array); ++k) {
      npy_intp stride = PyArray_STRIDE(array, k);
      out->strides.push_back(stride == itemsize ? ir::Stride::kItem : stride == 0 ? ir::Stride::kZero : ir::Stride::kOther);
    }
  }
  return PyKind::Array;
}

}  // namespace

PyKind classify(PyObject* object, ir::ArrayType* array_type) {
  if (object == nullptr) return PyKind::Unbound;
  if (object == Py_None) return PyKind::None_;
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyLong_Type) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return PyKind::Int;
    int64_t part = 0;
    return runtime::unbox(PyKind::IntU64, object, &part) ? PyKind::IntU64 : PyKind::Object;
  }
  if (type == &PyFloat_Type) return PyKind::Float;
  if (type == &PyBool_Type) return PyKind::Bool;
  if (type == &PyComplex_Type) return PyKind::Complex;
  if (type == &PyUnicode_Type && PyUnicode_GET_LENGTH(object) == 1) return PyKind::Char;
  if (type == &PyBytes_Type) return PyKind::Bytes;
  if (type == &PyList_Type) return PyKind::List;
  if (type == &PyTuple_Type) return PyKind::TupleObject;
  if (type == &PyArray_Type) return classify_array(reinterpret_cast<PyArrayObject*>(object), array_type);
  return np_scalar_kind(type);
}

namespace {

std::string dtype_text(PyObject* dtype) {
  PyObject* text = PyObject_Str(dtype);  // of a dtype: NumPy's own code
  const char* utf8 = text == nullptr ? nullptr : PyUnicode_AsUTF8(text);
  std::string result = utf8 == nullptr ? "?" : utf8;
  Py_XDECREF(text);
  PyErr_Clear();
  return result;
}

}  // namespace

std::optional<std::pair<RefusalReason, std::string>> why_object(PyObject* object) {
  using Why = std::pair<RefusalReason, std::string>;
  if (PyArray_CheckExact(object)) {
    auto* array = reinterpret_cast<PyArrayObject*>(object);
    std::string dtype = dtype_text(reinterpret_cast<PyObject*>(PyArray_DESCR(array)));
    if (element_kind(PyArray_TYPE(array)) == PyKind::Object) return Why(RefusalReason::kUnsupportedDtype, "array of " + dtype);
    return Why(RefusalReason::kArrayLayout, "array of " + dtype);
  }
  if (PyArray_Check(object)) return Why(RefusalReason::kArraySubclass, Py_TYPE(object)->tp_name);
  if (PyArray_IsScalar(object, Generic)) return Why(RefusalReason::kUnsupportedDtype, Py_TYPE(object)->tp_name);
  return std::nullopt;
}

Sym known(Emit& e, PyObject* object) {
  Sym s;
  s.object = object;
  e.object(object);
  s.kind = classify(object, nullptr);
  ir::Builder& b = e.b();
  switch (s.kind) {
    case PyKind::None_: return s;
    case PyKind::Bool: s.v[0] = b.const_i1(object == Py_True); return s;
    case PyKind::Int: s.v[0] = b.const_i64(PyLong_AsLongLong(object)); return s;
    case PyKind::IntU64: s.v[0] = b.const_bits(Type::U64, static_cast<int64_t>(PyLong_AsUnsignedLongLongMask(object))); return s;
    case PyKind::Float: s.v[0] = b.const_f64(PyFloat_AS_DOUBLE(object)); return s;
    case PyKind::Char: s.v[0] = b.const_i64(PyUnicode_READ_CHAR(object, 0)); return s;
    case PyKind::Complex: {
      Py_complex c = PyComplex_AsCComplex(object);
      s.v[0] = b.const_f64(c.real);
      s.v[1] = b.const_f64(c.imag);
      return s;
    }
    default: break;
  }
  if (is_np_scalar(s.kind)) {
    int64_t parts[2] = {0, 0};
    runtime::unbox(s.kind, object, parts);
    for (int k = 0; k < ir::pykind_info(s.kind).parts; ++k) s.v[k] = b.const_bits(part_type(s.kind), parts[k]);
    return s;
  }
  if (PyTuple_CheckExact(object)) {
    std::vector<Sym> items;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(object); ++k) items.push_back(known(e, PyTuple_GET_ITEM(object, k)));
    Sym tuple = make_tuple(std::move(items));
    tuple.object = object;
    return tuple;
  }
  s.kind = PyKind::Const;
  s.sample = object;
  return s;
}

}  // namespace hotloop::tracer
