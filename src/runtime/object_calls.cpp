// The functions of ir/object_calls.def: what compiled code does with dictionaries, sets, lists, tuples and built-in functions.
//
// Needs objects.h, box.h, cpython/access.h; the GIL. Promises: as in object_calls.def: no Python code runs, nothing is changed when one says "leave"
// (0), no exception is left set. Keys are compared only where that runs no Python code (is_plain_key).
#include <algorithm>
#include <bit>
#include <cstring>

#include "cpython/access.h"
#include "runtime/box.h"
#include "runtime/objects.h"
#include "runtime/random.h"

namespace hotloop::runtime {
namespace {

using ir::Activation;
using ir::PyKind;

constexpr size_t kMaxPlainItems = 1000;
constexpr Py_ssize_t kBytesPerPlace = 512;  // large objects take more places of what is kept

PyObject* at(int64_t cell) { return reinterpret_cast<PyObject*>(cell); }

bool is_plain(PyObject* object, int depth) {
  if (PyTuple_CheckExact(object)) {
    if (depth == 0 || static_cast<size_t>(PyTuple_GET_SIZE(object)) > kMaxPlainItems) return false;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(object); ++k) {
      if (!is_plain(PyTuple_GET_ITEM(object, k), depth - 1)) return false;
    }
    return true;
  }
  return is_closed(object);
}

int is_plain_key(PyObject* key) {
  if (PyUnicode_CheckExact(key) || PyLong_CheckExact(key) || PyFloat_CheckExact(key)) return 1;
  return is_plain(key, 3) ? 1 : 0;
}

// Nobody can tell when the container is dropped: a list, tuple, dict or set of closed objects.
bool is_plain_value(PyObject* object, int depth = 3) {
  if (PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyUnicode_CheckExact(object)) return true;
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
    if (depth == 0 || static_cast<size_t>(Py_SIZE(object)) > kMaxPlainItems) return false;
    PyObject** items = PySequence_Fast_ITEMS(object);
    for (Py_ssize_t k = 0; k < Py_SIZE(object); ++k) {
      if (!is_plain_value(items[k], depth - 1)) return false;
    }
    return true;
  }
  return is_closed(object);
}

bool has_room(Activation* a, std::ptrdiff_t places = 1) { return a->keep_end - a->keep_next >= places || make_room(a) != 0; }

// Takes over the reference. REQUIRES has_room. What large objects take more leaves one place.
int64_t keep(Activation* a, PyObject* object) {
  *a->keep_next++ = object;
  Py_ssize_t bytes = 0;
  if (PyUnicode_CheckExact(object)) bytes = PyUnicode_GET_LENGTH(object);
  if (PyBytes_CheckExact(object)) bytes = PyBytes_GET_SIZE(object);
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) bytes = 8 * Py_SIZE(object);
  for (Py_ssize_t k = bytes / kBytesPerPlace; k > 0 && a->keep_end - a->keep_next > 1; --k) *a->keep_next++ = nullptr;
  return reinterpret_cast<int64_t>(object);
}

// The values among the operands, one after the other, as objects.
class Values {
 public:
  Values(const int64_t* cells, int64_t kinds) : cells_(cells), kinds_(kinds & ((int64_t{1} << ir::kObjectCallFlags) - 1)) {}
  // New reference; null, without an exception: no memory.
  PyObject* next() {
    const auto kind = static_cast<PyKind>(kinds_ & ((1 << ir::kObjectCallKindBits) - 1));
    kinds_ >>= ir::kObjectCallKindBits;
    if (kind == PyKind::Object) return Py_NewRef(at(*cells_++));
    PyObject* object = box(kind, cells_);
    cells_ += ir::pykind_info(kind).parts;
    if (object == nullptr) PyErr_Clear();
    return object;
  }
  bool more() const { return kinds_ != 0; }

 private:
  const int64_t* cells_;
  int64_t kinds_;
};

// A key, its hash, and the reference to it. Invalid where it has none without running Python code.
struct Key {
  PyObject* object;
  Py_hash_t hash = -1;
  Key(const int64_t* cells, int64_t kinds) : object(Values(cells, kinds).next()) {
    if (object == nullptr) return;
    if (is_plain_key(object)) hash = PyObject_Hash(object);
    if (hash == -1) PyErr_Clear();
  }
  bool valid() const { return hash != -1; }
  // Drops it and gives `result`.
  int64_t done(int64_t result) {
    Py_XDECREF(object);
    return result;
  }
};

int64_t give(int64_t* cells, PyObject* object) {
  cells[0] = reinterpret_cast<int64_t>(object);
  return 1;
}

