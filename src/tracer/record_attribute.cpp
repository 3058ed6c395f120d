// Attributes: of instances of ordinary classes (variables of the region), of classes and modules (constants), of numbers and arrays. See recorder.h.
//
// An instance that the region does not replace is an input; each of its attributes that the region uses is a variable like a module-level name:
// read at entry, kept in registers, written back by the exits that changed it. What the class says about the name is a constant, guarded by the
// version tag of the type. An attribute that the instance lacks is an unbound variable, so that methods and class attributes are found behind it.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/random.h"
#include "tracer/recorder.h"

namespace hotloop::tracer {

namespace {

std::string text_of(PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (text != nullptr) return text;
  PyErr_Clear();
  return "?";
}

std::string type_text(PyTypeObject* type) {
  std::string text = type->tp_name;
  size_t dot = text.rfind('.');
  return dot == std::string::npos ? text : text.substr(dot + 1);
}

bool is_static_method(PyObject* o) { return Py_TYPE(o) == &PyStaticMethod_Type; }
bool is_class_method(PyObject* o) { return Py_TYPE(o) == &PyClassMethod_Type; }

// Borrowed from the method object, which its class keeps; null: it is not there.
PyObject* wrapped_function(PyObject* method) {
  PyObject* function = PyObject_GetAttrString(method, "__func__");
  PyErr_Clear();
  Py_XDECREF(function);
  return function;
}

// The getter of a property; null: it has none, or is no plain property.
PyObject* getter_of(PyObject* property) {
  if (Py_TYPE(property) != &PyProperty_Type) return nullptr;
  PyObject* function = PyObject_GetAttrString(property, "fget");
  PyErr_Clear();
  Py_XDECREF(function);
  return function != nullptr && PyFunction_Check(function) ? function : nullptr;
}

bool is_number_kind(PyKind kind) { return is_py_number(kind) || is_np_scalar(kind); }

// A method of random.Random that is written in C: random, getrandbits.
bool is_random_method(PyObject* o) {
  if (Py_TYPE(o) != &PyMethodDescr_Type) return false;
  return std::string_view(reinterpret_cast<PyMethodDescrObject*>(o)->d_common.d_type->tp_name) == "_random.Random";
}

// Values in a class that may be taken as they are: nothing binds them, and keeping them alive keeps nothing else alive.
bool is_plain_constant(PyObject* value) {
  ir::ArrayType type;
  PyKind kind = classify(value, &type);
  if (kind == PyKind::Array || kind == PyKind::List) return false;
  if (PyTuple_CheckExact(value)) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(value); ++k) {
      if (!is_plain_constant(PyTuple_GET_ITEM(value, k))) return false;
    }
    return true;
  }
  if (kind != PyKind::Object) return true;
  return PyUnicode_CheckExact(value) || (Py_TYPE(value)->tp_descr_get == nullptr && (PyCFunction_Check(value) || PyType_Check(value) || is_known_callable(value)));
}

}  // namespace

void Recorder::push_attribute(State& state, const HlInstr& in, Sym value) {
  bool method = in.arg2 == 1;
  if (method && hl_call_null_first()) push(state, Sym{});
  push(state, std::move(value));
  if (method && !hl_call_null_first()) push(state, Sym{});
}

Result<Recorder::Step> Recorder::load_attribute(State& state, const HlInstr& in) {
  Sym o = peek(state, 1);
  PyObject* name = PyTuple_GET_ITEM(state.top().info->code->co_names, in.arg);
  if (PyObject* object = instance_object(o); object != nullptr && !runtime::knows_generator(Py_TYPE(object))) return load_from_instance(state, in, o, object);
  Result<Sym> value = Sym{};
  if (o.kind == PyKind::Const && PyModule_CheckExact(o.object)) {
    value = load_from_module(o.object, name);
  } else if (o.kind == PyKind::Const && PyType_Check(o.object)) {
    value = load_from_type(o, name);
  } else if (PyObject* method = in.arg2 != 1 ? nullptr : is_number_kind(o.kind) ? number_method(o, name) : object_method(o, name); method != nullptr) {
    // A method call: the descriptor and the object it is called on.
    state.top().stack.back() = known(*this, method);
    push(state, o);
    return Step::kNext;
  } else {
    value = attribute(*this, o, name);
  }
  if (!value) return value.refusal();
  pop(state);
  push_attribute(state, in, *value);
  return Step::kNext;
}

