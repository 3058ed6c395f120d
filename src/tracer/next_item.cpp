// See next_item.h.
//
// An iterator that has none left may let go of what it walks over, and objects in there may run Python code when they go. So those containers get one
// more owner until the exit, or the next run, where the frame is complete. The iterator is not asked again then (zip would go on asking the first of
// its iterators): FOR_ITER finds one in its place that has none left.
// Items are owned by the container that is walked over, which only runs can change; those that the iterator makes are kept until the exit.
#include "tracer/next_item.h"

#include <array>
#include <cstring>

#include "cpython/access.h"
#include "runtime/objects.h"
#include "runtime/numpy_api.h"
#include "tracer/leaving.h"

namespace hotloop::tracer {
namespace {

enum class How : uint8_t {
  kOther,    // it may run Python code
  kOwned,    // walks over one container, which owns the items
  kDict,     // likewise, and raises if it has changed
  kPairs,    // likewise, items are tuples
  kSequence, // of any type: asks its __getitem__
  kMade,     // makes its items of numbers, or of what it holds until it goes
  kThrough,  // asks other iterators
  kChain,    // asks other iterators, which it makes itself
  kIndices,    // np.ndindex: asks what is in its attribute
  kEnumerated, // np.ndenumerate: likewise, a flat iterator, and for its coordinates
};

struct Row {
  const char* name;
  How how;
};
constexpr Row kRows[] = {
    {"list_iterator", How::kOwned},
    {"tuple_iterator", How::kOwned},
    {"list_reverseiterator", How::kOwned},
    {"set_iterator", How::kOwned},
    {"dict_keyiterator", How::kDict},
    {"dict_valueiterator", How::kDict},
    {"dict_reversekeyiterator", How::kDict},
    {"dict_reversevalueiterator", How::kDict},
    {"dict_itemiterator", How::kPairs},
    {"dict_reverseitemiterator", How::kPairs},
    {"range_iterator", How::kMade},
    {"longrange_iterator", How::kMade},
    {"str_iterator", How::kMade},
    {"str_ascii_iterator", How::kMade},
    {"bytes_iterator", How::kMade},
    {"bytearray_iterator", How::kMade},
    {"iterator", How::kSequence},
    {"reversed", How::kSequence},
    {"enumerate", How::kThrough},
    {"zip", How::kThrough},
    {"itertools.count", How::kMade},
    {"itertools.repeat", How::kMade},
    {"itertools.product", How::kMade},
    {"itertools.combinations", How::kMade},
    {"itertools.combinations_with_replacement", How::kMade},
    {"itertools.permutations", How::kMade},
    {"itertools.islice", How::kThrough},
    {"itertools.pairwise", How::kThrough},
    {"itertools.batched", How::kThrough},
    {"itertools.cycle", How::kThrough},
    {"itertools.zip_longest", How::kThrough},
    {"itertools.chain", How::kChain},
    {"numpy.flatiter", How::kMade},
};

How how_of(PyTypeObject* type) {
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) == 0) return How::kOther;
  for (const Row& row : kRows) {
    if (std::strcmp(row.name, type->tp_name) == 0) return row.how;
  }
  return How::kOther;
}

// What np.ndindex and np.ndenumerate do, which are Python classes, is known by their code.
struct PythonClass {
  const char* name;
  const char* names[4];  // co_names of __next__
  const char* attribute; // where the iterator is
  How how;
};
constexpr PythonClass kClasses[] = {{"ndindex", {"next", "_iter"}, "_iter", How::kIndices}, {"ndenumerate", {"iter", "coords", "next"}, "iter", How::kEnumerated}};

PyObject* interned(const char* text) {
  PyObject* name = PyUnicode_InternFromString(text);
  if (name == nullptr) PyErr_Clear();
  return name;
}

// Is its __next__ the one that NumPy has?
bool is_numpys(PyTypeObject* type, const PythonClass& known) {
  static PyObject* const next = interned("__next__");
  PyObject* function = next != nullptr ? hl_type_lookup(type, next) : nullptr;
  if (function == nullptr || !PyFunction_Check(function)) return false;
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (file == nullptr) PyErr_Clear();
  if (file == nullptr || std::strstr(file, "numpy/lib/_index_tricks_impl.py") == nullptr) return false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(code->co_names); ++k) {
    if (k >= 4 || known.names[k] == nullptr || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(code->co_names, k), known.names[k]) != 0) return false;
  }
  return true;
}

