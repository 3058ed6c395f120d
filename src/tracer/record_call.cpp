// Calls: functions with a model, and plain Python functions, whose bodies are inlined. See recorder.h.
#include <algorithm>
#include <utility>

#include "tracer/recorder.h"
#include "tracer/semantics_common.h"

namespace hotloop::tracer {

namespace {

std::string callable_text(PyObject* callable) {
  std::string text;
  PyObject* name = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(callable)), "__name__");
  if (PyFunction_Check(callable)) {
    Py_XSETREF(name, Py_NewRef(reinterpret_cast<PyFunctionObject*>(callable)->func_qualname));
  } else if (PyCFunction_Check(callable)) {
    Py_XSETREF(name, PyUnicode_FromString(reinterpret_cast<PyCFunctionObject*>(callable)->m_ml->ml_name));
  } else if (PyType_Check(callable)) {
    Py_XSETREF(name, PyUnicode_FromString(reinterpret_cast<PyTypeObject*>(callable)->tp_name));
  }
  const char* utf8 = name != nullptr && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  if (utf8 != nullptr) text = utf8;
  Py_XDECREF(name);
  PyErr_Clear();
  return text;
}

PyFunctionObject* as_function(PyObject* o) { return reinterpret_cast<PyFunctionObject*>(o); }

}  // namespace

Result<Recorder::Step> Recorder::step_call(State& state, const HlInstr& in) {
  auto& stack = state.top().stack;
  PyObject* names = nullptr;
  int names_item = 0;
  if (in.op == HL_CALL_KW) {
    if (in.arg2 >= 0) {
      names = PyTuple_GET_ITEM(state.top().info->code->co_consts, in.arg2);
    } else {
      Sym tuple = peek(state, 1);
      names = tuple.object;
      names_item = 1;
    }
    if (names == nullptr || !PyTuple_CheckExact(names)) return refuse(RefusalReason::kUnsupportedArguments, "keywords");
  }
  const bool spread = in.op == HL_CALL_FUNCTION_EX;  // f(*tuple)
  if (spread && in.arg2 == 1) return refuse(RefusalReason::kUnsupportedArguments, "**keywords");
  int drop = spread ? 3 : in.arg + 2 + names_item;
  if (static_cast<size_t>(drop) > stack.size()) return refuse(RefusalReason::kObservationLost, "stack");
  Sym x = peek(state, drop), y = peek(state, drop - 1);
  std::vector<Sym> args;
  Sym callable = x, self = y;
  if (hl_call_null_first() && x.kind == PyKind::Unbound) {
    callable = y;
    self = Sym{};
  }
  if (self.kind != PyKind::Unbound) args.push_back(self);
  if (spread) {
    auto items = items_of(peek(state, 1));
    if (!items) return items.refusal();
    args.insert(args.end(), items->begin(), items->end());
  }
  for (int k = spread ? 0 : in.arg; k >= 1; --k) args.push_back(peek(state, k + names_item));
  if (callable.kind == PyKind::Method || callable.kind == PyKind::Object) {
    auto function = unbind_method(callable, &args);
    if (!function) return function.refusal();
    callable = *function;
  }
  if (callable.object != nullptr && PyMethod_Check(callable.object)) {  // as random.uniform is
    args.insert(args.begin(), known(*this, PyMethod_GET_SELF(callable.object)));
    callable = known(*this, PyMethod_GET_FUNCTION(callable.object));
  }
  if (auto callee = plain_callee(callable)) return inline_call(state, in, *callee, args, names, drop);
  if (callable.object == nullptr) return refuse(RefusalReason::kUnsupportedCall, "a value of kind " + kind_text(callable));
  if (makes_iterator(callable.object)) {
    auto it = make_iterator(callable.object, args, names);
    if (!it) return it.refusal();
    it->box = new_box();  // a variable and an argument may be this one
    pop_push(state, drop, *it);
    return Step::kNext;
  }
  if (names == nullptr) {
    if (auto done = call_object(state, in, callable.object, args, drop)) return std::move(*done);
  }
  if (is_known_callable(callable.object)) {
    if (names == nullptr) {
      auto one_of_two = mixed_extreme(callable.object, args);
      if (!one_of_two) return one_of_two.refusal();
      if (*one_of_two) {
        pop_push(state, drop, **one_of_two);
        return Step::kNext;
      }
    }
    auto r = call_known(*this, callable.object, args, names);
    if (!r) return r.refusal();
    pop_push(state, drop, *r);
    return Step::kNext;
  }
  return refuse(RefusalReason::kUnsupportedCall, callable_text(callable.object));
}