Result<Sym> Recorder::load_from_module(PyObject* module, PyObject* name) {
  PyObject* dict = PyModule_GetDict(module);
  PyObject* found = PyDict_GetItemWithError(dict, name);
  PyErr_Clear();
  if (found == nullptr) return refuse(RefusalReason::kUnsupportedAttribute, text_of(name));
  return namespace_constant(dict, nullptr, name, found);
}

// function bound to `self`, as an object of its own.
Sym Recorder::bound_method(PyObject* function, Sym self) {
  Sym s;
  s.kind = PyKind::Method;
  s.box = new_box();
  s.items = std::make_shared<std::vector<Sym>>(std::vector<Sym>{known(*this, function), std::move(self)});
  return s;
}

// ------------------------------------------------------------------------------------------------- classes

Result<uint32_t> Recorder::type_version(PyTypeObject* type) {
  uint32_t version = hl_type_version(type);
  if (version == 0) return refuse(RefusalReason::kUnsupportedAttribute, type_text(type) + " changes too often");
  return version;
}

Result<void> Recorder::guard_type(PyTypeObject* type) {
  auto version = type_version(type);
  if (!version) return version.refusal();
  ir::ObjectId id = object(reinterpret_cast<PyObject*>(type));
  for (const ir::TypeGuard& guard : function_->type_guards) {
    if (guard.type == id) return {};
  }
  function_->type_guards.push_back({id, *version});
  return {};
}

Result<Sym> Recorder::load_from_type(const Sym& o, PyObject* name) {
  auto* type = reinterpret_cast<PyTypeObject*>(o.object);
  auto no = [&] { return refuse(RefusalReason::kUnsupportedAttribute, type_text(type) + "." + text_of(name)); };
  if (Py_TYPE(o.object) != &PyType_Type || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || hl_type_lookup(&PyType_Type, name) != nullptr) return no();
  PyObject* found = hl_type_lookup(type, name);
  if (found == nullptr) return no();
  bool of_class = is_class_method(found);
  if (of_class || is_static_method(found)) found = wrapped_function(found);
  if (found == nullptr || (!PyFunction_Check(found) && (of_class || !is_plain_constant(found)))) return no();
  auto guarded = guard_type(type);
  if (!guarded) return guarded.refusal();
  return of_class ? bound_method(found, o) : known(*this, found);
}

// ------------------------------------------------------------------------------------------------- instances

// The object whose attributes are variables of the region, as it is now; null: `o` is no such thing.
PyObject* Recorder::instance_object(const Sym& o) const {
  PyObject* object = nullptr;
  if (o.kind == PyKind::Object && o.input != ir::kNone) {
    auto found = input_objects_.find(o.input);
    if (found != input_objects_.end()) object = found->second;
  } else if (o.kind == PyKind::Const) {
    object = o.object;
  }
  return object != nullptr && hl_type_is_plain(Py_TYPE(object)) ? object : nullptr;
}

