/* v312.h: inline accessors for CPython 3.12 (see internal.h for what each promises). C only. */
#ifndef HOTLOOP_CPYTHON_V312_H
#define HOTLOOP_CPYTHON_V312_H

#undef _PyObject_LookupSpecial /* the public header's macro renames the internal header's function */
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_range.h"
#include "opcode.h"

#define HLV_NULL_FIRST 1

static inline HlFrame* hlv_current(PyThreadState* ts) {
  return ts->cframe->current_frame;
}
static inline void hlv_set_current(PyThreadState* ts, HlFrame* f) {
  ts->cframe->current_frame = f;
}
static inline PyCodeObject* hlv_code(HlFrame* f) {
  return f->f_code;
}
static inline int hlv_ip(HlFrame* f) {
  return (int)(f->prev_instr - _PyCode_CODE(f->f_code));
}
static inline void hlv_set_ip(HlFrame* f, int unit) {
  f->prev_instr = _PyCode_CODE(f->f_code) + unit;
}
/* In a JUMP callback a changed prev_instr is the instruction that runs next. A frame that is started by
 * _PyEval_EvalFrameDefault goes on one unit after prev_instr instead: hlv_set_start. */
static inline void hlv_set_resume(HlFrame* f, int unit) {
  hlv_set_ip(f, unit);
}
static inline void hlv_set_start(HlFrame* f, int unit) {
  hlv_set_ip(f, unit - 1);
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
  return !hlv_is_c_frame(f) && (hlv_is_generator(f) || hlv_ip(f) >= f->f_code->_co_firsttraceable);
}
/* Where the attributes lie: the values, or NULL and *dict (which may be NULL too: there are none). */
static inline PyObject** hlv_instance_values(PyObject* o, PyObject** dict) {
  PyDictOrValues place = *_PyObject_DictOrValuesPointer(o);
  *dict = NULL;
  if (_PyDictOrValues_IsValues(place)) return _PyDictOrValues_GetValues(place)->values;
  *dict = _PyDictOrValues_GetDict(place);
  return NULL;
}
static inline PyObject* hlv_lasti_object(int unit) {
  return PyLong_FromLong(unit);
}

#endif
