/* self_check.c: does this interpreter behave as src/cpython believes? (access.h: hl_self_check)
 *
 * Drives small loops through entry, resume, resume with items on the stack, an exception, pending work, inlined frames
 * and the evaluation hook, and compares iterators and the opcode table. A surprise gives a message; hotloop then stays
 * off. */
#include "cpython/internal.h"

static const char kSource[] =
    "def advance(n):\n"
    "    s = 0\n"
    "    for i in range(n):\n"
    "        s += i\n"
    "    return s\n"
    "def expression(n):\n"
    "    s = 0\n"
    "    for i in range(n):\n"
    "        s = s + i * 2\n"
    "    return s\n"
    "def after(n):\n"
    "    for i in range(n):\n"
    "        pass\n"
    "    return i\n"
    "def raising(n):\n"
    "    try:\n"
    "        for i in range(n):\n"
    "            n // (i + 1)\n"
    "    except ZeroDivisionError as e:\n"
    "        return e.__traceback__.tb_lineno\n"
    "def pending(n):\n"
    "    for i in range(n):\n"
    "        pass\n"
    "    return i\n"
    "def callee(a, *, b=1):\n"
    "    c = a + b\n"
    "    return c * 2\n";

enum { kTrips = 50, kMultiply = 5, kFloorDivide = 2 };

typedef struct Check Check;
typedef int (*Step)(Check* c, PyThreadState* ts, HlFrame* f, int target); /* -1: exception set; 1: return NULL */
struct Check {
  Step step;
  int steps; /* how often the callback came */
  int flag;  /* set by the pending call */
  PyObject* globals;
  HlMonitor monitor;
};

static int find_binary(PyCodeObject* code, int number, HlInstr* in) {
  for (int u = 0; u < hl_unit_count(code); u = in->next_unit) {
    if (hl_decode(code, u, in) < 0) return -1;
    if (in->op == HL_BINARY && in->arg == number) return 0;
  }
  PyErr_SetString(PyExc_SystemError, "an instruction is missing");
  return -1;
}

static int set_local_long(HlFrame* f, const char* name, long v) {
  PyCodeObject* code = hl_frame_code(f);
  for (int i = 0; i < hl_local_count(code); i++) {
    if (PyUnicode_CompareWithASCIIString(hl_local_name(code, i), name) != 0) continue;
    PyObject* value = PyLong_FromLong(v);
    if (value == NULL) return -1;
    PyObject* old = hl_local_swap(f, i, value);
    Py_XDECREF(old);
    return 0;
  }
  PyErr_SetString(PyExc_SystemError, "a local is missing");
  return -1;
}

/* Top of the stack must be the range iterator at its second item. */
static int read_iterator(HlFrame* f, PyObject** it) {
  long start, step, len;
  *it = hl_stack_depth(f) == 1 ? hl_stack_peek(f, 0) : NULL;
  if (hl_range_iter_read(*it, &start, &step, &len) && start == 1 && step == 1 && len == kTrips - 1) return 0;
  PyErr_SetString(PyExc_SystemError, "the range iterator is not where it should be");
  return -1;
}

static int step_advance(Check* c, PyThreadState* ts, HlFrame* f, int target) {
  (void)c, (void)ts;
  PyObject* it;
  if (read_iterator(f, &it) < 0) return -1;
  hl_range_iter_set(it, 11, 1, kTrips - 11);
  hl_frame_set_resume(f, target);
  return set_local_long(f, "s", 55) < 0 ? -1 : set_local_long(f, "i", 10);
}

static int step_expression(Check* c, PyThreadState* ts, HlFrame* f, int target) {
  (void)c, (void)ts, (void)target;
  PyObject* it;
  HlInstr in;
  if (read_iterator(f, &it) < 0 || find_binary(hl_frame_code(f), kMultiply, &in) < 0) return -1;
  if (set_local_long(f, "i", 1) < 0) return -1;
  hl_range_iter_set(it, 2, 1, kTrips - 2);
  hl_stack_push(f, PyLong_FromLong(0));
  hl_stack_push(f, PyLong_FromLong(1));
  hl_stack_push(f, PyLong_FromLong(2));
  hl_frame_set_resume(f, in.unit);
  return 0;
}

