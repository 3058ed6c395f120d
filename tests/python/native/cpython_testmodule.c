/* hl_access: src/cpython/access.h as a Python module, for tests only.
 *
 * Frames travel as integers (addresses). callback(plan) makes a sys.monitoring callback in C that asks the Python
 * function plan(frame, code, ...offsets) what to do; plan may use frame functions itself and returns
 *   None or DISABLE               passed on
 *   ("raise", unit, exc)          raise exc at that unit of the frame
 *   ("service", unit, kind)       cause pending work (kind: "call", "fail", "signal", "async"), check that the breaker shows it,
 *                                 service it at that unit, then go on there
 *   ("frames", unit, specs, exc)  materialise inlined frames called at unit; push the result, go on after the call.
 *                                 spec = (func, locals dict name -> value, stack list, unit, use); exc None or raised inside
 * NULL on the operand stack is the module's NULL object. */
#include "cpython/access.h"

#include <signal.h>

static PyObject* null_object; /* stands for NULL */
static HlMonitor monitor;

static HlFrame* as_frame(PyObject* o) { return (HlFrame*)PyLong_AsVoidPtr(o); }
static PyObject* from_frame(HlFrame* f) { return f != NULL ? PyLong_FromVoidPtr(f) : Py_NewRef(Py_None); }
static PyObject* or_null(PyObject* o) { return Py_NewRef(o != NULL ? o : null_object); }         /* borrowed in */
static PyObject* give(PyObject* o) { return o != NULL ? o : Py_NewRef(null_object); }             /* owned in */
static PyObject* take(PyObject* o) { return o == null_object ? NULL : Py_NewRef(o); }             /* borrowed in, owned out */

/* The innermost Python frame is the caller of this function. */
static PyObject* t_current(PyObject* m, PyObject* a) { (void)m, (void)a; return from_frame(hl_current_frame(PyThreadState_Get())); }

#define FRAME_FN(name, expr) \
  static PyObject* t_##name(PyObject* m, PyObject* o) { (void)m; HlFrame* f = as_frame(o); if (f == NULL) return NULL; return expr; }
FRAME_FN(previous, from_frame(hl_frame_previous(f)))
FRAME_FN(is_python, PyLong_FromLong(hl_frame_is_python(f)))
FRAME_FN(is_generator, PyLong_FromLong(hl_frame_is_generator(f)))
FRAME_FN(frame_code, or_null((PyObject*)hl_frame_code(f)))
FRAME_FN(frame_func, or_null(hl_frame_func(f)))
FRAME_FN(frame_globals, or_null(hl_frame_globals(f)))
FRAME_FN(frame_builtins, or_null(hl_frame_builtins(f)))
FRAME_FN(frame_locals, or_null(hl_frame_locals(f)))
FRAME_FN(has_object, PyLong_FromLong(hl_frame_has_object(f)))
FRAME_FN(frame_unit, PyLong_FromLong(hl_frame_unit(f)))
FRAME_FN(depth, PyLong_FromLong(hl_stack_depth(f)))
FRAME_FN(pop, give(hl_stack_pop(f)))

#define FRAME_INT_FN(name, stmt) \
  static PyObject* t_##name(PyObject* m, PyObject* args) { (void)m; PyObject* o; int i; \
    if (!PyArg_ParseTuple(args, "Oi", &o, &i)) return NULL; HlFrame* f = as_frame(o); stmt; }
FRAME_INT_FN(set_resume, hl_frame_set_resume(f, i); Py_RETURN_NONE)
FRAME_INT_FN(set_unit, hl_frame_set_unit(f, i); Py_RETURN_NONE)
FRAME_INT_FN(local_get, return or_null(hl_local_get(f, i)))
FRAME_INT_FN(peek, return or_null(hl_stack_peek(f, i)))
FRAME_INT_FN(slot_at, return or_null(hl_stack_slot_at(f, i)))

