// Finds the model of a known callable (models.def) and applies it.
// See semantics.h. The table is built once, at the first question, from the modules' own attributes; it holds references for good.
#include <algorithm>
#include <string>
#include <vector>

#include "runtime/numpy_import.h"
#include "tracer/models.h"
#include "tracer/semantics_wide.h"

namespace hotloop::tracer {

namespace {

struct ModelRow {
  const char* module;
  const char* name;
  ModelFunction function;
  ir::HelperId helper;
  int min_args;
  int max_args;
  PyObject* callable;
};

// module.name, or module.type.name for methods (the descriptor of the type). Null, without an exception, where this version has none.
PyObject* find(const char* module, const std::string& path) {
  PyObject* found = PyImport_ImportModule(module);
  for (size_t at = 0; found != nullptr && at <= path.size();) {
    const size_t dot = std::min(path.find('.', at), path.size());
    Py_SETREF(found, PyObject_GetAttrString(found, path.substr(at, dot - at).c_str()));
    at = dot + 1;
  }
  PyErr_Clear();
  return found;
}

std::vector<ModelRow> make_table() {
  std::vector<ModelRow> rows = {
#define HL_MODEL(module, name, function, helper, least, most) {module, name, function, ir::HelperId::helper, least, most, nullptr},
#include "tracer/models.def"
#undef HL_MODEL
  };
  for (ModelRow& row : rows) {
    row.callable = find(row.module, row.name);
  }
  return rows;
}

const ModelRow* find_model(PyObject* callable) {
  static const std::vector<ModelRow> rows = make_table();
  for (const ModelRow& row : rows) {
    if (row.callable == callable && callable != nullptr) return &row;
  }
  return nullptr;
}

}  // namespace

PyObject* number_method(const Sym& object, PyObject* name) {
  if (!is_number(object.kind)) return nullptr;
  PyTypeObject* type = runtime::kind_type(object.kind);
  PyObject* method = type == nullptr ? nullptr : PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name);
  PyErr_Clear();
  if (method == nullptr) return nullptr;
  const bool known = Py_TYPE(method) == &PyMethodDescr_Type && is_known_callable(method);
  Py_DECREF(method);  // its type keeps it
  return known ? method : nullptr;
}

bool is_known_callable(PyObject* callable) { return find_model(callable) != nullptr; }

base::Result<Sym> call_known(Emit& e, PyObject* callable, std::span<const Sym> args, PyObject* kwnames) {
  const ModelRow* row = find_model(callable);
  if (row == nullptr) return e.refuse(RefusalReason::kUnsupportedCall, "");
  std::string name = std::string(row->module) + "." + row->name;
  if (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) != 0) return e.refuse(RefusalReason::kUnsupportedArguments, name + " with keywords");
  int count = static_cast<int>(args.size());
  if (count < row->min_args || count > row->max_args) return e.refuse(RefusalReason::kUnsupportedArguments, name);
  const bool any_int = row->function == model_int || row->function == model_float || row->function == model_bool || row->function == model_np_scalar ||
                       row->function == model_min || row->function == model_max;
  if (any_int || std::none_of(args.begin(), args.end(), [](const Sym& s) { return s.kind == PyKind::IntU64; })) {
    return row->function(e, ModelCall{args, row->helper, row->name});
  }
  std::vector<Sym> plain;
  for (const Sym& s : args) plain.push_back(plain_int(e, s));
  return row->function(e, ModelCall{plain, row->helper, row->name});
}

}  // namespace hotloop::tracer
