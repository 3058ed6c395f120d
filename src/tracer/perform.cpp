// See perform.h. Operands stay on the stack until the instruction has succeeded, so that an exception finds them where the interpreter has them.
#include "tracer/perform.h"

#include <alloca.h>

namespace hotloop::tracer {
namespace {

struct Stack {
  HlFrame* frame;
  int depth;
  explicit Stack(HlFrame* f) : frame(f), depth(hl_stack_depth(f)) {}
  PyObject* top(int k) const { return hl_stack_peek(frame, depth - k); }  // 1 = the top
};

Done push(HlFrame* frame, PyObject* owned) {
  hl_stack_push(frame, owned);
  return Done::kGood;
}

// Takes `count` items off, puts `result` there unless it is null, then drops them, the lowest first.
void exchange(HlFrame* frame, int count, PyObject* result) {
  auto** old = static_cast<PyObject**>(alloca(sizeof(PyObject*) * static_cast<size_t>(count + 1)));
  for (int k = count; k-- > 0;) old[k] = hl_stack_pop(frame);
  if (result != nullptr) hl_stack_push(frame, result);
  for (int k = 0; k < count; ++k) Py_XDECREF(old[k]);
}

// The operands make way for the result (owned; null: it raised).
Done replace(HlFrame* frame, int count, PyObject* result) {
  if (result == nullptr) return Done::kRaised;
  exchange(frame, count, result);
  return Done::kGood;
}

Done drop(HlFrame* frame, int count, bool good = true) {
  if (!good) return Done::kRaised;
  exchange(frame, count, nullptr);
  return Done::kGood;
}

PyObject* name_of(PyCodeObject* code, int index) { return PyTuple_GET_ITEM(code->co_names, index); }

// ------------------------------------------------------------------------------------------------- locals and names

Done push_local(HlFrame* frame, int index) {
  hl_stack_push(frame, Py_NewRef(hl_local_get(frame, index)));
  return Done::kGood;
}

Done store_local(HlFrame* frame, int index) {
  PyObject* value = hl_stack_pop(frame);
  Py_XDECREF(hl_local_swap(frame, index, value));
  return Done::kGood;
}

Done do_local(HlFrame* frame, const HlInstr& in) {
  switch (in.op) {
    case HL_LOAD_FAST:
    case HL_LOAD_FAST_CHECK:
      if (hl_local_get(frame, in.arg) == nullptr) return Done::kLeave;
      return push_local(frame, in.arg);
    case HL_LOAD_FAST_LOAD_FAST:
      if (hl_local_get(frame, in.arg) == nullptr || hl_local_get(frame, in.arg2) == nullptr) return Done::kLeave;
      push_local(frame, in.arg);
      return push_local(frame, in.arg2);
    case HL_STORE_FAST: return store_local(frame, in.arg);
    case HL_STORE_FAST_LOAD_FAST:
      if (in.arg != in.arg2 && hl_local_get(frame, in.arg2) == nullptr) return Done::kLeave;
      store_local(frame, in.arg);
      return push_local(frame, in.arg2);
    case HL_STORE_FAST_STORE_FAST:
      store_local(frame, in.arg);
      return store_local(frame, in.arg2);
    default: {  // DELETE_FAST
      if (hl_local_get(frame, in.arg) == nullptr) return Done::kLeave;
      PyObject* old = hl_local_swap(frame, in.arg, nullptr);
      Py_DECREF(old);
      return Done::kGood;
    }
  }
}

// Only plain dictionaries; a name that is missing is the interpreter's to complain about.
PyObject* find_name(HlFrame* frame, PyObject* name, bool in_locals) {
  PyObject* spaces[3] = {in_locals ? hl_frame_locals(frame) : nullptr, hl_frame_globals(frame), hl_frame_builtins(frame)};
  if (in_locals && spaces[0] == nullptr) return nullptr;
  for (PyObject* space : spaces) {
    if (space == nullptr) continue;
    if (!PyDict_CheckExact(space)) return nullptr;
    PyObject* found = PyDict_GetItemWithError(space, name);
    if (found != nullptr) return found;
    PyErr_Clear();
  }
  return nullptr;
}

Done do_name(HlFrame* frame, PyCodeObject* code, const HlInstr& in) {
  switch (in.op) {
    case HL_LOAD_GLOBAL:
    case HL_LOAD_NAME: {
      PyObject* found = find_name(frame, name_of(code, in.arg), in.op == HL_LOAD_NAME);
      if (found == nullptr) return Done::kLeave;
      Py_INCREF(found);
      const bool with_null = in.op == HL_LOAD_GLOBAL && in.arg2 == 1;
      if (with_null && hl_call_null_first()) hl_stack_push(frame, nullptr);
      hl_stack_push(frame, found);
      if (with_null && !hl_call_null_first()) hl_stack_push(frame, nullptr);
      return Done::kGood;
    }
    case HL_STORE_GLOBAL:
    case HL_STORE_NAME: {
      PyObject* space = in.op == HL_STORE_GLOBAL ? hl_frame_globals(frame) : hl_frame_locals(frame);
      if (space == nullptr || !PyDict_CheckExact(space)) return Done::kLeave;
      return drop(frame, 1, PyDict_SetItem(space, name_of(code, in.arg), Stack(frame).top(1)) == 0);
    }
    case HL_LOAD_DEREF: {
      PyObject* cell = hl_local_get(frame, in.arg);
      PyObject* value = cell != nullptr && PyCell_Check(cell) ? hl_cell_get(cell) : nullptr;
      return value == nullptr ? Done::kLeave : push(frame, Py_NewRef(value));
    }
    default: {  // STORE_DEREF
      PyObject* cell = hl_local_get(frame, in.arg);
      if (cell == nullptr || !PyCell_Check(cell)) return Done::kLeave;
      PyObject* value = hl_stack_pop(frame);
      Py_XDECREF(hl_cell_swap(cell, value));
      return Done::kGood;
    }
  }
}

Done do_stack(HlFrame* frame, PyCodeObject* code, const HlInstr& in) {
  Stack stack(frame);
  switch (in.op) {
    case HL_LOAD_CONST: return push(frame, Py_NewRef(PyTuple_GET_ITEM(code->co_consts, in.arg)));
    case HL_POP_TOP: return drop(frame, 1);
    case HL_PUSH_NULL: return push(frame, nullptr);
    case HL_COPY: return push(frame, Py_XNewRef(stack.top(in.arg)));
    case HL_SWAP: {
      auto** items = static_cast<PyObject**>(alloca(sizeof(PyObject*) * static_cast<size_t>(in.arg + 1)));
      for (int k = in.arg; k-- > 0;) items[k] = hl_stack_pop(frame);
      PyObject* top = items[in.arg - 1];
      items[in.arg - 1] = items[0];
      items[0] = top;
      for (int k = 0; k < in.arg; ++k) hl_stack_push(frame, items[k]);
      return Done::kGood;
    }
    default: return Done::kGood;  // NOP
  }
}

// ------------------------------------------------------------------------------------------------- operators

using BinaryFunction = PyObject* (*)(PyObject*, PyObject*);
PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }
PyObject* power_in_place(PyObject* a, PyObject* b) { return PyNumber_InPlacePower(a, b, Py_None); }

// By NB_ number (opcode.h).
const BinaryFunction kBinary[13] = {PyNumber_Add,      PyNumber_And,    PyNumber_FloorDivide, PyNumber_Lshift, PyNumber_MatrixMultiply,
                                    PyNumber_Multiply, PyNumber_Remainder, PyNumber_Or,       power,           PyNumber_Rshift,
                                    PyNumber_Subtract, PyNumber_TrueDivide, PyNumber_Xor};
const BinaryFunction kInPlace[13] = {
    PyNumber_InPlaceAdd,      PyNumber_InPlaceAnd,       PyNumber_InPlaceFloorDivide, PyNumber_InPlaceLshift, PyNumber_InPlaceMatrixMultiply,
    PyNumber_InPlaceMultiply, PyNumber_InPlaceRemainder, PyNumber_InPlaceOr,          power_in_place,         PyNumber_InPlaceRshift,
    PyNumber_InPlaceSubtract, PyNumber_InPlaceTrueDivide, PyNumber_InPlaceXor};

// s = s + t of strings grows s where it lies, if nobody else has it: the interpreter does so too, and loops rely on its speed.
Done append_text(HlFrame* frame, int local) {
  PyObject* added = hl_stack_pop(frame);
  PyObject* text = hl_stack_pop(frame);
  Py_DECREF(hl_local_swap(frame, local, nullptr));  // the same object
  PyUnicode_Append(&text, added);
  Py_DECREF(added);
  if (text == nullptr) return Done::kRaised;
  hl_stack_push(frame, text);
  return Done::kGood;
}

Done do_binary(HlFrame* frame, const HlInstr& in, const HlInstr* next) {
  Stack stack(frame);
  PyObject *a = stack.top(2), *b = stack.top(1);
  if (in.arg == 0 && next != nullptr && next->op == HL_STORE_FAST && PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b) &&
      hl_local_get(frame, next->arg) == a) {
    return append_text(frame, next->arg);
  }
  return replace(frame, 2, (in.arg2 == 1 ? kInPlace : kBinary)[in.arg](a, b));
}