// The key as an object: kept where it was made here.
int64_t given_key(Activation* a, int64_t* cells, Key& key, int64_t kinds) {
  const int64_t mask = (1 << ir::kObjectCallKindBits) - 1;
  if ((kinds & mask) == static_cast<int64_t>(PyKind::Object)) return key.done(give(cells, key.object));
  return give(cells, reinterpret_cast<PyObject*>(keep(a, key.object)));
}

// ------------------------------------------------------------------------------------------------- dictionaries

// As hl_dict_find.
int find(const Activation* a, PyObject* dict, const Key& key, PyObject** value, PyObject** stored = nullptr) {
  PyObject* own = nullptr;
  if (!key.valid() || is_namespace(a, dict)) return -1;
  return hl_dict_find(dict, key.object, key.hash, &is_plain_key, stored != nullptr ? stored : &own, value);
}

// As hl_set_find.
int find_in_set(PyObject* set, const Key& key, PyObject** stored) {
  return key.valid() ? hl_set_find(set, key.object, key.hash, &is_plain_key, stored) : -1;
}

int64_t call_DictGet(Activation* a, int64_t* cells, int64_t kinds) {
  Key key(cells + 1, kinds);
  PyObject* value = nullptr;
  if (find(a, at(cells[0]), key, &value) != 1) return key.done(0);
  return key.done(give(cells, value));
}

int64_t call_DictGetOr(Activation* a, int64_t* cells, int64_t kinds) {
  Key key(cells + 1, kinds);
  const int parts = ir::pykind_info(static_cast<PyKind>(kinds & ((1 << ir::kObjectCallKindBits) - 1))).parts;
  PyObject* value = nullptr;
  const int found = find(a, at(cells[0]), key, &value);
  if (found < 0) return key.done(0);
  return key.done(give(cells, found == 1 ? value : at(cells[1 + parts])));
}

int64_t call_DictHas(Activation* a, int64_t* cells, int64_t kinds) {
  Key key(cells + 1, kinds);
  PyObject* value = nullptr;
  const int found = find(a, at(cells[0]), key, &value);
  if (found < 0) return key.done(0);
  cells[0] = found;
  return key.done(1);
}

int64_t call_DictLen(Activation* a, int64_t* cells, int64_t) {
  if (is_namespace(a, at(cells[0]))) return 0;
  cells[0] = PyDict_GET_SIZE(at(cells[0]));
  return 1;
}

// d[key] = value. The old value is dropped or kept.
bool set_item(Activation* a, PyObject* dict, const Key& key, PyObject* value, bool drops_now) {
  PyObject* old = nullptr;
  const int found = has_room(a, 2) ? find(a, dict, key, &old) : -1;
  if (found < 0 || (found == 1 && !is_plain_value(old))) return false;
  Py_XINCREF(old);
  if (hl_dict_set(dict, key.object, key.hash, value) < 0) {
    PyErr_Clear();
    Py_XDECREF(old);
    return false;
  }
  if (old != nullptr && !drops_now) {
    keep(a, old);
  } else {
    Py_XDECREF(old);
  }
  return true;
}

int64_t call_DictSet(Activation* a, int64_t* cells, int64_t kinds) {
  const int64_t flags = kinds >> ir::kObjectCallFlags;
  PyObject* value = at(cells[1]);
  Key key(cells + 2, kinds);
  const bool good = set_item(a, at(cells[0]), key, value, (flags & 2) != 0);
  if ((flags & 1) != 0) Py_DECREF(value);
  if (!good) return key.done(0);
  return given_key(a, cells, key, kinds);
}

// The table's own key, too, may be what a variable is.
int64_t call_DictPop(Activation* a, int64_t* cells, int64_t kinds) {
  Key key(cells + 1, kinds);
  PyObject *value = nullptr, *stored = nullptr;
  if (!has_room(a, 2) || find(a, at(cells[0]), key, &value, &stored) != 1 || !is_plain_value(value)) return key.done(0);
  Py_INCREF(value);
  Py_INCREF(stored);
  if (PyDict_DelItem(at(cells[0]), key.object) < 0) {
    PyErr_Clear();
    Py_DECREF(stored);
    Py_DECREF(value);
    return key.done(0);
  }
  keep(a, stored);
  cells[0] = keep(a, value);
  return key.done(1);
}

// ------------------------------------------------------------------------------------------------- sets

int64_t call_SetHas(Activation*, int64_t* cells, int64_t kinds) {
  Key key(cells + 1, kinds);
  PyObject* stored = nullptr;
  const int found = find_in_set(at(cells[0]), key, &stored);
  if (found < 0) return key.done(0);
  cells[0] = found;
  return key.done(1);
}

