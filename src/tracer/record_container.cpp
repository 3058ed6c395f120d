// Dictionaries, sets, lists and tuples that are made or changed, and built-in functions and methods that run no Python code: object_call. See recorder.h.
//
// An object is taken for what it was while recording, guarded by its exact type. What a call gives is looked at behind it, where the frame would have
// it on its stack, so that nothing is done twice.
#include <algorithm>
#include <string_view>

#include "runtime/box.h"
#include "runtime/random.h"
#include "tracer/recorder.h"
#include "tracer/semantics_common.h"

namespace hotloop::tracer {

using ir::ObjectCallId;
using ir::OpCode;
using ir::Type;

namespace {

// Built-in methods that leave nothing changed where they raise, of exact objects of the type, with numbers, strings, None or bools.
constexpr std::string_view kStrMethods[] = {
    "capitalize", "casefold", "center",  "count",   "encode",  "endswith",     "expandtabs",   "find",       "index",      "isalnum",  "isalpha",
    "isascii",    "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace",    "istitle",    "isupper",  "ljust",
    "lower",      "lstrip",   "partition", "removeprefix", "removesuffix", "replace", "rfind",  "rindex",     "rjust",      "rpartition", "rsplit",
    "rstrip",     "split",    "splitlines", "startswith", "strip",  "swapcase", "title",        "upper",      "zfill"};
constexpr std::string_view kBytesMethods[] = {"count", "endswith", "find", "hex", "index", "lower", "rfind", "startswith", "strip", "upper"};
constexpr std::string_view kListMethods[] = {"insert", "extend", "reverse", "copy"};

template <size_t N>
bool is_among(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The class that a method is of, and its name; null: it is no method written in C of such a class.
struct Method {
  PyTypeObject* type = nullptr;
  std::string_view name;
};

Method method_of(PyObject* callable) {
  if (Py_TYPE(callable) != &PyMethodDescr_Type) return {};
  auto* descriptor = reinterpret_cast<PyMethodDescrObject*>(callable);
  return {descriptor->d_common.d_type, descriptor->d_method->ml_name};
}

}  // namespace

// ------------------------------------------------------------------------------------------------- what is known

// An object that it was while recording; null: none was seen.
PyObject* Recorder::sample_of(const Sym& s) const {
  if (s.object != nullptr) return s.object;
  auto found = s.kind == PyKind::Object && s.input != ir::kNone ? input_objects_.find(s.input) : input_objects_.end();
  return found != input_objects_.end() ? found->second : s.sample;
}

// The exact type that a value of one of these kinds has, or had; null: it is a number, or was not seen.
PyTypeObject* Recorder::object_type(const Sym& s) const {
  switch (s.kind) {
    case PyKind::List: return &PyList_Type;
    case PyKind::TupleObject: return &PyTuple_Type;
    case PyKind::Str:
    case PyKind::Char: return &PyUnicode_Type;
    case PyKind::Bytes: return &PyBytes_Type;
    case PyKind::Const:
    case PyKind::Object: {
      PyObject* sample = sample_of(s);
      return sample != nullptr ? Py_TYPE(sample) : nullptr;
    }
    default: return nullptr;
  }
}

// The pointer of an object of this type, guarded to be one.
ValueId Recorder::pointer_as(const Sym& s, PyTypeObject* type) {
  const ValueId pointer = known_pointer(s);
  if (s.kind != PyKind::Object) return pointer;
  return builder_.as_type(pointer, object(reinterpret_cast<PyObject*>(type)), before());
}

// The instructions of the current code behind the one at the unit.
std::span<const HlInstr> Recorder::instrs_behind(int unit) const {
  const std::span<const HlInstr> instrs = current_info_->part->map().instrs();
  auto at = std::upper_bound(instrs.begin(), instrs.end(), unit, [](int one, const HlInstr& in) { return one < in.unit; });
  return instrs.subspan(static_cast<size_t>(at - instrs.begin()));
}

// What was seen on top of the stack behind the current instruction, as an object of that kind; null: nothing, or something else.
PyObject* Recorder::seen_result() {
  const CodeObservation* seen = request_.observations != nullptr && current_info_ != nullptr ? request_.observations->find(current_info_->code) : nullptr;
  if (seen == nullptr) return nullptr;
  const auto at = instrs_behind(current_unit_);
  if (at.empty()) return nullptr;
  const CodeObservation::Top top = seen->top(at[0].op_unit);
  PyObject* sample = nullptr;
  const int64_t zeros[3] = {0, 0, 0};
  if (is_number(top.kind)) sample = runtime::box(top.kind, zeros);
  if (top.kind == PyKind::None_) sample = Py_NewRef(Py_None);
  if (top.type == &PyList_Type) sample = PyList_New(0);
  if (top.type == &PyTuple_Type) sample = PyTuple_New(0);
  if (top.type == &PyDict_Type) sample = PyDict_New();
  if (top.type == &PySet_Type) sample = PySet_New(nullptr);
  if (top.type == &PyBytes_Type) sample = PyBytes_FromStringAndSize(nullptr, 0);
  if (top.type == &PyUnicode_Type) sample = PyUnicode_FromString("");
  if (sample == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  samples_.push_back(sample);
  return sample;
}

// ------------------------------------------------------------------------------------------------- operands

// Is the value in a variable, or elsewhere on the stack, too? Then the object that is made of it must become theirs.
bool Recorder::is_copied(const State& state, const Sym& value, size_t operands) const {
  if (value.box == 0) return false;
  auto has = [&](auto&& self, const Sym& s) -> bool {
    if (s.box == value.box) return true;
    return s.items && std::any_of(s.items->begin(), s.items->end(), [&](const Sym& item) { return self(self, item); });
  };
  for (size_t f = 0; f < state.frames.size(); ++f) {
    const FrameVals& frame = state.frames[f];
    const size_t depth = frame.stack.size() - (f + 1 == state.frames.size() ? operands : 0);
    for (const Sym& s : frame.locals) {
      if (has(has, s)) return true;
    }
    for (size_t k = 0; k < depth; ++k) {
      if (has(has, frame.stack[k])) return true;
    }
  }
  return std::any_of(state.globals.begin(), state.globals.end(), [&](const Sym& s) { return has(has, s); });
}

// Adds the value to the operands. As an object where it is one, or where `shared` says that it becomes one that the program can look at.
bool Recorder::add_value(State& state, CallOperands& call, const Sym& value, bool shared) {
  auto add_pointer = [&](ValueId pointer) {
    call.cells.push_back(pointer);
    call.add_kind(PyKind::Object);
    return true;
  };
  const ValueId pointer = known_pointer(value);
  if (pointer != ir::kNoValue) return add_pointer(pointer);
  if (value.kind == PyKind::Tuple && value.object == nullptr && value.items) {
    for (const auto& [box, made] : made_here_) {
      if (box == value.box && box != 0) return add_pointer(made);
    }
    CallOperands tuple;
    for (const Sym& item : *value.items) {
      if (!add_value(state, tuple, item, true)) return false;
    }
    if (!tuple.fits()) return false;
    const ValueId object = emit_call(ObjectCallId::MakeTuple, tuple.cells, tuple.kinds, before());
    if (shared) {
      adopt_tuple(state, value.box, object);
      made_here_.emplace_back(value.box, object);
    }
    return add_pointer(object);
  }
  if (!is_number(value.kind) && value.kind != PyKind::Char) return false;
  const bool has_object = value.obj != ir::kNoValue || is_copied(state, value, call.taken) || is_known_at_times(state, value);
  if (shared && value.kind != PyKind::Char && has_object) return add_pointer(object_of(state, value));
  for (int k = 0; k < ir::pykind_info(value.kind).parts; ++k) call.cells.push_back(value.v[k]);
  call.add_kind(value.kind);
  return call.fits();
}

ValueId Recorder::emit_call(ObjectCallId id, std::span<const ValueId> operands, int64_t kinds, ir::SnapshotId before) {
  ++kept_ops_;
  return builder_.object_call(id, operands, kinds, before);
}

// At a back edge: what was kept in the loop may go, but for what the variables are.
void Recorder::flush_kept(const State& state, const LoopContext& loop) {
  if (kept_ops_ == loop.kept_ops) return;
  std::vector<ValueId> retained;
  auto retain = [&](ValueId v) {
    const bool known = v == ir::kNoValue || input_values_.count(v) != 0 || std::find(retained.begin(), retained.end(), v) != retained.end();
    if (!known && function_->type_of(v) == Type::Ptr) retained.push_back(v);
  };
  auto visit = [&](auto&& self, const Sym& s) -> void {
    if (is_untouched(s)) return;
    retain(s.obj);
    for (ValueId v : s.v) retain(v);
    if (!s.items) return;
    for (const Sym& item : *s.items) self(self, item);
  };
  for_each_value(state, [&](const Sym& s) { visit(visit, s); });
  if (retained.size() <= ir::kMaxFlushCells) builder_.flush(retained);
}

// The object that a number is from here on: its own, or a new one that lives until the exit.
ValueId Recorder::object_of(State& state, Sym value) {
  for (const auto& [box, made] : made_here_) {
    if (box == value.box && box != 0) return made;
  }
  value.obj = pointer_of(state, value);
  const ir::SnapshotId before = this->before();
  auto make = [&] {
    CallOperands parts;
    for (int k = 0; k < ir::pykind_info(value.kind).parts; ++k) parts.cells.push_back(value.v[k]);
    parts.add_kind(value.kind);
    return emit_call(ObjectCallId::MakeObject, parts.cells, parts.kinds, before);
  };
  ValueId object = ir::kNoValue;
  if (value.obj == ir::kNoValue) {
    object = make();
  } else {
    ir::Block* parent = builder_.block();
    const Type types[] = {Type::Ptr};
    ir::Op* op = builder_.if_(builder_.binary(OpCode::Ne, Type::Ptr, value.obj, dummy(Type::Ptr)), types);
    builder_.set_block(op->blocks[0]);
    builder_.yield({&value.obj, 1});
    builder_.set_block(op->blocks[1]);
    const ValueId made = make();
    builder_.yield({&made, 1});
    builder_.set_block(parent);
    object = op->results[0];
  }
  has_become(state, value, object);
  made_here_.emplace_back(value.box, object);
  return object;
}

// Puts the result in place of `drop` stack items, and looks at it behind the instruction.
Result<Recorder::Step> Recorder::put_result(State& state, const HlInstr& in, int drop, ValueId pointer, PyObject* sample) {
  Sym result;
  result.kind = PyKind::Object;
  result.v[0] = pointer;
  pop_push(state, drop, result);
  current_unit_ = in.next_unit;
  before_ = ir::kNoSnapshot;
  if (sample == nullptr) return Step::kNext;
  auto value = object_value(*this, pointer, sample);
  if (!value) return value.refusal();
  state.top().stack.back() = *value;
  return Step::kNext;
}

// ------------------------------------------------------------------------------------------------- instructions

// c[k] of a dictionary.
Result<Recorder::Step> Recorder::load_key(State& state, const HlInstr& in) {
  const Sym dict = peek(state, 2), key = peek(state, 1);
  CallOperands call;
  call.taken = 2;
  call.cells.push_back(pointer_as(dict, &PyDict_Type));
  if (!add_value(state, call, key, false)) return refuse(RefusalReason::kUnsupportedType, "key of type " + kind_text(key));
  PyObject* sample = value_sample(dict);
  return put_result(state, in, 2, emit_call(ObjectCallId::DictGet, call.cells, call.kinds, before()), sample);
}

// What values of the dictionary are: as the result was seen to be, and one that it has where that is a container.
PyObject* Recorder::value_sample(const Sym& dict) {
  PyObject* seen = seen_result();
  PyObject* sample = sample_of(dict);
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  for (int k = 0; k < 16 && sample != nullptr && PyDict_CheckExact(sample) && PyDict_Next(sample, &at, &key, &value) != 0; ++k) {
    if (seen == nullptr || Py_TYPE(seen) == Py_TYPE(value)) return value;
  }
  return seen;
}

// c[k] = v of a dictionary.
Result<Recorder::Step> Recorder::store_key(State& state, const HlInstr&) {
  const Sym dict = peek(state, 2), key = peek(state, 1), value = peek(state, 3);
  auto no_value = [&] { return refuse(RefusalReason::kUnsupportedType, "store of " + kind_text(value) + " into a dict"); };
  CallOperands call, made;
  call.taken = made.taken = 3;
  const ValueId table = pointer_as(dict, &PyDict_Type);
  ValueId pointer = known_pointer(value);
  bool fresh = false;
  if (pointer == ir::kNoValue && is_number(value.kind) && value.obj == ir::kNoValue && !is_copied(state, value, 3) && !is_known_at_times(state, value)) {
    fresh = true;  // boxed last: the call takes over the reference
  } else if (pointer == ir::kNoValue) {
    if (!add_value(state, made, value, true)) return no_value();
    pointer = made.cells[0];
    if (made.kinds != static_cast<int64_t>(PyKind::Object)) pointer = emit_call(ObjectCallId::MakeObject, made.cells, made.kinds, before());
  }
  call.cells = {table, pointer};
  const bool same = key.box != 0 && key.box == value.box;
  if (!add_value(state, call, key, same || key.obj != ir::kNoValue || is_known_at_times(state, key))) return refuse(RefusalReason::kUnsupportedType, "key of type " + kind_text(key));
  auto& stack = state.top().stack;
  const ir::SnapshotId before = this->before();
  stack.resize(stack.size() - 3);
  const int64_t flags = (holds_borrowed(state) ? 0 : 2) | (fresh ? 1 : 0);
  if (fresh) call.cells[1] = builder_.box(value.kind, {value.v, static_cast<size_t>(ir::pykind_info(value.kind).parts)}, before);
  const ValueId object = emit_call(ObjectCallId::DictSet, call.cells, call.kinds | flags << ir::kObjectCallFlags, before);
  if (is_number(key.kind) && known_pointer(key) == ir::kNoValue && key.obj == ir::kNoValue) has_become(state, key, object);
  return Step::kNext;
}

// x in a dictionary or a set.
Recorder::MaybeStep Recorder::contains_key(State& state, const HlInstr& in) {
  const Sym container = peek(state, 1), x = peek(state, 2);
  PyTypeObject* type = object_type(container);
  if (type != &PyDict_Type && type != &PySet_Type && type != &PyFrozenSet_Type) return std::nullopt;
  if (container.kind == PyKind::Const && type == &PyFrozenSet_Type) return std::nullopt;  // compared one by one
  CallOperands call;
  call.taken = 2;
  call.cells.push_back(pointer_as(container, type));
  if (!add_value(state, call, x, false)) return refuse(RefusalReason::kUnsupportedType, "key of type " + kind_text(x));
  ValueId found = emit_call(type == &PyDict_Type ? ObjectCallId::DictHas : ObjectCallId::SetHas, call.cells, call.kinds, before());
  if (in.arg2 == 1) found = builder_.unary(OpCode::Not, Type::I1, found);
  pop_push(state, 2, make_bool(*this, found));
  return Result<Step>(Step::kNext);
}

// [a, b, c]
Result<Recorder::Step> Recorder::build_list(State& state, const HlInstr& in) {
  if (build_spread(state, in)) return Step::kNext;
  CallOperands call;
  call.taken = static_cast<size_t>(in.arg);
  PyObject* sample = PyList_New(0);
  if (sample == nullptr) PyErr_Clear();
  if (sample != nullptr) samples_.push_back(sample);
  for (int k = in.arg; k >= 1; --k) {
    const Sym item = peek(state, k);
    if (!add_value(state, call, item, true)) return refuse(RefusalReason::kUnsupportedType, "list of " + kind_text(item));
    if (PyObject* one = sample_of(item); one != nullptr && sample != nullptr && PyList_Append(sample, one) < 0) PyErr_Clear();
  }
  if (!call.fits() || sample == nullptr) return refuse(RefusalReason::kUnsupportedType, "list of many items");
  const ValueId list = emit_call(ObjectCallId::MakeList, call.cells, call.kinds, before());
  Sym s;
  s.kind = PyKind::List;
  s.v[0] = builder_.as_type(list, object(reinterpret_cast<PyObject*>(&PyList_Type)), before());
  s.sample = sample;
  pop_push(state, in.arg, s);
  return Step::kNext;
}

// The end of a comprehension's trip.
Result<Recorder::Step> Recorder::append_item(State& state, const HlInstr& in) {
  const Sym list = peek(state, in.arg + 1);
  if (list.kind != PyKind::List) return refuse(RefusalReason::kUnsupportedType, "append to " + kind_text(list));
  const Sym value = peek(state, 1);
  return append_to(state, list, value, 1, false);
}

// del c[k] of a list or a dictionary.
Result<Recorder::Step> Recorder::delete_item(State& state, const HlInstr&) {
  const Sym container = peek(state, 2), index = peek(state, 1);
  auto& stack = state.top().stack;
  if (container.kind == PyKind::List && (index.kind == PyKind::Int || index.kind == PyKind::Bool)) {
    const ValueId operands[] = {container.v[0], to_i64(*this, index)};
    emit_call(ObjectCallId::ListDelete, operands, 0, before());
    stack.resize(stack.size() - 2);
    return Step::kNext;
  }
  if (object_type(container) != &PyDict_Type) return refuse(RefusalReason::kUnsupportedOpcode, "DELETE_SUBSCR");
  CallOperands call;
  call.taken = 2;
  call.cells.push_back(pointer_as(container, &PyDict_Type));
  if (!add_value(state, call, index, false)) return refuse(RefusalReason::kUnsupportedType, "key of type " + kind_text(index));
  emit_call(ObjectCallId::DictPop, call.cells, call.kinds, before());
  stack.resize(stack.size() - 2);
  return Step::kNext;
}

// ------------------------------------------------------------------------------------------------- calls

// The method descriptor that `o.name` finds in the built-in type that the object had while recording, if its calls are compiled; else null.
PyObject* Recorder::object_method(const Sym& o, PyObject* name) {
  PyTypeObject* type = object_type(o);
  const char* text = PyUnicode_AsUTF8(name);
  if (text == nullptr) PyErr_Clear();
  if (type == nullptr || text == nullptr) return nullptr;
  if (o.kind == PyKind::Const && PyType_Check(o.object)) return nullptr;
  const bool numpy = runtime::knows_generator(type);
  const bool builtin = type == &PyDict_Type || type == &PySet_Type || type == &PyFrozenSet_Type || type == &PyList_Type || type == &PyUnicode_Type ||
                       type == &PyBytes_Type;
  if (!numpy && !builtin) return nullptr;
  PyObject* method = hl_type_lookup(type, name);
  if (method == nullptr) return nullptr;
  if (numpy) return is_draw(text) ? method : nullptr;
  return Py_TYPE(method) == &PyMethodDescr_Type ? method : nullptr;
}

Result<Recorder::Step> Recorder::call_leaf(State& state, const HlInstr& in, ObjectCallId id, ValueId callable, const std::vector<Sym>& args, size_t first,
                                           ValueId self, int drop) {
  CallOperands call;
  call.taken = static_cast<size_t>(drop);
  call.cells.push_back(callable);
  if (self != ir::kNoValue) {
    call.cells.push_back(self);
    call.add_kind(PyKind::Object);
  }
  for (size_t k = first; k < args.size(); ++k) {
    if (!add_value(state, call, args[k], true)) return refuse(RefusalReason::kUnsupportedType, "argument of type " + kind_text(args[k]));
  }
  if (!call.fits()) return refuse(RefusalReason::kUnsupportedArguments, "many arguments");
  PyObject* sample = seen_result();
  const ValueId result = emit_call(id, call.cells, call.kinds, before());
  if (id != ObjectCallId::CallFloat) return put_result(state, in, drop, result, sample);
  pop_push(state, drop, make_sym(*this, PyKind::Float, result));
  return Step::kNext;
}

// A call of a built-in function or method that object_call can do. Nothing: it is none.
Recorder::MaybeStep Recorder::call_object(State& state, const HlInstr& in, PyObject* callable, const std::vector<Sym>& args, int drop) {
  const Method method = method_of(callable);
  if (method.type == &PyDict_Type && !args.empty()) return call_dict(state, in, method.name, args, drop);
  if ((method.type == &PySet_Type || method.type == &PyFrozenSet_Type) && args.size() == 2) return call_set(state, method.name, args, drop);
  if (method.type == &PyList_Type && !args.empty()) return call_list(state, in, callable, method.name, args, drop);
  const bool text = (method.type == &PyUnicode_Type && is_among(method.name, kStrMethods)) || (method.type == &PyBytes_Type && is_among(method.name, kBytesMethods));
  if (text && !args.empty()) {
    if (object_type(args[0]) != method.type) return std::nullopt;
    for (const Sym& arg : args) {
      PyTypeObject* type = object_type(arg);
      const bool plain = is_py_number(arg.kind) || arg.kind == PyKind::None_ || type == &PyUnicode_Type || type == &PyBytes_Type;
      if (!plain) return std::nullopt;
    }
    std::vector<Sym> guarded = args;
    for (Sym& arg : guarded) {
      if (arg.kind == PyKind::Object) arg.v[0] = pointer_as(arg, object_type(arg));
    }
    return call_leaf(state, in, ObjectCallId::CallLeaf, builder_.object(object(callable)), guarded, 0, ir::kNoValue, drop);
  }
  if (is_builtin_function(callable, "len") && args.size() == 1) return call_len(state, args[0], drop);
  if (auto done = call_conversion(state, in, callable, args, drop)) return done;
  return call_draw(state, in, callable, args, drop);
}

Recorder::MaybeStep Recorder::call_dict(State& state, const HlInstr& in, std::string_view name, const std::vector<Sym>& args, int drop) {
  if (object_type(args[0]) != &PyDict_Type) return std::nullopt;
  if (name == "get" && (args.size() == 2 || args.size() == 3)) {
    CallOperands call;
    call.taken = static_cast<size_t>(drop);
    call.cells.push_back(pointer_as(args[0], &PyDict_Type));
    if (!add_value(state, call, args[1], false)) return refuse(RefusalReason::kUnsupportedType, "key of type " + kind_text(args[1]));
    const int64_t kinds = call.kinds;
    const Sym otherwise = args.size() == 3 ? args[2] : known(*this, Py_None);
    CallOperands made;
    made.taken = call.taken;
    if (!add_value(state, made, otherwise, true)) return refuse(RefusalReason::kUnsupportedType, "default of type " + kind_text(otherwise));
    ValueId pointer = made.cells[0];
    if (made.kinds != static_cast<int64_t>(PyKind::Object)) pointer = emit_call(ObjectCallId::MakeObject, made.cells, made.kinds, before());
    call.cells.push_back(pointer);
    PyObject* sample = seen_result();
    return put_result(state, in, drop, emit_call(ObjectCallId::DictGetOr, call.cells, kinds, before()), sample);
  }
  if (name == "pop" && args.size() == 2) {
    CallOperands call;
    call.taken = static_cast<size_t>(drop);
    call.cells.push_back(pointer_as(args[0], &PyDict_Type));
    if (!add_value(state, call, args[1], false)) return refuse(RefusalReason::kUnsupportedType, "key of type " + kind_text(args[1]));
    PyObject* sample = value_sample(args[0]);
    return put_result(state, in, drop, emit_call(ObjectCallId::DictPop, call.cells, call.kinds, before()), sample);
  }
  return std::nullopt;
}

Recorder::MaybeStep Recorder::call_set(State& state, std::string_view name, const std::vector<Sym>& args, int drop) {
  PyTypeObject* type = object_type(args[0]);
  const bool add = name == "add", discard = name == "discard";
  if (type != &PySet_Type || (!add && !discard)) return std::nullopt;
  CallOperands call;
  call.taken = static_cast<size_t>(drop);
  call.cells.push_back(pointer_as(args[0], type));
  if (!add_value(state, call, args[1], args[1].obj != ir::kNoValue || is_known_at_times(state, args[1]))) return refuse(RefusalReason::kUnsupportedType, "key of type " + kind_text(args[1]));
  const ir::SnapshotId before = this->before();
  pop_push(state, drop, known(*this, Py_None));
  const ValueId result = emit_call(add ? ObjectCallId::SetAdd : ObjectCallId::SetDiscard, call.cells, call.kinds, before);
  if (add && is_number(args[1].kind) && known_pointer(args[1]) == ir::kNoValue && args[1].obj == ir::kNoValue) has_become(state, args[1], result);
  return Result<Step>(Step::kNext);
}

Recorder::MaybeStep Recorder::call_list(State& state, const HlInstr& in, PyObject* callable, std::string_view name,
                                                          const std::vector<Sym>& args, int drop) {
  if (args[0].kind != PyKind::List) return std::nullopt;
  if (name == "append" && args.size() == 2) return append_to(state, args[0], args[1], drop, true);
  if (name == "pop" && args.size() <= 2) {
    const bool last = args.size() == 1;
    if (!last && args[1].kind != PyKind::Int && args[1].kind != PyKind::Bool) return std::nullopt;
    const ValueId index = last ? builder_.const_i64(-1) : to_i64(*this, args[1]);
    PyObject* sample = item_sample(args[0]);
    const ValueId operands[] = {args[0].v[0], index};
    return put_result(state, in, drop, emit_call(ObjectCallId::ListPop, operands, 0, before()), sample);
  }
  if (!is_among(name, kListMethods)) return std::nullopt;
  const bool fits = name == "insert" ? args.size() == 3 && (args[1].kind == PyKind::Int || args[1].kind == PyKind::Bool)
                                     : args.size() == (name == "extend" ? 2 : 1);
  if (!fits || (name == "extend" && !is_sequence_object(args[1].kind))) return std::nullopt;
  return call_leaf(state, in, ObjectCallId::CallLeaf, builder_.object(object(callable)), args, 0, ir::kNoValue, drop);
}

// What an item of the list is: as the result was seen to be, and one that the list has where it is alike.
PyObject* Recorder::item_sample(const Sym& list) {
  PyObject* seen = seen_result();
  PyObject* one = sample_item(list, -1);
  return one != nullptr && (seen == nullptr || Py_TYPE(one) == Py_TYPE(seen)) ? one : seen;
}

Recorder::MaybeStep Recorder::call_len(State& state, const Sym& container, int drop) {
  PyTypeObject* type = object_type(container);
  if (container.kind == PyKind::Const || (type != &PyDict_Type && type != &PySet_Type && type != &PyFrozenSet_Type)) return std::nullopt;
  const ValueId operands[] = {pointer_as(container, type)};
  const ObjectCallId id = type == &PyDict_Type ? ObjectCallId::DictLen : ObjectCallId::SetLen;
  const ValueId length = emit_call(id, operands, 0, before());
  pop_push(state, drop, make_sym(*this, PyKind::Int, length));
  return Result<Step>(Step::kNext);
}

}  // namespace hotloop::tracer
