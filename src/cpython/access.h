/* access.h: everything hotloop knows about the inside of CPython, as one flat C interface.
 *
 * What:     frames, the eval breaker, exception delivery, sys.monitoring, bytecode, iterators, the frame-evaluation
 *           hook, running inlined frames from the middle, and a self-check. One implementation per minor version
 *           (v312.c, v313.c) plus shared files; nothing outside src/cpython sees an internal header or a version #if.
 * Needs:    Python.h only; usable from C11 and C++20. Every function needs the GIL.
 * Promises: "new" = the caller owns the reference; "borrowed" = valid until anything else runs; "steals" = the callee
 *           takes it over, also on failure. int results: 0 good, -1 with a Python exception set, unless said otherwise.
 *           "Unit" = code unit = index of a two-byte instruction word in the code object; byte offset / 2.
 *           No function here allocates or runs Python code unless it says so ("may run Python").
 */
#ifndef HOTLOOP_CPYTHON_ACCESS_H
#define HOTLOOP_CPYTHON_ACCESS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _PyInterpreterFrame; /* opaque */
typedef struct _PyInterpreterFrame HlFrame;

/* ------------------------------------------------------------------ frames (read) */

/* The frame that the thread runs now, NULL if none. Inside one of our callbacks: the Python frame that fired it. */
HlFrame* hl_current_frame(PyThreadState* ts);
/* The next outer frame, also over C entry frames (they are skipped); NULL at the end. */
HlFrame* hl_frame_previous(HlFrame* f);
/* 1: an ordinary Python frame past its prologue (has code and locals); 0: a C entry frame or one not yet started. */
int hl_frame_is_python(HlFrame* f);
/* 1 if the frame belongs to a generator, coroutine or asynchronous generator. */
int hl_frame_is_generator(HlFrame* f);
PyCodeObject* hl_frame_code(HlFrame* f); /* borrowed, never NULL for a Python frame */
PyObject* hl_frame_func(HlFrame* f);     /* borrowed; a function object (also for module code), may be NULL */
PyObject* hl_frame_globals(HlFrame* f);  /* borrowed */
PyObject* hl_frame_builtins(HlFrame* f); /* borrowed */
PyObject* hl_frame_locals(
    HlFrame* f); /* borrowed; the mapping of module, class and exec code; NULL for optimised frames */
/* 1 if somebody holds a frame object (sys._getframe, a traceback, a generator's gi_frame ...): its locals may be
 * written from elsewhere whenever Python runs. */
int hl_frame_has_object(HlFrame* f);
/* The unit the frame's instruction pointer stands on. INSTRUCTION callback and pending call: the instruction itself.
 * JUMP callback: 3.12 the target, 3.13 the jump (use the callback's arguments instead). A frame that waits in a call:
 * somewhere inside the CALL and its caches: hl_instr_start() finds the beginning. */
int hl_frame_unit(HlFrame* f);

/* ------------------------------------------------------------------ frames (write; only inside a JUMP callback) */

/* Called before a JUMP callback returns: the instruction at `unit` runs next. `unit` is the first prefix of an
 * instruction, never a cache and never between KW_NAMES and CALL. Always call it, also to continue at the header. */
void hl_frame_set_resume(HlFrame* f, int unit);
/* Makes tracebacks, warnings and sys._getframe show the line of `unit` while Python runs below this frame. Before
 * returning from the callback hl_frame_set_resume must be called again. */
void hl_frame_set_unit(HlFrame* f, int unit);

/* "Local i" is an index into co_localsplusnames: locals, then cells, then free variables. */
int hl_local_count(PyCodeObject* code);
PyObject* hl_local_get(HlFrame* f, int i); /* borrowed; NULL = unbound. A cell slot gives the cell object */
PyObject* hl_local_swap(HlFrame* f, int i,
                        PyObject* value); /* steals value (may be NULL); returns the old one (owned, may be NULL) */
/* What slot i is: HL_LOCAL_FAST, or a cell (created here) or a free variable (of an outer function). A cell slot that
 * is also an argument is HL_LOCAL_CELL. */
enum {
  HL_LOCAL_FAST = 0,
  HL_LOCAL_CELL = 1,
  HL_LOCAL_FREE = 2,
  HL_LOCAL_HIDDEN = 3 /* comprehension variable in module or class code: a fast local */
};
int hl_local_kind(PyCodeObject* code, int i);
PyObject* hl_local_name(PyCodeObject* code, int i);      /* borrowed str */
PyObject* hl_cell_get(PyObject* cell);                   /* borrowed; NULL = unbound. `cell` must be a cell */
PyObject* hl_cell_swap(PyObject* cell, PyObject* value); /* steals value; returns the old one (owned, may be NULL) */