// The number of the instance; a new one where it was not known yet. Several expressions may name one object.
Result<uint32_t> Recorder::instance_of(const Sym& o, PyObject* object) {
  uint32_t input = o.kind == PyKind::Object ? o.input : ir::kNone;
  auto all = std::find(instance_objects_.begin(), instance_objects_.end(), object);
  auto number = static_cast<uint32_t>(all - instance_objects_.begin());
  if (all == instance_objects_.end()) {
    PyTypeObject* type = Py_TYPE(object);
    auto version = type_version(type);
    if (!version) return version.refusal();
    PyObject* dict = hl_instance_dict(object);
    for (PyObject* other : instance_objects_) {
      if (dict != nullptr && hl_instance_dict(other) == dict) return refuse(RefusalReason::kUnsupportedAttribute, "one dictionary of two objects");
    }
    ir::Instance instance;
    instance.input = input;
    if (input == ir::kNone) instance.object = this->object(object);
    instance.type = function_->add_weak_object(type, type_text(type));
    instance.version = *version;
    function_->instances.push_back(instance);
    instance_objects_.push_back(object);
  }
  ir::Instance& instance = function_->instances[number];
  if (input != ir::kNone) {
    function_->inputs[input].instance = number;
  } else if (instance.object == ir::kNone) {
    instance.object = this->object(object);
  }
  return number;
}

int Recorder::find_attribute(uint32_t instance, PyObject* name) const {
  for (size_t k = 0; k < name_vars_.size(); ++k) {
    const NameVar& var = name_vars_[k];
    if (var.slot.kind != ir::SlotKind::kAttribute || function_->attributes[var.slot.index].instance != instance) continue;
    if (var.name == name || PyUnicode_Compare(var.name, name) == 0) return static_cast<int>(k);
  }
  return -1;
}

// The variable that the attribute is; offset: of its slot, 0 for none.
Result<int> Recorder::attribute_var(uint32_t instance, PyObject* name, uint32_t offset) {
  int known_already = find_attribute(instance, name);
  if (known_already >= 0) return known_already;
  PyObject* object = instance_objects_[instance];
  PyObject* value = nullptr;
  if (offset != 0) {
    value = *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
  } else {
    int hint = -1;
    if (hl_instance_get(object, name, &hint, &value) < 0) return refuse(RefusalReason::kUnsupportedAttribute, text_of(name));
  }
  NameVar var;
  var.name = name;
  var.slot = {ir::SlotKind::kAttribute, static_cast<uint32_t>(function_->attributes.size())};
  function_->attributes.push_back({instance, this->object(name), offset});
  var.value = value;
  var.initial = entry_value(var.slot, value);
  name_vars_.push_back(std::move(var));
  return static_cast<int>(name_vars_.size()) - 1;
}

// The number of the variable that a LOAD_ATTR would look at, if it is one already.
int Recorder::attribute_looked_into(const State& state, const HlInstr& in) const {
  const FrameVals& top = state.top();
  if (top.stack.empty()) return -1;
  PyObject* object = instance_object(top.stack.back());
  auto found = std::find(instance_objects_.begin(), instance_objects_.end(), object);
  if (object == nullptr || found == instance_objects_.end()) return -1;
  return find_attribute(static_cast<uint32_t>(found - instance_objects_.begin()), PyTuple_GET_ITEM(top.info->code->co_names, in.arg));
}

