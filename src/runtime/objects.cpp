// See objects.h. Here too the field offsets of ir/activation.h are checked against CPython's headers.
#include "runtime/objects.h"

#include <cstddef>
#include <utility>

#include "ir/ir.h"
#include "runtime/box.h"
#include "runtime/numpy_api.h"
#include "runtime/numpy_import.h"

namespace hotloop::runtime {
namespace {

static_assert(offsetof(PyObject, ob_refcnt) == ir::kObjectRefcountOffset);
static_assert(offsetof(PyObject, ob_type) == ir::kObjectTypeOffset);
static_assert(offsetof(PyVarObject, ob_size) == ir::kVarSizeOffset);
static_assert(offsetof(PyListObject, ob_item) == ir::kListItemsOffset);
static_assert(offsetof(PyTupleObject, ob_item) == ir::kTupleItemsOffset);
static_assert(offsetof(PyFloatObject, ob_fval) == ir::kNumberValueOffset);
static_assert(offsetof(PyComplexObject, cval) == ir::kNumberValueOffset);
static_assert(offsetof(PyDoubleScalarObject, obval) == ir::kNumberValueOffset);
static_assert(offsetof(PyBoolScalarObject, obval) == ir::kNumberValueOffset);
static_assert(offsetof(PyCDoubleScalarObject, obval) == ir::kNumberValueOffset);
static_assert(offsetof(PyLongObject, long_value.lv_tag) == ir::kLongTagOffset);
static_assert(offsetof(PyLongObject, long_value.ob_digit) == ir::kLongDigitsOffset);
static_assert(PyLong_SHIFT == ir::kLongDigitBits);

constexpr size_t kMaxKept = 32 * 1024;
void** spare_buffer = nullptr;  // of kMaxKept; guarded by the GIL

PyObject* object_of(void* pointer) { return static_cast<PyObject*>(pointer); }

void* no_error(PyObject* object) {
  if (object == nullptr) PyErr_Clear();
  return object;
}

void* box_any(int64_t kind, const int64_t* parts) { return no_error(box(static_cast<ir::PyKind>(kind), parts)); }
void* box_float(double value) { return no_error(PyFloat_FromDouble(value)); }
void* box_int(int64_t value) { return no_error(PyLong_FromLongLong(value)); }
int64_t closed(void* object) { return is_closed(object_of(object)); }

}  // namespace

int64_t make_room(ir::Activation* activation) {
  if (activation->keep_begin != nullptr) return 0;
  void** buffer = std::exchange(spare_buffer, nullptr);
  if (buffer == nullptr) buffer = static_cast<void**>(PyMem_RawMalloc(sizeof(void*) * kMaxKept));
  if (buffer == nullptr) return 0;
  activation->keep_begin = activation->keep_next = buffer;
  activation->keep_end = buffer + kMaxKept;
  activation->flush_at = buffer + kFlushed;
  return 1;
}

namespace {

void list_set(ir::Activation* activation, void* list, int64_t index, void* item, int64_t flags) {
  if ((flags & 1) == 0) Py_INCREF(object_of(item));
  PyObject* old = PyList_GET_ITEM(object_of(list), index);
  PyList_SET_ITEM(object_of(list), index, object_of(item));
  if ((flags & 2) != 0) {
    Py_DECREF(old);
  } else {
    *activation->keep_next++ = old;
  }
}

void* list_put(void* list, int64_t index, double value) {
  PyObject* old = PyList_GET_ITEM(object_of(list), index);
  if (Py_TYPE(old) == &PyFloat_Type && Py_REFCNT(old) == 1) {
    reinterpret_cast<PyFloatObject*>(old)->ob_fval = value;
    return old;
  }
  if (!is_closed(old)) return nullptr;
  PyObject* item = PyFloat_FromDouble(value);
  if (item == nullptr) return no_error(item);
  PyList_SET_ITEM(object_of(list), index, item);
  Py_DECREF(old);
  return item;
}

int64_t list_append(void* list, void* item, int64_t flags) {
  if (PyList_Append(object_of(list), object_of(item)) < 0) {
    PyErr_Clear();
    if ((flags & 1) != 0) Py_DECREF(object_of(item));
    return 0;
  }
  if ((flags & 1) != 0) Py_DECREF(object_of(item));
  return 1;
}

int64_t matches(void* object, const void* array_type) {
  return array_matches(object_of(object), array_check(*static_cast<const ir::ArrayType*>(array_type)), false);
}

// Nothing else is told when the array goes: no base object of another kind, no weak references, no objects inside.
bool is_plain_array(PyObject* object) {
  for (int depth = 0; object != nullptr && depth < 8; ++depth) {
    if (Py_TYPE(object) != &PyArray_Type) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(object);
    if (PyDataType_REFCHK(PyArray_DESCR(array)) || reinterpret_cast<PyArrayObject_fields*>(object)->weakreflist != nullptr) return false;
    object = PyArray_BASE(array);
    if (object != nullptr && Py_REFCNT(object) > 1) return true;
  }
  return object == nullptr;
}

}  // namespace

bool is_closed(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyComplex_Type || type == &PyUnicode_Type ||
      type == &PyBytes_Type || object == Py_None) {
    return true;
  }
  for (int kind = static_cast<int>(ir::PyKind::NpBool); kind <= static_cast<int>(ir::PyKind::NpComplex128); ++kind) {
    if (type == kind_type(static_cast<ir::PyKind>(kind))) return true;
  }
  return is_plain_array(object);
}

ir::ObjectFunctions object_functions() {
  ir::ObjectFunctions functions;
  functions.box = &box_any;
  functions.box_float = &box_float;
  functions.box_int = &box_int;
  functions.closed = &closed;
  functions.room = &make_room;
  functions.list_set = &list_set;
  functions.list_put = &list_put;
  functions.list_append = &list_append;
  functions.array_matches = &matches;
  functions.float_type = &PyFloat_Type;
  add_object_calls(&functions);
  return functions;
}

// The lowest bit of the pointer says that no flush may drop it.
void keep_until_exit(ir::Activation* activation, PyObject* object) {
  *activation->keep_next++ = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(Py_NewRef(object)) | kUntilExit);
}

void drop_kept(ir::Activation* activation) {
  void** const begin = activation->keep_begin;
  if (begin == nullptr) return;
  void** const end = activation->keep_next;
  activation->keep_begin = activation->keep_next = activation->keep_end = nullptr;
  activation->flush_at = reinterpret_cast<void**>(UINTPTR_MAX);
  for (void** p = begin; p < end; ++p) Py_XDECREF(reinterpret_cast<PyObject*>(reinterpret_cast<uintptr_t>(*p) & ~kUntilExit));
  if (spare_buffer == nullptr) {
    spare_buffer = begin;
  } else {
    PyMem_RawFree(begin);
  }
}

}  // namespace hotloop::runtime