/* Operand stack. Depth and push/pop are valid only inside a JUMP callback (and on frames made by hl_run_frames). */
int hl_stack_depth(HlFrame* f);
PyObject* hl_stack_peek(HlFrame* f, int i);      /* borrowed or NULL; i counts from the bottom, 0 first */
void hl_stack_push(HlFrame* f, PyObject* value); /* steals; NULL pushes the call NULL */
PyObject* hl_stack_pop(HlFrame* f);              /* new (owned by the caller), may be NULL */
/* Stack item i from the bottom, read from memory without asking for the depth: the way to look inside INSTRUCTION
 * callbacks (the depth is known statically there). Items at or above the static depth are garbage: do not ask. */
PyObject* hl_stack_slot_at(HlFrame* f, int i); /* borrowed or NULL */
int hl_stack_limit(PyCodeObject* code);        /* co_stacksize */

/* ------------------------------------------------------------------ instances of ordinary classes */

/* A class written in Python, or like one: attributes of its instances are found and stored in the ordinary way, without
 * hooks of the class (__getattribute__, __getattr__, __setattr__). */
int hl_type_is_plain(PyTypeObject* type);
/* The type's version tag: another whenever the type or one of its bases changes, never used twice. 0: it has none. */
uint32_t hl_type_version(PyTypeObject* type);
/* 1 while the type has this very tag; asks nothing, changes nothing. */
int hl_type_has_version(PyTypeObject* type, uint32_t version);
/* What the type or its bases hold under the name; borrowed, NULL: nothing. No exception. */
PyObject* hl_type_lookup(PyTypeObject* type, PyObject* name);
/* An attribute that is in the instance itself (what the type says is not asked), read where it lies: no dictionary is
 * made, no Python code runs. 1: *value, borrowed; 0: not there, *value NULL; -1: cannot be told. *hint: kept by the
 * caller for this name, begins at -1. */
int hl_instance_get(PyObject* o, PyObject* name, int* hint, PyObject** value);
/* The instance's dictionary if one was made; borrowed or NULL. Two instances may share one. */
PyObject* hl_instance_dict(PyObject* o);
/* The offset of a slot (__slots__) from its descriptor; 0: it is no writable object slot. */
uint32_t hl_slot_offset(PyObject* descriptor);

/* ------------------------------------------------------------------ hash tables */

/* Look-ups that run no Python code. Keys of the same hash as `key` are compared with it only where is_plain says that
 * this runs none; `key` itself must be such. 1: found (*stored, the table's own key, and *value, borrowed), 0: not there, -1: cannot be told. No
 * exception. */
int hl_dict_find(PyObject* dict, PyObject* key, Py_hash_t hash, int (*is_plain)(PyObject*), PyObject** stored,
                 PyObject** value);
/* dict[key] = value. -1: no memory (an exception is set). REQUIRES that hl_dict_find can tell of the key. */
int hl_dict_set(PyObject* dict, PyObject* key, Py_hash_t hash, PyObject* value);
/* The same as hl_dict_find of a set or a frozenset. */
int hl_set_find(PyObject* set, PyObject* key, Py_hash_t hash, int (*is_plain)(PyObject*), PyObject** stored);

/* ------------------------------------------------------------------ eval breaker, tools, recursion */

/* A byte that is != 0 exactly when the interpreter wants the eval loop's attention (signals, pending calls, GIL
 * request, asynchronous exception, garbage collection). Fixed for the thread's life. Native code polls it. */
const volatile uint8_t* hl_breaker_address(PyThreadState* ts);
int hl_breaker_pending(PyThreadState* ts);
/* Changes whenever any tool changes its monitoring events. */
uint64_t hl_instrumentation_version(PyThreadState* ts);
/* Does what the eval loop does at a set breaker, with tracing off in the sense of Python code: signals, pending calls,
 * async exceptions, collection, hand over the GIL. May run Python. -1: an exception is set (deliver it). */
int hl_service_pending(PyThreadState* ts);
/* Our callbacks run with ts->tracing > 0, which hides Python code from tracers. Set 0 around any call that may run
 * Python, put the returned former value back afterwards. */
