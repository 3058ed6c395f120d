// See random.h. NumPy documents the struct bitgen_t (numpy/random/bitgen.h) and the capsule "BitGenerator" that points to it; a Generator has a copy
// of the struct inside, and somewhere behind it the lock that its methods take.
#include "runtime/random.h"

#include <cstring>

#include "cpython/access.h"
#include "numpy/random/bitgen.h"

namespace hotloop::runtime {
namespace {

struct Layout {
  bool looked = false;
  PyTypeObject* type = nullptr;  // null: not as expected
  size_t bitgen = 0, lock = 0;   // offsets
} layout;                        // of the one class in the process; guarded by the GIL

// The offset, a multiple of the size of a pointer, from `first` on at which the object has these bytes; 0: there is none.
size_t find_bytes(PyObject* object, const void* bytes, size_t count, size_t first) {
  const auto size = static_cast<size_t>(Py_TYPE(object)->tp_basicsize);
  for (size_t offset = first; offset + count <= size; offset += sizeof(void*)) {
    if (std::memcmp(reinterpret_cast<const char*>(object) + offset, bytes, count) == 0) return offset;
  }
  return 0;
}

void find_parts(PyObject* generator) {
  PyObject* bit_generator = PyObject_GetAttrString(generator, "bit_generator");
  PyObject* capsule = bit_generator != nullptr ? PyObject_GetAttrString(bit_generator, "capsule") : nullptr;
  PyObject* lock = bit_generator != nullptr ? PyObject_GetAttrString(bit_generator, "lock") : nullptr;
  const void* bitgen = capsule != nullptr && lock != nullptr ? PyCapsule_GetPointer(capsule, "BitGenerator") : nullptr;
  if (bitgen != nullptr) layout.bitgen = find_bytes(generator, bitgen, sizeof(bitgen_t), sizeof(PyObject));
  if (layout.bitgen != 0) layout.lock = find_bytes(generator, static_cast<const void*>(&lock), sizeof lock, layout.bitgen + sizeof(bitgen_t));
  if (layout.lock != 0) layout.type = Py_TYPE(generator);
  Py_XDECREF(lock);
  Py_XDECREF(capsule);
  Py_XDECREF(bit_generator);
}

template <typename T>
T* part(PyObject* generator, size_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(generator) + offset);
}

void look() {
  layout.looked = true;
  PyObject* module = PyImport_ImportModule("numpy.random");
  PyObject* made = module != nullptr ? PyObject_CallMethod(module, "default_rng", "i", 1) : nullptr;
  if (made != nullptr) find_parts(made);
  Py_XDECREF(made);
  Py_XDECREF(module);
  PyErr_Clear();
}

}  // namespace

bool knows_generator(PyTypeObject* type) {
  // Nothing is imported for a type that is none: numpy.random takes a while to import.
  if (std::strcmp(type->tp_name, "numpy.random._generator.Generator") != 0) return false;
  if (!layout.looked) look();
  return layout.type == type;
}

bool next_double(PyObject* generator, double* value) {
  PyObject* lock = hl_is_only_thread() ? nullptr : *part<PyObject*>(generator, layout.lock);
  if (lock != nullptr) {
    PyObject* taken = PyObject_CallMethod(lock, "acquire", "O", Py_False);
    Py_XDECREF(taken);
    if (taken != Py_True) {
      PyErr_Clear();
      return false;
    }
  }
  auto* bitgen = part<bitgen_t>(generator, layout.bitgen);
  *value = bitgen->next_double(bitgen->state);
  if (lock != nullptr) Py_XDECREF(PyObject_CallMethod(lock, "release", nullptr));
  return true;
}

}  // namespace hotloop::runtime
