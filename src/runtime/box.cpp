// See box.h.
#include "runtime/box.h"

#include <bit>
#include <cstring>

#include "cpython/access.h"
#include "ir/numeric.h"
#include "runtime/numpy_api.h"
#include "runtime/numpy_import.h"

namespace hotloop::runtime {
namespace {

using ir::PyKind;

double as_f64(int64_t cell) { return std::bit_cast<double>(cell); }
float as_f32(int64_t cell) { return std::bit_cast<float>(static_cast<uint32_t>(cell)); }
int64_t from_f64(double v) { return std::bit_cast<int64_t>(v); }
int64_t from_f32(float v) { return static_cast<int64_t>(std::bit_cast<uint32_t>(v)); }

// A NumPy scalar object of this type with these bytes as its value.
template <typename Scalar, typename Value>
PyObject* scalar(PyTypeObject* type, Value value) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  static_assert(sizeof(value) == sizeof(reinterpret_cast<Scalar*>(object)->obval));
  std::memcpy(&reinterpret_cast<Scalar*>(object)->obval, &value, sizeof value);
  return object;
}

template <typename Scalar>
auto scalar_value(PyObject* object) {
  return reinterpret_cast<Scalar*>(object)->obval;
}

struct ComplexF32 {
  float re, im;
};
struct ComplexF64 {
  double re, im;
};

PyObject* box_range(const int64_t* parts) {
  PyObject* args = Py_BuildValue("(LLL)", static_cast<long long>(parts[0]), static_cast<long long>(parts[1]), static_cast<long long>(parts[2]));
  if (args == nullptr) return nullptr;
  PyObject* range = PyObject_Call(reinterpret_cast<PyObject*>(&PyRange_Type), args, nullptr);
  Py_DECREF(args);
  return range;
}

bool unbox_int(PyObject* object, int64_t* part) {
  if (Py_TYPE(object) != &PyLong_Type) return false;
  auto* value = reinterpret_cast<PyLongObject*>(object);
  if (PyUnstable_Long_IsCompact(value)) {
    *part = PyUnstable_Long_CompactValue(value);
    return true;
  }
  int overflow = 0;
  *part = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}

bool unbox_u64(PyObject* object, int64_t* part) {
  if (Py_TYPE(object) != &PyLong_Type) return false;
  int overflow = 0;
  *part = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) return *part >= 0;
  if (overflow < 0) return false;
  const unsigned long long value = PyLong_AsUnsignedLongLong(object);
  if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  *part = static_cast<int64_t>(value);
  return true;
}

// high * 2^64 + low
PyObject* box_128(const int64_t* parts, bool with_sign) {
  PyObject* low = PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(parts[0]));
  PyObject* high = with_sign ? PyLong_FromLongLong(parts[1]) : PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(parts[1]));
  PyObject* count = PyLong_FromLong(64);
  PyObject* shifted = low != nullptr && high != nullptr && count != nullptr ? PyNumber_Lshift(high, count) : nullptr;
  PyObject* object = shifted != nullptr ? PyNumber_Or(shifted, low) : nullptr;
  Py_XDECREF(low);
  Py_XDECREF(high);
  Py_XDECREF(count);
  Py_XDECREF(shifted);
  return object;
}

// start, stop, step of a range object are its only members; their places are in the type.
bool unbox_range(PyObject* object, int64_t* parts) {
  if (Py_TYPE(object) != &PyRange_Type) return false;
  const char* const names[3] = {"start", "stop", "step"};
  for (int k = 0; k < 3; ++k) {
    const PyMemberDef* member = PyRange_Type.tp_members;
    while (member->name != nullptr && std::strcmp(member->name, names[k]) != 0) ++member;
    if (member->name == nullptr) return false;
    PyObject* value = *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member->offset);
    if (value == nullptr || !unbox_int(value, &parts[k])) return false;
  }
  return true;
}

