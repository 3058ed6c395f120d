// Helpers of owner `python`: functions of the math module whose algorithm is CPython's own, called on exact floats.
//
// Needs: the GIL, which compiled code holds. Promises: an exact float runs no Python code and makes no garbage-collected object; whatever
// raises gives NaN and no exception, so that the caller leaves native code and the interpreter raises.
#include <Python.h>

#include <limits>

#include "runtime/numpy_import.h"

namespace hotloop::runtime {
namespace {

// By helper; filled once by find_python_math and kept for good.
PyObject* functions[ir::kHelperCount];

template <ir::HelperId id, typename... T>
double call(T... operands) {
  constexpr size_t count = sizeof...(T);
  PyObject* args[count] = {PyFloat_FromDouble(operands)...};
  double value = std::numeric_limits<double>::quiet_NaN();
  bool complete = true;
  for (PyObject* arg : args) complete = complete && arg != nullptr;
  PyObject* result = complete ? PyObject_Vectorcall(functions[static_cast<int>(id)], args, count, nullptr) : nullptr;
  if (result != nullptr && PyFloat_CheckExact(result)) value = PyFloat_AS_DOUBLE(result);
  Py_XDECREF(result);
  for (PyObject* arg : args) Py_XDECREF(arg);
  PyErr_Clear();
  return value;
}

struct Row {
  ir::HelperId id;
  const char* name;
  const void* wrapper;
};
const Row kRows[] = {
    {ir::HelperId::MathHypot, "hypot", reinterpret_cast<const void*>(&call<ir::HelperId::MathHypot, double, double>)},
    {ir::HelperId::MathHypot3, "hypot", reinterpret_cast<const void*>(&call<ir::HelperId::MathHypot3, double, double, double>)},
    {ir::HelperId::MathGamma, "gamma", reinterpret_cast<const void*>(&call<ir::HelperId::MathGamma, double>)},
    {ir::HelperId::MathLgamma, "lgamma", reinterpret_cast<const void*>(&call<ir::HelperId::MathLgamma, double>)},
    {ir::HelperId::MathFma, "fma", reinterpret_cast<const void*>(&call<ir::HelperId::MathFma, double, double, double>)},
};

}  // namespace

void find_python_math(ir::HelperTable* table) {
  PyObject* module = PyImport_ImportModule("math");
  if (module == nullptr) return;
  for (const Row& row : kRows) {
    PyObject* function = PyObject_GetAttrString(module, row.name);
    if (function != nullptr && PyCFunction_CheckExact(function)) {
      functions[static_cast<int>(row.id)] = function;
      table->address[static_cast<int>(row.id)] = row.wrapper;
    } else {
      Py_XDECREF(function);
      PyErr_Clear();  // this Python does not have it
    }
  }
  Py_DECREF(module);
}

}  // namespace hotloop::runtime