int hl_tracing_swap(PyThreadState* ts, int tracing);
/* 1 if this thread has a trace or profile function, or a monitoring tool other than ours has events on this code object
 * or global events. Such code is left alone. `code` NULL: only thread and global events. */
int hl_other_tools_active(PyThreadState* ts, PyCodeObject* code);
/* Whether sys.settrace or sys.setprofile is on in this thread. */
int hl_is_traced(PyThreadState* ts);
/* Whether an exception is set in this thread. */
int hl_has_exception(PyThreadState* ts);
/* Whether this thread runs in no context of its own (contextvars): every context variable has its default. */
int hl_has_no_context(PyThreadState* ts);
/* Python calls that may still be nested before RecursionError (the smaller of Python's and C's counters). */
int hl_recursion_headroom(PyThreadState* ts);
/* 1 for the main interpreter. */
int hl_is_main_interpreter(PyThreadState* ts);
/* 1 while the interpreter has no other thread than the running one. */
int hl_is_only_thread(void);

/* ------------------------------------------------------------------ exceptions */

/* Is the unit inside a try/with region (or the clean-up part of one)? */
int hl_unit_in_try(PyCodeObject* code, int unit);
/* The handler that an exception raised at `unit` goes to: 1 found, 0 none. Any out pointer may be NULL. */
int hl_find_handler(PyCodeObject* code, int unit, int* handler_unit, int* depth, int* push_lasti);
/* The current exception was raised at `raising_unit` of f, and the JUMP callback is about to end.
 * 1: traceback entry added, stack cut, exception pushed, resume set: no exception is set any more, return None from
 * the callback. 0: no handler here: exception still set, ip at the raising unit; return NULL from the callback, the
 * interpreter unwinds the frame (and adds the traceback entry). Drops stack values: may run Python (finalizers). */
int hl_deliver_exception(PyThreadState* ts, HlFrame* f, int raising_unit);

/* ------------------------------------------------------------------ sys.monitoring */

enum { /* our own bits; translated to the interpreter's */
       HL_EVENT_PY_START = 1,
       HL_EVENT_PY_RESUME = 2,
       HL_EVENT_JUMP = 4,
       HL_EVENT_BRANCH = 8,
       HL_EVENT_INSTRUCTION = 16,
       HL_EVENT_PY_RETURN = 32,
       HL_EVENT_CALL = 64,
};
typedef struct HlMonitor { /* zero-initialise; owned by the runtime object */
  int claimed;
  PyObject* disable; /* sys.monitoring.DISABLE: what a callback returns to silence this location */
  PyObject* set_events;
  PyObject* set_local_events;
  PyObject* get_tool;
  int event_bits[8]; /* interpreter's bits of our event bit 1 << i */
} HlMonitor;
/* Takes tool id 5 under the name "hotloop". -1: RuntimeError with a clear text if another tool holds it. */
int hl_monitor_claim(HlMonitor* m);
/* 1 while the id is still ours. */
int hl_monitor_is_ours(HlMonitor* m);
/* callable: normally a PyCFunction with METH_FASTCALL, called as f(code, ...offsets in bytes); NULL removes it.
 * Borrowed. */
int hl_monitor_set_callback(HlMonitor* m, int event, PyObject* callable);
int hl_monitor_set_global(HlMonitor* m, int events);
int hl_monitor_set_local(HlMonitor* m, PyCodeObject* code, int events);
/* Undoes DISABLE at one backward jump of code with our local JUMP events. 0: not done (another tool is there too). */
int hl_monitor_rearm_jump(PyCodeObject* code, int unit);
PyObject* hl_monitor_disable_object(HlMonitor* m); /* borrowed */
/* Global events, callbacks, then the id. The caller has cleared the local events of every code it armed before.
 * If the id is no longer ours nothing of the new owner is touched. Never fails (errors are swallowed). */
void hl_monitor_release(HlMonitor* m);

/* ------------------------------------------------------------------ bytecode */

/* Neutral opcodes: the same names for every version; meaning, args and policy in neutral.def. */
typedef enum HlOp {
#define HL_OP(name, policy, text) HL_##name,
#include "cpython/neutral.def"
#undef HL_OP
  HL_OP_COUNT
} HlOp;
typedef enum HlPolicy { HL_TRANSLATE = 0, HL_REFUSE = 1 } HlPolicy;

