/* iterators.c: the position of range, list, tuple and sequence iterators (access.h: iterators). */
#include "cpython/internal.h"

/* Layout shared by CPython's list, tuple and sequence iterators; the self-check tries each. */
typedef struct HlSeqIter {
  PyObject_HEAD
  Py_ssize_t index;
  PyObject* seq; /* NULL: exhausted */
} HlSeqIter;

HlIterKind hl_iter_kind(PyObject* it) {
  if (it == NULL) return HL_ITER_OTHER;
#define HL_ITERATOR(kind, type, layout, position, end) \
  if (Py_TYPE(it) == &type) return HL_ITER_##kind;
#include "cpython/iterators.def"
#undef HL_ITERATOR
  return HL_ITER_OTHER;
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
  return kind == HL_ITER_LIST || kind == HL_ITER_TUPLE || kind == HL_ITER_SEQ ? (HlSeqIter*)it : NULL;
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
  if (hl_iter_kind(it) == HL_ITER_LIST) s->index = -1; /* what 3.13 looks at first */
  Py_CLEAR(s->seq);
  return 1;
}

PyObject* hl_seq_iter_new(HlIterKind kind, PyObject* seq, Py_ssize_t index) {
  int fits = kind == HL_ITER_SEQ || (kind == HL_ITER_LIST && PyList_CheckExact(seq)) ||
             (kind == HL_ITER_TUPLE && PyTuple_CheckExact(seq));
  if (!fits) {
    PyErr_SetString(PyExc_TypeError, "hotloop: no such sequence iterator");
    return NULL;
  }
  PyObject* it = kind == HL_ITER_SEQ ? PySeqIter_New(seq) : PyObject_GetIter(seq);
  if (it != NULL) hl_seq_iter_set_index(it, index);
  return it;
}