PyObject* truth(int found, bool negated) { return found < 0 ? nullptr : PyBool_FromLong((found != 0) != negated); }

// The truth of an object that was made here; takes it over.
PyObject* truth_of(PyObject* owned) {
  if (owned == nullptr) return nullptr;
  PyObject* result = truth(PyObject_IsTrue(owned), false);
  Py_DECREF(owned);
  return result;
}

Done do_operator(HlFrame* frame, const HlInstr& in) {
  Stack stack(frame);
  PyObject* top = stack.top(1);
  switch (in.op) {
    case HL_UNARY_NEGATIVE: return replace(frame, 1, PyNumber_Negative(top));
    case HL_UNARY_POSITIVE: return replace(frame, 1, PyNumber_Positive(top));
    case HL_UNARY_INVERT: return replace(frame, 1, PyNumber_Invert(top));
    case HL_UNARY_NOT: return replace(frame, 1, truth(PyObject_IsTrue(top), true));
    case HL_TO_BOOL: return replace(frame, 1, truth(PyObject_IsTrue(top), false));
    case HL_IS: return replace(frame, 2, truth(stack.top(2) == top, in.arg2 == 1));
    case HL_CONTAINS: return replace(frame, 2, truth(PySequence_Contains(top, stack.top(2)), in.arg2 == 1));
    case HL_LIST_TO_TUPLE: return replace(frame, 1, PyList_AsTuple(top));
    case HL_GET_ITER: return replace(frame, 1, PyObject_GetIter(top));
    default: {  // COMPARE
      PyObject* result = PyObject_RichCompare(stack.top(2), top, in.arg);
      return replace(frame, 2, in.arg2 == 1 ? truth_of(result) : result);
    }
  }
}