int64_t call_SetLen(Activation*, int64_t* cells, int64_t) {
  cells[0] = PySet_GET_SIZE(at(cells[0]));
  return 1;
}

int64_t call_SetAdd(Activation* a, int64_t* cells, int64_t kinds) {
  Key key(cells + 1, kinds);
  PyObject* stored = nullptr;
  if (!has_room(a) || find_in_set(at(cells[0]), key, &stored) < 0) return key.done(0);
  if (PySet_Add(at(cells[0]), key.object) < 0) {
    PyErr_Clear();
    return key.done(0);
  }
  return given_key(a, cells, key, kinds);
}

int64_t call_SetDiscard(Activation* a, int64_t* cells, int64_t kinds) {
  Key key(cells + 1, kinds);
  PyObject* stored = nullptr;
  const int found = has_room(a) ? find_in_set(at(cells[0]), key, &stored) : -1;
  if (found < 0) return key.done(0);
  if (found == 1) keep(a, Py_NewRef(stored));
  if (PySet_Discard(at(cells[0]), key.object) < 0) {
    PyErr_Clear();
    return key.done(0);
  }
  cells[0] = found;
  return key.done(1);
}

// ------------------------------------------------------------------------------------------------- lists, tuples

// The position in the list; -1: there is none.
int64_t position(PyObject* list, int64_t index) {
  const Py_ssize_t size = PyList_GET_SIZE(list);
  if (index < 0) index += size;
  return index >= 0 && index < size ? index : -1;
}

int64_t call_ListPop(Activation* a, int64_t* cells, int64_t) {
  PyObject* list = at(cells[0]);
  const int64_t index = position(list, cells[1]);
  if (index < 0 || !has_room(a)) return 0;
  PyObject* item = Py_NewRef(PyList_GET_ITEM(list, index));
  if (!is_plain_value(item) || PyList_SetSlice(list, index, index + 1, nullptr) < 0) {
    PyErr_Clear();
    Py_DECREF(item);
    return 0;
  }
  cells[0] = keep(a, item);
  return 1;
}

int64_t call_ListDelete(Activation* a, int64_t* cells, int64_t kinds) {
  if (call_ListPop(a, cells, kinds) == 0) return 0;
  cells[0] = 1;
  return 1;
}

int64_t call_MakeObject(Activation* a, int64_t* cells, int64_t kinds) {
  PyObject* object = has_room(a) ? Values(cells, kinds).next() : nullptr;
  if (object == nullptr) return 0;
  cells[0] = keep(a, object);
  return 1;
}

template <typename Make, typename Put>
int64_t make_sequence(Activation* a, int64_t* cells, int64_t kinds, Make&& make, Put&& put) {
  if (!has_room(a)) return 0;
  Py_ssize_t count = 0;
  for (int64_t left = kinds; left != 0; left >>= ir::kObjectCallKindBits) ++count;
  PyObject* made = make(count);
  if (made == nullptr) {
    PyErr_Clear();
    return 0;
  }
  Values values(cells, kinds);
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* item = values.next();
    if (item == nullptr) {
      Py_DECREF(made);
      return 0;
    }
    put(made, k, item);
  }
  cells[0] = keep(a, made);
  return 1;
}

int64_t call_MakeList(Activation* a, int64_t* cells, int64_t kinds) {
  return make_sequence(a, cells, kinds, &PyList_New, [](PyObject* list, Py_ssize_t k, PyObject* item) { PyList_SET_ITEM(list, k, item); });
}

int64_t call_MakeTuple(Activation* a, int64_t* cells, int64_t kinds) {
  return make_sequence(a, cells, kinds, &PyTuple_New, [](PyObject* tuple, Py_ssize_t k, PyObject* item) { PyTuple_SET_ITEM(tuple, k, item); });
}

// ------------------------------------------------------------------------------------------------- sequences

// Keeps the new object; null: it raised.
int64_t kept_or_left(Activation* a, int64_t* cells, PyObject* made) {
  if (made == nullptr) {
    PyErr_Clear();
    return 0;
  }
  cells[0] = keep(a, made);
  return 1;
}

PyObject* slice_of(PyObject* s, Py_ssize_t start, Py_ssize_t stop) {
  const Py_ssize_t size = PyObject_Size(s);
  const Py_ssize_t count = PySlice_AdjustIndices(size, &start, &stop, 1);
  if (PyList_CheckExact(s)) return PyList_GetSlice(s, start, start + count);
  if (count == size) return Py_NewRef(s);  // as all but lists do
  if (PyTuple_CheckExact(s)) return PyTuple_GetSlice(s, start, start + count);
  if (PyUnicode_CheckExact(s)) return PyUnicode_Substring(s, start, start + count);
  return PyBytes_FromStringAndSize(PyBytes_AS_STRING(s) + start, count);
}

