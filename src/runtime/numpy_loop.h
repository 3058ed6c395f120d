// NumPy's inner loops on one element. Needs runtime/numpy_api.h. Promises: see numpy_loops.cpp.
#pragma once
#include "runtime/numpy_api.h"

namespace hotloop::runtime {

struct InnerLoop {
  PyUFuncGenericFunction function = nullptr;
  void* data = nullptr;
};

// Runs the loop on one element with the strides that NumPy uses for scalars; `item`: the size of a result. True when it raised a flag for which
// NumPy warns: some loops do although operands and result are finite. The flags are left as they were.
bool run_loop(const InnerLoop& loop, char** args, int inputs, npy_intp item);

// The first loop whose operands have this type and whose result has that one: the one that NumPy's own resolver takes (a later duplicate is the plain libm loop).
InnerLoop first_loop(const PyUFuncObject* ufunc, int type_num, int result_num);

}  // namespace hotloop::runtime
