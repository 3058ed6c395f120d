/* v313.c: what is particular to CPython 3.13: breaker, pending work, opcode rows, fresh frames.
 * Compiles to nothing for other versions. */
#include <Python.h>
#if PY_VERSION_HEX >= 0x030d0000 && PY_VERSION_HEX < 0x030e0000
#include "cpython/internal.h"

const HlOpcodeRow hlv_opcodes[256] = {
#define HL_ROW(name, caches, neutral, rule) [name] = {#name, caches, HL_##neutral, HL_RULE_##rule},
#include "cpython/opcodes_313.def"
#undef HL_ROW
};

/* The low byte holds the requests, the rest is the instrumentation version. */
const volatile uint8_t* hl_breaker_address(PyThreadState* ts) {
  return (const volatile uint8_t*)&ts->eval_breaker;
}

uint64_t hl_instrumentation_version(PyThreadState* ts) {
  return ts->eval_breaker & ~(uintptr_t)0xFF;
}

int hl_service_pending(PyThreadState* ts) {
  int tracing = hl_tracing_swap(ts, 0);
  int r = _Py_HandlePending(ts);
  hl_tracing_swap(ts, tracing);
  return r;
}

PyObject* hlv_with_fresh_frame(PyThreadState* ts, PyObject* func, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* kwnames, HlFrameBody body, void* arg) {
  Py_ssize_t total = nargs + (kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0);
  for (Py_ssize_t i = 0; i < total; i++) Py_INCREF(args[i]);
  HlFrame* f = _PyEvalFramePushAndInit(ts, (PyFunctionObject*)Py_NewRef(func), NULL, args, (size_t)nargs, kwnames);
  return f != NULL ? body(ts, f, arg) : NULL;
}

/* With throwflag the evaluator looks for handlers one unit before the ip and takes the line at the ip: right at
 * instructions with caches. Others: our own walk. */
PyObject* hlv_run_raised(PyThreadState* ts, HlFrame* f, const HlInstr* in) {
  if (in->next_unit > in->op_unit + 1) {
    hlv_set_ip(f, in->op_unit + 1);
    return _PyEval_EvalFrameDefault(ts, f, 1);
  }
  HlFrame* below = hlv_current(ts);
  f->previous = below;
  hlv_set_current(ts, f);
  int handled = hl_deliver_exception(ts, f, in->op_unit);
  if (!handled) {
    PyObject* exc = PyErr_GetRaisedException();
    PyFrameObject* object = PyThreadState_GetFrame(ts);
    if (object != NULL) {
      PyErr_SetRaisedException(exc);
      PyTraceBack_Here(object);
      Py_DECREF(object);
    } else {
      Py_XDECREF(exc); /* a memory error took its place */
    }
  }
  hlv_set_current(ts, below);
  if (handled) return _PyEval_EvalFrameDefault(ts, f, 0);
  _PyEval_FrameClearAndPop(ts, f); /* finalizers may run, with the exception set, as in the evaluator */
  return NULL;
}

#endif
