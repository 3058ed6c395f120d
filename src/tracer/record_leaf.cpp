// Built-in operations on strings and sequences that make an object and run no Python code: slices, concatenation, formatting with %, conversions
// between text, numbers and sequences; and isinstance of what is known. See recorder.h, record_container.cpp.
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/numpy_import.h"
#include "tracer/recorder.h"
#include "tracer/semantics_common.h"
#include "tracer/semantics_text.h"

namespace hotloop::tracer {

using ir::ObjectCallId;
using ir::Type;

namespace {

bool is_sliceable(PyTypeObject* type) { return type == &PyList_Type || type == &PyTuple_Type || type == &PyUnicode_Type || type == &PyBytes_Type; }

// The class without a hook of its own for isinstance.
bool is_ordinary_class(PyObject* o) { return Py_TYPE(o) == &PyType_Type; }

// In how many places of the variables is the value of this identity?
int places_of(const State& state, uint32_t box) {
  int places = 0;
  auto visit = [&](auto&& self, const Sym& s) -> void {
    if (s.box == box && box != 0) ++places;
    if (!s.items) return;
    for (const Sym& item : *s.items) self(self, item);
  };
  for_each_value(state, [&](const Sym& s) { visit(visit, s); });
  return places;
}

}  // namespace

// A built-in function of this name.
bool Recorder::is_builtin_function(PyObject* callable, std::string_view name) {
  if (!PyCFunction_CheckExact(callable)) return false;
  PyObject* self = PyCFunction_GET_SELF(callable);
  if (self == nullptr || !PyModule_Check(self)) return false;
  const char* module = PyModule_GetName(self);
  if (module == nullptr) PyErr_Clear();
  return module != nullptr && std::string_view(module) == "builtins" && reinterpret_cast<PyCFunctionObject*>(callable)->m_ml->ml_name == name;
}

// A sequence of 1-D elements: what `a, b = row` takes apart.
Result<Recorder::Step> Recorder::unpack_elements(State& state, const HlInstr& in, const Sym& row) {
  auto length = sequence_length(*this, row);
  if (!length) return length.refusal();
  builder_.guard(builder_.binary(ir::OpCode::Eq, Type::I64, *length, builder_.const_i64(in.arg)), ExitReason::TypeChange, before());
  std::vector<Sym> items;
  for (int k = 0; k < in.arg; ++k) {
    auto item = item_at(*this, row, builder_.const_i64(k));
    if (!item) return item.refusal();
    items.push_back(*item);
  }
  pop(state);
  for (size_t k = items.size(); k-- > 0;) push(state, items[k]);
  return Step::kNext;
}

// The items of a tuple, all of them; of one that exists as an object the length is taken for what it was.
Result<std::vector<Sym>> Recorder::items_of(const Sym& tuple) {
  if (tuple.kind == PyKind::Tuple && tuple.items) return *tuple.items;
  PyObject* sample = tuple.kind == PyKind::TupleObject ? sample_of(tuple) : nullptr;
  if (sample == nullptr) return refuse(RefusalReason::kUnsupportedArguments, "*" + kind_text(tuple));
  const Py_ssize_t count = PyTuple_GET_SIZE(sample);
  builder_.guard(builder_.binary(ir::OpCode::Eq, Type::I64, object_length(*this, tuple), builder_.const_i64(count)), ExitReason::TypeChange, before());
  std::vector<Sym> items;
  for (Py_ssize_t k = 0; k < count; ++k) {
    auto item = sequence_item(*this, tuple, builder_.const_i64(k), PyTuple_GET_ITEM(sample, k));
    if (!item) return item.refusal();
    items.push_back(*item);
  }
  return items;
}

// f(a, b, *tuple): the instructions that put the arguments together, as one. False: they are others.
bool Recorder::build_spread(State& state, const HlInstr& in) {
  const auto at = instrs_behind(in.unit);
  if (at.size() < 3 || at[0].op != HL_LOAD_FAST || at[1].op != HL_LIST_EXTEND || at[1].arg != 1 || at[2].op != HL_LIST_TO_TUPLE) return false;
  auto local = load_local(state, at[0], at[0].arg);
  if (!local || (local->kind != PyKind::Tuple && local->kind != PyKind::TupleObject)) return false;
  auto more = items_of(*local);
  if (!more) return false;
  std::vector<Sym> items;
  for (int k = in.arg; k >= 1; --k) items.push_back(peek(state, k));
  items.insert(items.end(), more->begin(), more->end());
  Sym tuple = make_tuple(std::move(items));
  tuple.box = new_box();
  auto& stack = state.top().stack;
  stack.resize(stack.size() - static_cast<size_t>(in.arg));
  push(state, tuple);
  run_end_ = at[2].next_unit;
  return true;
}

// A tuple that is taken apart by an index that is not known must be an object.
Sym Recorder::indexable(State& state, const Sym& tuple, const Sym& index) {
  if (tuple.kind != PyKind::Tuple || !tuple.items || known_int(index) || (index.kind != PyKind::Int && index.kind != PyKind::Bool)) return tuple;
  ValueId object = known_pointer(tuple);
  if (object == ir::kNoValue) {
    CallOperands call;
    if (!add_value(state, call, tuple, true)) return tuple;
    object = call.cells[0];
  }
  Sym made;
  made.kind = PyKind::TupleObject;
  made.v[0] = builder_.as_type(object, this->object(reinterpret_cast<PyObject*>(&PyTuple_Type)), before());
  return made;
}

// Can tuple_pointer make an object of it? A tuple in another variable too must stay one object with it.
bool Recorder::is_tuple_form(const State& state, const Sym& s) const {
  if (s.kind == PyKind::TupleObject) return true;
  if (s.kind == PyKind::Either) return is_tuple_form(state, (*s.items)[0]) && is_tuple_form(state, (*s.items)[1]);
  if (s.kind != PyKind::Tuple || !s.items) return false;
  // Numbers that are, or must become, the objects of other variables would change those.
  auto shared_item = [&](const Sym& item) {
    if (!is_number(item.kind)) return true;
    if (item.object != nullptr || item.input != ir::kNone || (item.obj != ir::kNoValue && item.sure)) return false;
    auto is_item = [&](const SameIf& one) { return item.box != 0 && (one.a.box == item.box || one.b.box == item.box); };
    return item.obj != ir::kNoValue || std::any_of(state.same.begin(), state.same.end(), is_item) || item.box == 0 || places_of(state, item.box) > 1;
  };
  if (std::any_of(s.items->begin(), s.items->end(), shared_item)) return false;
  return s.sure || places_of(state, s.box) <= 1;
}

// REQUIRES is_tuple_form.
ValueId Recorder::tuple_pointer(State& state, const Sym& s) {
  if (s.kind == PyKind::TupleObject) return s.v[0];
  if (s.kind == PyKind::Tuple) {
    const ValueId pointer = known_pointer(s);
    if (pointer != ir::kNoValue) return pointer;
    CallOperands call;
    return add_value(state, call, s, false) ? call.cells[0] : ir::kNoValue;
  }
  ir::Block* parent = builder_.block();
  const Type types[] = {Type::Ptr};
  ir::Op* op = builder_.if_(s.v[0], types);
  bool good = true;
  for (size_t side = 0; side < 2; ++side) {
    builder_.set_block(op->blocks[side]);
    ValueId pointer = tuple_pointer(state, (*s.items)[side]);
    if (pointer == ir::kNoValue) {
      good = false;
      pointer = dummy(Type::Ptr);
    }
    builder_.yield({&pointer, 1});
  }
  builder_.set_block(parent);
  return good ? op->results[0] : ir::kNoValue;
}

// At a back edge to a loop that has a tuple as an object in this variable.
void Recorder::make_tuple_object(State& state, const VarRef& ref, ir::SnapshotId before) {
  const Sym s = at(state, ref);
  if (s.kind == PyKind::TupleObject || is_untouched(s) || !is_tuple_form(state, s)) return;
  const ir::SnapshotId kept = std::exchange(before_, before);
  const ValueId pointer = tuple_pointer(state, s);
  if (pointer != ir::kNoValue) {
    Sym made;
    made.kind = PyKind::TupleObject;
    made.v[0] = pointer;
    at(state, ref) = made;
  }
  before_ = kept;
}

// Every copy of the tuple is this object from here on.
void Recorder::adopt_tuple(State& state, uint32_t box, ValueId object) {
  for_each_value(state, [&](Sym& s) {
    if (box != 0 && s.kind == PyKind::Tuple && s.box == box && !s.sure) adopt(s, object);
  });
}

// c[start:stop] of an exact list, tuple, str or bytes.
Result<Recorder::Step> Recorder::slice(State& state, const HlInstr& in) {
  const Sym container = peek(state, 3), start = peek(state, 2), stop = peek(state, 1);
  auto no = [&] { return refuse(RefusalReason::kUnsupportedOpcode, "BINARY_SLICE of " + kind_text(container)); };
  const auto known_start = start.kind == PyKind::None_ ? std::optional<int64_t>(0) : known_int(start);
  const auto known_stop = stop.kind == PyKind::None_ ? std::optional<int64_t>(PY_SSIZE_T_MAX) : known_int(stop);
  if (container.kind == PyKind::Tuple && container.items && known_start && known_stop) {
    Py_ssize_t from = *known_start, to = *known_stop;
    const Py_ssize_t count = PySlice_AdjustIndices(static_cast<Py_ssize_t>(container.items->size()), &from, &to, 1);
    if (count == static_cast<Py_ssize_t>(container.items->size())) {  // the very same object
      pop_push(state, 3, container);
      return Step::kNext;
    }
    std::vector<Sym> items(container.items->begin() + from, container.items->begin() + from + count);
    Sym tuple = make_tuple(std::move(items));
    tuple.box = new_box();
    pop_push(state, 3, tuple);
    return Step::kNext;
  }
  PyTypeObject* type = object_type(container);
  auto is_bound = [](const Sym& s) { return s.kind == PyKind::None_ || s.kind == PyKind::Int; };
  if (type == nullptr || !is_sliceable(type) || container.kind == PyKind::Char || !is_bound(start) || !is_bound(stop)) return no();
  const ValueId operands[] = {pointer_as(container, type), start.kind == PyKind::Int ? start.v[0] : builder_.const_i64(0),
                              stop.kind == PyKind::Int ? stop.v[0] : builder_.const_i64(PY_SSIZE_T_MAX)};
  PyObject* sample = sample_of(container);
  return put_result(state, in, 3, emit_call(ObjectCallId::Slice, operands, 0, before()), sample);
}

// s = s + t: the interpreter lets the str grow where it is.
bool Recorder::grows(const State& state, const HlInstr& in, const Sym& s) const {
  if (in.arg2 == 1) return true;
  const auto at = instrs_behind(in.unit);
  if (at.empty()) return false;
  const bool fast = at[0].op == HL_STORE_FAST || at[0].op == HL_STORE_FAST_LOAD_FAST || at[0].op == HL_STORE_FAST_STORE_FAST;
  if (!fast) return at[0].op == HL_STORE_NAME || at[0].op == HL_STORE_DEREF;
  const Sym& old = state.top().locals[static_cast<size_t>(at[0].arg)];
  return is_untouched(old) || (old.v[0] == s.v[0] && old.object == s.object);
}

// Operators of strings, lists and tuples. Nothing: it is none of those.
Recorder::MaybeStep Recorder::object_operator(State& state, const HlInstr& in) {
  const Sym a = peek(state, 2), b = peek(state, 1);
  const auto op = static_cast<BinaryOp>(in.arg);
  PyTypeObject *left = object_type(a), *right = object_type(b);
  if (left == nullptr || !is_sliceable(left) || a.kind == PyKind::Char || b.kind == PyKind::Char) return std::nullopt;
  const bool in_place = left == &PyList_Type && in.arg2 == 1;  // += of a list changes it
  if (op == BinaryOp::kAdd && left == &PyUnicode_Type && grows(state, in, a)) return std::nullopt;
  if (op == BinaryOp::kAdd && right == left && !in_place) {
    const ValueId operands[] = {pointer_as(a, left), pointer_as(b, right)};
    PyObject* sample = sample_of(a);
    return put_result(state, in, 2, emit_call(ObjectCallId::Concat, operands, 0, before()), sample);
  }
  if (op == BinaryOp::kMultiply && b.kind == PyKind::Int && !in_place) {
    const ValueId operands[] = {pointer_as(a, left), b.v[0]};
    PyObject* sample = sample_of(a);
    return put_result(state, in, 2, emit_call(ObjectCallId::Repeat, operands, 0, before()), sample);
  }
  if (op == BinaryOp::kRemainder && (left == &PyUnicode_Type || left == &PyBytes_Type)) {
    auto plain = [&](const Sym& s) { return is_py_number(s.kind) || is_np_scalar(s.kind) || object_type(s) == &PyUnicode_Type || object_type(s) == &PyBytes_Type; };
    const bool tuple = b.kind == PyKind::Tuple && b.items && std::all_of(b.items->begin(), b.items->end(), plain);
    if (!tuple && !plain(b)) return std::nullopt;
    // What is taken for text must be text: a class may have a __str__.
    auto guard = [&](Sym& s) {
      if (s.kind == PyKind::Object) s.v[0] = pointer_as(s, object_type(s));
    };
    Sym value = b;
    guard(value);
    if (tuple) {
      value.items = std::make_shared<std::vector<Sym>>(*b.items);
      std::for_each(value.items->begin(), value.items->end(), guard);
    }
    CallOperands call;
    call.taken = 2;
    call.cells.push_back(pointer_as(a, left));
    if (!add_value(state, call, value, false)) return std::nullopt;
    PyObject* sample = sample_of(a);
    return put_result(state, in, 2, emit_call(ObjectCallId::Format, call.cells, call.kinds, before()), sample);
  }
  return std::nullopt;
}

// isinstance(x, cls), where both are known well enough to say it now.
Recorder::MaybeStep Recorder::call_isinstance(State& state, const std::vector<Sym>& args, int drop) {
  const Sym& x = args[0];
  PyTypeObject* type = x.kind == PyKind::Tuple ? &PyTuple_Type : runtime::kind_type(x.kind);
  if (x.kind == PyKind::None_) type = Py_TYPE(Py_None);
  if (x.kind == PyKind::Array) type = Py_TYPE(sample_of(x) != nullptr ? sample_of(x) : Py_None);
  if (x.kind == PyKind::Array && type == Py_TYPE(Py_None)) return std::nullopt;
  if (type == nullptr) {
    type = object_type(x);
    // An object of a class written in Python may say something else of itself (__class__).
    if (type == nullptr || (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) return std::nullopt;
    if (x.kind == PyKind::Object) pointer_as(x, type);
  }
  std::vector<PyObject*> classes;
  const Sym& cls = args[1];
  if (cls.object != nullptr && is_ordinary_class(cls.object)) {
    classes.push_back(cls.object);
  } else if (cls.kind == PyKind::Tuple && cls.items) {
    for (const Sym& item : *cls.items) {
      if (item.object == nullptr || !is_ordinary_class(item.object)) return std::nullopt;
      classes.push_back(item.object);
    }
  } else {
    return std::nullopt;
  }
  const bool is = std::any_of(classes.begin(), classes.end(), [&](PyObject* c) { return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(c)) != 0; });
  pop_push(state, drop, known(*this, is ? Py_True : Py_False));
  return Result<Step>(Step::kNext);
}

// Conversions: float("1.5"), int("7"), str(2.5), list(t), tuple(l), repr(x).
Recorder::MaybeStep Recorder::call_conversion(State& state, const HlInstr& in, PyObject* callable, const std::vector<Sym>& args, int drop) {
  if (is_builtin_function(callable, "isinstance") && args.size() == 2) return call_isinstance(state, args, drop);
  if (args.size() != 1) return std::nullopt;
  const Sym& x = args[0];
  PyTypeObject* type = object_type(x);
  const bool text = type == &PyUnicode_Type;
  const bool number = is_py_number(x.kind) || is_np_scalar(x.kind);
  const bool sequence = type == &PyList_Type || type == &PyTuple_Type || (x.kind == PyKind::Tuple && x.items);
  auto is = [&](PyTypeObject* wanted) { return callable == reinterpret_cast<PyObject*>(wanted); };
  const bool fits = ((is(&PyFloat_Type) || is(&PyLong_Type)) && text && x.kind != PyKind::Char) ||
                    ((is(&PyUnicode_Type) || is_builtin_function(callable, "repr")) && number) || ((is(&PyList_Type) || is(&PyTuple_Type)) && sequence);
  if (!fits) return std::nullopt;
  std::vector<Sym> guarded = args;
  if (x.kind == PyKind::Object) guarded[0].v[0] = pointer_as(x, type);
  if (is(&PyTuple_Type) && type == &PyTuple_Type) return std::nullopt;  // the very same object
  return call_leaf(state, in, ObjectCallId::CallLeaf, builder_.object(object(callable)), guarded, 0, ir::kNoValue, drop);
}

}  // namespace hotloop::tracer
