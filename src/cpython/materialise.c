/* materialise.c: real frames for inlined callees, run from the middle (access.h: hl_run_frames). Same for every
 * version; how a fresh frame is made is in v31N.c.
 *
 * Each level makes its frame, fills it, and links it as the current frame while the levels inside run, so that
 * sys._getframe, tracebacks and recursion depth are those of ordinary calls. */
#include "cpython/internal.h"

typedef struct Chain {
  HlInlinedFrame* frames;
  int n;
  int level;
  PyObject* raised; /* owned: the exception of the innermost frame, or NULL */
} Chain;

static void drop_frame(HlInlinedFrame* s) {
  int count = PyFunction_Check(s->func) ? hl_local_count((PyCodeObject*)PyFunction_GET_CODE(s->func)) : 0;
  for (int i = 0; i < count; i++) Py_CLEAR(s->locals[i]);
  for (int i = 0; i < s->stack_depth; i++) Py_CLEAR(s->stack[i]);
}

static void drop_chain(Chain* c) {
  PyObject* exc = PyErr_GetRaisedException();
  for (int i = c->level; i < c->n; i++) drop_frame(&c->frames[i]);
  Py_CLEAR(c->raised);
  PyErr_SetRaisedException(exc);
}

/* Cells that the skipped prologue would have made or copied. */
static int complete_cells(HlInlinedFrame* s, PyCodeObject* code) {
  PyObject* closure = PyFunction_GET_CLOSURE(s->func);
  int first_free = code->co_nlocalsplus - code->co_nfreevars;
  for (int i = 0; i < code->co_nlocalsplus; i++) {
    if (s->locals[i] != NULL) continue;
    int kind = hl_local_kind(code, i);
    if (kind == HL_LOCAL_FREE) {
      s->locals[i] = Py_NewRef(PyTuple_GET_ITEM(closure, i - first_free));
    } else if (kind == HL_LOCAL_CELL) {
      s->locals[i] = PyCell_New(NULL);
      if (s->locals[i] == NULL) return -1;
    }
  }
  return 0;
}

static int check_frame(const HlInlinedFrame* s) {
  if (!PyFunction_Check(s->func)) {
    PyErr_SetString(PyExc_SystemError, "hotloop: an inlined frame is not of a plain function");
    return -1;
  }
  PyCodeObject* code = (PyCodeObject*)PyFunction_GET_CODE(s->func);
  int bad = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
  if (!(code->co_flags & CO_OPTIMIZED) || code->co_flags & bad || s->stack_depth > code->co_stacksize) {
    PyErr_Format(PyExc_SystemError, "hotloop: frames of %U cannot be started in the middle", code->co_qualname);
    return -1;
  }
  return 0;
}

/* Takes over the references. Nothing here can fail or run Python: what goes are None, an empty tuple, an empty dict. */
static void fill(HlFrame* f, HlInlinedFrame* s) {
  int count = hl_local_count(hlv_code(f));
  for (int i = 0; i < count; i++) {
    PyObject* old = hl_local_swap(f, i, s->locals[i]);
    s->locals[i] = NULL;
    Py_XDECREF(old);
  }
  hlv_set_top(f, count);
  for (int i = 0; i < s->stack_depth; i++) {
    hl_stack_push(f, s->stack[i]);
    s->stack[i] = NULL;
  }
}

/* What the caller makes of its callee's result; steals it. *push: the item to push or NULL. -1: exception set. */
static int use_result(HlResultUse use, PyObject* result, PyObject** push) {
  *push = result;
  if (use == HL_RESULT_PUSH) return 0;
  *push = NULL;
  int r = 0;
  if (use == HL_RESULT_DROP) {
    if (result != Py_None) {
      PyErr_Format(PyExc_TypeError, "__init__() should return None, not '%.200s'", Py_TYPE(result)->tp_name);
      r = -1;
    }
  } else {
    int truth = PyObject_IsTrue(result);
    r = truth < 0 ? -1 : 0;
    if (r == 0) *push = PyBool_FromLong(use == HL_RESULT_NOT ? !truth : truth);
  }
  Py_DECREF(result);
  return r;
}

static PyObject* run_level(PyThreadState* ts, Chain* c);

static PyObject* run_frame(PyThreadState* ts, HlFrame* f, void* arg) {
  Chain* c = (Chain*)arg;
  HlInlinedFrame* s = &c->frames[c->level++];
  HlInstr in;
  int decoded = hl_decode(hlv_code(f), s->unit, &in); /* was checked before: cannot fail */
  (void)decoded;
  fill(f, s);
  if (c->level == c->n) {
    if (c->raised == NULL) {
      hlv_set_start(f, in.unit);
      return _PyEval_EvalFrameDefault(ts, f, 0);
    }
    PyErr_SetRaisedException(c->raised);
    c->raised = NULL;
    return hlv_run_raised(ts, f, &in);
  }
  hlv_set_ip(f, in.op_unit);
  HlFrame* below = hlv_current(ts);
  f->previous = below;
  hlv_set_current(ts, f);
  ts->py_recursion_remaining--;
  PyObject* item = NULL;
  PyObject* result = run_level(ts, c);
  int r = result != NULL ? use_result(s->use, result, &item) : -1;
  ts->py_recursion_remaining++;
  hlv_set_current(ts, below);
  if (r < 0) return hlv_run_raised(ts, f, &in);
  if (s->use != HL_RESULT_DROP) hl_stack_push(f, item);
  hlv_set_start(f, in.next_unit);
  return _PyEval_EvalFrameDefault(ts, f, 0);
}

/* Arguments that let binding succeed without running code: None for each positional and keyword-only parameter. */
static PyObject* run_level(PyThreadState* ts, Chain* c) {
  enum { kFew = 32 };
  PyObject* few[kFew];
  HlInlinedFrame* s = &c->frames[c->level];
  PyCodeObject* code = (PyCodeObject*)PyFunction_GET_CODE(s->func);
  int n = code->co_argcount + code->co_kwonlyargcount;
  PyObject** args = n <= kFew ? few : PyMem_New(PyObject*, n);
  PyObject* kwnames = NULL;
  PyObject* result = NULL;
  int level = c->level;
  if (args == NULL) {
    PyErr_NoMemory();
  } else if (complete_cells(s, code) == 0) {
    for (int i = 0; i < n; i++) args[i] = Py_None;
    if (code->co_kwonlyargcount > 0) kwnames = PyTuple_GetSlice(code->co_localsplusnames, code->co_argcount, n);
    if (kwnames != NULL || code->co_kwonlyargcount == 0)
      result = hlv_with_fresh_frame(ts, s->func, args, code->co_argcount, kwnames, run_frame, c);
  }
  if (c->level == level) drop_chain(c); /* the frame was never made */
  Py_XDECREF(kwnames);
  if (args != few) PyMem_Free(args);
  return result;
}

PyObject* hl_run_frames(PyThreadState* ts, HlInlinedFrame* frames, int n, int raised) {
  Chain c = {frames, n, 0, raised ? PyErr_GetRaisedException() : NULL};
  for (int i = 0; i < n; i++) {
    HlInstr in;
    if (check_frame(&frames[i]) == 0 &&
        hl_decode((PyCodeObject*)PyFunction_GET_CODE(frames[i].func), frames[i].unit, &in) == 0)
      continue;
    drop_chain(&c);
    return NULL;
  }
  int tracing = hl_tracing_swap(ts, 0);
  PyObject* result = run_level(ts, &c);
  hl_tracing_swap(ts, tracing);
  return result;
}