// A function that each run of a `def` or lambda makes anew is known by its code; others, and those that bring a namespace or keyword-only defaults
// of their own, by their identity.
bool Recorder::known_by_code(PyObject* object, ir::Slot slot) const {
  if (!PyFunction_Check(object) || is_known_callable(object)) return false;
  if (slot.kind == ir::SlotKind::kGlobal || slot.kind == ir::SlotKind::kName) return false;
  PyFunctionObject* f = as_function(object);
  return f->func_kwdefaults == nullptr && f->func_globals == infos_[0]->globals && f->func_builtins == infos_[0]->builtins;
}

std::optional<Recorder::Callee> Recorder::plain_callee(const Sym& callable) const {
  if (callable.object != nullptr) {
    if (!PyFunction_Check(callable.object) || is_known_callable(callable.object)) return std::nullopt;
    return Callee{callable.object};
  }
  auto found = callable.kind == PyKind::Object ? input_objects_.find(callable.input) : input_objects_.end();
  if (found == input_objects_.end() || !PyFunction_Check(found->second) || !known_by_code(found->second, function_->inputs[callable.input].slot)) {
    return std::nullopt;
  }
  return Callee{found->second, callable.input};
}

// The function of a bound method, whose object becomes the first argument. Anything else stays as it is.
Result<Sym> Recorder::unbind_method(const Sym& callable, std::vector<Sym>* args) {
  if (callable.kind == PyKind::Method) {
    args->insert(args->begin(), (*callable.items)[1]);
    return (*callable.items)[0];
  }
  auto found = input_objects_.find(callable.input);
  if (found == input_objects_.end() || Py_TYPE(found->second) != &PyMethod_Type) return callable;
  PyObject* function = PyMethod_GET_FUNCTION(found->second);
  if (!PyFunction_Check(function)) return refuse(RefusalReason::kUnsupportedCall, callable_text(function));
  function_->inputs[callable.input].method = object(function);
  args->insert(args->begin(), entry_value({ir::SlotKind::kMethodSelf, callable.input}, PyMethod_GET_SELF(found->second)));
  return known(*this, function);
}

void Recorder::guard_function(const Callee& callee) {
  PyFunctionObject* f = as_function(callee.function);
  ir::FunctionGuard guard;
  guard.input = callee.input;
  if (callee.input == ir::kNone) {
    guard.function = object(callee.function);
  } else {
    function_->inputs[callee.input].code = object(f->func_code);
  }
  guard.code = object(f->func_code);
  if (f->func_defaults != nullptr) guard.defaults = object(f->func_defaults);
  if (f->func_kwdefaults != nullptr) guard.kwdefaults = object(f->func_kwdefaults);
  for (const ir::FunctionGuard& g : function_->function_guards) {
    if (g.function == guard.function && g.input == guard.input) return;
  }
  function_->function_guards.push_back(guard);
}

