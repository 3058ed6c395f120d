/* tools.c: other tools, tracing, recursion (access.h: eval breaker, tools, recursion). Same for every version. */
#include "cpython/internal.h"

enum { kOurTool = 5, kUserTools = 6 }; /* ids 6 and 7 are sys.setprofile and sys.settrace: asked per thread instead */

int hl_breaker_pending(PyThreadState* ts) {
  return *hl_breaker_address(ts) != 0;
}

int hl_tracing_swap(PyThreadState* ts, int tracing) {
  int old = ts->tracing;
  ts->tracing = tracing;
  return old;
}

/* Asked at every entry of native code: no early way out, so that the compiler unrolls it. */
static inline int others(const uint8_t* tools, int n) {
  uint8_t any = 0;
  for (int i = 0; i < n; i++) any |= tools[i];
  return (any & ((1 << kUserTools) - 1 - (1 << kOurTool))) != 0;
}

int hl_is_traced(PyThreadState* ts) {
  return ts->c_tracefunc != NULL || ts->c_profilefunc != NULL;
}

int hl_other_tools_active(PyThreadState* ts, PyCodeObject* code) {
  if (hl_is_traced(ts)) return 1;
  if (others(ts->interp->monitors.tools, (int)sizeof ts->interp->monitors.tools)) return 1;
  if (code == NULL || code->_co_monitoring == NULL) return 0;
  return others(code->_co_monitoring->local_monitors.tools, (int)sizeof code->_co_monitoring->local_monitors.tools);
}

int hl_has_exception(PyThreadState* ts) {
  return ts->current_exception != NULL;
}

int hl_has_no_context(PyThreadState* ts) {
  return ts->context == NULL;
}

int hl_recursion_headroom(PyThreadState* ts) {
  int py = ts->py_recursion_remaining, c = ts->c_recursion_remaining;
  return py < c ? py : c;
}

int hl_is_only_thread(void) {
  PyThreadState* ts = PyThreadState_Get();
  return ts->prev == NULL && ts->next == NULL;
}

int hl_is_main_interpreter(PyThreadState* ts) {
  return ts->interp == PyInterpreterState_Main();
}