Result<Recorder::Step> Recorder::load_from_instance(State& state, const HlInstr& in, const Sym& o, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject* name = PyTuple_GET_ITEM(state.top().info->code->co_names, in.arg);
  auto no = [&] { return refuse(RefusalReason::kUnsupportedAttribute, type_text(type) + "." + text_of(name)); };
  PyObject* in_class = hl_type_lookup(type, name);
  uint32_t offset = in_class != nullptr ? hl_slot_offset(in_class) : 0;
  bool data_descriptor = in_class != nullptr && Py_TYPE(in_class)->tp_descr_set != nullptr;
  PyObject* getter = data_descriptor ? getter_of(in_class) : nullptr;
  if (data_descriptor && offset == 0 && (getter == nullptr || in.arg2 == 1)) return no();
  auto instance = instance_of(o, object);
  if (!instance) return instance.refusal();
  if (getter != nullptr) return inline_call(state, in, {getter}, {o}, nullptr, 1);
  auto var = attribute_var(*instance, name, offset);
  if (!var) return var.refusal();
  normalise(state);
  Sym value = state.globals[static_cast<size_t>(*var)];
  if (value.kind != PyKind::Unbound) {
    pop(state);
    push_attribute(state, in, std::move(value));
    return Step::kNext;
  }
  if (in_class == nullptr || offset != 0) return leave_here(ExitReason::Unsupported);  // the interpreter raises
  if (PyFunction_Check(in_class) || is_random_method(in_class)) {
    pop(state);
    if (in.arg2 != 1) {
      push(state, bound_method(in_class, o));
      return Step::kNext;
    }
    push(state, known(*this, in_class));
    push(state, o);
    return Step::kNext;
  }
  bool of_class = is_class_method(in_class);
  if (of_class || is_static_method(in_class)) in_class = wrapped_function(in_class);
  if (in_class == nullptr || (!PyFunction_Check(in_class) && (of_class || !is_plain_constant(in_class)))) return no();
  pop(state);
  push_attribute(state, in, of_class ? bound_method(in_class, known(*this, reinterpret_cast<PyObject*>(type))) : known(*this, in_class));
  return Step::kNext;
}

namespace {

// May dropping the value run Python code (a finalizer, a weak reference's callback)? Such values are dropped when the interpreter would.
bool has_finalizer(const Sym& s) {
  if ((s.kind == PyKind::Object || s.kind == PyKind::List || s.kind == PyKind::TupleObject) && !is_untouched(s)) return true;
  return s.items && s.object == nullptr && std::any_of(s.items->begin(), s.items->end(), has_finalizer);
}

}  // namespace

Result<Recorder::Step> Recorder::store_attribute(State& state, const HlInstr& in) {
  Sym o = peek(state, 1), value = peek(state, 2);
  PyObject* name = PyTuple_GET_ITEM(state.top().info->code->co_names, in.arg);
  PyObject* object = instance_object(o);
  if (object == nullptr) return refuse(RefusalReason::kUnsupportedAttribute, kind_text(o) + "." + text_of(name) + " = ...");
  PyTypeObject* type = Py_TYPE(object);
  auto no = [&] { return refuse(RefusalReason::kUnsupportedAttribute, type_text(type) + "." + text_of(name) + " = ..."); };
  PyObject* in_class = hl_type_lookup(type, name);
  uint32_t offset = in_class != nullptr ? hl_slot_offset(in_class) : 0;
  if (in_class != nullptr && offset == 0 && Py_TYPE(in_class)->tp_descr_set != nullptr) return no();
  if (offset == 0 && type->tp_dictoffset == 0) return no();  // the interpreter raises
  // Iterators live on the stack: as an object with another owner they would have two states.
  if (ir::is_iterator(value.kind) || value.kind == PyKind::Unbound) return no();
  auto instance = instance_of(o, object);
  if (!instance) return instance.refusal();
  auto var = attribute_var(*instance, name, offset);
  if (!var) return var.refusal();
  normalise(state);
  if (has_finalizer(state.globals[static_cast<size_t>(*var)])) return no();
  NameVar& variable = name_vars_[static_cast<size_t>(*var)];
  if (variable.initial.kind == PyKind::Unbound && offset == 0 && !variable.added) {
    // Attributes lie in the order in which they were added: one new one has no choice of place, two might come the other way round.
    for (const NameVar& other : name_vars_) {
      bool same = other.slot.kind == ir::SlotKind::kAttribute && function_->attributes[other.slot.index].instance == *instance;
      if (same && other.added) return refuse(RefusalReason::kUnsupportedAttribute, "new attributes " + text_of(other.name) + ", " + text_of(name));
    }
    variable.added = true;
  }
  pop(state);
  pop(state);
  state.globals[static_cast<size_t>(*var)] = std::move(value);
  return Step::kNext;
}

}  // namespace hotloop::tracer