// The values of the parameters, by the interpreter's rules; anything irregular is left to it.
Result<std::vector<Sym>> Recorder::bind_arguments(PyObject* function, const std::vector<Sym>& args, PyObject* names) {
  PyFunctionObject* f = as_function(function);
  PyCodeObject* code = reinterpret_cast<PyCodeObject*>(f->func_code);
  size_t positional = static_cast<size_t>(code->co_argcount);
  size_t total = positional + static_cast<size_t>(code->co_kwonlyargcount);
  size_t keywords = names == nullptr ? 0 : static_cast<size_t>(PyTuple_GET_SIZE(names));
  size_t given = args.size() - keywords;
  auto wrong = [&] { return refuse(RefusalReason::kUnsupportedArguments, callable_text(function)); };
  const bool more = (code->co_flags & CO_VARARGS) != 0;
  if (given > positional && (!more || args.size() != given)) return wrong();
  std::vector<Sym> values(total);
  std::vector<bool> set(total, false);
  for (size_t k = 0; k < std::min(given, positional); ++k) {
    values[k] = args[k];
    set[k] = true;
  }
  for (size_t k = 0; k < keywords; ++k) {
    PyObject* name = PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(k));
    size_t place = static_cast<size_t>(code->co_posonlyargcount);
    while (place < total && PyUnicode_Compare(hl_local_name(code, static_cast<int>(place)), name) != 0) ++place;
    if (place == total || set[place]) return wrong();
    values[place] = args[given + k];
    set[place] = true;
  }
  size_t defaults = f->func_defaults == nullptr ? 0 : static_cast<size_t>(PyTuple_GET_SIZE(f->func_defaults));
  for (size_t k = 0; k < total; ++k) {
    if (set[k]) continue;
    if (k < positional) {
      if (k + defaults < positional) return wrong();
      values[k] = known(*this, PyTuple_GET_ITEM(f->func_defaults, static_cast<Py_ssize_t>(k + defaults - positional)));
      continue;
    }
    PyObject* name = hl_local_name(code, static_cast<int>(k));
    PyObject* value = f->func_kwdefaults == nullptr ? nullptr : PyDict_GetItemWithError(f->func_kwdefaults, name);
    if (value == nullptr) {
      PyErr_Clear();
      return wrong();
    }
    values[k] = namespace_constant(f->func_kwdefaults, nullptr, name, value);
  }
  if (more) {
    values.push_back(make_tuple(given > positional ? std::vector<Sym>(args.begin() + static_cast<std::ptrdiff_t>(positional), args.end()) : std::vector<Sym>{}));
    values.back().box = new_box();
  }
  return values;
}

// The variable that a cell of a closure is: the live frame's own where it is one of its cells. One cell may be in several closures.
VarRef Recorder::closure_var(PyObject* cell, const ir::ClosureRef& ref) {
  auto found = std::find(cell_objects_.begin(), cell_objects_.end(), cell);
  auto number = static_cast<size_t>(found - cell_objects_.begin());
  if (found != cell_objects_.end()) {
    auto& refs = function_->cells[number].refs;
    bool there = std::any_of(refs.begin(), refs.end(), [&](const ir::ClosureRef& r) {
      return r.function == ref.function && r.input == ref.input && r.number == ref.number;
    });
    if (!there) refs.push_back(ref);
    return cell_vars_[number];
  }
  ir::ClosureCell made;
  made.refs.push_back(ref);
  VarRef var{VarRef::Where::kGlobal, 0, static_cast<int>(name_vars_.size())};
  for (int own = 0; own < hl_local_count(request_.code); ++own) {
    if (hl_local_kind(request_.code, own) == HL_LOCAL_FAST || hl_local_get(request_.frame, own) != cell) continue;
    made.local = static_cast<uint32_t>(own);
    var = {VarRef::Where::kLocal, 0, own};
  }
  function_->cells.push_back(std::move(made));
  cell_objects_.push_back(cell);
  cell_vars_.push_back(var);
  if (var.where == VarRef::Where::kLocal) return var;
  NameVar variable;
  variable.slot = {ir::SlotKind::kObjectCell, static_cast<uint32_t>(number)};
  variable.value = hl_cell_get(cell);
  variable.initial = entry_value(variable.slot, variable.value);
  name_vars_.push_back(std::move(variable));
  return var;
}

// Free variables of an inlined function.
Result<void> Recorder::bind_closure(const Callee& callee, FrameInfo* info) {
  PyObject* closure = as_function(callee.function)->func_closure;
  for (int k = 0; k < hl_local_count(info->code); ++k) {
    int kind = hl_local_kind(info->code, k);
    if (kind == HL_LOCAL_CELL) return refuse(RefusalReason::kUnsupportedCallee, callable_text(callee.function) + " has cell variables");
    if (kind != HL_LOCAL_FREE) continue;
    if (closure == nullptr) return refuse(RefusalReason::kUnsupportedCallee, callable_text(callee.function));
    ir::ClosureRef ref;
    ref.input = callee.input;
    if (callee.input == ir::kNone) ref.function = object(callee.function);
    ref.number = static_cast<uint32_t>(info->cells.size());
    info->cells.push_back(closure_var(PyTuple_GET_ITEM(closure, static_cast<Py_ssize_t>(ref.number)), ref));
  }
  return {};
}

