// See semantics_common.h; also known() and classify(): from an object to its kind.
#include "tracer/semantics_common.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "runtime/numpy_api.h"

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
  if (s.object != nullptr && s.kind == PyKind::Float && type == Type::F32) return e.b().const_f32(static_cast<float>(PyFloat_AS_DOUBLE(s.object)));
  if (auto v = known_int(s)) {
    if (type == Type::F64) return e.b().const_f64(static_cast<double>(*v));
    if (type == Type::I64) return e.b().const_i64(*v);
  }
  return e.b().conv(type, s.v[0]);
}

ComplexParts to_complex(Emit& e, const Sym& s) {
  if (s.kind == PyKind::Complex) return {s.v[0], s.v[1]};
  return {to_f64(e, s), e.b().const_f64(0.0)};
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
  if (floating == PyKind::NpFloat64) return floating;
  return integer == Type::I1 || ir::type_size(integer) <= 2 ? PyKind::NpFloat32 : PyKind::NpFloat64;
}

}  // namespace

PyKind promote(PyKind a, PyKind b) {
  if (!is_real_number(a) || !is_real_number(b)) return PyKind::Unbound;
  if (is_np_scalar(b) && !is_np_scalar(a)) std::swap(a, b);
  if (!is_np_scalar(b)) {  // b is a weak Python number
    switch (b) {
      case PyKind::Bool: return a;
      case PyKind::Int: return a == PyKind::NpBool ? PyKind::NpInt64 : a;
      default: return is_np_real_float(a) ? a : PyKind::NpFloat64;
    }
  }
  bool fa = is_np_real_float(a), fb = is_np_real_float(b);
  if (fa && fb) return a == PyKind::NpFloat64 || b == PyKind::NpFloat64 ? PyKind::NpFloat64 : PyKind::NpFloat32;
  if (fa) return promote_int_float(part_type(b), a);
  if (fb) return promote_int_float(part_type(a), b);
  if (a == PyKind::NpBool) return b;
  if (b == PyKind::NpBool) return a;
  return promote_ints(part_type(a), part_type(b));
}

base::Refusal unsupported(Emit& e, const char* what, const Sym& a, const Sym& b) {
  std::string text = std::string(what) + ": " + std::string(ir::pykind_info(a.kind).text) + ", " + std::string(ir::pykind_info(b.kind).text);
  return e.refuse(RefusalReason::kUnsupportedOperands, text);
}

base::Refusal unsupported(Emit& e, const char* what, const Sym& a) {
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
      {&PyComplex128ArrType_Type, PyKind::NpComplex128},
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
    case NPY_FLOAT: return PyKind::NpFloat32;
    case NPY_DOUBLE: return PyKind::NpFloat64;
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

int64_t double_bits(double v) { return std::bit_cast<int64_t>(v); }

}  // namespace

PyKind classify(PyObject* object, ir::ArrayType* array_type) {
  if (object == nullptr) return PyKind::Unbound;
  if (object == Py_None) return PyKind::None_;
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyLong_Type) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0 ? PyKind::Int : PyKind::Object;
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
    case PyKind::Float: s.v[0] = b.const_f64(PyFloat_AS_DOUBLE(object)); return s;
    case PyKind::Char: s.v[0] = b.const_i64(PyUnicode_READ_CHAR(object, 0)); return s;
    case PyKind::Complex: {
      Py_complex c = PyComplex_AsCComplex(object);
      s.v[0] = b.const_f64(c.real);
      s.v[1] = b.const_f64(c.imag);
      return s;
    }
    case PyKind::NpFloat64: s.v[0] = b.const_bits(Type::F64, double_bits(PyArrayScalar_VAL(object, Float64))); return s;
    case PyKind::NpFloat32: s.v[0] = b.const_f32(PyArrayScalar_VAL(object, Float32)); return s;
    case PyKind::NpInt64: s.v[0] = b.const_i64(PyArrayScalar_VAL(object, Int64)); return s;
    case PyKind::NpInt32: s.v[0] = b.const_bits(Type::I32, PyArrayScalar_VAL(object, Int32)); return s;
    case PyKind::NpUint8: s.v[0] = b.const_bits(Type::U8, PyArrayScalar_VAL(object, UInt8)); return s;
    case PyKind::NpBool: s.v[0] = b.const_i1(PyArrayScalar_VAL(object, Bool) != 0); return s;
    default: break;
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
