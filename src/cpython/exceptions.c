/* exceptions.c: finding and entering exception handlers (access.h: exceptions).
 *
 * Why our own walk: an exception raised by a JUMP callback is looked up at the wrong place by CPython up to 3.13.0, and
 * at the jump instead of the raising instruction later. Format of co_exceptiontable:
 * Objects/exception_handling_notes.txt of CPython: entries (start, length, handler, depth << 1 | lasti), sorted by
 * start; big-endian groups of 6 bits, 0x40 = more follow, 0x80 = first byte of an entry.
 */
#include "cpython/internal.h"

static const unsigned char* read_number(const unsigned char* p, const unsigned char* end, int* value) {
  int v = 0;
  while (p < end) {
    unsigned char b = *p++;
    v = v << 6 | (b & 63);
    if (!(b & 64)) break;
  }
  *value = v;
  return p;
}

int hl_find_handler(PyCodeObject* code, int unit, int* handler_unit, int* depth, int* push_lasti) {
  const unsigned char* p = (const unsigned char*)PyBytes_AS_STRING(code->co_exceptiontable);
  const unsigned char* end = p + PyBytes_GET_SIZE(code->co_exceptiontable);
  while (p < end) {
    int start, length, target, depth_lasti;
    p = read_number(p, end, &start);
    p = read_number(p, end, &length);
    p = read_number(p, end, &target);
    p = read_number(p, end, &depth_lasti);
    if (start > unit) return 0;
    if (unit >= start + length) continue;
    if (handler_unit) *handler_unit = target;
    if (depth) *depth = depth_lasti >> 1;
    if (push_lasti) *push_lasti = depth_lasti & 1;
    return 1;
  }
  return 0;
}

int hl_unit_in_try(PyCodeObject* code, int unit) {
  return hl_find_handler(code, unit, NULL, NULL, NULL);
}

/* Adds the entry for the current frame (its ip stands at the raising instruction). An error on the way replaces the
 * exception, as in the interpreter. */
static void add_traceback(PyThreadState* ts) {
  PyObject* exc = PyErr_GetRaisedException();
  PyFrameObject* frame = PyThreadState_GetFrame(ts);
  if (frame == NULL) {
    if (!PyErr_Occurred())
      PyErr_SetRaisedException(exc);
    else
      Py_XDECREF(exc);
    return;
  }
  PyErr_SetRaisedException(exc);
  PyTraceBack_Here(frame);
  Py_DECREF(frame);
}

int hl_deliver_exception(PyThreadState* ts, HlFrame* f, int raising_unit) {
  PyCodeObject* code = hlv_code(f);
  int handler, depth, push_lasti;
  HlInstr in;
  PyObject* exc = PyErr_GetRaisedException();
  int unit = hl_decode(code, raising_unit, &in) == 0 ? in.op_unit : raising_unit;
  PyErr_Clear();
  PyErr_SetRaisedException(exc);
  hlv_set_ip(f, unit);
  if (!hl_find_handler(code, unit, &handler, &depth, &push_lasti)) return 0;
  add_traceback(ts);
  /* The exception is put aside while old stack items go: their finalizers may run Python. */
  exc = PyErr_GetRaisedException();
  PyObject* lasti = NULL;
  if (push_lasti) {
    lasti = hlv_lasti_object(unit);
    if (lasti == NULL) { /* the handler sees the memory error instead; it still needs its lasti: a cached small int */
      Py_SETREF(exc, PyErr_GetRaisedException());
      lasti = hlv_lasti_object(0);
    }
  }
  int tracing = hl_tracing_swap(ts, 0);
  while (hl_stack_depth(f) > depth) {
    PyObject* old = hl_stack_pop(f);
    Py_XDECREF(old);
  }
  hl_tracing_swap(ts, tracing);
  if (push_lasti) hl_stack_push(f, lasti);
  hl_stack_push(f, exc);
  hlv_set_resume(f, handler);
  return 1;
}
