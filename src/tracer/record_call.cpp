// Calls: functions with a model, and plain Python functions, whose bodies are inlined. See recorder.h.
#include <algorithm>
#include <utility>

#include "tracer/recorder.h"

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
  int drop = in.arg + 2 + names_item;
  if (static_cast<size_t>(drop) > stack.size()) return refuse(RefusalReason::kObservationLost, "stack");
  Sym x = peek(state, drop), y = peek(state, drop - 1);
  std::vector<Sym> args;
  Sym callable = x, self = y;
  if (hl_call_null_first() && x.kind == PyKind::Unbound) {
    callable = y;
    self = Sym{};
  }
  if (self.kind != PyKind::Unbound) args.push_back(self);
  for (int k = in.arg; k >= 1; --k) args.push_back(peek(state, k + names_item));
  if (callable.object == nullptr) return refuse(RefusalReason::kUnsupportedCall, "a value of kind " + kind_text(callable));
  if (makes_iterator(callable.object)) {
    auto it = make_iterator(callable.object, args, names);
    if (!it) return it.refusal();
    pop_push(state, drop, *it);
    return Step::kNext;
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
  if (names == nullptr && is_list_append(callable.object, args)) return list_append(state, args, drop);
  if (!PyFunction_Check(callable.object)) return refuse(RefusalReason::kUnsupportedCall, callable_text(callable.object));
  return inline_call(state, in, callable.object, args, names, drop);
}

void Recorder::guard_function(PyObject* function) {
  PyFunctionObject* f = as_function(function);
  ir::FunctionGuard guard;
  guard.function = object(function);
  guard.code = object(f->func_code);
  if (f->func_defaults != nullptr) guard.defaults = object(f->func_defaults);
  if (f->func_kwdefaults != nullptr) guard.kwdefaults = object(f->func_kwdefaults);
  for (const ir::FunctionGuard& g : function_->function_guards) {
    if (g.function == guard.function) return;
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
  if (given > positional) return wrong();
  std::vector<Sym> values(total);
  std::vector<bool> set(total, false);
  for (size_t k = 0; k < given; ++k) {
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
  return values;
}

// Free variables of an inlined function: what its cells hold, read at entry.
Result<void> Recorder::bind_closure(PyObject* function, FrameVals* frame) {
  PyCodeObject* code = frame->info->code;
  PyObject* closure = as_function(function)->func_closure;
  int next = 0;
  for (int k = 0; k < hl_local_count(code); ++k) {
    int kind = hl_local_kind(code, k);
    if (kind == HL_LOCAL_CELL) return refuse(RefusalReason::kUnsupportedCallee, callable_text(function) + " has cell variables");
    if (kind != HL_LOCAL_FREE) continue;
    PyObject* cell = closure == nullptr ? nullptr : PyTuple_GET_ITEM(closure, next++);
    if (cell == nullptr) return refuse(RefusalReason::kUnsupportedCallee, callable_text(function));
    // A cell of the entry frame may be assigned in the region: not inlined then (its variable would have two homes).
    for (int own = 0; own < hl_local_count(request_.code); ++own) {
      if (hl_local_kind(request_.code, own) != HL_LOCAL_FAST && hl_local_get(request_.frame, own) == cell) {
        return refuse(RefusalReason::kSharedCell, callable_text(function));
      }
    }
    frame->locals[static_cast<size_t>(k)] = entry_value({ir::SlotKind::kObjectCell, object(cell)}, hl_cell_get(cell));
  }
  return {};
}

Result<const FrameInfo*> Recorder::callee_info(State& state, const HlInstr& in, PyObject* function) {
  PyFunctionObject* f = as_function(function);
  PyCodeObject* code = reinterpret_cast<PyCodeObject*>(f->func_code);
  std::string path = state.top().info->path + "/" + std::to_string(in.unit);
  for (const auto& known : infos_) {
    if (known->path == path && known->function == function) return const_cast<const FrameInfo*>(known.get());
  }
  constexpr int kRefused = CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
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
  info->function_object = object(function);
  info->call_unit = in.unit;
  info->return_unit = in.next_unit;
  info->path = path;
  infos_.push_back(std::move(info));
  return const_cast<const FrameInfo*>(infos_.back().get());
}

Result<Recorder::Step> Recorder::inline_call(State& state, const HlInstr& in, PyObject* function, const std::vector<Sym>& args, PyObject* names,
                                             int drop) {
  auto info = callee_info(state, in, function);
  if (!info) return info.refusal();
  auto values = bind_arguments(function, args, names);
  if (!values) return values.refusal();
  FrameVals frame;
  frame.info = *info;
  frame.locals.resize(static_cast<size_t>(hl_local_count((*info)->code)));
  std::move(values->begin(), values->end(), frame.locals.begin());
  auto bound = bind_closure(function, &frame);
  if (!bound) return bound.refusal();
  guard_function(function);
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