static PyObject* t_local_swap(PyObject* m, PyObject* args) {
  (void)m; PyObject *o, *v; int i;
  if (!PyArg_ParseTuple(args, "OiO", &o, &i, &v)) return NULL;
  return give(hl_local_swap(as_frame(o), i, take(v)));
}
static PyObject* t_push(PyObject* m, PyObject* args) {
  (void)m; PyObject *o, *v;
  if (!PyArg_ParseTuple(args, "OO", &o, &v)) return NULL;
  hl_stack_push(as_frame(o), take(v));
  Py_RETURN_NONE;
}
static PyObject* t_cell_get(PyObject* m, PyObject* cell) { (void)m; return or_null(hl_cell_get(cell)); }
static PyObject* t_cell_swap(PyObject* m, PyObject* args) {
  (void)m; PyObject *c, *v;
  if (!PyArg_ParseTuple(args, "OO", &c, &v)) return NULL;
  return give(hl_cell_swap(c, take(v)));
}

/* ---- code */
#define CODE_INT_FN(name, expr) \
  static PyObject* t_##name(PyObject* m, PyObject* args) { (void)m; PyObject* o; int i = 0; \
    if (!PyArg_ParseTuple(args, "O!|i", &PyCode_Type, &o, &i)) return NULL; PyCodeObject* c = (PyCodeObject*)o; return expr; }
CODE_INT_FN(unit_count, PyLong_FromLong(((void)i, hl_unit_count(c))))
CODE_INT_FN(instr_start, PyLong_FromLong(hl_instr_start(c, i)))
CODE_INT_FN(line, PyLong_FromLong(hl_line_of_unit(c, i)))
CODE_INT_FN(has_back_edge, PyLong_FromLong(((void)i, hl_has_back_edge(c))))
CODE_INT_FN(in_try, PyLong_FromLong(hl_unit_in_try(c, i)))
CODE_INT_FN(local_kind, PyLong_FromLong(hl_local_kind(c, i)))
CODE_INT_FN(local_name, Py_NewRef(hl_local_name(c, i)))
CODE_INT_FN(local_count, PyLong_FromLong(((void)i, hl_local_count(c))))
CODE_INT_FN(other_tools, PyLong_FromLong(((void)i, hl_other_tools_active(PyThreadState_Get(), c))))

static PyObject* t_lines(PyObject* m, PyObject* o) {
  (void)m;
  PyCodeObject* code = (PyCodeObject*)o;
  int count = hl_unit_count(code);
  int* lines = PyMem_Malloc(sizeof(int) * (size_t)count + 1);
  PyObject* list = PyList_New(count);
  hl_lines(code, lines);
  for (int k = 0; k < count; k++) PyList_SET_ITEM(list, k, PyLong_FromLong(lines[k]));
  PyMem_Free(lines);
  return list;
}
static PyObject* t_back_edges(PyObject* m, PyObject* o) {
  (void)m;
  HlInstr in;
  PyObject* list = PyList_New(0);
  for (int unit = 0; hl_next_back_edge((PyCodeObject*)o, unit, &in); unit = in.next_unit) {
    PyObject* pair = Py_BuildValue("(ii)", in.target, in.op_unit);
    PyList_Append(list, pair);
    Py_DECREF(pair);
  }
  return list;
}
static PyObject* t_decode(PyObject* m, PyObject* args) {
  (void)m; PyObject* o; int unit; HlInstr in;
  if (!PyArg_ParseTuple(args, "O!i", &PyCode_Type, &o, &unit)) return NULL;
  if (hl_decode((PyCodeObject*)o, unit, &in) < 0) return NULL;
  return Py_BuildValue("(iiisiiiss)", in.unit, in.op_unit, in.next_unit, hl_op_name(in.op), in.arg, in.arg2, in.target,
                       in.name, hl_op_policy(in.op) == HL_TRANSLATE ? "translate" : "refuse");
}
static PyObject* t_handler(PyObject* m, PyObject* args) {
  (void)m; PyObject* o; int unit, h, d, l;
  if (!PyArg_ParseTuple(args, "O!i", &PyCode_Type, &o, &unit)) return NULL;
  if (!hl_find_handler((PyCodeObject*)o, unit, &h, &d, &l)) Py_RETURN_NONE;
  return Py_BuildValue("(iii)", h, d, l);
}
static PyObject* t_opcode_row(PyObject* m, PyObject* o) {
  (void)m; const char* name; int caches; HlOp op;
  if (!hl_opcode_row((int)PyLong_AsLong(o), &name, &caches, &op)) Py_RETURN_NONE;
  return Py_BuildValue("(sis)", name, caches, hl_op_name(op));
}