bool unbox_range_iter(PyObject* object, int64_t* parts) {
  long start, step, len;
  if (Py_TYPE(object) != &PyRangeIter_Type || Py_REFCNT(object) != 1 || !hl_range_iter_read(object, &start, &step, &len)) return false;
  int64_t span, stop;
  if (step == 0 || len < 0 || __builtin_mul_overflow(len, step, &span) || __builtin_add_overflow(start, span, &stop)) return false;
  parts[0] = start;
  parts[1] = stop;
  parts[2] = step;
  return true;
}

// NumPy keeps this flag to itself (ndarraytypes.h of its sources: bit 31).
constexpr int kWarnOnWrite = INT32_MIN;

int type_num_of(PyKind elem) {
  switch (elem) {
    case PyKind::NpBool: return NPY_BOOL;
    case PyKind::NpInt8: return NPY_INT8;
    case PyKind::NpInt16: return NPY_INT16;
    case PyKind::NpInt32: return NPY_INT32;
    case PyKind::NpInt64: return NPY_INT64;
    case PyKind::NpUint8: return NPY_UINT8;
    case PyKind::NpUint16: return NPY_UINT16;
    case PyKind::NpUint32: return NPY_UINT32;
    case PyKind::NpUint64: return NPY_UINT64;
    case PyKind::NpFloat16: return NPY_FLOAT16;
    case PyKind::NpFloat32: return NPY_FLOAT32;
    case PyKind::NpFloat64: return NPY_FLOAT64;
    case PyKind::NpComplex64: return NPY_COMPLEX64;
    case PyKind::NpComplex128: return NPY_COMPLEX128;
    default: return -1;
  }
}

}  // namespace

PyObject* box(PyKind kind, const int64_t* parts) {
  switch (kind) {
    case PyKind::None_: return Py_NewRef(Py_None);
    case PyKind::Bool: return Py_NewRef(parts[0] != 0 ? Py_True : Py_False);
    case PyKind::Int: return PyLong_FromLongLong(parts[0]);
    case PyKind::IntU64: return PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(parts[0]));
    case PyKind::Int128: return box_128(parts, true);
    case PyKind::IntU128: return box_128(parts, false);
    case PyKind::Float: return PyFloat_FromDouble(as_f64(parts[0]));
    case PyKind::Complex: return PyComplex_FromDoubles(as_f64(parts[0]), as_f64(parts[1]));
    case PyKind::NpBool: return Py_NewRef(parts[0] != 0 ? PyArrayScalar_True : PyArrayScalar_False);
    case PyKind::NpInt8: return scalar<PyInt8ScalarObject>(&PyInt8ArrType_Type, static_cast<npy_int8>(parts[0]));
    case PyKind::NpInt16: return scalar<PyInt16ScalarObject>(&PyInt16ArrType_Type, static_cast<npy_int16>(parts[0]));
    case PyKind::NpInt32: return scalar<PyInt32ScalarObject>(&PyInt32ArrType_Type, static_cast<npy_int32>(parts[0]));
    case PyKind::NpInt64: return scalar<PyInt64ScalarObject>(&PyInt64ArrType_Type, static_cast<npy_int64>(parts[0]));
    case PyKind::NpUint8: return scalar<PyUInt8ScalarObject>(&PyUInt8ArrType_Type, static_cast<npy_uint8>(parts[0]));
    case PyKind::NpUint16: return scalar<PyUInt16ScalarObject>(&PyUInt16ArrType_Type, static_cast<npy_uint16>(parts[0]));
    case PyKind::NpUint32: return scalar<PyUInt32ScalarObject>(&PyUInt32ArrType_Type, static_cast<npy_uint32>(parts[0]));
    case PyKind::NpUint64: return scalar<PyUInt64ScalarObject>(&PyUInt64ArrType_Type, static_cast<npy_uint64>(parts[0]));
    case PyKind::NpFloat16: return scalar<PyHalfScalarObject>(&PyHalfArrType_Type, ir::f32_to_half(as_f32(parts[0])));
    case PyKind::NpFloat32: return scalar<PyFloat32ScalarObject>(&PyFloat32ArrType_Type, as_f32(parts[0]));
    case PyKind::NpFloat64: return scalar<PyFloat64ScalarObject>(&PyFloat64ArrType_Type, as_f64(parts[0]));
    case PyKind::NpComplex64:
      return scalar<PyComplex64ScalarObject>(&PyComplex64ArrType_Type, ComplexF32{as_f32(parts[0]), as_f32(parts[1])});
    case PyKind::NpComplex128:
      return scalar<PyComplex128ScalarObject>(&PyComplex128ArrType_Type, ComplexF64{as_f64(parts[0]), as_f64(parts[1])});
    case PyKind::Char: return PyUnicode_FromOrdinal(static_cast<int>(parts[0]));
    case PyKind::Range: return box_range(parts);
    case PyKind::RangeIter: return hl_range_iter_new(parts[0], parts[2], range_length(parts[0], parts[1], parts[2]));
    default: PyErr_SetString(PyExc_SystemError, "hotloop: a value of this kind cannot be boxed"); return nullptr;
  }
}

