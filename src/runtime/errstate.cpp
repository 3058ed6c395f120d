// See errstate.h.
#include "runtime/errstate.h"

#include "cpython/access.h"

namespace hotloop::runtime {

bool ErrState::start() {
  if (variable_ != nullptr) return true;
  PyObject* module = PyImport_ImportModule("numpy._core._multiarray_umath");
  if (module == nullptr) return false;
  variable_ = PyObject_GetAttrString(module, "_extobj_contextvar");
  get_dict_ = variable_ != nullptr ? PyObject_GetAttrString(module, "_get_extobj_dict") : nullptr;
  Py_DECREF(module);
  if (get_dict_ != nullptr) return true;
  Py_CLEAR(variable_);
  PyErr_SetString(PyExc_RuntimeError, "hotloop does not know this NumPy: it keeps its error state elsewhere");
  return false;
}

bool ErrState::is_default(PyThreadState* ts) {
  const bool no_context = hl_has_no_context(ts);
  if (no_context && good_without_context_) return true;
  PyObject* state = nullptr;
  if (PyContextVar_Get(variable_, nullptr, &state) < 0) {
    PyErr_Clear();
    return false;
  }
  if (state == good_ && state != nullptr) {
    Py_DECREF(state);
    if (no_context) good_without_context_ = true;
    return true;
  }
  if (state == nullptr || state == bad_) {
    Py_XDECREF(state);
    return false;
  }
  const bool good = read(state);
  if (no_context && hl_has_no_context(ts)) good_without_context_ = good;
  Py_XSETREF(good ? good_ : bad_, state);
  return good;
}

// Reads the state of the running context, which is `state`.
bool ErrState::read(PyObject*) {
  PyObject* dict = PyObject_CallNoArgs(get_dict_);
  if (dict == nullptr || !PyDict_Check(dict)) {
    PyErr_Clear();
    Py_XDECREF(dict);
    return false;
  }
  auto is_one_of = [&](const char* key, const char* a, const char* b) {
    PyObject* value = PyDict_GetItemString(dict, key);
    return value != nullptr && PyUnicode_Check(value) &&
           (PyUnicode_CompareWithASCIIString(value, a) == 0 || PyUnicode_CompareWithASCIIString(value, b) == 0);
  };
  PyObject* size = PyDict_GetItemString(dict, "bufsize");
  bool good = is_one_of("divide", "warn", "ignore") && is_one_of("over", "warn", "ignore") && is_one_of("invalid", "warn", "ignore") &&
              is_one_of("under", "ignore", "ignore") && size != nullptr && PyLong_Check(size) && PyLong_AsLong(size) == 8192;
  PyErr_Clear();
  Py_DECREF(dict);
  return good;
}

}  // namespace hotloop::runtime