// ------------------------------------------------------------------------------------------------- subscripts, attributes

// container[start:stop], or a store into it.
Done do_slice(HlFrame* frame, const HlInstr& in) {
  Stack stack(frame);
  PyObject* slice = PySlice_New(stack.top(2), stack.top(1), nullptr);
  if (slice == nullptr) return Done::kRaised;
  if (in.op == HL_BINARY_SLICE) {
    PyObject* result = PyObject_GetItem(stack.top(3), slice);
    Py_DECREF(slice);
    return replace(frame, 3, result);
  }
  const int status = PyObject_SetItem(stack.top(3), slice, stack.top(4));
  Py_DECREF(slice);
  return drop(frame, 4, status == 0);
}

Done do_item(HlFrame* frame, const HlInstr& in) {
  Stack stack(frame);
  switch (in.op) {
    case HL_SUBSCR: return replace(frame, 2, PyObject_GetItem(stack.top(2), stack.top(1)));
    case HL_STORE_SUBSCR: return drop(frame, 3, PyObject_SetItem(stack.top(2), stack.top(1), stack.top(3)) == 0);
    case HL_DELETE_SUBSCR: return drop(frame, 2, PyObject_DelItem(stack.top(2), stack.top(1)) == 0);
    case HL_BUILD_SLICE:
      return in.arg == 3 ? replace(frame, 3, PySlice_New(stack.top(3), stack.top(2), stack.top(1)))
                         : replace(frame, 2, PySlice_New(stack.top(2), stack.top(1), nullptr));
    default: return do_slice(frame, in);
  }
}

