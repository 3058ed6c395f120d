// See numpy_header.h.
#include "runtime/numpy_header.h"

#include "runtime/numpy_api.h"

namespace hotloop::runtime {

void copy_header(PyObject* object, int64_t* words) {
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  *words++ = reinterpret_cast<int64_t>(PyArray_DATA(array));
  *words++ = PyArray_NDIM(array);
  *words++ = PyArray_FLAGS(array);
  *words++ = reinterpret_cast<int64_t>(PyArray_DESCR(array));
  for (int k = 0; k < PyArray_NDIM(array); ++k) {
    *words++ = PyArray_DIM(array, k);
    *words++ = PyArray_STRIDE(array, k);
  }
}

bool same_header(PyObject* object, const int64_t* words) {
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  if (words[0] != reinterpret_cast<int64_t>(PyArray_DATA(array)) || words[1] != PyArray_NDIM(array) || words[2] != PyArray_FLAGS(array) ||
      words[3] != reinterpret_cast<int64_t>(PyArray_DESCR(array))) {
    return false;
  }
  words += 4;
  for (int k = 0; k < PyArray_NDIM(array); ++k, words += 2) {
    if (words[0] != PyArray_DIM(array, k) || words[1] != PyArray_STRIDE(array, k)) return false;
  }
  return true;
}

}  // namespace hotloop::runtime
