// Loading NumPy and what the rest needs of it once: the C API tables, the scalar types, the addresses of its inner loops.
// Needs: the GIL. Promises: import_numpy() may be called again at no cost; nothing else of runtime/ is used before it succeeded.
#pragma once
#include <Python.h>

#include "ir/numeric.h"
#include "ir/types.h"

namespace hotloop::runtime {

// False with a Python exception set: no NumPy, or a NumPy whose arrays are laid out otherwise than compiled code expects.
bool import_numpy();

// The type of exactly this kind: PyLong_Type for Int, numpy.float64 for NpFloat64, ndarray for Array; null for kinds without one type.
PyTypeObject* kind_type(ir::PyKind kind);

// The core helpers and NumPy's inner loops (numpy_loops.cpp). Helpers that this NumPy does not offer stay null.
const ir::HelperTable& helper_table();
// What the table's ObjectFunctions::run is, which is not made here.
void set_run(int64_t (*run)(ir::Activation* activation, int64_t exit_id), void* (*next_item)(ir::Activation* activation, void* iterator, int64_t flags));
// Called once by import_numpy().
void find_numpy_loops(ir::HelperTable* table);
void find_python_math(ir::HelperTable* table);
void find_complex_functions(ir::HelperTable* table);

// Is there a function of this number (ir/complex_functions.h)?
bool has_complex_function(int64_t number);

}  // namespace hotloop::runtime