// The plain method of a class whose instances find it there and nowhere else: called with its object, no bound method is made. Borrowed.
PyObject* plain_method(PyObject* o, PyObject* name) {
  PyTypeObject* type = Py_TYPE(o);
  if (type->tp_getattro != PyObject_GenericGetAttr || type->tp_dictoffset != 0 || (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) != 0) return nullptr;
  PyObject* found = hl_type_lookup(type, name);
  return found != nullptr && (Py_TYPE(found)->tp_flags & Py_TPFLAGS_METHOD_DESCRIPTOR) != 0 ? found : nullptr;
}

Done do_attribute(HlFrame* frame, PyCodeObject* code, const HlInstr& in) {
  Stack stack(frame);
  PyObject *name = name_of(code, in.arg), *o = stack.top(1);
  if (in.op == HL_STORE_ATTR) return drop(frame, 2, PyObject_SetAttr(o, name, stack.top(2)) == 0);
  if (in.op == HL_DELETE_ATTR) return drop(frame, 1, PyObject_SetAttr(o, name, nullptr) == 0);
  if (in.arg2 != 1) return replace(frame, 1, PyObject_GetAttr(o, name));
  if (PyObject* method = plain_method(o, name)) {
    hl_stack_pop(frame);
    hl_stack_push(frame, Py_NewRef(method));
    hl_stack_push(frame, o);
    return Done::kGood;
  }
  PyObject* value = PyObject_GetAttr(o, name);
  if (value == nullptr) return Done::kRaised;
  hl_stack_pop(frame);
  if (hl_call_null_first()) hl_stack_push(frame, nullptr);
  hl_stack_push(frame, value);
  if (!hl_call_null_first()) hl_stack_push(frame, nullptr);
  Py_DECREF(o);
  return Done::kGood;
}

// ------------------------------------------------------------------------------------------------- calls

Done do_call(HlFrame* frame, PyCodeObject* code, const HlInstr& in) {
  Stack stack(frame);
  PyObject* names = nullptr;
  int names_item = 0;
  if (in.op == HL_CALL_KW) {
    names_item = in.arg2 < 0;
    names = names_item ? stack.top(1) : PyTuple_GET_ITEM(code->co_consts, in.arg2);
  }
  const int all = in.arg + 2 + names_item;
  PyObject *callable = stack.top(all), *self = stack.top(all - 1);
  if (hl_call_null_first() && callable == nullptr) {
    callable = self;
    self = nullptr;
  }
  auto** args = static_cast<PyObject**>(alloca(sizeof(PyObject*) * static_cast<size_t>(in.arg + 2)));
  size_t count = 0;
  args[0] = nullptr;  // room for the callee (PY_VECTORCALL_ARGUMENTS_OFFSET)
  if (self != nullptr) args[++count] = self;
  for (int k = in.arg; k >= 1; --k) args[++count] = stack.top(k + names_item);
  const size_t keywords = names == nullptr ? 0 : static_cast<size_t>(PyTuple_GET_SIZE(names));
  return replace(frame, all, PyObject_Vectorcall(callable, args + 1, (count - keywords) | PY_VECTORCALL_ARGUMENTS_OFFSET, names));
}