typedef struct HlInstr {
  int unit; /* first unit of the instruction (its first EXTENDED_ARG, or KW_NAMES of a 3.12 keyword call): resume here
             */
  int op_unit;   /* the opcode itself: where events and line numbers are */
  int next_unit; /* first unit of the next instruction (past caches) */
  HlOp op;
  int arg; /* as neutral.def says; 0 if none */
  int arg2;
  int target;       /* unit a jump goes to; -1: no jump */
  const char* name; /* this version's own opcode name, for messages */
} HlInstr;

int hl_unit_count(PyCodeObject* code);
/* The instruction whose prefixes or opcode are at `unit`, free of specialisation and instrumentation.
 * 0 good; -1 (exception set) if unit is out of range, a cache, or an opcode unknown to hotloop. */
int hl_decode(PyCodeObject* code, int unit, HlInstr* out);
/* First unit of the instruction that `unit` belongs to, caches included; -1 if out of range. Linear. */
int hl_instr_start(PyCodeObject* code, int unit);
const char* hl_op_name(HlOp op);
HlPolicy hl_op_policy(HlOp op);
/* 1: NULL lies below the callable ([NULL, callable, args...], 3.12); 0: above it ([callable, NULL, args...], 3.13+).
 * A bound method call is [function, self, args...] in both. */
int hl_call_null_first(void);
/* This version's own row for an opcode below 256: 1 and the values, 0 if there is none. */
int hl_opcode_row(int opcode, const char** name, int* caches, HlOp* op);
int hl_line_of_unit(PyCodeObject* code, int unit); /* -1: no line; takes longer the later the unit is */
void hl_lines(PyCodeObject* code, int* lines);     /* of all units */
/* Does the code object have a backward jump that can be armed? */
int hl_has_back_edge(PyCodeObject* code);
int hl_may_have_back_edge(PyCodeObject* code); /* the same by a glance: may say yes where there is none */
/* Whether the loop over `it` with this header and back edge is over a list that its body may lengthen: the list has
 * owners besides the iterator, and is not that of a plain variable which the body does not mention. */
int hl_iterates_growing_list(PyCodeObject* code, int header, int jump, PyObject* it);
/* depths[u] for all hl_unit_count(code) units: how many items are on the stack before the instruction whose first unit,
 * or whose opcode, is u; -1 where none begins or normal flow and handlers do not get. -1: no memory. */
int hl_stack_depths(PyCodeObject* code, int* depths);
/* The first backward jump whose opcode is at `unit` or behind it: 1, or 0 if there is none. */
int hl_next_back_edge(PyCodeObject* code, int unit, HlInstr* out);

/* ------------------------------------------------------------------ iterators (iterators.def) */

/* Each returns 1 if `it` is exactly of that type and was read/changed, 0 if not. Long-valued range iterators: 0. */
typedef enum HlIterKind {
  HL_ITER_OTHER = 0,
  HL_ITER_RANGE,
  HL_ITER_LIST,
  HL_ITER_TUPLE,
  HL_ITER_SEQ,           /* ndarray and other __getitem__ sequences */
  HL_ITER_REVERSED_LIST, /* reversed(list) */
  HL_ITER_REVERSED,      /* reversed() of another sequence (tuple, ndarray): counts down */
  HL_ITER_STR,
  HL_ITER_STR_ASCII,
  HL_ITER_BYTES,
  HL_ITER_ENUMERATE,
  HL_ITER_ZIP,
  HL_ITER_MAP /* these three draw from other iterators */
} HlIterKind;
HlIterKind hl_iter_kind(PyObject* it);
/* Iterators over dictionaries and their views: 1 if the next step gives an item, 0 if it ends or raises, or if it is none. */
int hl_dict_iter_has_next(PyObject* it);
int hl_iter_is_forward(HlIterKind kind); /* counts up through a sequence */
Py_ssize_t hl_iter_left(PyObject* it);   /* items left of a range, list, tuple, str or bytes; -1: not known */
int hl_range_iter_read(PyObject* it, long* start, long* step,
                       long* len); /* start = the next value, len = how many are left */
int hl_range_iter_set(PyObject* it, long start, long step, long len);
PyObject* hl_range_iter_new(long start, long step, long len); /* new */
/* List, tuple, sequence and reversed iterators: *seq borrowed, NULL once exhausted; *index = the next item (reversed
 * ones count down and end below 0). */
int hl_seq_iter_read(PyObject* it, PyObject** seq, Py_ssize_t* index);
int hl_seq_iter_set_index(PyObject* it, Py_ssize_t index);
/* Marks it exhausted: drops its sequence as the interpreter does at the end (may run Python). */
int hl_seq_iter_exhaust(PyObject* it);
PyObject* hl_seq_iter_new(HlIterKind kind, PyObject* seq,
                          Py_ssize_t index); /* new; seq exactly list/tuple for those kinds */