/* ---- breaker, tools */
static int note_pending(void* p) { ++*(int*)p; return 0; }
static int fail_pending(void* p) { (void)p; PyErr_SetString(PyExc_KeyError, "pending"); return -1; }
static int pending_count;
static PyObject* t_add_pending(PyObject* m, PyObject* o) {
  (void)m;
  return PyLong_FromLong(Py_AddPendingCall(PyObject_IsTrue(o) ? fail_pending : note_pending, &pending_count));
}
static PyObject* t_pending_count(PyObject* m, PyObject* a) { (void)m, (void)a; return PyLong_FromLong(pending_count); }
static PyObject* t_breaker(PyObject* m, PyObject* a) {
  (void)m, (void)a;
  PyThreadState* ts = PyThreadState_Get();
  return Py_BuildValue("(ii)", hl_breaker_pending(ts), *hl_breaker_address(ts) != 0);
}
static PyObject* t_version(PyObject* m, PyObject* a) { (void)m, (void)a; return PyLong_FromUnsignedLongLong(hl_instrumentation_version(PyThreadState_Get())); }
static PyObject* t_service(PyObject* m, PyObject* a) {
  (void)m, (void)a;
  if (hl_service_pending(PyThreadState_Get()) < 0) return NULL;
  Py_RETURN_NONE;
}
static PyObject* t_headroom(PyObject* m, PyObject* a) { (void)m, (void)a; return PyLong_FromLong(hl_recursion_headroom(PyThreadState_Get())); }
static PyObject* t_tracing(PyObject* m, PyObject* a) {
  (void)m, (void)a;
  PyThreadState* ts = PyThreadState_Get();
  int t = hl_tracing_swap(ts, 0);
  hl_tracing_swap(ts, t);
  return PyLong_FromLong(t);
}
static PyObject* t_call_untraced(PyObject* m, PyObject* f) { /* f() with tracing as for ordinary code */
  (void)m;
  PyThreadState* ts = PyThreadState_Get();
  int t = hl_tracing_swap(ts, 0);
  PyObject* r = PyObject_CallNoArgs(f);
  hl_tracing_swap(ts, t);
  return r;
}

/* ---- monitoring */
#define DONE(call) do { if ((call) < 0) return NULL; Py_RETURN_NONE; } while (0)
static PyObject* t_claim(PyObject* m, PyObject* a) { (void)m, (void)a; DONE(hl_monitor_claim(&monitor)); }
static PyObject* t_is_ours(PyObject* m, PyObject* a) { (void)m, (void)a; return PyLong_FromLong(hl_monitor_is_ours(&monitor)); }
static PyObject* t_release(PyObject* m, PyObject* a) { (void)m, (void)a; hl_monitor_release(&monitor); Py_RETURN_NONE; }
static PyObject* t_set_callback(PyObject* m, PyObject* args) {
  (void)m; int e; PyObject* f;
  if (!PyArg_ParseTuple(args, "iO", &e, &f)) return NULL;
  DONE(hl_monitor_set_callback(&monitor, e, f == Py_None ? NULL : f));
}
static PyObject* t_set_global(PyObject* m, PyObject* o) { (void)m; DONE(hl_monitor_set_global(&monitor, (int)PyLong_AsLong(o))); }
static PyObject* t_set_local(PyObject* m, PyObject* args) {
  (void)m; PyObject* c; int e;
  if (!PyArg_ParseTuple(args, "O!i", &PyCode_Type, &c, &e)) return NULL;
  DONE(hl_monitor_set_local(&monitor, (PyCodeObject*)c, e));
}
static PyObject* t_self_check(PyObject* m, PyObject* a) {
  (void)m, (void)a;
  char err[400];
  return hl_self_check(err, sizeof err) == 0 ? Py_NewRef(Py_None) : PyUnicode_FromString(err);
}