static int step_after(Check* c, PyThreadState* ts, HlFrame* f, int target) {
  (void)c, (void)ts;
  PyObject* it;
  HlInstr in;
  if (read_iterator(f, &it) < 0 || set_local_long(f, "i", kTrips - 1) < 0) return -1;
  int head = target;
  do {
    if (hl_decode(hl_frame_code(f), head, &in) < 0) return -1;
    head = in.next_unit;
  } while (in.op == HL_NOP);
  if (in.op != HL_FOR_ITER || in.arg != 1) {
    PyErr_SetString(PyExc_SystemError, "the loop header is not FOR_ITER");
    return -1;
  }
  it = hl_stack_pop(f);
  Py_DECREF(it);
  hl_frame_set_resume(f, in.target);
  return 0;
}

static int step_raising(Check* c, PyThreadState* ts, HlFrame* f, int target) {
  (void)c, (void)target;
  HlInstr in;
  if (find_binary(hl_frame_code(f), kFloorDivide, &in) < 0) return -1;
  hl_stack_push(f, PyLong_FromLong(7)); /* a stray operand that must be cleaned up */
  PyErr_SetString(PyExc_ZeroDivisionError, "self-check");
  return hl_deliver_exception(ts, f, in.unit) ? 0 : 1;
}

static int set_flag(void* flag) {
  *(int*)flag = 1;
  return 0;
}

static int step_pending(Check* c, PyThreadState* ts, HlFrame* f, int target) {
  hl_frame_set_resume(f, target);
  if (c->steps > 1) return 0;
  Py_AddPendingCall(set_flag, &c->flag);
  int seen = hl_breaker_pending(ts);
  if (hl_service_pending(ts) < 0) return -1;
  if (seen && c->flag) return 0;
  PyErr_SetString(PyExc_SystemError,
                  seen ? "a pending call did not run" : "a pending call does not show in the breaker");
  return -1;
}