// The iterator behind np.ndindex and np.ndenumerate, borrowed; null: it is none of them.
PyObject* inner_of(PyObject* it, How* how) {
  PyTypeObject* type = Py_TYPE(it);
  for (const PythonClass& known : kClasses) {
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 || std::strcmp(type->tp_name, known.name) != 0 || !is_numpys(type, known)) continue;
    PyObject *name = interned(known.attribute), *inner = nullptr;
    int hint = -1;
    if (name == nullptr || hl_instance_get(it, name, &hint, &inner) != 1) inner = nullptr;
    Py_XDECREF(name);
    *how = known.how;
    return inner != nullptr && std::strcmp(Py_TYPE(inner)->tp_name, known.how == How::kIndices ? "itertools.product" : "numpy.flatiter") == 0 ? inner : nullptr;
  }
  return nullptr;
}

bool is_container(PyObject* o) {
  return PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyDict_CheckExact(o) || PyAnySet_CheckExact(o) || PyRange_Check(o) || PyByteArray_CheckExact(o) ||
         PyUnicode_CheckExact(o) || PyBytes_CheckExact(o) || Py_TYPE(o) == &PyArray_Type;
}

// What an iterator holds.
struct Held {
  std::array<PyObject*, 16> objects;
  size_t count = 0;
  bool all = true;
};

int note_held(PyObject* object, void* arg) {
  auto* held = static_cast<Held*>(arg);
  if (object == nullptr || PyType_Check(object)) return 0;
  if (held->count == held->objects.size()) {
    held->all = false;
    return 0;
  }
  held->objects[held->count++] = object;
  return 0;
}

constexpr int kMaxDepth = 4;
constexpr uint32_t kMaxNotPlain = 16;  // so often an iterator was none that may be asked
constexpr Py_ssize_t kMaxParts = 32;

// Looks at an iterator and at what it asks. Containers go to `keep`, if there is one.
class Look {
 public:
  explicit Look(ir::Activation* keep) : keep_(keep) {}

  bool is_plain(PyObject* it, int depth) {
    const How how = how_of(Py_TYPE(it));
    if (how == How::kOther || depth == kMaxDepth) return false;
    Held held;
    if (Py_TYPE(it)->tp_traverse != nullptr) Py_TYPE(it)->tp_traverse(it, &note_held, &held);
    if (!held.all) return false;
    // itertools.chain has its source in front of the iterator that it asks at the moment.
    if (how == How::kChain && held.count > 0 && !is_source(held.objects[0])) return false;
    for (size_t k = 0; k < held.count; ++k) {
      if (!is_good(held.objects[k], how, depth)) return false;
    }
    return true;
  }

 private:
  bool is_good(PyObject* object, How how, int depth) {
    const bool looks_inside = how == How::kThrough || how == How::kChain || how == How::kPairs;
    if (PyTuple_CheckExact(object) && looks_inside) return is_tuple_good(object, depth);
    if (how == How::kSequence) return (PyList_CheckExact(object) || PyTuple_CheckExact(object) || is_plain_array(object)) && kept(object);
    if (runtime::is_closed(object) || how == How::kMade) return true;  // the latter lets go of nothing before it goes itself
    if (is_container(object)) return kept(object);
    return is_plain(object, depth + 1);
  }

  // The iterators that zip asks; the tuple that it gave last.
  bool is_tuple_good(PyObject* tuple, int depth) {
    if (PyTuple_GET_SIZE(tuple) > kMaxParts) return false;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); ++k) {
      PyObject* part = PyTuple_GET_ITEM(tuple, k);
      if (part != nullptr && !runtime::is_closed(part) && !(PyTuple_CheckExact(part) ? is_tuple_good(part, depth) : is_plain(part, depth + 1))) return false;
    }
    return true;
  }

  static bool is_plain_array(PyObject* object) { return Py_TYPE(object) == &PyArray_Type && !PyDataType_REFCHK(PyArray_DESCR(reinterpret_cast<PyArrayObject*>(object))); }

  // What itertools.chain walks over: a tuple of containers.
  bool is_source(PyObject* source) {
    Held held;
    if (Py_TYPE(source) != &PyTupleIter_Type) return false;
    PyTupleIter_Type.tp_traverse(source, &note_held, &held);
    if (held.count == 0) return true;
    if (held.count != 1 || !PyTuple_CheckExact(held.objects[0]) || PyTuple_GET_SIZE(held.objects[0]) > kMaxParts) return false;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(held.objects[0]); ++k) {
      PyObject* part = PyTuple_GET_ITEM(held.objects[0], k);
      if (!is_container(part) && !is_plain(part, 1)) return false;
      if (Py_TYPE(part) == &PyArray_Type && !is_plain_array(part)) return false;
      if (!kept(part)) return false;
    }
    return true;
  }

  bool kept(PyObject* object) {
    if (keep_ == nullptr || _Py_IsImmortal(object)) return true;
    if (keep_->keep_next == keep_->keep_end && runtime::make_room(keep_) == 0) return false;
    if (PyDict_CheckExact(object) && runtime::is_namespace(keep_, object)) return false;
    runtime::keep_until_exit(keep_, object);
    return true;
  }

  ir::Activation* keep_;
};

