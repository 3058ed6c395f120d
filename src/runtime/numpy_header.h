// The header of an array (data, dimensions, strides, flags, dtype) copied and compared: has Python code that ran in between reshaped it?
// Needs: import_numpy() has succeeded; the GIL; exact ndarrays. Promises: reads only.
#pragma once
#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace hotloop::runtime {

inline size_t header_words(size_t ndim) { return 4 + 2 * ndim; }
void copy_header(PyObject* array, int64_t* words);
bool same_header(PyObject* array, const int64_t* words);

}  // namespace hotloop::runtime