static PyObject* on_jump(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  Check* c = (Check*)PyCapsule_GetPointer(self, NULL);
  PyThreadState* ts = PyThreadState_Get();
  HlFrame* f = hl_current_frame(ts);
  if (c == NULL) return NULL;
  if (nargs != 3 || f == NULL || !hl_frame_is_python(f) || (PyObject*)hl_frame_code(f) != args[0]) {
    PyErr_SetString(PyExc_SystemError, "the jump callback was called in an unexpected way");
    return NULL;
  }
  int target = (int)(PyLong_AsLong(args[2]) / 2);
  c->steps++;
  if (c->step != step_pending && c->steps > 1) return Py_NewRef(hl_monitor_disable_object(&c->monitor));
  return c->step(c, ts, f, target) == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef kOnJump = {"on_jump", (PyCFunction)(void (*)(void))on_jump, METH_FASTCALL, NULL};

static int say(char* err, size_t size, const char* what) {
  PyObject* exc = PyErr_GetRaisedException();
  PyObject* text = exc != NULL ? PyObject_Str(exc) : NULL;
  const char* utf8 = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
  PyOS_snprintf(err, size, "self-check on Python %.20s failed: %s%s%s", Py_GetVersion(), what, utf8 ? ": " : "",
                utf8 ? utf8 : "");
  Py_XDECREF(text);
  Py_XDECREF(exc);
  PyErr_Clear();
  return -1;
}

static int run_loop(Check* c, const char* name, Step step, long expected) {
  PyObject* func = PyDict_GetItemString(c->globals, name); /* borrowed */
  if (func == NULL) return -1;
  PyCodeObject* code = (PyCodeObject*)PyFunction_GET_CODE(func);
  c->step = step;
  c->steps = 0;
  if (hl_monitor_set_local(&c->monitor, code, HL_EVENT_JUMP) < 0) return -1;
  PyObject* result = PyObject_CallFunction(func, "i", (int)kTrips);
  PyObject* exc = PyErr_GetRaisedException();
  int r = hl_monitor_set_local(&c->monitor, code, 0);
  if (exc != NULL) PyErr_SetRaisedException(exc);
  long value = result != NULL ? PyLong_AsLong(result) : -1;
  Py_XDECREF(result);
  if (r < 0 || PyErr_Occurred()) return -1;
  if (value == expected && c->steps > 0) return 0;
  PyErr_Format(PyExc_SystemError, "result %ld instead of %ld, %d events", value, expected, c->steps);
  return -1;
}

static int check_loops(Check* c, char* err, size_t size) {
  static const struct {
    const char* name;
    Step step;
    long expected;
    const char* what;
  } kLoops[] = {
      {"advance", step_advance, (long)kTrips * (kTrips - 1) / 2, "moving a range iterator"},
      {"expression", step_expression, (long)kTrips * (kTrips - 1), "resuming in mid-expression"},
      {"after", step_after, kTrips - 1, "resuming after a loop"},
      {"raising", step_raising, 18, "delivering an exception"},
      {"pending", step_pending, kTrips - 1, "servicing pending calls"},
  };
  /* Pending calls run in the main thread only. */
  int n = (int)(sizeof kLoops / sizeof kLoops[0]) - (_Py_IsMainThread() ? 0 : 1);
  PyObject* self = PyCapsule_New(c, NULL, NULL);
  PyObject* callback = self != NULL ? PyCFunction_New(&kOnJump, self) : NULL;
  int r = callback != NULL ? hl_monitor_set_callback(&c->monitor, HL_EVENT_JUMP, callback) : -1;
  if (r < 0) say(err, size, "setting a callback");
  for (int i = 0; r == 0 && i < n; i++)
    if (run_loop(c, kLoops[i].name, kLoops[i].step, kLoops[i].expected) < 0) r = say(err, size, kLoops[i].what);
  Py_XDECREF(callback);
  Py_XDECREF(self);
  return r;
}

static int expect_next(PyObject* it, long expected) { /* steals it */
  PyObject* v = it != NULL ? PyIter_Next(it) : NULL;
  long got = v != NULL ? PyLong_AsLong(v) : -1;
  Py_XDECREF(v);
  Py_XDECREF(it);
  return v != NULL && got == expected && !PyErr_Occurred() ? 0 : -1;
}

static int check_compound(PyObject* list) { /* enumerate, zip and map over a list iterator */
  PyObject* inner = PyObject_GetIter(list);
  PyObject* it = inner != NULL ? hl_enumerate_new(inner, 5) : NULL;
  PyObject* v = it != NULL ? PyIter_Next(it) : NULL;
  PyObject* got = NULL;
  Py_ssize_t index = -1;
  int strict = -1;
  int r = v != NULL && hl_enumerate_read(it, &index, &got) && index == 6 && got == inner ? 0 : -1;
  Py_XDECREF(v);
  Py_XDECREF(it);
  PyObject* pack = r == 0 ? PyTuple_Pack(1, inner) : NULL;
  it = pack != NULL ? hl_zip_new(pack, 1) : NULL;
  if (it == NULL || !hl_zip_read(it, &got, &strict) || strict != 1 || !PyTuple_CheckExact(got) ||
      PyTuple_GET_SIZE(got) != 1 || PyTuple_GET_ITEM(got, 0) != inner)
    r = -1;
  Py_XDECREF(it);
  PyObject* function = NULL;
  it = r == 0 ? hl_map_new(pack, (PyObject*)&PyLong_Type) : NULL;
  if (it == NULL || !hl_map_read(it, &got, &function) || function != (PyObject*)&PyLong_Type || !PyTuple_CheckExact(got) ||
      PyTuple_GET_SIZE(got) != 1 || PyTuple_GET_ITEM(got, 0) != inner)
    r = -1;
  Py_XDECREF(it);
  Py_XDECREF(pack);
  Py_XDECREF(inner);
  return r;
}

static int check_dict_iterator(PyTypeObject* type) { /* over a dictionary of two items that shrinks on the way */
  PyObject* dict = Py_BuildValue("{iiii}", 1, 2, 3, 4);
  PyObject* view = dict == NULL                  ? NULL
                   : type == &PyDictIterKey_Type ? Py_NewRef(dict)
                                                 : PyObject_CallMethod(dict, type == &PyDictIterItem_Type ? "items" : "values", NULL);
  PyObject* it = view != NULL ? PyObject_GetIter(view) : NULL;
  PyObject* v = it != NULL && Py_TYPE(it) == type && hl_dict_iter_has_next(it) ? PyIter_Next(it) : NULL;
  int r = v != NULL && hl_dict_iter_has_next(it) ? 0 : -1;
  Py_XDECREF(v);
  v = r == 0 ? PyIter_Next(it) : NULL;
  if (v == NULL || hl_dict_iter_has_next(it)) r = -1;
  Py_XDECREF(v);
  Py_XDECREF(it);
  it = r == 0 ? PyObject_GetIter(view) : NULL;
  if (it == NULL || !hl_dict_iter_has_next(it) || PyDict_SetItem(dict, Py_None, Py_None) < 0 || hl_dict_iter_has_next(it)) r = -1;
  Py_XDECREF(it);
  Py_XDECREF(view);
  Py_XDECREF(dict);
  return r;
}

static int check_text_iterator(PyObject* text, HlIterKind kind) { /* steals a text of three items */
  PyObject *it = text != NULL ? PyObject_GetIter(text) : NULL, *seq = NULL;
  Py_ssize_t index = -1;
  int r = it != NULL && hl_iter_kind(it) == kind && hl_seq_iter_set_index(it, 1) ? 0 : -1;
  PyObject* first = r == 0 ? PyIter_Next(it) : NULL;
  if (first == NULL || !hl_seq_iter_read(it, &seq, &index) || seq != text || index != 2) r = -1;
  PyObject* expected = r == 0 ? PySequence_GetItem(text, 1) : NULL;
  if (expected == NULL || PyObject_RichCompareBool(first, expected, Py_EQ) != 1) r = -1;
  Py_XDECREF(expected);
  Py_XDECREF(first);
  if (r == 0 && (!hl_seq_iter_exhaust(it) || PyIter_Next(it) != NULL || PyErr_Occurred())) r = -1;
  Py_XDECREF(it);
  Py_XDECREF(text);
  return r;
}

static int check_iterators(void) {
  PyObject* list = Py_BuildValue("[iiii]", 10, 11, 12, 13);
  PyObject* tuple = list != NULL ? PyList_AsTuple(list) : NULL;
  PyObject *seq = NULL, *it;
  Py_ssize_t index = -1;
  int r = tuple != NULL ? 0 : -1;
  if (r == 0) r |= expect_next(hl_range_iter_new(7, 3, 2), 7);
  if (r == 0) r |= check_dict_iterator(&PyDictIterKey_Type);
  if (r == 0) r |= check_dict_iterator(&PyDictIterValue_Type);
  if (r == 0) r |= check_dict_iterator(&PyDictIterItem_Type);
  if (r == 0) r |= expect_next(hl_seq_iter_new(HL_ITER_LIST, list, 2), 12);
  if (r == 0) r |= expect_next(hl_seq_iter_new(HL_ITER_TUPLE, tuple, 3), 13);
  if (r == 0) r |= expect_next(hl_seq_iter_new(HL_ITER_SEQ, list, 1), 11);
  for (int kind = HL_ITER_LIST; r == 0 && kind <= HL_ITER_SEQ; kind++) {
    PyObject* source = kind == HL_ITER_TUPLE ? tuple : list;
    it = hl_seq_iter_new((HlIterKind)kind, source, 1);
    PyObject* v = it != NULL ? PyIter_Next(it) : NULL;
    if (v == NULL || !hl_seq_iter_read(it, &seq, &index) || seq != source || index != 2) r = -1;
    Py_XDECREF(v);
    if (r == 0 && (!hl_seq_iter_exhaust(it) || PyIter_Next(it) != NULL || PyErr_Occurred())) r = -1;
    Py_XDECREF(it);
  }
  if (r == 0) r |= expect_next(hl_seq_iter_new(HL_ITER_REVERSED_LIST, list, 2), 12);
  if (r == 0) r |= expect_next(hl_seq_iter_new(HL_ITER_REVERSED, tuple, 1), 11);
  if (r == 0) r |= check_text_iterator(PyUnicode_FromString("abc"), HL_ITER_STR_ASCII);
  if (r == 0) r |= check_text_iterator(PyUnicode_FromString("a\xc4\x80" "b"), HL_ITER_STR);
  if (r == 0) r |= check_text_iterator(PyBytes_FromString("abc"), HL_ITER_BYTES);
  if (r == 0) r |= check_compound(list);
  Py_XDECREF(tuple);
  Py_XDECREF(list);
  return r;
}

static int check_opcodes(void) {
  PyObject* module = PyImport_ImportModule("opcode");
  PyObject* map = module != NULL ? PyObject_GetAttrString(module, "opmap") : NULL;
  int r = map != NULL && PyDict_Check(map) ? 0 : -1, found = 0, rows = 0;
  PyObject *key, *value;
  Py_ssize_t pos = 0;
  while (r == 0 && PyDict_Next(map, &pos, &key, &value)) {
    long number = PyLong_AsLong(value);
    const char *name = PyUnicode_AsUTF8(key), *ours;
    int caches;
    HlOp op;
    if (name == NULL)
      r = -1;
    else if (number > 255 || strncmp(name, "INSTRUMENTED_", 13) == 0)
      continue;
    else if (!hl_opcode_row((int)number, &ours, &caches, &op) || strcmp(ours, name) != 0) {
      PyErr_Format(PyExc_SystemError, "opcode %ld is %s", number, name);
      r = -1;
    } else
      found++;
  }
  for (int i = 0; i < 256; i++) rows += hlv_opcodes[i].name != NULL;
  if (r == 0 && rows != found) r = -1;
  Py_XDECREF(map);
  Py_XDECREF(module);
  return r;
}

static int check_inlined(Check* c, PyThreadState* ts) {
  HlInstr in;
  PyObject* func = PyDict_GetItemString(c->globals, "callee");
  if (func == NULL || find_binary((PyCodeObject*)PyFunction_GET_CODE(func), kMultiply, &in) < 0) return -1;
  PyObject* locals[3] = {PyLong_FromLong(1), PyLong_FromLong(2), PyLong_FromLong(3)};
  PyObject* stack[2] = {PyLong_FromLong(21), PyLong_FromLong(2)};
  HlInlinedFrame frame = {func, locals, stack, 2, in.unit, HL_RESULT_PUSH};
  PyObject* r = hl_run_frames(ts, &frame, 1, 0);
  long value = r != NULL ? PyLong_AsLong(r) : -1;
  Py_XDECREF(r);
  return value == 42 ? 0 : -1;
}

static int count_enter(void* arg, PyThreadState* ts, HlFrame* f, int depth) {
  (void)ts, (void)f;
  if (depth == 1) ++*(int*)arg;
  return 0;
}
static void count_leave(void* arg, PyThreadState* ts, PyObject* result, int depth) {
  (void)ts;
  if (depth == 1 && result != NULL) *(int*)arg += 10;
}

static int check_hook(Check* c, PyThreadState* ts) {
  int count = 0;
  HlEvalObserver observer = {&count, count_enter, count_leave};
  PyObject* func = PyDict_GetItemString(c->globals, "callee");
  if (func == NULL || hl_eval_hook_install(ts, &observer) < 0) return -1;
  PyObject* r = PyObject_CallFunction(func, "i", 4);
  hl_eval_hook_remove();
  Py_XDECREF(r);
  return r != NULL && count == 11 ? 0 : -1;
}

int hl_self_check(char* err, size_t size) {
  PyThreadState* ts = PyThreadState_Get();
  err[0] = 0;
  if (Py_Version >> 16 != PY_VERSION_HEX >> 16) {
    PyOS_snprintf(err, size, "hotloop was built for Python %d.%d; this is %.20s", PY_MAJOR_VERSION, PY_MINOR_VERSION,
                  Py_GetVersion());
    return -1;
  }
  if (!hl_is_main_interpreter(ts)) {
    PyOS_snprintf(err, size, "hotloop works in the main interpreter only, not in sub-interpreters");
    return -1;
  }
  Check c = {0};
  c.globals = PyDict_New();
  PyObject* r = c.globals != NULL ? PyRun_String(kSource, Py_file_input, c.globals, c.globals) : NULL;
  int bad = r == NULL ? say(err, size, "compiling") : 0;
  Py_XDECREF(r);
  if (!bad && check_opcodes() < 0) bad = say(err, size, "the opcode table");
  if (!bad && check_iterators() < 0) bad = say(err, size, "iterators");
  if (!bad && check_inlined(&c, ts) < 0) bad = say(err, size, "running a frame from the middle");
  if (!bad && check_hook(&c, ts) < 0) bad = say(err, size, "the frame-evaluation hook");
  if (!bad && hl_monitor_claim(&c.monitor) < 0) { /* says clearly who holds the tool id */
    PyObject* exc = PyErr_GetRaisedException();
    PyObject* text = PyObject_Str(exc);
    const char* utf8 = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    PyOS_snprintf(err, size, "%s", utf8 != NULL ? utf8 : "sys.monitoring is not available");
    Py_XDECREF(text);
    Py_XDECREF(exc);
    PyErr_Clear();
    bad = -1;
  }
  if (!bad) bad = check_loops(&c, err, size);
  hl_monitor_release(&c.monitor);
  Py_XDECREF(c.globals);
  return bad;
}
