/* internal.h: what the files of src/cpython share: CPython's internal headers and one set of inline accessors.
 *
 * Needs:    a Python of a known minor version (v31N.h); C only (3.12's internal headers are not C++).
 * Promises: the only #if over versions that picks a header. Each v31N.h defines the hlv_* inlines below with the same
 *           names and meaning, each v31N.c the hlv_* functions:
 *   HlFrame*  hlv_current(ts), void hlv_set_current(ts, f)     the thread's running frame
 *   code of a frame: hlv_code(f); ip as a unit: hlv_ip(f) / hlv_set_ip(f, unit); hlv_set_resume(f, unit)
 *   stack top as an index into the slots: hlv_top(f) / hlv_set_top(f, n)
 *   slots: hlv_slot(f, i) borrowed; hlv_slot_set(f, i, owned) overwrites without dropping
 *   attributes of an instance: hlv_instance_values(o, &dict)
 *   hlv_is_complete(f), hlv_is_c_frame(f), hlv_lasti_object(unit)
 */
#ifndef HOTLOOP_CPYTHON_INTERNAL_H
#define HOTLOOP_CPYTHON_INTERNAL_H

#include "cpython/access.h"

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif
#undef _PyGC_FINALIZED /* the public header's macro clashes with the internal header's function */

#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000
#include "cpython/v312.h"
#elif PY_VERSION_HEX >= 0x030d0000 && PY_VERSION_HEX < 0x030e0000
#include "cpython/v313.h"
#else
#error "hotloop supports CPython 3.12 and 3.13; this is another version"
#endif
#ifdef Py_GIL_DISABLED
#error "hotloop does not support free-threaded builds of CPython"
#endif

/* One row per opcode of this version (opcodes_31N.def). */
typedef enum HlArgRule {
  HL_RULE_ARG = 0,       /* arg = oparg */
  HL_RULE_HI_LO,         /* arg = oparg >> 4, arg2 = oparg & 15 */
  HL_RULE_NB,            /* BINARY_OP: 13.. are the in-place forms */
  HL_RULE_CMP_4,         /* operator = oparg >> 4 */
  HL_RULE_CMP_5,         /* operator = oparg >> 5, bit 16 = to bool */
  HL_RULE_INVERT,        /* arg2 = oparg */
  HL_RULE_NAME_BIT,      /* arg = oparg >> 1, arg2 = oparg & 1 */
  HL_RULE_NAME_2BITS,    /* arg = oparg >> 2, arg2 = oparg & 3 */
  HL_RULE_FLAG,          /* arg2 = oparg & 1 */
  HL_RULE_TRUTH,         /* arg2 = 1 */
  HL_RULE_FORWARD,       /* target = next + oparg */
  HL_RULE_FORWARD_TRUTH, /* the same, arg2 = 1 */
  HL_RULE_BACKWARD,      /* target = next - oparg */
  HL_RULE_FOR_1,         /* FOR_ITER whose loop ends with END_FOR */
  HL_RULE_FOR_2,         /* FOR_ITER whose loop ends with END_FOR and one more instruction */
  HL_RULE_POPS_1,        /* arg = 1 */
  HL_RULE_POPS_2,        /* arg = 2 */
  HL_RULE_UNPACK_EX,     /* arg = oparg & 255, arg2 = oparg >> 8 */
  HL_RULE_KW_NAMES,      /* prefix of the following CALL */
  HL_RULE_CALL_KW,       /* arg = oparg, arg2 = -1 */
  HL_RULE_PREFIX,        /* EXTENDED_ARG */
  HL_RULE_INTRINSIC_1,   /* some numbers have a neutral opcode of their own */
} HlArgRule;
typedef struct HlOpcodeRow {
  const char* name; /* NULL: no such opcode */
  uint8_t caches;
  uint8_t op;
  uint8_t rule;
} HlOpcodeRow;
extern const HlOpcodeRow hlv_opcodes[256];

/* Makes a frame of `func` (a plain function) that has not run an instruction yet, without running its prologue, and
 * calls body(ts, frame, arg), which must run the frame to its end. Returns body's result; NULL with an exception, and
 * body not called, if there is no memory. args: positional arguments of the function, then the keyword-only ones that
 * kwnames (NULL if none) lists. */
typedef PyObject* (*HlFrameBody)(PyThreadState* ts, HlFrame* f, void* arg);
PyObject* hlv_with_fresh_frame(PyThreadState* ts, PyObject* func, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* kwnames, HlFrameBody body, void* arg);
/* Runs the complete frame f, not linked, in which the current exception was raised at the instruction `in`: its
 * handlers, or its end. */
PyObject* hlv_run_raised(PyThreadState* ts, HlFrame* f, const HlInstr* in);

#endif