// f(*tuple, **dict). Other iterables and mappings are turned into those by the interpreter.
Done do_call_ex(HlFrame* frame, const HlInstr& in) {
  Stack stack(frame);
  PyObject* keywords = in.arg2 == 1 ? stack.top(1) : nullptr;
  PyObject* args = stack.top(in.arg2 == 1 ? 2 : 1);
  const int all = in.arg2 == 1 ? 4 : 3;
  PyObject *x = stack.top(all), *y = stack.top(all - 1);
  if (!PyTuple_CheckExact(args) || (keywords != nullptr && !PyDict_CheckExact(keywords)) || (x != nullptr) == (y != nullptr)) return Done::kLeave;
  return replace(frame, all, PyObject_Call(x != nullptr ? x : y, args, keywords));
}

// ------------------------------------------------------------------------------------------------- containers

PyObject* new_list(const Stack& stack, int count) {
  PyObject* list = PyList_New(count);
  for (int k = 0; list != nullptr && k < count; ++k) PyList_SET_ITEM(list, k, Py_NewRef(stack.top(count - k)));
  return list;
}

PyObject* new_tuple(const Stack& stack, int count) {
  PyObject* tuple = PyTuple_New(count);
  for (int k = 0; tuple != nullptr && k < count; ++k) PyTuple_SET_ITEM(tuple, k, Py_NewRef(stack.top(count - k)));
  return tuple;
}

PyObject* new_set(const Stack& stack, int count) {
  PyObject* set = PySet_New(nullptr);
  for (int k = count; set != nullptr && k >= 1; --k) {
    if (PySet_Add(set, stack.top(k)) < 0) Py_CLEAR(set);
  }
  return set;
}

PyObject* new_dict(const Stack& stack, int count) {
  PyObject* dict = PyDict_New();
  for (int k = count; dict != nullptr && k >= 1; --k) {
    if (PyDict_SetItem(dict, stack.top(2 * k), stack.top(2 * k - 1)) < 0) Py_CLEAR(dict);
  }
  return dict;
}

PyObject* new_named_dict(const Stack& stack, int count) {
  PyObject *dict = PyDict_New(), *names = stack.top(1);
  for (int k = 0; dict != nullptr && k < count; ++k) {
    if (PyDict_SetItem(dict, PyTuple_GET_ITEM(names, k), stack.top(count + 1 - k)) < 0) Py_CLEAR(dict);
  }
  return dict;
}

PyObject* new_string(const Stack& stack, int count) {
  PyObject* parts = new_tuple(stack, count);
  PyObject* empty = parts == nullptr ? nullptr : PyUnicode_FromStringAndSize(nullptr, 0);
  PyObject* text = empty == nullptr ? nullptr : PyUnicode_Join(empty, parts);
  Py_XDECREF(empty);
  Py_XDECREF(parts);
  return text;
}

Done unpack(HlFrame* frame, const HlInstr& in) {
  PyObject* sequence = Stack(frame).top(1);
  if ((!PyTuple_CheckExact(sequence) && !PyList_CheckExact(sequence)) || Py_SIZE(sequence) != in.arg) return Done::kLeave;
  PyObject** items = PySequence_Fast_ITEMS(sequence);
  hl_stack_pop(frame);
  for (int k = in.arg; k-- > 0;) hl_stack_push(frame, Py_NewRef(items[k]));
  Py_DECREF(sequence);
  return Done::kGood;
}

Done do_container(HlFrame* frame, const HlInstr& in) {
  Stack stack(frame);
  switch (in.op) {
    case HL_BUILD_TUPLE: return replace(frame, in.arg, new_tuple(stack, in.arg));
    case HL_BUILD_LIST: return replace(frame, in.arg, new_list(stack, in.arg));
    case HL_BUILD_SET: return replace(frame, in.arg, new_set(stack, in.arg));
    case HL_BUILD_MAP: return replace(frame, 2 * in.arg, new_dict(stack, in.arg));
    case HL_BUILD_CONST_KEY_MAP: return replace(frame, in.arg + 1, new_named_dict(stack, in.arg));
    case HL_BUILD_STRING: return replace(frame, in.arg, new_string(stack, in.arg));
    case HL_LIST_APPEND: return drop(frame, 1, PyList_Append(stack.top(in.arg + 1), stack.top(1)) == 0);
    case HL_SET_ADD: return drop(frame, 1, PySet_Add(stack.top(in.arg + 1), stack.top(1)) == 0);
    case HL_MAP_ADD: return drop(frame, 2, PyDict_SetItem(stack.top(in.arg + 2), stack.top(2), stack.top(1)) == 0);
    case HL_LIST_EXTEND: {
      PyObject *list = stack.top(in.arg + 1), *more = stack.top(1);
      if (!PyTuple_CheckExact(more) && !PyList_CheckExact(more)) return Done::kLeave;
      return drop(frame, 1, PyList_SetSlice(list, PyList_GET_SIZE(list), PyList_GET_SIZE(list), more) == 0);
    }
    default: return unpack(frame, in);
  }
}

