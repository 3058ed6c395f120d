/* eval_hook.c: the frame-evaluation hook while recording (access.h: HlEvalObserver). Same for every version.
 *
 * Promises: never at rest; only frames of the observing thread are shown; a hook that was there before is called for
 * every frame and put back unless somebody replaced ours meanwhile; below depth 8 the hook is out of the way, so that
 * deep recursion costs neither speed nor C stack. */
#include "cpython/internal.h"

enum { kMaxDepth = 8 };

/* The hook has no argument of its own, so the one active observation is kept here (guarded by the GIL). */
static struct {
  HlEvalObserver observer;
  PyThreadState* ts; /* NULL: none */
  _PyFrameEvalFunction former;
  int depth;
  unsigned generation; /* tells a call that outlives its observation */
} active;

static PyObject* call_former(PyThreadState* ts, HlFrame* f, int throwflag) {
  _PyFrameEvalFunction former = active.former;
  return former != NULL ? former(ts, f, throwflag) : _PyEval_EvalFrameDefault(ts, f, throwflag);
}

static PyObject* observe(PyThreadState* ts, HlFrame* f, int throwflag) {
  if (active.ts != ts || throwflag) return call_former(ts, f, throwflag);
  unsigned generation = active.generation;
  int below = active.observer.enter(active.observer.arg, ts, f, active.depth + 1) == 0 && active.depth + 1 < kMaxDepth;
  if (active.generation != generation) return call_former(ts, f, throwflag);
  active.depth++;
  if (!below) _PyInterpreterState_SetEvalFrameFunc(ts->interp, active.former);
  PyObject* result = call_former(ts, f, throwflag);
  if (active.generation != generation) return result;
  active.depth--;
  if (!below && _PyInterpreterState_GetEvalFrameFunc(ts->interp) == active.former)
    _PyInterpreterState_SetEvalFrameFunc(ts->interp, observe);
  active.observer.leave(active.observer.arg, ts, result, active.depth + 1);
  return result;
}

int hl_eval_hook_install(PyThreadState* ts, const HlEvalObserver* observer) {
  if (active.ts != NULL) {
    PyErr_SetString(PyExc_RuntimeError, "hotloop: another recording is under way");
    return -1;
  }
  _PyFrameEvalFunction current = _PyInterpreterState_GetEvalFrameFunc(ts->interp);
  if (current != observe) active.former = current; /* else: somebody left ours below theirs */
  active.observer = *observer;
  active.depth = 0;
  active.generation++;
  active.ts = ts;
  _PyInterpreterState_SetEvalFrameFunc(ts->interp, observe);
  return 0;
}

void hl_eval_hook_remove(void) {
  if (active.ts == NULL) return;
  PyInterpreterState* interp = active.ts->interp;
  active.ts = NULL;
  active.generation++;
  if (_PyInterpreterState_GetEvalFrameFunc(interp) == observe)
    _PyInterpreterState_SetEvalFrameFunc(interp, active.former);
}

int hl_eval_hook_installed(void) {
  return active.ts != NULL;
}
