// Helpers on complex numbers: the functions of cmath and Python's `**` by CPython's own functions, NumPy's by its own inner loops.
//
// Needs: the GIL, which compiled code holds; an imported NumPy. Promises: an exact complex runs no Python code and makes no garbage-collected object;
// what raises, or makes NumPy warn, gives NaN and no exception. The two parts of a result are asked for one after the other: the last
// result is kept, so that each is computed once.
#include <bit>
#include <cmath>
#include <limits>

#include "ir/complex_functions.h"
#include "runtime/numpy_api.h"
#include "runtime/numpy_import.h"
#include "runtime/numpy_loop.h"

namespace hotloop::runtime {
namespace {

constexpr int kNumbers = ir::kComplexFunctionCount * 3;

PyObject* functions[kNumbers];   // of cmath, kept for good
InnerLoop complex_loops[kNumbers];
InnerLoop power_loops[2];        // complex128, complex64

struct Parts {
  double re, im;
};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Parts parts_of(PyObject* result) {  // steals it
  Parts parts{kNan, kNan};
  if (result != nullptr && PyComplex_CheckExact(result)) {
    const Py_complex value = reinterpret_cast<PyComplexObject*>(result)->cval;
    parts = {value.real, value.imag};
  }
  Py_XDECREF(result);
  PyErr_Clear();
  return parts;
}

template <typename T, int inputs>
Parts through_loop(const InnerLoop& loop, const double* operands, bool real_result = false) {
  T values[2 * inputs], result[2] = {};
  for (int k = 0; k < 2 * inputs; ++k) values[k] = static_cast<T>(operands[k]);
  char* args[inputs + 1];
  for (int k = 0; k < inputs; ++k) args[k] = reinterpret_cast<char*>(values + 2 * k);
  args[inputs] = reinterpret_cast<char*>(result);
  if (run_loop(loop, args, inputs, real_result ? sizeof *result : sizeof result)) return {kNan, kNan};
  return {static_cast<double>(result[0]), static_cast<double>(result[1])};
}

bool is_real(int64_t number) { return ir::kComplexFunctions[number / 3].numpy == "absolute"; }

Parts function_of(double re, double im, int64_t number) {
  const double operands[] = {re, im};
  switch (static_cast<ir::ComplexFlavour>(number % 3)) {
    case ir::ComplexFlavour::kPython: {
      PyObject* z = PyComplex_FromDoubles(re, im);
      PyObject* result = z == nullptr ? nullptr : PyObject_CallOneArg(functions[number], z);
      Py_XDECREF(z);
      return parts_of(result);
    }
    case ir::ComplexFlavour::kNumpy128: return through_loop<double, 1>(complex_loops[number], operands, is_real(number));
    default: return through_loop<float, 1>(complex_loops[number], operands, is_real(number));
  }
}

Parts power_of(const double* operands, int64_t flavour) {
  switch (static_cast<ir::ComplexFlavour>(flavour)) {
    case ir::ComplexFlavour::kPython: {
      PyObject* base = PyComplex_FromDoubles(operands[0], operands[1]);
      PyObject* exponent = PyComplex_FromDoubles(operands[2], operands[3]);
      PyObject* result = base == nullptr || exponent == nullptr ? nullptr : PyNumber_Power(base, exponent, Py_None);
      Py_XDECREF(base);
      Py_XDECREF(exponent);
      return parts_of(result);
    }
    case ir::ComplexFlavour::kNumpy128: return through_loop<double, 2>(power_loops[0], operands);
    default: return through_loop<float, 2>(power_loops[1], operands);
  }
}

// The last result, by the bits of what it was computed from.
template <int count>
struct Last {
  uint64_t bits[count];
  int64_t number = -1;
  Parts result{};
  template <typename Compute>
  const Parts& get(const double* operands, int64_t wanted, Compute&& compute) {
    bool same = number == wanted;
    for (int k = 0; k < count; ++k) same = same && bits[k] == std::bit_cast<uint64_t>(operands[k]);
    if (same) return result;
    result = compute();
    number = wanted;
    for (int k = 0; k < count; ++k) bits[k] = std::bit_cast<uint64_t>(operands[k]);
    return result;
  }
};
Last<2> last_function;
Last<4> last_power;

template <bool imaginary>
double complex_part(double re, double im, int64_t number) {
  const double operands[] = {re, im};
  const Parts& parts = last_function.get(operands, number, [&] { return function_of(re, im, number); });
  return imaginary ? parts.im : parts.re;
}
template <bool imaginary>
double power_part(double ar, double ai, double br, double bi, int64_t flavour) {
  const double operands[] = {ar, ai, br, bi};
  const Parts& parts = last_power.get(operands, flavour, [&] { return power_of(operands, flavour); });
  return imaginary ? parts.im : parts.re;
}

PyObject* attribute(PyObject* module, std::string_view name) {
  PyObject* object = name.empty() ? nullptr : PyObject_GetAttrString(module, name.data());
  PyErr_Clear();
  return object;
}

InnerLoop complex_loop(PyObject* numpy, std::string_view name, int type_num) {
  PyObject* object = attribute(numpy, name);
  InnerLoop loop;
  const int result_num = name != "absolute" ? type_num : type_num == NPY_CDOUBLE ? NPY_DOUBLE : NPY_FLOAT;
  if (object != nullptr && Py_TYPE(object) == &PyUFunc_Type) loop = first_loop(reinterpret_cast<PyUFuncObject*>(object), type_num, result_num);
  Py_XDECREF(object);  // NumPy's module keeps its ufuncs
  return loop;
}

}  // namespace

bool has_complex_function(int64_t number) {
  return static_cast<ir::ComplexFlavour>(number % 3) == ir::ComplexFlavour::kPython ? functions[number] != nullptr
                                                                                   : complex_loops[number].function != nullptr;
}

void find_complex_functions(ir::HelperTable* table) {
  PyObject* cmath = PyImport_ImportModule("cmath");
  PyObject* numpy = PyImport_ImportModule("numpy");
  if (cmath != nullptr && numpy != nullptr) {
    for (int k = 0; k < ir::kComplexFunctionCount; ++k) {
      functions[ir::complex_number(k, ir::ComplexFlavour::kPython)] = attribute(cmath, ir::kComplexFunctions[k].cmath);
      complex_loops[ir::complex_number(k, ir::ComplexFlavour::kNumpy128)] = complex_loop(numpy, ir::kComplexFunctions[k].numpy, NPY_CDOUBLE);
      complex_loops[ir::complex_number(k, ir::ComplexFlavour::kNumpy64)] = complex_loop(numpy, ir::kComplexFunctions[k].numpy, NPY_CFLOAT);
    }
    power_loops[0] = complex_loop(numpy, "power", NPY_CDOUBLE);
    power_loops[1] = complex_loop(numpy, "power", NPY_CFLOAT);
    auto set = [&](ir::HelperId id, const void* address) { table->address[static_cast<int>(id)] = address; };
    set(ir::HelperId::ComplexRe, reinterpret_cast<const void*>(&complex_part<false>));
    set(ir::HelperId::ComplexIm, reinterpret_cast<const void*>(&complex_part<true>));
    if (power_loops[0].function != nullptr && power_loops[1].function != nullptr) {
      set(ir::HelperId::PowerRe, reinterpret_cast<const void*>(&power_part<false>));
      set(ir::HelperId::PowerIm, reinterpret_cast<const void*>(&power_part<true>));
    }
  }
  Py_XDECREF(cmath);
  Py_XDECREF(numpy);
}

}  // namespace hotloop::runtime