int64_t call_Slice(Activation* a, int64_t* cells, int64_t) {
  if (!has_room(a)) return 0;
  return kept_or_left(a, cells, slice_of(at(cells[0]), cells[1], cells[2]));
}

int64_t call_Concat(Activation* a, int64_t* cells, int64_t) {
  if (!has_room(a)) return 0;
  return kept_or_left(a, cells, PySequence_Concat(at(cells[0]), at(cells[1])));
}

int64_t call_Repeat(Activation* a, int64_t* cells, int64_t) {
  if (!has_room(a)) return 0;
  return kept_or_left(a, cells, PySequence_Repeat(at(cells[0]), cells[1]));
}

int64_t call_Format(Activation* a, int64_t* cells, int64_t kinds) {
  PyObject* value = has_room(a) ? Values(cells + 1, kinds).next() : nullptr;
  if (value == nullptr) return 0;
  PyObject* text = PyNumber_Remainder(at(cells[0]), value);
  Py_DECREF(value);
  return kept_or_left(a, cells, text);
}

// ------------------------------------------------------------------------------------------------- built-in functions

// New reference; null: it raised, or there is no memory.
PyObject* vectorcall(int64_t* cells, int64_t kinds) {
  PyObject* args[ir::kMaxObjectCallCells];
  size_t count = 0;
  Values values(cells + 1, kinds);
  bool good = true;
  while (good && values.more() && count < ir::kMaxObjectCallCells) {
    args[count] = values.next();
    good = args[count] != nullptr;
    if (good) ++count;
  }
  PyObject* result = good ? PyObject_Vectorcall(at(cells[0]), args, count, nullptr) : nullptr;
  if (result == nullptr) PyErr_Clear();
  for (size_t k = 0; k < count; ++k) Py_DECREF(args[k]);
  return result;
}

int64_t call_CallLeaf(Activation* a, int64_t* cells, int64_t kinds) {
  if (!has_room(a)) return 0;
  PyObject* result = vectorcall(cells, kinds);
  if (result == nullptr) return 0;
  cells[0] = keep(a, result);
  return 1;
}

int64_t call_CallFloat(Activation*, int64_t* cells, int64_t kinds) {
  PyObject* result = vectorcall(cells, kinds);
  if (result == nullptr) return 0;
  cells[0] = std::bit_cast<int64_t>(PyFloat_CheckExact(result) ? PyFloat_AS_DOUBLE(result) : 0.0);
  Py_DECREF(result);
  return 1;
}

int64_t call_NextDouble(Activation*, int64_t* cells, int64_t) {
  double value = 0;
  if (!next_double(at(cells[0]), &value)) return 0;
  cells[0] = std::bit_cast<int64_t>(value);
  return 1;
}

// What goes is what has another owner, or is plain. What variables are may be owned by a container that goes: it is kept itself.
void flush(Activation* a, const int64_t* retained, int64_t count) {
  if (a->keep_end - a->keep_next < count) {  // no room for them
    a->flush_at = a->keep_end;
    return;
  }
  PyObject* used[ir::kMaxFlushCells];
  size_t uses = 0;
  for (int64_t k = 0; k < count; ++k) {
    if (retained[k] != 0) used[uses++] = Py_NewRef(at(retained[k]));
  }
  void** kept = a->keep_begin;
  for (void** p = a->keep_begin; p < a->keep_next; ++p) {
    auto* object = static_cast<PyObject*>(*p);
    if (object == nullptr) continue;
    const bool until_exit = (reinterpret_cast<uintptr_t>(object) & kUntilExit) != 0;
    if (until_exit || (Py_REFCNT(object) == 1 && !is_plain_value(object))) {
      *kept++ = *p;
    } else {
      Py_DECREF(object);
    }
  }
  for (size_t k = 0; k < uses; ++k) *kept++ = used[k];
  a->keep_next = kept;
  a->flush_at = std::min(kept + kFlushed, a->keep_end);
}

}  // namespace

bool is_namespace(const ir::Activation* a, const PyObject* dict) {
  void* const* end = a->namespaces + a->namespace_count;
  return std::find(a->namespaces, end, dict) != end;
}

void add_object_calls(ir::ObjectFunctions* functions) {
#define HL_OBJECT_CALL(name, text, operands, result, doc) functions->calls[static_cast<size_t>(ir::ObjectCallId::name)] = &call_##name;
#include "ir/object_calls.def"
#undef HL_OBJECT_CALL
  functions->flush = &flush;
}

}  // namespace hotloop::runtime
