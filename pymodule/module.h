// The functions of hotloop._hotloop that have files of their own.
#pragma once
#include <Python.h>

namespace hotloop::pymodule {

// options.cpp
PyObject* options_table(PyObject*, PyObject*);
PyObject* get_options(PyObject*, PyObject*);
PyObject* set_options(PyObject*, PyObject* values);

// report.cpp
PyObject* stats(PyObject*, PyObject*);
PyObject* regions(PyObject*, PyObject* args);

}  // namespace hotloop::pymodule
