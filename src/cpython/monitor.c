/* monitor.c: our use of sys.monitoring as tool 5 (access.h: sys.monitoring). Through the public Python interface, so
 * that it is the same for every version; events are looked up by name because their numbers move. */
#include "cpython/internal.h"
#ifndef PY_MONITORING_EVENT_JUMP
#include "internal/pycore_instruments.h"
#endif

enum { kToolId = 5, kEvents = 7 };
static const char* const kEventNames[kEvents] = {"PY_START",    "PY_RESUME", "JUMP", "BRANCH",
                                                 "INSTRUCTION", "PY_RETURN", "CALL"};

static PyObject* monitoring(void) { /* borrowed */
  PyObject* m = PySys_GetObject("monitoring");
  if (m == NULL) PyErr_SetString(PyExc_RuntimeError, "hotloop: this interpreter has no sys.monitoring");
  return m;
}

static int translate(const HlMonitor* m, int events) {
  int bits = 0;
  for (int i = 0; i < kEvents; i++)
    if (events & 1 << i) bits |= m->event_bits[i];
  return bits;
}

static int read_event_bits(HlMonitor* m, PyObject* mon) {
  PyObject* events = PyObject_GetAttrString(mon, "events");
  if (events == NULL) return -1;
  for (int i = 0; i < kEvents; i++) {
    PyObject* v = PyObject_GetAttrString(events, kEventNames[i]);
    m->event_bits[i] = v != NULL ? (int)PyLong_AsLong(v) : -1;
    Py_XDECREF(v);
    if (m->event_bits[i] == -1) break;
  }
  Py_DECREF(events);
  return PyErr_Occurred() ? -1 : 0;
}

static void drop_objects(HlMonitor* m) {
  Py_CLEAR(m->disable);
  Py_CLEAR(m->set_events);
  Py_CLEAR(m->set_local_events);
  Py_CLEAR(m->get_tool);
}

static int call_int(PyObject* f, PyObject* args) { /* steals args; NULL args: error */
  if (args == NULL) return -1;
  PyObject* r = f != NULL ? PyObject_Call(f, args, NULL) : NULL;
  Py_DECREF(args);
  if (f == NULL) PyErr_SetString(PyExc_RuntimeError, "hotloop: sys.monitoring is not claimed");
  if (r == NULL) return -1;
  Py_DECREF(r);
  return 0;
}

static int take_id(HlMonitor* m, PyObject* mon) {
  PyObject* owner = PyObject_CallFunction(m->get_tool, "i", (int)kToolId);
  if (owner == NULL) return -1;
  if (owner != Py_None) {
    PyErr_Format(PyExc_RuntimeError,
                 "hotloop needs tool id 5 (OPTIMIZER_ID) of sys.monitoring, but %R holds it; stop that tool first",
                 owner);
    Py_DECREF(owner);
    return -1;
  }
  Py_DECREF(owner);
  PyObject* r = PyObject_CallMethod(mon, "use_tool_id", "is", (int)kToolId, "hotloop");
  Py_XDECREF(r);
  return r != NULL ? 0 : -1;
}

int hl_monitor_claim(HlMonitor* m) {
  PyObject* mon = monitoring();
  if (mon == NULL) return -1;
  if (m->claimed) return 0;
  m->disable = PyObject_GetAttrString(mon, "DISABLE");
  m->set_events = PyObject_GetAttrString(mon, "set_events");
  m->set_local_events = PyObject_GetAttrString(mon, "set_local_events");
  m->get_tool = PyObject_GetAttrString(mon, "get_tool");
  if (!m->disable || !m->set_events || !m->set_local_events || !m->get_tool || read_event_bits(m, mon) < 0 ||
      take_id(m, mon) < 0) {
    drop_objects(m);
    return -1;
  }
  m->claimed = 1;
  return 0;
}

int hl_monitor_is_ours(HlMonitor* m) {
  if (!m->claimed) return 0;
  PyObject* owner = PyObject_CallFunction(m->get_tool, "i", (int)kToolId);
  int ours = owner != NULL && PyUnicode_Check(owner) && PyUnicode_CompareWithASCIIString(owner, "hotloop") == 0;
  Py_XDECREF(owner);
  PyErr_Clear();
  return ours;
}

int hl_monitor_set_callback(HlMonitor* m, int event, PyObject* callable) {
  PyObject* mon = monitoring();
  if (mon == NULL) return -1;
  PyObject* r = PyObject_CallMethod(mon, "register_callback", "iiO", (int)kToolId, translate(m, event),
                                    callable != NULL ? callable : Py_None);
  Py_XDECREF(r); /* the former callback */
  return r != NULL ? 0 : -1;
}

int hl_monitor_set_global(HlMonitor* m, int events) {
  return call_int(m->set_events, Py_BuildValue("(ii)", (int)kToolId, translate(m, events)));
}

int hl_monitor_set_local(HlMonitor* m, PyCodeObject* code, int events) {
  if (m->set_local_events == NULL) {
    PyErr_SetString(PyExc_RuntimeError, "hotloop: sys.monitoring is not claimed");
    return -1;
  }
  PyObject* args[] = {PyLong_FromLong(kToolId), (PyObject*)code, PyLong_FromLong(translate(m, events))};
  PyObject* r = args[0] != NULL && args[2] != NULL ? PyObject_Vectorcall(m->set_local_events, args, 3, NULL) : NULL;
  Py_XDECREF(args[0]);
  Py_XDECREF(args[2]);
  Py_XDECREF(r);
  return r != NULL ? 0 : -1;
}

/* The location is as CPython leaves it after DISABLE: the plain opcode, while the code object's active events still
 * have JUMP for our tool. With one tool there is no table of tools by location. */
int hl_monitor_rearm_jump(PyCodeObject* code, int unit) {
  const _PyCoMonitoringData* data = code->_co_monitoring;
  if (data == NULL || data->tools != NULL || unit < 0 || unit >= Py_SIZE(code)) return 0;
  if (!(data->active_monitors.tools[PY_MONITORING_EVENT_JUMP] & 1 << kToolId)) return 0;
  _Py_CODEUNIT* at = _PyCode_CODE(code) + unit;
  if (at->op.code == INSTRUMENTED_JUMP_BACKWARD) return 1;
  if (at->op.code != JUMP_BACKWARD) return 0;
  at->op.code = INSTRUMENTED_JUMP_BACKWARD;
  return 1;
}

PyObject* hl_monitor_disable_object(HlMonitor* m) {
  return m->disable;
}

void hl_monitor_release(HlMonitor* m) {
  PyObject* exc = PyErr_GetRaisedException();
  if (hl_monitor_is_ours(m)) {
    PyObject* mon = monitoring();
    if (hl_monitor_set_global(m, 0) < 0) PyErr_Clear();
    for (int i = 0; i < kEvents; i++)
      if (hl_monitor_set_callback(m, 1 << i, NULL) < 0) PyErr_Clear();
    PyObject* r = mon != NULL ? PyObject_CallMethod(mon, "free_tool_id", "i", (int)kToolId) : NULL;
    Py_XDECREF(r);
  }
  PyErr_Clear();
  drop_objects(m);
  m->claimed = 0;
  PyErr_SetRaisedException(exc);
}
