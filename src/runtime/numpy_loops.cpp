// Helpers of owner `numpy`: one element through NumPy's own inner loop, so that np.exp(x) has NumPy's bits and not libm's.
//
// Needs: an imported NumPy. Promises: exactly the loop and the strides with which NumPy computes f(scalar) (input strides 0, output
// stride = item size, n = 1); the floating-point flags are left as they were; a loop that this NumPy does not have leaves its helper null.
#include <xmmintrin.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "ir/numeric.h"
#include "runtime/numpy_api.h"
#include "runtime/numpy_import.h"
#include "runtime/numpy_loop.h"

namespace hotloop::runtime {
namespace {

// By helper; filled once by find_numpy_loops, read-only afterwards. The wrappers have no other way to reach them: compiled code calls
// them with the operands alone.
InnerLoop loops[ir::kHelperCount];

}  // namespace

bool run_loop(const InnerLoop& loop, char** args, int inputs, npy_intp item) {
  constexpr unsigned kFlags = 0x3F, kReported = 0x0D;  // invalid, division by zero, overflow
  const npy_intp one = 1;
  npy_intp steps[3] = {0, 0, 0};
  steps[inputs] = item;
  const unsigned control = _mm_getcsr();
  _mm_setcsr(control & ~kFlags);
  loop.function(args, &one, steps, loop.data);
  const unsigned raised = _mm_getcsr() & kReported;
  _mm_setcsr(control);
  return raised != 0;
}

namespace {

// Not finite from finite operands: the caller's check leaves native code.
template <typename T>
T nan_for_flags() {
  return std::numeric_limits<T>::quiet_NaN();
}

template <typename... T>
auto run_on(const InnerLoop& loop, bool* raised, T... operands) {
  std::common_type_t<T...> result{};
  char* args[] = {reinterpret_cast<char*>(&operands)..., reinterpret_cast<char*>(&result)};
  *raised = run_loop(loop, args, sizeof...(T), sizeof result);
  return result;
}

template <ir::HelperId id, typename... T>
std::common_type_t<T...> call(T... operands) {
  bool raised = false;
  const auto result = run_on(loops[static_cast<int>(id)], &raised, operands...);
  return raised && !(std::isnan(operands) || ...) ? nan_for_flags<std::common_type_t<T...>>() : result;
}

// Halves come and go as float32 of the same value.
template <ir::HelperId id, typename... T>
float call_half(T... operands) {
  bool raised = false;
  const float result = ir::half_to_f32(run_on(loops[static_cast<int>(id)], &raised, ir::f32_to_half(operands)...));
  return raised && !(std::isnan(operands) || ...) ? nan_for_flags<float>() : result;
}

// One part of an operation on complex numbers.
template <ir::HelperId id, typename T, int part>
T call_complex(T ar, T ai, T br, T bi) {
  T a[2] = {ar, ai}, b[2] = {br, bi}, result[2] = {};
  char* args[] = {reinterpret_cast<char*>(a), reinterpret_cast<char*>(b), reinterpret_cast<char*>(result)};
  return run_loop(loops[static_cast<int>(id)], args, 2, sizeof result) ? nan_for_flags<T>() : result[part];
}

}  // namespace

InnerLoop first_loop(const PyUFuncObject* ufunc, int type_num, int result_num) {
  for (int k = 0; k < ufunc->ntypes; ++k) {
    bool same = true;
    for (int j = 0; j < ufunc->nargs; ++j) same = same && ufunc->types[k * ufunc->nargs + j] == (j + 1 < ufunc->nargs ? type_num : result_num);
    if (same) return {ufunc->functions[k], ufunc->data != nullptr ? const_cast<void*>(ufunc->data[k]) : nullptr};
  }
  return {};
}

namespace {

struct Row {
  ir::HelperId id;
  const char* ufunc;
  int type_num;
  const void* wrapper;
};

template <typename Function>
const void* address_of(Function* function) {
  return reinterpret_cast<const void*>(function);
}

#define UNARY(name, ufunc)                                                                                          \
  {ir::HelperId::name##F64, ufunc, NPY_DOUBLE, address_of(&call<ir::HelperId::name##F64, double>)},                  \
      {ir::HelperId::name##F32, ufunc, NPY_FLOAT, address_of(&call<ir::HelperId::name##F32, float>)},                \
      {ir::HelperId::name##F16, ufunc, NPY_HALF, address_of(&call_half<ir::HelperId::name##F16, float>)}
#define BINARY(name, ufunc)                                                                                         \
  {ir::HelperId::name##F64, ufunc, NPY_DOUBLE, address_of(&call<ir::HelperId::name##F64, double, double>)},          \
      {ir::HelperId::name##F32, ufunc, NPY_FLOAT, address_of(&call<ir::HelperId::name##F32, float, float>)},         \
      {ir::HelperId::name##F16, ufunc, NPY_HALF, address_of(&call_half<ir::HelperId::name##F16, float, float>)}
#define COMPLEX(name, part, ufunc)                                                                                              \
  {ir::HelperId::name##C128, ufunc, NPY_CDOUBLE, address_of(&call_complex<ir::HelperId::name##C128, double, part>)},             \
      {ir::HelperId::name##C64, ufunc, NPY_CFLOAT, address_of(&call_complex<ir::HelperId::name##C64, float, part>)}

const Row kRows[] = {
    UNARY(NpExp, "exp"),
    UNARY(NpLog, "log"),
    UNARY(NpSin, "sin"),
    UNARY(NpCos, "cos"),
    UNARY(NpTan, "tan"),
    UNARY(NpLog2, "log2"),
    UNARY(NpLog10, "log10"),
    UNARY(NpLog1p, "log1p"),
    UNARY(NpExpm1, "expm1"),
    UNARY(NpExp2, "exp2"),
    UNARY(NpSinh, "sinh"),
    UNARY(NpCosh, "cosh"),
    UNARY(NpTanh, "tanh"),
    UNARY(NpArcsin, "arcsin"),
    UNARY(NpArccos, "arccos"),
    UNARY(NpArctan, "arctan"),
    UNARY(NpArcsinh, "arcsinh"),
    UNARY(NpArccosh, "arccosh"),
    UNARY(NpArctanh, "arctanh"),
    UNARY(NpCbrt, "cbrt"),
    BINARY(NpArctan2, "arctan2"),
    BINARY(NpHypot, "hypot"),
    BINARY(NpPower, "power"),
    BINARY(NpFmod, "fmod"),
    BINARY(NpCopysign, "copysign"),
    BINARY(NpNextafter, "nextafter"),
    BINARY(NpLogaddexp, "logaddexp"),
    COMPLEX(NpMultiplyRe, 0, "multiply"), COMPLEX(NpMultiplyIm, 1, "multiply"),
};

}  // namespace

void find_numpy_loops(ir::HelperTable* table) {
  PyObject* module = PyImport_ImportModule("numpy");
  if (module == nullptr) return;
  for (const Row& row : kRows) {
    PyObject* object = PyObject_GetAttrString(module, row.ufunc);
    if (object == nullptr) break;
    if (Py_TYPE(object) == &PyUFunc_Type) {
      InnerLoop loop = first_loop(reinterpret_cast<PyUFuncObject*>(object), row.type_num, row.type_num);
      loops[static_cast<int>(row.id)] = loop;
      if (loop.function != nullptr) table->address[static_cast<int>(row.id)] = row.wrapper;
    }
    Py_DECREF(object);  // NumPy's module keeps its ufuncs
  }
  Py_DECREF(module);
}

}  // namespace hotloop::runtime
