// The bit generator inside a numpy.random.Generator, for draws from compiled code.
//
// Needs: import_numpy() has succeeded; the GIL. Promises: the same numbers in the same order as the Generator's own methods; no Python code of the
// user runs.
#pragma once
#include <Python.h>

namespace hotloop::runtime {

// Is this numpy.random.Generator, and is it laid out as expected (looked at once, against the capsule that NumPy documents)?
bool knows_generator(PyTypeObject* type);

// The next double in [0, 1), what generator.random() gives. False, and nothing drawn: another thread holds its lock. REQUIRES knows_generator(its type).
bool next_double(PyObject* generator, double* value);

}  // namespace hotloop::runtime
