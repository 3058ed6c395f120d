/* frames.c: reading and writing frames, cells and the operand stack (access.h: frames). Same for every version. */
#include "cpython/internal.h"

HlFrame* hl_current_frame(PyThreadState* ts) {
  HlFrame* f = hlv_current(ts);
  while (f != NULL && hlv_is_c_frame(f)) f = f->previous;
  return f;
}

HlFrame* hl_frame_previous(HlFrame* f) {
  do f = f->previous;
  while (f != NULL && hlv_is_c_frame(f));
  return f;
}

int hl_frame_is_python(HlFrame* f) {
  return hlv_is_complete(f);
}
int hl_frame_is_generator(HlFrame* f) {
  return !hlv_is_c_frame(f) && hlv_is_generator(f);
}
PyCodeObject* hl_frame_code(HlFrame* f) {
  return hlv_code(f);
}
PyObject* hl_frame_func(HlFrame* f) {
  return f->f_funcobj;
}
PyObject* hl_frame_globals(HlFrame* f) {
  return f->f_globals;
}
PyObject* hl_frame_builtins(HlFrame* f) {
  return f->f_builtins;
}
PyObject* hl_frame_locals(HlFrame* f) {
  return f->f_locals;
}
int hl_frame_has_object(HlFrame* f) {
  return f->frame_obj != NULL;
}
int hl_frame_unit(HlFrame* f) {
  return hlv_ip(f);
}
void hl_frame_set_resume(HlFrame* f, int unit) {
  hlv_set_resume(f, unit);
}
void hl_frame_set_unit(HlFrame* f, int unit) {
  hlv_set_ip(f, unit);
}

int hl_local_count(PyCodeObject* code) {
  return code->co_nlocalsplus;
}
PyObject* hl_local_get(HlFrame* f, int i) {
  return hlv_slot(f, i);
}

PyObject* hl_local_swap(HlFrame* f, int i, PyObject* value) {
  PyObject* old = hlv_slot(f, i);
  hlv_slot_set(f, i, value);
  return old;
}

int hl_local_kind(PyCodeObject* code, int i) {
  unsigned char kind = (unsigned char)PyBytes_AS_STRING(code->co_localspluskinds)[i];
  if (kind & CO_FAST_CELL) return HL_LOCAL_CELL;
  if (kind & CO_FAST_FREE) return HL_LOCAL_FREE;
  return kind & CO_FAST_HIDDEN ? HL_LOCAL_HIDDEN : HL_LOCAL_FAST;
}

PyObject* hl_local_name(PyCodeObject* code, int i) {
  return PyTuple_GET_ITEM(code->co_localsplusnames, i);
}
PyObject* hl_cell_get(PyObject* cell) {
  return ((PyCellObject*)cell)->ob_ref;
}

PyObject* hl_cell_swap(PyObject* cell, PyObject* value) {
  PyObject* old = ((PyCellObject*)cell)->ob_ref;
  ((PyCellObject*)cell)->ob_ref = value;
  return old;
}

int hl_stack_depth(HlFrame* f) {
  return hlv_top(f) - hlv_code(f)->co_nlocalsplus;
}
PyObject* hl_stack_slot_at(HlFrame* f, int i) {
  return hlv_slot(f, hlv_code(f)->co_nlocalsplus + i);
}
PyObject* hl_stack_peek(HlFrame* f, int i) {
  return hl_stack_slot_at(f, i);
}
int hl_stack_limit(PyCodeObject* code) {
  return code->co_stacksize;
}

void hl_stack_push(HlFrame* f, PyObject* value) {
  int top = hlv_top(f);
  hlv_slot_set(f, top, value);
  hlv_set_top(f, top + 1);
}

PyObject* hl_stack_pop(HlFrame* f) {
  int top = hlv_top(f) - 1;
  PyObject* value = hlv_slot(f, top);
  hlv_set_top(f, top);
  return value;
}