/* ---- iterators */
static PyObject* t_iter_kind(PyObject* m, PyObject* o) { (void)m; return PyLong_FromLong(hl_iter_kind(o)); }
static PyObject* t_range_read(PyObject* m, PyObject* o) {
  (void)m; long a, b, c;
  if (!hl_range_iter_read(o, &a, &b, &c)) Py_RETURN_NONE;
  return Py_BuildValue("(lll)", a, b, c);
}
static PyObject* t_range_set(PyObject* m, PyObject* args) {
  (void)m; PyObject* o; long a, b, c;
  if (!PyArg_ParseTuple(args, "Olll", &o, &a, &b, &c)) return NULL;
  return PyLong_FromLong(hl_range_iter_set(o, a, b, c));
}
static PyObject* t_range_new(PyObject* m, PyObject* args) {
  (void)m; long a, b, c;
  return PyArg_ParseTuple(args, "lll", &a, &b, &c) ? hl_range_iter_new(a, b, c) : NULL;
}
static PyObject* t_seq_read(PyObject* m, PyObject* o) {
  (void)m; PyObject* s; Py_ssize_t i;
  if (!hl_seq_iter_read(o, &s, &i)) Py_RETURN_NONE;
  return Py_BuildValue("(Nn)", or_null(s), i);
}
static PyObject* t_seq_set(PyObject* m, PyObject* args) {
  (void)m; PyObject* o; Py_ssize_t i;
  return PyArg_ParseTuple(args, "On", &o, &i) ? PyLong_FromLong(hl_seq_iter_set_index(o, i)) : NULL;
}
static PyObject* t_seq_exhaust(PyObject* m, PyObject* o) { (void)m; return PyLong_FromLong(hl_seq_iter_exhaust(o)); }
static PyObject* t_seq_new(PyObject* m, PyObject* args) {
  (void)m; int k; PyObject* s; Py_ssize_t i;
  return PyArg_ParseTuple(args, "iOn", &k, &s, &i) ? hl_seq_iter_new((HlIterKind)k, s, i) : NULL;
}

static PyObject* t_enumerate_read(PyObject* m, PyObject* o) {
  (void)m; PyObject* inner; Py_ssize_t i;
  if (!hl_enumerate_read(o, &i, &inner)) Py_RETURN_NONE;
  return Py_BuildValue("(nO)", i, inner);
}
static PyObject* t_enumerate_set(PyObject* m, PyObject* args) {
  (void)m; PyObject* o; Py_ssize_t i;
  return PyArg_ParseTuple(args, "On", &o, &i) ? PyLong_FromLong(hl_enumerate_set_index(o, i)) : NULL;
}
static PyObject* t_enumerate_new(PyObject* m, PyObject* args) {
  (void)m; PyObject* o; Py_ssize_t i;
  return PyArg_ParseTuple(args, "On", &o, &i) ? hl_enumerate_new(o, i) : NULL;
}
static PyObject* t_zip_read(PyObject* m, PyObject* o) {
  (void)m; PyObject* inner; int strict;
  if (!hl_zip_read(o, &inner, &strict)) Py_RETURN_NONE;
  return Py_BuildValue("(Oi)", inner, strict);
}
static PyObject* t_zip_new(PyObject* m, PyObject* args) {
  (void)m; PyObject* o; int strict;
  return PyArg_ParseTuple(args, "Oi", &o, &strict) ? hl_zip_new(o, strict) : NULL;
}

