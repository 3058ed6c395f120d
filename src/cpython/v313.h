/* v313.h: inline accessors for CPython 3.13 (see internal.h for what each promises). */
#ifndef HOTLOOP_CPYTHON_V313_H
#define HOTLOOP_CPYTHON_V313_H

#include "internal/pycore_ceval.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_range.h"
#include "opcode.h"

#define HLV_NULL_FIRST 0

static inline HlFrame* hlv_current(PyThreadState* ts) {
  return ts->current_frame;
}
static inline void hlv_set_current(PyThreadState* ts, HlFrame* f) {
  ts->current_frame = f;
}
static inline PyCodeObject* hlv_code(HlFrame* f) {
  return (PyCodeObject*)f->f_executable;
}
static inline int hlv_ip(HlFrame* f) {
  return (int)(f->instr_ptr - _PyCode_CODE(hlv_code(f)));
}
static inline void hlv_set_ip(HlFrame* f, int unit) {
  f->instr_ptr = _PyCode_CODE(hlv_code(f)) + unit;
}
static inline void hlv_set_resume(HlFrame* f, int unit) {
  hlv_set_ip(f, unit);
}
static inline void hlv_set_start(HlFrame* f, int unit) {
  hlv_set_ip(f, unit);
}
static inline int hlv_top(HlFrame* f) {
  return f->stacktop;
}
static inline void hlv_set_top(HlFrame* f, int n) {
  f->stacktop = n;
}
static inline PyObject* hlv_slot(HlFrame* f, int i) {
  return f->localsplus[i];
}
static inline void hlv_slot_set(HlFrame* f, int i, PyObject* owned) {
  f->localsplus[i] = owned;
}
static inline int hlv_is_c_frame(HlFrame* f) {
  return f->owner == FRAME_OWNED_BY_CSTACK;
}
static inline int hlv_is_generator(HlFrame* f) {
  return f->owner == FRAME_OWNED_BY_GENERATOR;
}
static inline int hlv_is_complete(HlFrame* f) {
  return !hlv_is_c_frame(f) && (hlv_is_generator(f) || hlv_ip(f) >= hlv_code(f)->_co_firsttraceable);
}
/* Where the attributes lie: the values, or NULL and *dict (which may be NULL too: there are none). There may be a
 * dictionary beside valid values, which then uses them. */
static inline PyObject** hlv_instance_values(PyObject* o, PyObject** dict) {
  *dict = (PyObject*)_PyObject_GetManagedDict(o);
  if (!(Py_TYPE(o)->tp_flags & Py_TPFLAGS_INLINE_VALUES)) return NULL;
  PyDictValues* values = _PyObject_InlineValues(o);
  return values->valid ? values->values : NULL;
}
static inline PyObject* hlv_lasti_object(int unit) {
  return PyLong_FromLong(unit);
}

#endif
