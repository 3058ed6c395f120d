// Names: globals, builtins, module-level variables, cells. See recorder.h.
//
// A name that the region never stores to and that holds a function, module, type or another object to be compared by identity is a constant with a
// NamespaceGuard. Numbers and arrays in the entry frame's own namespaces are inputs; names that are stored to are variables, written back at exits.
#include <algorithm>
#include <utility>

#include "tracer/recorder.h"

namespace hotloop::tracer {

namespace {

// Borrowed; null when absent. Keys are exact strings, so that no user code runs.
PyObject* look_up(PyObject* dict, PyObject* name) {
  PyObject* value = PyDict_GetItemWithError(dict, name);
  if (value == nullptr) PyErr_Clear();
  return value;
}

std::string text_of(PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (text == nullptr) {
    PyErr_Clear();
    return "?";
  }
  return text;
}

}  // namespace

bool Recorder::is_entry_namespace(PyObject* dict) const { return dict == infos_[0]->globals || dict == infos_[0]->locals; }

// Number of the variable `name` of a namespace of the entry frame; -1: it is none yet and `create` is false, or it is in a foreign namespace.
int Recorder::name_var(PyObject* dict, PyObject* name, bool create) {
  for (size_t k = 0; k < name_vars_.size(); ++k) {
    if (name_vars_[k].dict == dict && (name_vars_[k].name == name || PyUnicode_Compare(name_vars_[k].name, name) == 0)) return static_cast<int>(k);
  }
  if (!create || !is_entry_namespace(dict)) return -1;
  NameVar var;
  var.dict = dict;
  var.name = name;
  bool global = dict == infos_[0]->globals;
  var.slot = {global ? ir::SlotKind::kGlobal : ir::SlotKind::kName, object(name)};
  var.initial = entry_value(var.slot, look_up(dict, name));
  name_vars_.push_back(std::move(var));
  return static_cast<int>(name_vars_.size()) - 1;
}

Sym Recorder::namespace_constant(PyObject* dict, PyObject* builtins, PyObject* name, PyObject* value) {
  ir::NamespaceGuard guard;
  guard.globals = object(dict);
  if (builtins != nullptr) guard.builtins = object(builtins);
  guard.name = object(name);
  guard.value = object(value);
  auto& all = function_->namespace_guards;
  bool there = std::any_of(all.begin(), all.end(), [&](const ir::NamespaceGuard& g) {
    return g.globals == guard.globals && g.builtins == guard.builtins && g.name == guard.name && g.value == guard.value;
  });
  if (!there) all.push_back(guard);
  return known(*this, value);
}

Result<Sym> Recorder::load_from(State& state, PyObject* dict, PyObject* builtins, PyObject* name, bool) {
  int k = name_var(dict, name, false);
  PyObject* value = look_up(dict, name);
  if (k < 0 && is_entry_namespace(dict)) {
    bool stored = stored_names_.count(text_of(name)) != 0;
    bool variable = stored;
    if (!stored && value != nullptr) {
      ir::ArrayType type;
      PyKind kind = classify(value, &type);
      variable = kind != PyKind::Object && kind != PyKind::Const && kind != PyKind::None_ && kind != PyKind::TupleObject;
      variable |= kind == PyKind::Object && !compared_by_identity(value);  // not to be kept alive
    }
    if (variable) k = name_var(dict, name, true);
  }
  if (k >= 0) {
    normalise(state);
    Sym s = state.globals[static_cast<size_t>(k)];
    if (s.kind != PyKind::Unbound) return s;
    if (builtins == nullptr) return refuse(RefusalReason::kUnboundVariable, text_of(name));
    value = nullptr;  // its guard as an input says that it is absent; builtins decide
    PyObject* found = look_up(builtins, name);
    if (found == nullptr) return refuse(RefusalReason::kUnboundVariable, text_of(name));
    return namespace_constant(builtins, nullptr, name, found);
  }
  if (value != nullptr) return namespace_constant(dict, nullptr, name, value);
  PyObject* found = builtins == nullptr ? nullptr : look_up(builtins, name);
  if (found == nullptr) return refuse(RefusalReason::kUnboundVariable, text_of(name));
  return namespace_constant(dict, builtins, name, found);
}

Result<Sym> Recorder::load_name(State& state, const FrameInfo& info, PyObject* name, bool through_locals) {
  if (!PyUnicode_CheckExact(name) || info.globals == nullptr || !PyDict_CheckExact(info.globals) || info.builtins == nullptr ||
      !PyDict_CheckExact(info.builtins)) {
    return refuse(RefusalReason::kCustomNamespace, text_of(name));
  }
  if (!through_locals || info.locals == nullptr || info.locals == info.globals) return load_from(state, info.globals, info.builtins, name, false);
  // A class body or exec with separate locals.
  if (look_up(info.locals, name) != nullptr || name_var(info.locals, name, false) >= 0) return load_from(state, info.locals, nullptr, name, true);
  auto s = load_from(state, info.globals, info.builtins, name, false);
  if (!s || s->object == nullptr) return refuse(RefusalReason::kUnsupportedGlobal, text_of(name));
  // The locals lack it: whether they are asked first or not, the object found is this one.
  namespace_constant(info.locals, look_up(info.globals, name) != nullptr ? info.globals : info.builtins, name, s->object);
  return s;
}

PyObject* Recorder::stored_namespace(const FrameInfo& info, bool into_locals) {
  return into_locals && info.locals != nullptr ? info.locals : info.globals;
}

Result<void> Recorder::store_name(State& state, const FrameInfo& info, PyObject* name, bool into_locals, Sym value) {
  PyObject* dict = stored_namespace(info, into_locals);
  if (!is_entry_namespace(dict) || !PyDict_CheckExact(dict)) return refuse(RefusalReason::kUnsupportedGlobal, text_of(name));
  std::string text = text_of(name);
  if (stored_names_.insert(text).second) {
    // A function that was inlined stores it: whatever was read before may have been taken for constant.
    wants_restart_ = true;
    return refuse(RefusalReason::kUnsupportedGlobal, text);
  }
  int k = name_var(dict, name, true);
  normalise(state);
  state.globals[static_cast<size_t>(k)] = std::move(value);
  return {};
}

Result<Recorder::Step> Recorder::step_name(State& state, const HlInstr& in) {
  const FrameInfo& info = *state.top().info;
  PyObject* name = in.op == HL_LOAD_DEREF || in.op == HL_STORE_DEREF ? nullptr : PyTuple_GET_ITEM(info.code->co_names, in.arg);
  switch (in.op) {
    case HL_LOAD_GLOBAL:
    case HL_LOAD_NAME: {
      auto s = load_name(state, info, name, in.op == HL_LOAD_NAME);
      if (!s) return s.refusal();
      bool with_null = in.op == HL_LOAD_GLOBAL && in.arg2 == 1;
      if (with_null && hl_call_null_first()) push(state, Sym{});
      push(state, *s);
      if (with_null && !hl_call_null_first()) push(state, Sym{});
      return Step::kNext;
    }
    case HL_STORE_GLOBAL:
    case HL_STORE_NAME: {
      auto done = store_name(state, info, name, in.op == HL_STORE_NAME, peek(state, 1));
      if (!done) return done.refusal();
      pop(state);
      return Step::kNext;
    }
    case HL_LOAD_DEREF: {
      auto s = load_cell(state, in.arg);
      if (!s) return s.refusal();
      if (s->kind == PyKind::Unbound) return leave_here(ExitReason::Unsupported);
      push(state, *s);
      return Step::kNext;
    }
    default: {  // STORE_DEREF
      auto done = store_cell(state, in.arg, peek(state, 1));
      if (!done) return done.refusal();
      pop(state);
      return Step::kNext;
    }
  }
}

// Where the contents of the cell in local `index` of the innermost frame are kept.
VarRef Recorder::cell_ref(const State& state, int index) const {
  const FrameInfo& info = *state.top().info;
  if (state.frames.size() == 1) return {VarRef::Where::kLocal, 0, index};
  return info.cells[static_cast<size_t>(index - (hl_local_count(info.code) - static_cast<int>(info.cells.size())))];
}

Result<Sym> Recorder::load_cell(State& state, int index) {
  normalise(state);
  return fetch(state, cell_ref(state, index));
}

Result<void> Recorder::store_cell(State& state, int index, Sym value) {
  normalise(state);
  at(state, cell_ref(state, index)) = std::move(value);
  return {};
}

}  // namespace hotloop::tracer