bool unbox(PyKind kind, PyObject* object, int64_t* parts) {
  if (kind == PyKind::Unbound) return object == nullptr;
  if (object == nullptr) return false;
  switch (kind) {
    case PyKind::None_: return object == Py_None;
    case PyKind::Bool: parts[0] = object == Py_True; return object == Py_True || object == Py_False;
    case PyKind::Int: return unbox_int(object, parts);
    case PyKind::IntU64: return unbox_u64(object, parts);
    case PyKind::Char:
      if (!PyUnicode_CheckExact(object) || PyUnicode_GET_LENGTH(object) != 1) return false;
      parts[0] = PyUnicode_READ_CHAR(object, 0);
      return true;
    case PyKind::Str: parts[0] = reinterpret_cast<int64_t>(object); return PyUnicode_CheckExact(object) && PyUnicode_IS_COMPACT_ASCII(object);
    case PyKind::Length:
      if (!PyUnicode_CheckExact(object) && !PyBytes_CheckExact(object)) return false;
      parts[0] = PyUnicode_CheckExact(object) ? PyUnicode_GET_LENGTH(object) : PyBytes_GET_SIZE(object);
      return true;
    case PyKind::Bytes: parts[0] = reinterpret_cast<int64_t>(object); return PyBytes_CheckExact(object);
    case PyKind::Range: return unbox_range(object, parts);
    case PyKind::RangeIter: return unbox_range_iter(object, parts);
    default: break;
  }
  if (Py_TYPE(object) != kind_type(kind)) return false;
  switch (kind) {
    case PyKind::Float: parts[0] = from_f64(PyFloat_AS_DOUBLE(object)); return true;
    case PyKind::Complex: {
      const Py_complex value = reinterpret_cast<PyComplexObject*>(object)->cval;
      parts[0] = from_f64(value.real);
      parts[1] = from_f64(value.imag);
      return true;
    }
    case PyKind::NpBool: parts[0] = scalar_value<PyBoolScalarObject>(object) != 0; return true;
    case PyKind::NpInt8: parts[0] = scalar_value<PyInt8ScalarObject>(object); return true;
    case PyKind::NpInt16: parts[0] = scalar_value<PyInt16ScalarObject>(object); return true;
    case PyKind::NpInt32: parts[0] = scalar_value<PyInt32ScalarObject>(object); return true;
    case PyKind::NpInt64: parts[0] = scalar_value<PyInt64ScalarObject>(object); return true;
    case PyKind::NpUint8: parts[0] = scalar_value<PyUInt8ScalarObject>(object); return true;
    case PyKind::NpUint16: parts[0] = scalar_value<PyUInt16ScalarObject>(object); return true;
    case PyKind::NpUint32: parts[0] = scalar_value<PyUInt32ScalarObject>(object); return true;
    case PyKind::NpUint64: parts[0] = static_cast<int64_t>(scalar_value<PyUInt64ScalarObject>(object)); return true;
    case PyKind::NpFloat16: parts[0] = from_f32(ir::half_to_f32(scalar_value<PyHalfScalarObject>(object))); return true;
    case PyKind::NpFloat32: parts[0] = from_f32(scalar_value<PyFloat32ScalarObject>(object)); return true;
    case PyKind::NpFloat64: parts[0] = from_f64(scalar_value<PyFloat64ScalarObject>(object)); return true;
    case PyKind::NpComplex64: {
      ComplexF32 value;
      std::memcpy(&value, &reinterpret_cast<PyComplex64ScalarObject*>(object)->obval, sizeof value);
      parts[0] = from_f32(value.re);
      parts[1] = from_f32(value.im);
      return true;
    }
    case PyKind::NpComplex128: {
      ComplexF64 value;
      std::memcpy(&value, &reinterpret_cast<PyComplex128ScalarObject*>(object)->obval, sizeof value);
      parts[0] = from_f64(value.re);
      parts[1] = from_f64(value.im);
      return true;
    }
    default: return false;
  }
}

