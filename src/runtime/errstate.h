// Which floating-point events NumPy reports how, for the running context (numpy.errstate).
// Needs: import_numpy(). Promises: is_default() is at most one context-variable look-up and a pointer compare while nothing changed; runs no Python
// code.
#pragma once
#include <Python.h>

namespace hotloop::runtime {

class ErrState {
 public:
  bool start();  // false with an exception
  // divide, over and invalid are in {warn, ignore} and equal to what scalar code assumes, under is ignored, the buffer size is the default.
  bool is_default(PyThreadState* ts);

 private:
  bool read(PyObject* state);

  PyObject* variable_ = nullptr;    // numpy's context variable
  PyObject* get_dict_ = nullptr;    // numpy's C function that shows its value
  PyObject* good_ = nullptr;        // the last state that was seen to be right, the last that was not (owned: an address may come back)
  PyObject* bad_ = nullptr;
  bool good_without_context_ = false;  // what the variable is where no context was ever made: it stays so
};

}  // namespace hotloop::runtime
