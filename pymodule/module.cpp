// The extension module hotloop._hotloop: the functions on which the Python package pymodule/hotloop is written.
//
// Needs tracer/runtime.h. Promises: thin; arguments are checked here, what is done is done in the tracer. One module per process, main interpreter.
#include <Python.h>

#include "module.h"
#include "tracer/runtime.h"

namespace hotloop::pymodule {
namespace {

using tracer::runtime;

PyObject* enable(PyObject*, PyObject*) {
  if (!tracer::enable(runtime())) return nullptr;
  Py_RETURN_NONE;
}

PyObject* disable(PyObject*, PyObject*) {
  tracer::disable(runtime());
  Py_RETURN_NONE;
}

PyObject* is_enabled(PyObject*, PyObject*) { return PyBool_FromLong(runtime().enabled); }

PyObject* pause(PyObject*, PyObject*) {
  ++runtime().paused;
  Py_RETURN_NONE;
}

PyObject* resume(PyObject*, PyObject*) {
  if (runtime().paused > 0) --runtime().paused;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"enable", enable, METH_NOARGS, "Starts compiling hot loops."},
    {"disable", disable, METH_NOARGS, "Stops; every loop is run by the interpreter again."},
    {"is_enabled", is_enabled, METH_NOARGS, "Whether hot loops are compiled and run."},
    {"pause", pause, METH_NOARGS, "One more reason to run nothing but the interpreter."},
    {"resume", resume, METH_NOARGS, "One reason less."},
    {"options_table", options_table, METH_NOARGS, "The rows of the options table, as dicts."},
    {"get_options", get_options, METH_NOARGS, "The options in force, as a dict."},
    {"set_options", set_options, METH_O, "Sets the options of a dict and returns all former values; changes nothing if one is wrong."},
    {"stats", stats, METH_NOARGS, "The counters, as a dict."},
    {"regions", regions, METH_VARARGS, "What is known of each loop that was seen, of one code object or of all, as dicts."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "hotloop._hotloop", "The machinery of hotloop.", -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace hotloop::pymodule

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__hotloop() {
  using namespace hotloop;
  PyObject* made = PyModule_Create(&pymodule::module);
  if (made == nullptr) return nullptr;
  tracer::make_runtime();
  if (tracer::runtime().code_extra < 0 && !tracer::start(tracer::runtime())) {
    Py_DECREF(made);
    return nullptr;
  }
  return made;
}