/* ---- materialising */
enum { kMaxFrames = 8, kMaxSlots = 64 };
static int read_spec(PyObject* spec, HlInlinedFrame* s, PyObject** locals, PyObject** stack) {
  PyObject *dict, *list;
  int use;
  if (!PyArg_ParseTuple(spec, "OO!O!ii", &s->func, &PyDict_Type, &dict, &PyList_Type, &list, &s->unit, &use)) return -1;
  PyCodeObject* code = (PyCodeObject*)PyFunction_GET_CODE(s->func);
  s->locals = locals;
  s->stack = stack;
  s->stack_depth = (int)PyList_GET_SIZE(list);
  s->use = (HlResultUse)use;
  for (int i = 0; i < hl_local_count(code); i++) locals[i] = Py_XNewRef(PyDict_GetItem(dict, hl_local_name(code, i)));
  for (int i = 0; i < s->stack_depth; i++) stack[i] = take(PyList_GET_ITEM(list, i));
  return 0;
}
static PyObject* run_specs(PyObject* specs, PyObject* exc) {
  static PyObject* locals[kMaxFrames][kMaxSlots];
  static PyObject* stacks[kMaxFrames][kMaxSlots];
  HlInlinedFrame frames[kMaxFrames];
  int n = (int)PyList_Size(specs);
  if (n < 0 || n > kMaxFrames) return NULL;
  for (int i = 0; i < n; i++)
    if (read_spec(PyList_GET_ITEM(specs, i), &frames[i], locals[i], stacks[i]) < 0) return NULL;
  if (exc != Py_None) PyErr_SetRaisedException(Py_NewRef(exc));
  return hl_run_frames(PyThreadState_Get(), frames, n, exc != Py_None);
}
static PyObject* t_run_frames(PyObject* m, PyObject* args) {
  (void)m; PyObject *specs, *exc = Py_None;
  return PyArg_ParseTuple(args, "O!|O", &PyList_Type, &specs, &exc) ? run_specs(specs, exc) : NULL;
}

/* ---- the callback in C */
static int cause(const char* kind) {
  if (strcmp(kind, "signal") == 0) return raise(SIGUSR1);
  if (strcmp(kind, "async") == 0) return PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), PyExc_LookupError) - 1;
  return Py_AddPendingCall(strcmp(kind, "fail") == 0 ? fail_pending : note_pending, &pending_count);
}
static int service(PyThreadState* ts, HlFrame* f, int unit, PyObject* kind) {
  hl_frame_set_unit(f, unit);
  if (hl_breaker_pending(ts) && hl_service_pending(ts) < 0) return hl_deliver_exception(ts, f, unit) ? 0 : -1;
  if (cause(PyUnicode_AsUTF8(kind)) != 0 || !hl_breaker_pending(ts) || *hl_breaker_address(ts) == 0) {
    PyErr_SetString(PyExc_AssertionError, "the breaker does not show pending work");
    return -1;
  }
  if (hl_service_pending(ts) < 0) return hl_deliver_exception(ts, f, unit) ? 0 : -1;
  hl_frame_set_resume(f, unit);
  return 0;
}
static int act(PyThreadState* ts, HlFrame* f, PyObject* todo) {
  const char* what;
  int unit;
  PyObject *x = NULL, *exc = Py_None;
  if (!PyArg_ParseTuple(todo, "si|OO", &what, &unit, &x, &exc)) return -1;
  PyCodeObject* code = hl_frame_code(f);
  if (strcmp(what, "raise") == 0) {
    PyErr_SetRaisedException(Py_NewRef(x));
    return hl_deliver_exception(ts, f, unit) ? 0 : -1;
  }
  if (strcmp(what, "service") == 0) return service(ts, f, unit, x);
  HlInstr in;
  if (hl_decode(code, unit, &in) < 0) return -1;
  hl_frame_set_unit(f, in.op_unit);
  PyObject* r = run_specs(x, exc);
  if (r == NULL) return hl_deliver_exception(ts, f, unit) ? 0 : -1;
  hl_stack_push(f, r);
  hl_frame_set_resume(f, in.next_unit);
  return 0;
}
static PyObject* on_event(PyObject* plan, PyObject* const* args, Py_ssize_t n) {
  PyThreadState* ts = PyThreadState_Get();
  HlFrame* f = hl_current_frame(ts);
  PyObject* all[6] = {from_frame(f)};
  for (Py_ssize_t i = 0; i < n && i < 5; i++) all[i + 1] = args[i];
  PyObject* todo = PyObject_Vectorcall(plan, all, (size_t)n + 1, NULL);
  Py_DECREF(all[0]);
  if (todo == NULL || !PyTuple_Check(todo)) return todo;
  int r = act(ts, f, todo);
  PyObject* exc = PyErr_GetRaisedException();
  Py_DECREF(todo);
  PyErr_SetRaisedException(exc);
  return r == 0 ? Py_NewRef(Py_None) : NULL;
}
static PyMethodDef kOnEvent = {"on_event", (PyCFunction)(void (*)(void))on_event, METH_FASTCALL, NULL};
static PyObject* t_callback(PyObject* m, PyObject* plan) { (void)m; return PyCFunction_New(&kOnEvent, plan); }

