/* v312.c: what is particular to CPython 3.12: breaker, pending work, opcode rows, fresh frames by a transient hook.
 * Needs: nothing that 3.12 does not export. Compiles to nothing for other versions. */
#include <Python.h>
#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000
#include "cpython/internal.h"

const HlOpcodeRow hlv_opcodes[256] = {
#define HL_ROW(name, caches, neutral, rule) [name] = {#name, caches, HL_##neutral, HL_RULE_##rule},
#include "cpython/opcodes_312.def"
#undef HL_ROW
};

/* eval_breaker is an int that is 0 or 1; its low byte says it all on a little-endian machine. */
const volatile uint8_t* hl_breaker_address(PyThreadState* ts) {
  return (const volatile uint8_t*)&ts->interp->ceval.eval_breaker;
}

uint64_t hl_instrumentation_version(PyThreadState* ts) {
  return ts->interp->monitoring_version;
}

static int pending_work(PyThreadState* ts) {
  if (PyErr_CheckSignals() < 0) return -1; /* signals, and a collection that is due */
  if (Py_MakePendingCalls() < 0) return -1;
  if (_Py_atomic_load_relaxed(&ts->interp->ceval.gil_drop_request)) {
    PyThreadState* saved = PyEval_SaveThread();
    PyEval_RestoreThread(saved);
  }
  PyObject* exc = ts->async_exc;
  if (exc == NULL) return 0;
  ts->async_exc = NULL;
  ts->interp->ceval.pending.async_exc = 0; /* the breaker itself is recomputed at the evaluator's next look */
  PyErr_SetNone(exc);
  Py_DECREF(exc);
  return -1;
}

int hl_service_pending(PyThreadState* ts) {
  int tracing = hl_tracing_swap(ts, 0);
  int r = pending_work(ts);
  hl_tracing_swap(ts, tracing);
  return r;
}

/* ---- fresh frames: call the function while our hook is in place; the hook gets the frame before its first instruction
 */

typedef struct Catch {
  struct Catch* outer;
  PyThreadState* ts;
  PyObject* func;
  HlFrameBody body;
  void* arg;
  _PyFrameEvalFunction former;
  int caught;
} Catch;
static Catch* catching; /* guarded by the GIL: no Python code runs between setting and catching */

static PyObject* catch_frame(PyThreadState* ts, HlFrame* f, int throwflag) {
  Catch* c = catching;
  if (c == NULL || c->ts != ts || f->f_funcobj != c->func || throwflag)
    return c != NULL ? c->former(ts, f, throwflag) : _PyEval_EvalFrameDefault(ts, f, throwflag);
  _PyInterpreterState_SetEvalFrameFunc(ts->interp, c->former);
  catching = c->outer;
  c->caught = 1;
  return c->body(ts, f, c->arg);
}

PyObject* hlv_with_fresh_frame(PyThreadState* ts, PyObject* func, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* kwnames, HlFrameBody body, void* arg) {
  Catch c = {catching, ts, func, body, arg, _PyInterpreterState_GetEvalFrameFunc(ts->interp), 0};
  catching = &c;
  _PyInterpreterState_SetEvalFrameFunc(ts->interp, catch_frame);
  PyObject* r = _PyFunction_Vectorcall(func, args, (size_t)nargs, kwnames);
  if (!c.caught) { /* no memory for the frame */
    _PyInterpreterState_SetEvalFrameFunc(ts->interp, c.former);
    catching = c.outer;
  }
  return r;
}

PyObject* hlv_run_raised(PyThreadState* ts, HlFrame* f, const HlInstr* in) {
  hlv_set_ip(f, in->op_unit);
  return _PyEval_EvalFrameDefault(ts, f, 1);
}

#endif