PyObject* converted(PyObject* value, int how) {
  switch (how) {
    case 1: return PyObject_Str(value);
    case 2: return PyObject_Repr(value);
    case 3: return PyObject_ASCII(value);
    default: return Py_NewRef(value);
  }
}

// format(value, spec); a str without a spec is itself.
PyObject* formatted(PyObject* value, PyObject* spec) {
  return spec == nullptr && PyUnicode_CheckExact(value) ? Py_NewRef(value) : PyObject_Format(value, spec);
}

Done do_format(HlFrame* frame, const HlInstr& in) {
  Stack stack(frame);
  switch (in.op) {
    case HL_FORMAT_SIMPLE: return replace(frame, 1, formatted(stack.top(1), nullptr));
    case HL_FORMAT_WITH_SPEC: return replace(frame, 2, PyObject_Format(stack.top(2), stack.top(1)));
    case HL_CONVERT_VALUE: return replace(frame, 1, converted(stack.top(1), in.arg));
    default: {  // FORMAT_VALUE: arg & 3 conversion, & 4 with a spec
      const bool with_spec = (in.arg & 4) != 0;
      PyObject* value = converted(stack.top(with_spec ? 2 : 1), in.arg & 3);
      if (value == nullptr) return Done::kRaised;
      PyObject* text = formatted(value, with_spec ? stack.top(1) : nullptr);
      Py_DECREF(value);
      return replace(frame, with_spec ? 2 : 1, text);
    }
  }
}

// The next item of the iterator on the stack. Where there is none the iterator goes.
Done do_for_iter(HlFrame* frame) {
  PyObject* it = Stack(frame).top(1);
  PyObject* item = Py_TYPE(it)->tp_iternext(it);
  if (item != nullptr) return push(frame, item);
  if (PyErr_Occurred() != nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return Done::kRaised;
    PyErr_Clear();
  }
  drop(frame, 1);
  return Done::kEnded;
}

enum class Group { kNone, kForIter, kLocal, kName, kStack, kBinary, kOperator, kItem, kAttribute, kCall, kCallEx, kContainer, kFormat };

struct Row {
  Group group = Group::kNone;
  int pops = 0, pushes = 0;
};