Result<const FrameInfo*> Recorder::callee_info(State& state, const HlInstr& in, const Callee& callee) {
  PyObject* function = callee.function;
  PyFunctionObject* f = as_function(function);
  PyCodeObject* code = reinterpret_cast<PyCodeObject*>(f->func_code);
  std::string path = state.top().info->path + "/" + std::to_string(in.unit);
  for (const auto& known : infos_) {
    if (known->path == path && known->function == function && known->function_input == callee.input) return const_cast<const FrameInfo*>(known.get());
  }
  constexpr int kRefused = CO_VARKEYWORDS | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
  constexpr int kNeeded = CO_OPTIMIZED | CO_NEWLOCALS;
  if ((code->co_flags & kRefused) != 0 || (code->co_flags & kNeeded) != kNeeded) {
    return refuse(RefusalReason::kUnsupportedCallee, callable_text(function));
  }
  if (state.frames.size() > static_cast<size_t>(kMaxInlineDepth)) return refuse(RefusalReason::kTooDeep, callable_text(function));
  for (const FrameVals& frame : state.frames) {
    if (frame.info->code == code) return refuse(RefusalReason::kRecursion, callable_text(function));
  }
  auto map = code_map(code);
  if (!map) return map.refusal();
  auto part = Part::whole(*map);
  if (!part) return part.refusal();
  auto info = std::make_unique<FrameInfo>();
  info->code = code;
  info->function = function;
  info->globals = f->func_globals;
  info->builtins = f->func_builtins;
  info->part = *part;
  info->code_object = object(f->func_code);
  info->function_input = callee.input;
  if (callee.input == ir::kNone) info->function_object = object(function);
  info->call_unit = in.unit;
  info->return_unit = in.next_unit;
  info->path = path;
  auto bound = bind_closure(callee, info.get());
  if (!bound) return bound.refusal();
  infos_.push_back(std::move(info));
  return const_cast<const FrameInfo*>(infos_.back().get());
}

Result<Recorder::Step> Recorder::inline_call(State& state, const HlInstr& in, const Callee& callee, const std::vector<Sym>& args, PyObject* names,
                                             int drop) {
  PyObject* function = callee.function;
  auto info = callee_info(state, in, callee);
  if (!info) return info.refusal();
  auto values = bind_arguments(function, args, names);
  if (!values) return values.refusal();
  FrameVals frame;
  frame.info = *info;
  frame.locals.resize(static_cast<size_t>(hl_local_count((*info)->code)));
  std::move(values->begin(), values->end(), frame.locals.begin());
  guard_function(callee);
  State inner = state;
  inner.top().stack.resize(inner.top().stack.size() - static_cast<size_t>(drop));
  inner.frames.push_back(std::move(frame));
  const FrameInfo* caller = current_info_;
  ir::Block* block = builder_.block();
  size_t kept = block->ops.size();
  auto ways = run_from(std::move(inner), (*info)->part->entry());
  current_ = &state;
  current_info_ = caller;
  current_unit_ = in.unit;
  current_op_unit_ = in.op_unit;
  before_ = ir::kNoSnapshot;
  if (!ways) {
    // The caller may turn the refusal into an exit before the call: nothing of the call may remain.
    builder_.set_block(block);
    block->ops.resize(kept);
    return ways.refusal();
  }
  if (ways->empty()) return Step::kEnded;
  if (ways->size() != 1 || ways->front().place.block != kReturn) return refuse(RefusalReason::kIrreducibleFlow, callable_text(function));
  State after = std::move(ways->front().state);
  Sym result = after.top().stack.back();
  after.frames.pop_back();
  after.top().stack.push_back(std::move(result));
  state = std::move(after);
  return Step::kNext;
}

}  // namespace hotloop::tracer
