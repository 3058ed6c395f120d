/* iterators.c: the position of range, list, tuple and sequence iterators (access.h: iterators). */
#include "cpython/internal.h"

/* Layout shared by CPython's list, tuple and sequence iterators; the self-check tries each. */
typedef struct HlSeqIter {
  PyObject_HEAD Py_ssize_t index;
  PyObject* seq; /* NULL: exhausted */
} HlSeqIter;

/* The first fields of CPython's enumerate, zip and map objects, the same in all versions. */
typedef struct HlEnumerate {
  PyObject_HEAD Py_ssize_t index;
  PyObject* inner;
  PyObject* result; /* a cached pair */
  PyObject* big;    /* the count once it no longer fits in index */
} HlEnumerate;
typedef struct HlZip {
  PyObject_HEAD Py_ssize_t size;
  PyObject* inner;
  PyObject* result;
  int strict;
} HlZip;

/* Iterators over dictionaries, their views, and the reverse of them. */
typedef struct HlDictIter {
  PyObject_HEAD PyObject* dict; /* NULL: exhausted */
  Py_ssize_t used;              /* its size at the beginning, which must stay */
  Py_ssize_t position;
  PyObject* result; /* a cached pair */
  Py_ssize_t left;
} HlDictIter;

typedef struct HlMap {
  PyObject_HEAD PyObject* inner;
  PyObject* function;
} HlMap;

/* The type of iterators over ASCII strings has no public name. NULL: it could not be had. */
static PyTypeObject* hl_ascii_iter_type(void) {
  static PyTypeObject* type = NULL;
  if (type != NULL) return type;
  PyObject* error = PyErr_GetRaisedException();
  PyObject* text = PyUnicode_FromString("a");
  PyObject* it = text != NULL ? PyObject_GetIter(text) : NULL;
  if (it != NULL) type = Py_TYPE(it); /* a static type */
  Py_XDECREF(it);
  Py_XDECREF(text);
  PyErr_SetRaisedException(error);
  return type;
}

HlIterKind hl_iter_kind(PyObject* it) {
  if (it == NULL) return HL_ITER_OTHER;
#define HL_ITERATOR(kind, type, layout, position, end) \
  if (Py_TYPE(it) == (type)) return HL_ITER_##kind;
#include "cpython/iterators.def"
#undef HL_ITERATOR
  return HL_ITER_OTHER;
}

int hl_dict_iter_has_next(PyObject* it) {
  PyTypeObject* type = it != NULL ? Py_TYPE(it) : NULL;
  if (type != &PyDictIterKey_Type && type != &PyDictIterValue_Type && type != &PyDictIterItem_Type && type != &PyDictRevIterKey_Type &&
      type != &PyDictRevIterValue_Type && type != &PyDictRevIterItem_Type)
    return 0;
  const HlDictIter* d = (const HlDictIter*)it;
  return d->dict != NULL && d->used == PyDict_GET_SIZE(d->dict) && d->left > 0;
}

int hl_iter_is_forward(HlIterKind kind) {
  return (kind >= HL_ITER_LIST && kind <= HL_ITER_SEQ) || (kind >= HL_ITER_STR && kind <= HL_ITER_BYTES);
}

Py_ssize_t hl_iter_left(PyObject* it) {
  if (it == NULL) return -1;
  if (Py_TYPE(it) == &PyRangeIter_Type) return ((const _PyRangeIterObject*)it)->len;
  HlIterKind kind = hl_iter_kind(it);
  if (kind != HL_ITER_LIST && kind != HL_ITER_TUPLE && kind != HL_ITER_STR && kind != HL_ITER_STR_ASCII && kind != HL_ITER_BYTES)
    return -1;
  const HlSeqIter* s = (const HlSeqIter*)it;
  if (s->seq == NULL) return 0;
  Py_ssize_t size = kind <= HL_ITER_TUPLE        ? Py_SIZE(s->seq)
                    : kind == HL_ITER_BYTES      ? PyBytes_GET_SIZE(s->seq)
                                                 : PyUnicode_GET_LENGTH(s->seq);
  return size > s->index ? size - s->index : 0;
}

int hl_range_iter_read(PyObject* it, long* start, long* step, long* len) {
  if (hl_iter_kind(it) != HL_ITER_RANGE) return 0;
  const _PyRangeIterObject* r = (const _PyRangeIterObject*)it;
  *start = r->start;
  *step = r->step;
  *len = r->len;
  return 1;
}

int hl_range_iter_set(PyObject* it, long start, long step, long len) {
  if (hl_iter_kind(it) != HL_ITER_RANGE) return 0;
  _PyRangeIterObject* r = (_PyRangeIterObject*)it;
  r->start = start;
  r->step = step;
  r->len = len;
  return 1;
}

PyObject* hl_range_iter_new(long start, long step, long len) {
  _PyRangeIterObject* r = PyObject_New(_PyRangeIterObject, &PyRangeIter_Type);
  if (r == NULL) return NULL;
  r->start = start;
  r->step = step;
  r->len = len;
  return (PyObject*)r;
}

