// The options table as Python sees it.
// Needs base/options.h. Promises: a wrong name or value raises before anything has changed.
#include <string>
#include <variant>

#include "module.h"
#include "tracer/runtime.h"

namespace hotloop::pymodule {
namespace {

PyObject* to_python(const base::OptionValue& value) {
  if (const bool* b = std::get_if<bool>(&value)) return PyBool_FromLong(*b);
  if (const int64_t* i = std::get_if<int64_t>(&value)) return PyLong_FromLongLong(*i);
  const std::string& text = std::get<std::string>(value);
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

// "threshold=0", for the line that tells what is wrong with it. Empty with an exception.
std::string label_of(PyObject* object, const char* name) {
  PyObject* label = PyUnicode_FromFormat("%s=%R", name, object);
  const char* text = label != nullptr ? PyUnicode_AsUTF8(label) : nullptr;
  std::string result = text != nullptr ? text : "";
  Py_XDECREF(label);
  return result;
}

// False with an exception.
bool from_python(PyObject* object, const char* name, base::OptionValue* value) {
  if (PyBool_Check(object)) {
    *value = object == Py_True;
    return true;
  }
  if (PyUnicode_Check(object)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) return false;
    *value = std::string(text, static_cast<size_t>(size));
    return true;
  }
  if (PyIndex_Check(object)) {
    PyObject* index = PyNumber_Index(object);
    if (index == nullptr) return false;
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (number == -1 && PyErr_Occurred()) return false;
    // No option takes a number beyond 64 bits: as text it is refused with the option's own words.
    *value = overflow == 0 ? base::OptionValue(number) : base::OptionValue(std::string("beyond 64 bits"));
    return true;
  }
  PyErr_Format(PyExc_TypeError, "%s: expected bool, int or str, not %s", name, Py_TYPE(object)->tp_name);
  return false;
}

// Adds a new reference under this key. False with an exception.
bool put(PyObject* dict, const char* key, PyObject* value) {
  if (value == nullptr) return false;
  const bool good = PyDict_SetItemString(dict, key, value) == 0;
  Py_DECREF(value);
  return good;
}

PyObject* as_dict(const base::Options& options) {
  PyObject* dict = PyDict_New();
  if (dict == nullptr) return nullptr;
  for (const base::OptionInfo& info : base::kOptions) {
    if (put(dict, info.name, to_python(base::option_value(options, info)))) continue;
    Py_DECREF(dict);
    return nullptr;
  }
  return dict;
}

}  // namespace

PyObject* options_table(PyObject*, PyObject*) {
  const base::Options defaults;
  PyObject* list = PyList_New(0);
  if (list == nullptr) return nullptr;
  for (const base::OptionInfo& info : base::kOptions) {
    PyObject* row = Py_BuildValue("{s:s,s:s,s:s,s:s,s:s}", "name", info.name, "kind", base::option_kind_name(info.kind), "env", info.env, "allowed",
                                  info.allowed, "doc", info.doc);
    const bool good = row != nullptr && put(row, "default", to_python(base::option_value(defaults, info))) && PyList_Append(list, row) == 0;
    Py_XDECREF(row);
    if (good) continue;
    Py_DECREF(list);
    return nullptr;
  }
  return list;
}

PyObject* get_options(PyObject*, PyObject*) { return as_dict(tracer::runtime().options); }

PyObject* set_options(PyObject*, PyObject* values) {
  tracer::Runtime& rt = tracer::runtime();
  if (!PyDict_Check(values)) {
    PyErr_SetString(PyExc_TypeError, "set_options: expected a dict");
    return nullptr;
  }
  base::Options changed = rt.options;
  PyObject *key, *object;
  Py_ssize_t place = 0;
  while (PyDict_Next(values, &place, &key, &object)) {
    const char* name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : nullptr;
    if (name == nullptr) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "set_options: option names are strings");
      return nullptr;
    }
    const base::OptionInfo* info = base::find_option(name);
    if (info == nullptr) {
      PyErr_Format(PyExc_TypeError, "hotloop has no option '%s'", name);
      return nullptr;
    }
    base::OptionValue value;
    if (!from_python(object, name, &value)) return nullptr;
    const std::string label = label_of(object, name);
    if (label.empty()) return nullptr;
    const std::string error = base::set_option(changed, *info, value, label);
    if (!error.empty()) {
      PyErr_SetString(PyExc_ValueError, error.c_str());
      return nullptr;
    }
  }
  PyObject* former = as_dict(rt.options);
  if (former == nullptr) return nullptr;
  const bool different = !(changed == rt.options);
  rt.options = std::move(changed);
  if (different) tracer::options_changed(rt);
  return former;
}

}  // namespace hotloop::pymodule