/* ---- the evaluation hook */
static PyObject* observed; /* list of tuples */
static int skip_depth;
static int note_enter(void* arg, PyThreadState* ts, HlFrame* f, int depth) {
  (void)arg, (void)ts;
  PyCodeObject* code = hl_frame_code(f);
  PyObject* v = hl_local_count(code) > 0 ? hl_local_get(f, 0) : NULL;
  PyObject* t = Py_BuildValue("(sOiN)", "enter", code->co_name, depth, or_null(v));
  PyList_Append(observed, t);
  Py_DECREF(t);
  return depth == skip_depth;
}
static void note_leave(void* arg, PyThreadState* ts, PyObject* result, int depth) {
  (void)arg, (void)ts;
  PyObject* exc = PyErr_GetRaisedException();
  PyObject* t = Py_BuildValue("(siN)", "leave", depth, or_null(result));
  PyList_Append(observed, t);
  Py_DECREF(t);
  PyErr_SetRaisedException(exc);
}
static PyObject* t_observe(PyObject* m, PyObject* args) {
  (void)m;
  HlEvalObserver o = {NULL, note_enter, note_leave};
  skip_depth = -1;
  if (!PyArg_ParseTuple(args, "|i", &skip_depth)) return NULL;
  Py_XSETREF(observed, PyList_New(0));
  DONE(hl_eval_hook_install(PyThreadState_Get(), &o));
}
static PyObject* t_observed(PyObject* m, PyObject* a) { (void)m, (void)a; hl_eval_hook_remove(); return Py_NewRef(observed); }

/* Somebody else's hook. */
static int foreign_calls;
static PyObject* foreign(PyThreadState* ts, struct _PyInterpreterFrame* f, int throwflag) {
  foreign_calls++;
  return _PyEval_EvalFrameDefault(ts, f, throwflag);
}
static PyObject* t_foreign_hook(PyObject* m, PyObject* on) {
  (void)m;
  _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), PyObject_IsTrue(on) ? foreign : _PyEval_EvalFrameDefault);
  return PyLong_FromLong(foreign_calls);
}
static PyObject* t_foreign_calls(PyObject* m, PyObject* a) { (void)m, (void)a; return PyLong_FromLong(foreign_calls); }

