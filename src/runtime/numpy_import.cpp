// See numpy_import.h.
#define HOTLOOP_IMPORT_NUMPY
#include "runtime/numpy_import.h"

#include <cstddef>

#include "ir/activation.h"
#include "runtime/numpy_api.h"
#include "runtime/objects.h"

namespace hotloop::runtime {
namespace {

static_assert(offsetof(PyArrayObject_fields, data) == ir::kArrayDataOffset);
static_assert(offsetof(PyArrayObject_fields, nd) == ir::kArrayNdimOffset);
static_assert(offsetof(PyArrayObject_fields, dimensions) == ir::kArrayDimsOffset);
static_assert(offsetof(PyArrayObject_fields, strides) == ir::kArrayStridesOffset);
static_assert(sizeof(npy_intp) == 8 && sizeof(long) == 8);

// Filled once by import_numpy, read-only afterwards.
struct Imported {
  bool done = false;
  PyTypeObject* types[static_cast<int>(ir::PyKind::Either) + 1] = {};
  ir::HelperTable helpers;
};
Imported imported;

void set(ir::PyKind kind, PyTypeObject* type) { imported.types[static_cast<int>(kind)] = type; }

void fill_types() {
  using ir::PyKind;
  set(PyKind::None_, Py_TYPE(Py_None));
  set(PyKind::Bool, &PyBool_Type);
  set(PyKind::Int, &PyLong_Type);
  set(PyKind::IntU64, &PyLong_Type);
  set(PyKind::Int128, &PyLong_Type);
  set(PyKind::IntU128, &PyLong_Type);
  set(PyKind::Float, &PyFloat_Type);
  set(PyKind::Complex, &PyComplex_Type);
  set(PyKind::NpBool, &PyBoolArrType_Type);
  set(PyKind::NpInt8, &PyInt8ArrType_Type);
  set(PyKind::NpInt16, &PyInt16ArrType_Type);
  set(PyKind::NpInt32, &PyInt32ArrType_Type);
  set(PyKind::NpInt64, &PyInt64ArrType_Type);
  set(PyKind::NpUint8, &PyUInt8ArrType_Type);
  set(PyKind::NpUint16, &PyUInt16ArrType_Type);
  set(PyKind::NpUint32, &PyUInt32ArrType_Type);
  set(PyKind::NpUint64, &PyUInt64ArrType_Type);
  set(PyKind::NpFloat16, &PyHalfArrType_Type);
  set(PyKind::NpFloat32, &PyFloat32ArrType_Type);
  set(PyKind::NpFloat64, &PyFloat64ArrType_Type);
  set(PyKind::NpComplex64, &PyComplex64ArrType_Type);
  set(PyKind::NpComplex128, &PyComplex128ArrType_Type);
  set(PyKind::Array, &PyArray_Type);
  set(PyKind::Range, &PyRange_Type);
  set(PyKind::RangeIter, &PyRangeIter_Type);
  set(PyKind::SeqIter, &PySeqIter_Type);
  set(PyKind::Tuple, &PyTuple_Type);
  set(PyKind::Countdown, &PyReversed_Type);
  set(PyKind::Enumerate, &PyEnum_Type);
  set(PyKind::Zip, &PyZip_Type);
  set(PyKind::StrictZip, &PyZip_Type);
  set(PyKind::Map, &PyMap_Type);
  set(PyKind::Row, &PyArray_Type);
  set(PyKind::Char, &PyUnicode_Type);
  set(PyKind::Str, &PyUnicode_Type);
  set(PyKind::Bytes, &PyBytes_Type);
  set(PyKind::List, &PyList_Type);
  set(PyKind::TupleObject, &PyTuple_Type);
}

// The header says where the fields of an array are; a small array says whether this NumPy agrees.
bool layout_is_as_expected() {
  npy_intp dims[2] = {3, 5};
  PyObject* array = PyArray_SimpleNew(2, dims, NPY_DOUBLE);
  if (array == nullptr) return false;
  auto* a = reinterpret_cast<PyArrayObject*>(array);
  const char* base = reinterpret_cast<const char*>(array);
  auto field = [&](int offset) { return *reinterpret_cast<void* const*>(base + offset); };
  bool good = field(ir::kArrayDataOffset) == PyArray_DATA(a) && *reinterpret_cast<const int*>(base + ir::kArrayNdimOffset) == 2 &&
              field(ir::kArrayDimsOffset) == PyArray_DIMS(a) && field(ir::kArrayStridesOffset) == PyArray_STRIDES(a) &&
              PyArray_DIM(a, 0) == 3 && PyArray_DIM(a, 1) == 5 && PyArray_STRIDE(a, 0) == 40 && PyArray_STRIDE(a, 1) == 8;
  Py_DECREF(array);
  if (!good) PyErr_SetString(PyExc_RuntimeError, "hotloop does not know this NumPy: its arrays are laid out differently");
  return good;
}

}  // namespace

bool import_numpy() {
  if (imported.done) return true;
  if (PyArray_ImportNumPyAPI() < 0) return false;
  if (PyUFunc_ImportUFuncAPI() < 0) return false;
  if (!layout_is_as_expected()) return false;
  fill_types();
  imported.helpers = ir::core_helpers();
  imported.helpers.objects = object_functions();
  find_numpy_loops(&imported.helpers);
  find_python_math(&imported.helpers);
  find_complex_functions(&imported.helpers);
  if (PyErr_Occurred()) return false;
  imported.done = true;
  return true;
}

PyTypeObject* kind_type(ir::PyKind kind) { return imported.types[static_cast<int>(kind)]; }

const ir::HelperTable& helper_table() { return imported.helpers; }
void set_run(int64_t (*run)(ir::Activation* activation, int64_t exit_id), void* (*next_item)(ir::Activation* activation, void* iterator, int64_t flags)) {
  imported.helpers.objects.run = run;
  imported.helpers.objects.next_item = next_item;
}

}  // namespace hotloop::runtime