static HlSeqIter* as_seq_iter(PyObject* it) {
  HlIterKind kind = hl_iter_kind(it);
  return kind >= HL_ITER_LIST && kind <= HL_ITER_BYTES ? (HlSeqIter*)it : NULL;
}

int hl_seq_iter_read(PyObject* it, PyObject** seq, Py_ssize_t* index) {
  const HlSeqIter* s = as_seq_iter(it);
  if (s == NULL) return 0;
  *seq = s->seq;
  *index = s->index;
  return 1;
}

int hl_seq_iter_set_index(PyObject* it, Py_ssize_t index) {
  HlSeqIter* s = as_seq_iter(it);
  if (s == NULL) return 0;
  s->index = index;
  return 1;
}

int hl_seq_iter_exhaust(PyObject* it) {
  HlSeqIter* s = as_seq_iter(it);
  if (s == NULL) return 0;
  HlIterKind kind = hl_iter_kind(it);
  int counted_down = kind == HL_ITER_LIST || kind == HL_ITER_REVERSED_LIST || kind == HL_ITER_REVERSED;
  if (counted_down) s->index = -1; /* what they look at first */
  Py_CLEAR(s->seq);
  return 1;
}

static PyObject* make_seq_iter(HlIterKind kind, PyObject* seq) {
  switch (kind) {
    case HL_ITER_SEQ: return PySeqIter_New(seq);
    case HL_ITER_LIST: return PyList_CheckExact(seq) ? PyObject_GetIter(seq) : NULL;
    case HL_ITER_TUPLE: return PyTuple_CheckExact(seq) ? PyObject_GetIter(seq) : NULL;
    case HL_ITER_REVERSED_LIST:
      return PyList_CheckExact(seq) ? PyObject_CallOneArg((PyObject*)&PyReversed_Type, seq) : NULL;
    case HL_ITER_REVERSED: return PyObject_CallOneArg((PyObject*)&PyReversed_Type, seq);
    default: return NULL;
  }
}

PyObject* hl_seq_iter_new(HlIterKind kind, PyObject* seq, Py_ssize_t index) {
  PyObject* it = make_seq_iter(kind, seq);
  if (it != NULL && hl_iter_kind(it) == kind) {
    hl_seq_iter_set_index(it, index);
    return it;
  }
  Py_XDECREF(it);
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "hotloop: no such sequence iterator");
  return NULL;
}

int hl_enumerate_read(PyObject* it, Py_ssize_t* index, PyObject** inner) {
  const HlEnumerate* e = (const HlEnumerate*)it;
  if (hl_iter_kind(it) != HL_ITER_ENUMERATE || e->big != NULL) return 0;
  *index = e->index;
  *inner = e->inner;
  return 1;
}

int hl_enumerate_set_index(PyObject* it, Py_ssize_t index) {
  HlEnumerate* e = (HlEnumerate*)it;
  if (hl_iter_kind(it) != HL_ITER_ENUMERATE || e->big != NULL) return 0;
  e->index = index;
  return 1;
}

PyObject* hl_enumerate_new(PyObject* inner, Py_ssize_t index) {
  return PyObject_CallFunction((PyObject*)&PyEnum_Type, "On", inner, index);
}

int hl_zip_read(PyObject* it, PyObject** inner, int* strict) {
  const HlZip* z = (const HlZip*)it;
  if (hl_iter_kind(it) != HL_ITER_ZIP) return 0;
  *inner = z->inner;
  *strict = z->strict;
  return 1;
}

PyObject* hl_zip_new(PyObject* inner, int strict) {
  PyObject* kwargs = strict ? Py_BuildValue("{sO}", "strict", Py_True) : NULL;
  PyObject* it = strict && kwargs == NULL ? NULL : PyObject_Call((PyObject*)&PyZip_Type, inner, kwargs);
  Py_XDECREF(kwargs);
  return it;
}

int hl_map_read(PyObject* it, PyObject** inner, PyObject** function) {
  const HlMap* m = (const HlMap*)it;
  if (hl_iter_kind(it) != HL_ITER_MAP) return 0;
  *inner = m->inner;
  *function = m->function;
  return 1;
}

PyObject* hl_map_new(PyObject* inner, PyObject* function) {
  Py_ssize_t count = PyTuple_GET_SIZE(inner);
  PyObject* args = PyTuple_New(count + 1);
  if (args == NULL) return NULL;
  PyTuple_SET_ITEM(args, 0, Py_NewRef(function));
  for (Py_ssize_t k = 0; k < count; k++) PyTuple_SET_ITEM(args, k + 1, Py_NewRef(PyTuple_GET_ITEM(inner, k)));
  PyObject* it = PyObject_Call((PyObject*)&PyMap_Type, args, NULL);
  Py_DECREF(args);
  return it;
}
