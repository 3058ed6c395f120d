// Random numbers, one at a time, and clocks: built-in functions and methods that object_call calls. See recorder.h, record_container.cpp.
//
// Promises: the same numbers in the same order from the same state as the interpreter's calls. What `random` does in Python (uniform, randint, gauss, ...) is
// inlined like any other function; here is what it builds on.
#include <algorithm>
#include <string_view>

#include "runtime/random.h"
#include "tracer/recorder.h"
#include "tracer/semantics_common.h"

namespace hotloop::tracer {

using ir::ObjectCallId;

namespace {

// Draws of a numpy.random.Generator that give a float, with up to so many arguments (more: how many to draw).
struct Draw {
  std::string_view name;
  size_t arguments;
};
constexpr Draw kFloatDraws[] = {{"normal", 2},      {"uniform", 2}, {"standard_normal", 0}, {"exponential", 1}, {"standard_exponential", 0}, {"random", 0},
                                {"lognormal", 2},   {"laplace", 2}, {"logistic", 2},        {"gumbel", 2},      {"gamma", 2},                {"beta", 2},
                                {"standard_cauchy", 0}};
constexpr std::string_view kClocks[] = {"perf_counter", "time", "monotonic", "process_time"};

bool is_random_base(PyTypeObject* type) { return std::string_view(type->tp_name) == "_random.Random"; }

}  // namespace

bool Recorder::is_draw(std::string_view method) {
  return method == "integers" || std::any_of(std::begin(kFloatDraws), std::end(kFloatDraws), [&](const Draw& draw) { return draw.name == method; });
}

// Random numbers and clocks.
Recorder::MaybeStep Recorder::call_draw(State& state, const HlInstr& in, PyObject* callable, const std::vector<Sym>& args, int drop) {
  const ValueId function = builder_.object(object(callable));
  if (PyCFunction_CheckExact(callable)) {  // random.random, time.perf_counter
    PyObject* self = PyCFunction_GET_SELF(callable);
    const std::string_view name = reinterpret_cast<PyCFunctionObject*>(callable)->m_ml->ml_name;
    const bool random = self != nullptr && PyType_IsSubtype(Py_TYPE(self), &PyBaseObject_Type) != 0 && Py_TYPE(self)->tp_base != nullptr &&
                        is_random_base(Py_TYPE(self)->tp_base);
    const bool clock = self != nullptr && PyModule_Check(self) && std::string_view(PyModule_GetName(self)) == "time" && std::find(std::begin(kClocks), std::end(kClocks), name) != std::end(kClocks);
    PyErr_Clear();
    if ((random && name == "random" && args.empty()) || (clock && args.empty())) {
      return call_leaf(state, in, ObjectCallId::CallFloat, function, args, 0, ir::kNoValue, drop);
    }
    if (random && name == "getrandbits" && args.size() == 1 && args[0].kind == PyKind::Int) {
      return call_leaf(state, in, ObjectCallId::CallLeaf, function, args, 0, ir::kNoValue, drop);
    }
    return std::nullopt;
  }
  if (Py_TYPE(callable) == &PyMethodDescr_Type && !args.empty()) {
    auto* descriptor = reinterpret_cast<PyMethodDescrObject*>(callable);
    const std::string_view name = descriptor->d_method->ml_name;
    if (!is_random_base(descriptor->d_common.d_type)) return std::nullopt;
    if (name == "random" && args.size() == 1) return call_leaf(state, in, ObjectCallId::CallFloat, function, args, 0, ir::kNoValue, drop);
    if (name == "getrandbits" && args.size() == 2 && args[1].kind == PyKind::Int) {
      return call_leaf(state, in, ObjectCallId::CallLeaf, function, args, 0, ir::kNoValue, drop);
    }
    return std::nullopt;
  }
  PyTypeObject* type = args.empty() ? nullptr : object_type(args[0]);
  if (type == nullptr || !runtime::knows_generator(type)) return std::nullopt;
  for (const auto& [name, most] : kFloatDraws) {
    PyObject* key = PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
    const bool found = key != nullptr && hl_type_lookup(type, key) == callable;
    Py_XDECREF(key);
    if (!found) continue;
    if (args.size() - 1 > most) return std::nullopt;
    const ValueId generator = pointer_as(args[0], type);
    for (size_t k = 1; k < args.size(); ++k) {
      if (!is_py_number(args[k].kind) || args[k].kind == PyKind::Complex) return std::nullopt;
    }
    if (name == "random") {
      const ValueId operands[] = {generator};
      const ValueId value = emit_call(ObjectCallId::NextDouble, operands, 0, before());
      pop_push(state, drop, make_sym(*this, PyKind::Float, value));
      return Result<Step>(Step::kNext);
    }
    return call_leaf(state, in, ObjectCallId::CallFloat, function, args, 1, generator, drop);
  }
  PyObject* key = PyUnicode_FromString("integers");
  const bool integers = key != nullptr && hl_type_lookup(type, key) == callable;
  Py_XDECREF(key);
  if (!integers || args.size() > 3) return std::nullopt;
  for (size_t k = 1; k < args.size(); ++k) {
    if (args[k].kind != PyKind::Int) return std::nullopt;
  }
  return call_leaf(state, in, ObjectCallId::CallLeaf, function, args, 1, pointer_as(args[0], type), drop);
}

}  // namespace hotloop::tracer
