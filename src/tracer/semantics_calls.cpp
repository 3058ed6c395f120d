// Finds the model of a known callable (models.def) and applies it.
// See semantics.h. The table is built once, at the first question, from the modules' own attributes; it holds references for good.
#include <string>
#include <vector>

#include "tracer/models.h"

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

std::vector<ModelRow> make_table() {
  std::vector<ModelRow> rows = {
#define HL_MODEL(module, name, function, helper, least, most) {module, name, function, ir::HelperId::helper, least, most, nullptr},
#include "tracer/models.def"
#undef HL_MODEL
  };
  for (ModelRow& row : rows) {
    PyObject* module = PyImport_ImportModule(row.module);
    if (module != nullptr) row.callable = PyObject_GetAttrString(module, row.name);
    Py_XDECREF(module);
    PyErr_Clear();
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

bool is_known_callable(PyObject* callable) { return find_model(callable) != nullptr; }

base::Result<Sym> call_known(Emit& e, PyObject* callable, std::span<const Sym> args, PyObject* kwnames) {
  const ModelRow* row = find_model(callable);
  if (row == nullptr) return e.refuse(RefusalReason::kUnsupportedCall, "");
  std::string name = std::string(row->module) + "." + row->name;
  if (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) != 0) return e.refuse(RefusalReason::kUnsupportedArguments, name + " with keywords");
  int count = static_cast<int>(args.size());
  if (count < row->min_args || count > row->max_args) return e.refuse(RefusalReason::kUnsupportedArguments, name);
  return row->function(e, ModelCall{args, row->helper, row->name});
}

}  // namespace hotloop::tracer