#define F(name, flags) {#name, t_##name, flags, NULL}
static PyMethodDef kMethods[] = {
    F(current, METH_NOARGS), F(previous, METH_O), F(is_python, METH_O), F(is_generator, METH_O), F(frame_code, METH_O),
    F(frame_func, METH_O), F(frame_globals, METH_O), F(frame_builtins, METH_O), F(frame_locals, METH_O),
    F(has_object, METH_O), F(frame_unit, METH_O), F(depth, METH_O), F(pop, METH_O), F(set_resume, METH_VARARGS),
    F(set_unit, METH_VARARGS), F(local_get, METH_VARARGS), F(peek, METH_VARARGS), F(slot_at, METH_VARARGS),
    F(local_swap, METH_VARARGS), F(push, METH_VARARGS), F(cell_get, METH_O), F(cell_swap, METH_VARARGS),
    F(unit_count, METH_VARARGS), F(instr_start, METH_VARARGS), F(line, METH_VARARGS), F(has_back_edge, METH_VARARGS),
    F(in_try, METH_VARARGS), F(local_kind, METH_VARARGS), F(local_name, METH_VARARGS), F(local_count, METH_VARARGS),
    F(other_tools, METH_VARARGS), F(decode, METH_VARARGS), F(handler, METH_VARARGS), F(opcode_row, METH_O), F(lines, METH_O), F(back_edges, METH_O),
    F(add_pending, METH_O), F(pending_count, METH_NOARGS), F(breaker, METH_NOARGS), F(version, METH_NOARGS),
    F(service, METH_NOARGS), F(headroom, METH_NOARGS), F(tracing, METH_NOARGS), F(call_untraced, METH_O),
    F(claim, METH_NOARGS), F(is_ours, METH_NOARGS), F(release, METH_NOARGS), F(set_callback, METH_VARARGS),
    F(set_global, METH_O), F(set_local, METH_VARARGS), F(self_check, METH_NOARGS), F(iter_kind, METH_O),
    F(range_read, METH_O), F(range_set, METH_VARARGS), F(range_new, METH_VARARGS), F(seq_read, METH_O),
    F(seq_set, METH_VARARGS), F(seq_exhaust, METH_O), F(seq_new, METH_VARARGS), F(run_frames, METH_VARARGS),
    F(enumerate_read, METH_O), F(enumerate_set, METH_VARARGS), F(enumerate_new, METH_VARARGS), F(zip_read, METH_O),
    F(zip_new, METH_VARARGS),
    F(callback, METH_O), F(observe, METH_VARARGS), F(observed, METH_NOARGS),
    F(foreign_hook, METH_O), F(foreign_calls, METH_NOARGS), {NULL, NULL, 0, NULL}};
static struct PyModuleDef kModule = {PyModuleDef_HEAD_INIT, "hl_access", NULL, -1, kMethods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_hl_access(void) {
  PyObject* m = PyModule_Create(&kModule);
  if (m == NULL) return NULL;
  null_object = PyObject_CallNoArgs((PyObject*)&PyBaseObject_Type);
  PyModule_AddObjectRef(m, "NULL", null_object);
#define CONST(name) PyModule_AddIntConstant(m, #name, HL_##name)
  CONST(EVENT_PY_START); CONST(EVENT_PY_RESUME); CONST(EVENT_JUMP); CONST(EVENT_BRANCH); CONST(EVENT_INSTRUCTION);
  CONST(RESULT_PUSH); CONST(RESULT_DROP); CONST(RESULT_NOT); CONST(RESULT_BOOL);
  CONST(ITER_OTHER); CONST(ITER_RANGE); CONST(ITER_LIST); CONST(ITER_TUPLE); CONST(ITER_SEQ);
  CONST(ITER_REVERSED_LIST); CONST(ITER_REVERSED); CONST(ITER_STR); CONST(ITER_STR_ASCII); CONST(ITER_BYTES); CONST(ITER_ENUMERATE); CONST(ITER_ZIP);
  PyModule_AddIntConstant(m, "NULL_FIRST", hl_call_null_first());
  return m;
}