PlainPart plain_part(PyKind kind) {
  switch (kind) {
    case PyKind::Float: return {&PyFloat_Type, offsetof(PyFloatObject, ob_fval)};
    case PyKind::NpFloat64: return {kind_type(kind), offsetof(PyFloat64ScalarObject, obval)};
    case PyKind::NpInt64: return {kind_type(kind), offsetof(PyInt64ScalarObject, obval)};
    case PyKind::NpUint64: return {kind_type(kind), offsetof(PyUInt64ScalarObject, obval)};
    default: return {};
  }
}

ArrayCheck array_check(const ir::ArrayType& type) {
  ArrayCheck check;
  check.type_num = type_num_of(type.elem);
  check.ndim = static_cast<int>(type.strides.size());
  check.needed_flags = NPY_ARRAY_ALIGNED | (type.writable ? NPY_ARRAY_WRITEABLE : 0);
  // WARN_ON_WRITE: the first store must make NumPy's DeprecationWarning, in the interpreter.
  check.forbidden_flags = type.writable ? kWarnOnWrite : 0;
  check.itemsize = ir::element_size(type.elem);
  check.strides = type.strides.data();
  return check;
}

bool array_matches(PyObject* object, const ArrayCheck& check, bool exact_strides) {
  if (object == nullptr || Py_TYPE(object) != &PyArray_Type) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  const int flags = PyArray_FLAGS(array);
  if ((flags & check.needed_flags) != check.needed_flags || (flags & check.forbidden_flags) != 0) return false;
  if (PyArray_TYPE(array) != check.type_num || PyArray_NDIM(array) != check.ndim || !PyArray_ISNOTSWAPPED(array)) return false;
  const npy_intp* strides = PyArray_STRIDES(array);
  for (int axis = 0; axis < check.ndim; ++axis) {
    const npy_intp stride = strides[axis];
    switch (check.strides[axis]) {
      case ir::Stride::kItem:
        if (stride != check.itemsize) return false;
        break;
      case ir::Stride::kZero:
        if (stride != 0) return false;
        break;
      case ir::Stride::kOther:
        if (stride == 0 || (exact_strides && stride == check.itemsize)) return false;
        break;
    }
  }
  return true;
}

int64_t range_length(int64_t next, int64_t stop, int64_t step) {
  if (step > 0) return next < stop ? static_cast<int64_t>((static_cast<uint64_t>(stop) - static_cast<uint64_t>(next) - 1) / static_cast<uint64_t>(step)) + 1 : 0;
  const uint64_t down = uint64_t{0} - static_cast<uint64_t>(step);
  return next > stop ? static_cast<int64_t>((static_cast<uint64_t>(next) - static_cast<uint64_t>(stop) - 1) / down) + 1 : 0;
}

}  // namespace hotloop::runtime