Row row_of(const HlInstr& in) {
  const int n = in.arg;
  switch (in.op) {
    case HL_LOAD_FAST:
    case HL_LOAD_FAST_CHECK: return {Group::kLocal, 0, 1};
    case HL_LOAD_FAST_LOAD_FAST: return {Group::kLocal, 0, 2};
    case HL_STORE_FAST: return {Group::kLocal, 1, 0};
    case HL_STORE_FAST_LOAD_FAST: return {Group::kLocal, 1, 1};
    case HL_STORE_FAST_STORE_FAST: return {Group::kLocal, 2, 0};
    case HL_DELETE_FAST: return {Group::kLocal, 0, 0};
    case HL_LOAD_GLOBAL: return {Group::kName, 0, in.arg2 == 1 ? 2 : 1};
    case HL_LOAD_NAME:
    case HL_LOAD_DEREF: return {Group::kName, 0, 1};
    case HL_STORE_GLOBAL:
    case HL_STORE_NAME:
    case HL_STORE_DEREF: return {Group::kName, 1, 0};
    case HL_FOR_ITER: return {Group::kForIter, 0, 1};
    case HL_NOP: return {Group::kStack, 0, 0};
    case HL_LOAD_CONST:
    case HL_PUSH_NULL: return {Group::kStack, 0, 1};
    case HL_POP_TOP: return {Group::kStack, 1, 0};
    case HL_COPY: return {Group::kStack, n, n + 1};
    case HL_SWAP: return {Group::kStack, n, n};
    case HL_BINARY: return {Group::kBinary, 2, 1};
    case HL_UNARY_NEGATIVE:
    case HL_UNARY_POSITIVE:
    case HL_UNARY_INVERT:
    case HL_UNARY_NOT:
    case HL_TO_BOOL:
    case HL_LIST_TO_TUPLE:
    case HL_GET_ITER: return {Group::kOperator, 1, 1};
    case HL_IS:
    case HL_CONTAINS:
    case HL_COMPARE: return {Group::kOperator, 2, 1};
    case HL_SUBSCR: return {Group::kItem, 2, 1};
    case HL_STORE_SUBSCR: return {Group::kItem, 3, 0};
    case HL_DELETE_SUBSCR: return {Group::kItem, 2, 0};
    case HL_BINARY_SLICE: return {Group::kItem, 3, 1};
    case HL_STORE_SLICE: return {Group::kItem, 4, 0};
    case HL_BUILD_SLICE: return {Group::kItem, n, 1};
    case HL_LOAD_ATTR: return {Group::kAttribute, 1, in.arg2 == 1 ? 2 : 1};
    case HL_STORE_ATTR: return {Group::kAttribute, 2, 0};
    case HL_DELETE_ATTR: return {Group::kAttribute, 1, 0};
    case HL_CALL: return {Group::kCall, n + 2, 1};
    case HL_CALL_KW: return {Group::kCall, n + 2 + (in.arg2 < 0), 1};
    case HL_CALL_FUNCTION_EX: return {Group::kCallEx, in.arg2 == 1 ? 4 : 3, 1};
    case HL_BUILD_TUPLE:
    case HL_BUILD_LIST:
    case HL_BUILD_SET:
    case HL_BUILD_STRING: return {Group::kContainer, n, 1};
    case HL_BUILD_MAP: return {Group::kContainer, 2 * n, 1};
    case HL_BUILD_CONST_KEY_MAP: return {Group::kContainer, n + 1, 1};
    case HL_LIST_APPEND:
    case HL_SET_ADD:
    case HL_LIST_EXTEND: return {Group::kContainer, 1, 0};
    case HL_MAP_ADD: return {Group::kContainer, 2, 0};
    case HL_UNPACK_SEQUENCE: return {Group::kContainer, 1, n};
    case HL_FORMAT_SIMPLE:
    case HL_CONVERT_VALUE: return {Group::kFormat, 1, 1};
    case HL_FORMAT_WITH_SPEC: return {Group::kFormat, 2, 1};
    case HL_FORMAT_VALUE: return {Group::kFormat, (n & 4) != 0 ? 2 : 1, 1};
    default: return {};
  }
}

}  // namespace

StackEffect stack_effect(const HlInstr& in) {
  const Row row = row_of(in);
  return {row.group != Group::kNone, row.pops, row.pushes};
}

Done perform(HlFrame* frame, PyCodeObject* code, const HlInstr& in, const HlInstr* next) {
  switch (row_of(in).group) {
    case Group::kLocal: return do_local(frame, in);
    case Group::kName: return do_name(frame, code, in);
    case Group::kStack: return do_stack(frame, code, in);
    case Group::kBinary: return do_binary(frame, in, next);
    case Group::kOperator: return do_operator(frame, in);
    case Group::kItem: return do_item(frame, in);
    case Group::kAttribute: return do_attribute(frame, code, in);
    case Group::kCall: return do_call(frame, code, in);
    case Group::kCallEx: return do_call_ex(frame, in);
    case Group::kContainer: return do_container(frame, in);
    case Group::kFormat: return do_format(frame, in);
    case Group::kForIter: return do_for_iter(frame);
    case Group::kNone: break;
  }
  return Done::kLeave;
}

}  // namespace hotloop::tracer
