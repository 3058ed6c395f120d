// Helpers of owner `numpy`: one element through NumPy's own inner loop, so that np.exp(x) has NumPy's bits and not libm's.
//
// Needs: an imported NumPy. Promises: exactly the loop and the strides with which NumPy computes f(scalar) (input strides 0, output
// stride = item size, n = 1); the floating-point flags are left as they were; a loop that this NumPy does not have leaves its helper null.
#include <xmmintrin.h>

#include "runtime/numpy_api.h"
#include "runtime/numpy_import.h"

namespace hotloop::runtime {
namespace {

struct InnerLoop {
  PyUFuncGenericFunction function = nullptr;
  void* data = nullptr;
};
// By helper; filled once by find_numpy_loops, read-only afterwards. The wrappers have no other way to reach them: compiled code calls
// them with the operands alone.
InnerLoop loops[ir::kHelperCount];

template <typename T>
T run(const InnerLoop& loop, char** args, int inputs) {
  const npy_intp one = 1;
  npy_intp steps[3] = {0, 0, 0};
  steps[inputs] = sizeof(T);
  const unsigned flags = _mm_getcsr();
  loop.function(args, &one, steps, loop.data);
  _mm_setcsr(flags);
  return *reinterpret_cast<T*>(args[inputs]);
}

template <ir::HelperId id, typename T>
T call1(T x) {
  T result = 0;
  char* args[3] = {reinterpret_cast<char*>(&x), reinterpret_cast<char*>(&result), nullptr};
  return run<T>(loops[static_cast<int>(id)], args, 1);
}

template <ir::HelperId id, typename T>
T call2(T x, T y) {
  T result = 0;
  char* args[3] = {reinterpret_cast<char*>(&x), reinterpret_cast<char*>(&y), reinterpret_cast<char*>(&result)};
  return run<T>(loops[static_cast<int>(id)], args, 2);
}

// The first loop of this signature: the one that NumPy's own resolver takes (a later duplicate is the plain libm loop).
InnerLoop first_loop(const PyUFuncObject* ufunc, int type_num) {
  for (int k = 0; k < ufunc->ntypes; ++k) {
    bool same = true;
    for (int j = 0; j < ufunc->nargs; ++j) same = same && ufunc->types[k * ufunc->nargs + j] == type_num;
    if (same) return {ufunc->functions[k], ufunc->data != nullptr ? const_cast<void*>(ufunc->data[k]) : nullptr};
  }
  return {};
}

struct Row {
  ir::HelperId id;
  const char* ufunc;
  int type_num;
  const void* wrapper;
};

#define UNARY(name, ufunc) \
  {ir::HelperId::name##F64, ufunc, NPY_DOUBLE, reinterpret_cast<const void*>(&call1<ir::HelperId::name##F64, double>)}, \
  {ir::HelperId::name##F32, ufunc, NPY_FLOAT, reinterpret_cast<const void*>(&call1<ir::HelperId::name##F32, float>)}
#define BINARY(name, ufunc) \
  {ir::HelperId::name##F64, ufunc, NPY_DOUBLE, reinterpret_cast<const void*>(&call2<ir::HelperId::name##F64, double>)}, \
  {ir::HelperId::name##F32, ufunc, NPY_FLOAT, reinterpret_cast<const void*>(&call2<ir::HelperId::name##F32, float>)}

const Row kRows[] = {
    UNARY(NpExp, "exp"), UNARY(NpLog, "log"), UNARY(NpSin, "sin"),
    UNARY(NpCos, "cos"), UNARY(NpTan, "tan"), BINARY(NpArctan2, "arctan2"),
};

}  // namespace

void find_numpy_loops(ir::HelperTable* table) {
  PyObject* module = PyImport_ImportModule("numpy");
  if (module == nullptr) return;
  for (const Row& row : kRows) {
    PyObject* object = PyObject_GetAttrString(module, row.ufunc);
    if (object == nullptr) break;
    if (Py_TYPE(object) == &PyUFunc_Type) {
      InnerLoop loop = first_loop(reinterpret_cast<PyUFuncObject*>(object), row.type_num);
      loops[static_cast<int>(row.id)] = loop;
      if (loop.function != nullptr) table->address[static_cast<int>(row.id)] = row.wrapper;
    }
    Py_DECREF(object);  // NumPy's module keeps its ufuncs
  }
  Py_DECREF(module);
}

}  // namespace hotloop::runtime