/* enumerate: *index = the next number, *inner borrowed. 0 also once the count has left Py_ssize_t. To advance, advance
 * the inner iterator and set the index. */
int hl_enumerate_read(PyObject* it, Py_ssize_t* index, PyObject** inner);
int hl_enumerate_set_index(PyObject* it, Py_ssize_t index);
PyObject* hl_enumerate_new(PyObject* inner, Py_ssize_t index); /* new; inner: an iterator */
/* zip: *inner = tuple of iterators, borrowed. All of them advance together, the first first. */
int hl_zip_read(PyObject* it, PyObject** inner, int* strict);
PyObject* hl_zip_new(PyObject* inner, int strict); /* new; inner: a tuple of iterators */
/* map: *inner = tuple of iterators, *function = what is called with their items; both borrowed. */
int hl_map_read(PyObject* it, PyObject** inner, PyObject** function);
PyObject* hl_map_new(PyObject* inner, PyObject* function); /* new; inner: a tuple of iterators */

/* ------------------------------------------------------------------ frame-evaluation hook (recording only) */

typedef struct HlEvalObserver { /* neither may run Python; both get the same arg */
  void* arg;
  /* A Python frame of the observed thread is about to run; depth 1 = called directly by the frame that installed the
   * hook. 0: go on observing, also below; 1: do not look below this frame. */
  int (*enter)(void* arg, PyThreadState* ts, HlFrame* callee, int depth);
  /* It has returned: result borrowed, NULL = it raised. For a generator frame: yielded or returned. */
  void (*leave)(void* arg, PyThreadState* ts, PyObject* result, int depth);
} HlEvalObserver;
/* Observes frames entered by this thread until hl_eval_hook_remove. A hook of somebody else is called for every frame
 * and comes back on removal. Steps aside below nesting depth 8. One observer at a time: -1 (RuntimeError) if one is
 * there. 3.13 enters __init__ frames of specialised call sites without asking any hook. */
int hl_eval_hook_install(PyThreadState* ts, const HlEvalObserver* observer);
void hl_eval_hook_remove(void);
int hl_eval_hook_installed(void);

/* ------------------------------------------------------------------ materialising inlined frames */

/* What a caller does with the result of an inlined callee. */
typedef enum HlResultUse {
  HL_RESULT_PUSH = 0, /* push it */
  HL_RESULT_DROP = 1, /* drop it; TypeError if not None (__init__: the instance is already on the caller's stack) */
  HL_RESULT_NOT = 2,  /* push `not result` (may run Python) */
  HL_RESULT_BOOL = 3, /* push `bool(result)` */
} HlResultUse;

typedef struct HlInlinedFrame {
  PyObject* func;    /* borrowed; a plain function (no generator or coroutine) */
  PyObject** locals; /* hl_local_count() entries: references stolen, NULL = unbound. Cell slot: the cell object, NULL
                        makes an empty one. Free-variable slot: NULL takes the function's own cell. */
  PyObject** stack;  /* stack_depth entries, references stolen, NULL = call NULL. For all but the innermost frame: the
                        stack as it is after the CALL has taken its operands */
  int stack_depth;
  int unit;        /* innermost: the instruction to run next, or the raising instruction if hl_run_frames is told so;
                      others: the CALL (any unit from which the callee was entered) */
  HlResultUse use; /* what THIS frame does with its callee's result (all but the innermost) */
} HlInlinedFrame;
/* Builds the frames (frames[0] is called by the current frame, frames[n-1] is the innermost), runs the innermost to its
 * end, hands its result to the next outer one, and so on. Returns the result of frames[0] (new), or NULL with an
 * exception. raised != 0: the current exception was raised by the innermost frame at its unit. The real frame below
 * must be complete, with hl_frame_set_unit at its CALL. Runs Python, with tracing off. All references are stolen
 * whatever happens. */
PyObject* hl_run_frames(PyThreadState* ts, HlInlinedFrame* frames, int n, int raised);

/* ------------------------------------------------------------------ self-check */

/* Is this build of hotloop for this very interpreter, and does it behave? Drives small loops through entry, resume,
 * resume with items on the stack, raise, pending call, iterators, the opcode table. 0 good; -1: text in err (no
 * exception set). Uses tool id 5 for a moment; call it before hl_monitor_claim. Runs Python. */
int hl_self_check(char* err, size_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