// How the iterator may be asked until the next run; kOther: not at all.
How look_at(RunContext& c, ir::Activation* activation, PyObject* it) {
  How how = how_of(Py_TYPE(it));
  PyObject* inner = how == How::kOther ? inner_of(it, &how) : nullptr;
  if (!Look(activation).is_plain(inner != nullptr ? inner : it, 0)) {
    if (++c.region.runs_in_vain >= kMaxNotPlain) c.region.not_worthwhile = true;
    return How::kOther;
  }
  if (c.plain_count == std::size(c.plain)) c.plain_count = 0;
  c.plain[c.plain_count++] = {it, inner, static_cast<uint32_t>(how)};
  return how;
}

How how_to_ask(RunContext& c, ir::Activation* activation, PyObject* it, PyObject** inner) {
  for (uint32_t k = 0; k < c.plain_count; ++k) {
    if (c.plain[k].it != it) continue;
    *inner = c.plain[k].inner;
    return static_cast<How>(c.plain[k].how);
  }
  const How how = look_at(c, activation, it);
  *inner = how == How::kOther ? nullptr : c.plain[c.plain_count - 1].inner;
  return how;
}

// The indices and the item, as np.ndenumerate gives them.
PyObject* next_pair(PyObject* flat) {
  static PyObject* const coords = interned("coords");
  PyObject* indices = coords != nullptr ? PyObject_GetAttr(flat, coords) : nullptr;
  PyObject* item = indices != nullptr ? Py_TYPE(flat)->tp_iternext(flat) : nullptr;
  PyObject* pair = item != nullptr ? PyTuple_New(2) : nullptr;
  if (pair == nullptr) {
    Py_XDECREF(indices);
    Py_XDECREF(item);
    return nullptr;
  }
  PyTuple_SET_ITEM(pair, 0, indices);
  PyTuple_SET_ITEM(pair, 1, item);
  return pair;
}

// The item is one that next_item owns, and native code uses until the exit.
void keep_item(ir::Activation* activation, PyObject* item) {
  if (_Py_IsImmortal(item)) return;
  *activation->keep_next++ = item;
}

void keep_parts(ir::Activation* activation, PyObject* tuple, bool owned_elsewhere) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple) && !owned_elsewhere; ++k) {
    if (!_Py_IsImmortal(PyTuple_GET_ITEM(tuple, k))) keep_item(activation, Py_NewRef(PyTuple_GET_ITEM(tuple, k)));
  }
  if (Py_REFCNT(tuple) > 1) {
    Py_DECREF(tuple);  // the iterator has it
  } else {
    keep_item(activation, tuple);
  }
}

}  // namespace

bool is_plain_iterator(PyObject* it) {
  How how = How::kOther;
  PyObject* inner = inner_of(it, &how);
  return Look(nullptr).is_plain(inner != nullptr ? inner : it, 0);
}

void* next_item(ir::Activation* activation, void* iterator, int64_t flags) {
  auto& c = *static_cast<RunContext*>(activation->context);
  auto* it = static_cast<PyObject*>(iterator);
  PyObject* inner = nullptr;
  const How how = how_to_ask(c, activation, it, &inner);
  if (how == How::kOther) return nullptr;
  // Room for all that one item may need.
  if (activation->keep_end - activation->keep_next <= kMaxParts && (activation->keep_begin != nullptr || runtime::make_room(activation) == 0)) return nullptr;
  if ((how == How::kDict || how == How::kPairs) && !hl_dict_iter_has_next(it)) return nullptr;
  if (inner != nullptr) it = inner;
  PyObject* item = how == How::kEnumerated ? next_pair(it) : Py_TYPE(it)->tp_iternext(it);
  if (item == nullptr) {
    c.error = PyErr_GetRaisedException();
    if (c.error != nullptr && PyErr_GivenExceptionMatches(c.error, PyExc_StopIteration)) Py_CLEAR(c.error);
    c.has_ended = c.error == nullptr;
    return nullptr;
  }
  if ((flags & 1) != 0 && PyTuple_CheckExact(item) && PyTuple_GET_SIZE(item) <= kMaxParts - 2) {
    keep_parts(activation, item, how == How::kPairs);
  } else if ((how == How::kOwned || how == How::kDict) && Py_REFCNT(item) > 1) {
    Py_DECREF(item);
  } else {
    keep_item(activation, item);
  }
  return item;
}

}  // namespace hotloop::tracer
