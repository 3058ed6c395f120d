/* bytecode.c: decoding to neutral opcodes (access.h: bytecode). Same for every version; the rows are in
 * opcodes_31N.def.
 *
 * Reads PyCode_GetCode(), the bytes without specialisation and instrumentation and with zeroed caches; CPython keeps
 * them with the code object once made, so repeated decoding costs no copy.
 */
#include "cpython/internal.h"

typedef struct Bytes { /* co_code, alive as long as the code object */
  const uint8_t* p;
  int units;
} Bytes;

static int clean_bytes(PyCodeObject* code, Bytes* b) {
  PyObject* bytes = PyCode_GetCode(code);
  if (bytes == NULL) return -1;
  b->p = (const uint8_t*)PyBytes_AS_STRING(bytes);
  b->units = (int)(PyBytes_GET_SIZE(bytes) / 2);
  Py_DECREF(bytes); /* the code object holds it too */
  return 0;
}

static const HlOpcodeRow* row_at(const Bytes* b, int unit) {
  return &hlv_opcodes[b->p[2 * unit]];
}
static int is_prefix(const HlOpcodeRow* row) {
  return row->rule == HL_RULE_PREFIX || row->rule == HL_RULE_KW_NAMES;
}

static int fail(PyCodeObject* code, int unit, const char* what) {
  PyErr_Format(PyExc_SystemError, "hotloop: %s at unit %d of %U", what, unit, code->co_qualname);
  return -1;
}

static int intrinsic_op(int number) {
  switch (number) {
    case 5: return HL_UNARY_POSITIVE; /* INTRINSIC_UNARY_POSITIVE, INTRINSIC_LIST_TO_TUPLE: the same in all versions */
    case 6: return HL_LIST_TO_TUPLE;
    default: return HL_CALL_INTRINSIC_1;
  }
}

static void apply_rule(const HlOpcodeRow* row, int oparg, HlInstr* in) {
  in->arg = oparg;
  switch ((HlArgRule)row->rule) {
    case HL_RULE_ARG:
    case HL_RULE_PREFIX:
    case HL_RULE_KW_NAMES: break;
    case HL_RULE_HI_LO:
      in->arg = oparg >> 4;
      in->arg2 = oparg & 15;
      break;
    case HL_RULE_NB:
      in->arg = oparg % 13;
      in->arg2 = oparg >= 13;
      break;
    case HL_RULE_CMP_4: in->arg = oparg >> 4; break;
    case HL_RULE_CMP_5:
      in->arg = oparg >> 5;
      in->arg2 = (oparg & 16) != 0;
      break;
    case HL_RULE_INVERT:
      in->arg = 0;
      in->arg2 = oparg & 1;
      break;
    case HL_RULE_NAME_BIT:
      in->arg = oparg >> 1;
      in->arg2 = oparg & 1;
      break;
    case HL_RULE_NAME_2BITS:
      in->arg = oparg >> 2;
      in->arg2 = oparg & 3;
      break;
    case HL_RULE_FLAG:
      in->arg = 0;
      in->arg2 = oparg & 1;
      break;
    case HL_RULE_TRUTH: in->arg2 = 1; break;
    case HL_RULE_FORWARD: in->target = in->next_unit + oparg; break;
    case HL_RULE_FORWARD_TRUTH:
      in->target = in->next_unit + oparg;
      in->arg2 = 1;
      break;
    case HL_RULE_BACKWARD: in->target = in->next_unit - oparg; break;
    case HL_RULE_FOR_1:
      in->target = in->next_unit + oparg + 1;
      in->arg = 1;
      break;
    case HL_RULE_FOR_2:
      in->target = in->next_unit + oparg + 2;
      in->arg = 1;
      break;
    case HL_RULE_POPS_1: in->arg = 1; break;
    case HL_RULE_POPS_2: in->arg = 2; break;
    case HL_RULE_UNPACK_EX:
      in->arg = oparg & 255;
      in->arg2 = oparg >> 8;
      break;
    case HL_RULE_CALL_KW: in->arg2 = -1; break;
    case HL_RULE_INTRINSIC_1: in->op = (HlOp)intrinsic_op(oparg); break;
  }
}

/* MAKE_FUNCTION's closure: 3.12 has LOAD_CLOSURE, 3.13 LOAD_FAST of a cell slot. */
static void normalise_cells(PyCodeObject* code, HlInstr* in) {
  if (in->op != HL_LOAD_FAST) return;
  int kind = hl_local_kind(code, in->arg);
  if (kind == HL_LOCAL_CELL || kind == HL_LOCAL_FREE) in->op = HL_LOAD_CLOSURE;
}

static int decode_from(PyCodeObject* code, const Bytes* b, int unit, HlInstr* in) {
  int names = -1, oparg = 0, u = unit;
  const HlOpcodeRow* row;
  for (;; u++) {
    if (u >= b->units) return fail(code, unit, "instruction cut off");
    row = row_at(b, u);
    oparg = oparg << 8 | b->p[2 * u + 1];
    if (row->rule == HL_RULE_PREFIX) continue;
    if (row->rule != HL_RULE_KW_NAMES) break;
    names = oparg;
    oparg = 0;
  }
  if (row->name == NULL) return fail(code, u, "unknown opcode");
  in->unit = unit;
  in->op_unit = u;
  in->next_unit = u + 1 + row->caches;
  in->op = (HlOp)row->op;
  in->arg2 = 0;
  in->target = -1;
  in->name = row->name;
  apply_rule(row, oparg, in);
  if (names >= 0) { /* 3.12 keyword call: one instruction for us */
    in->op = HL_CALL_KW;
    in->arg2 = names;
  }
  normalise_cells(code, in);
  return 0;
}

int hl_unit_count(PyCodeObject* code) {
  return (int)Py_SIZE(code);
}

int hl_decode(PyCodeObject* code, int unit, HlInstr* out) {
  Bytes b;
  if (clean_bytes(code, &b) < 0) return -1;
  if (unit < 0 || unit >= b.units) return fail(code, unit, "no instruction");
  if (b.p[2 * unit] == 0) return fail(code, unit, "inline cache, not an instruction");
  while (unit > 0 && is_prefix(row_at(&b, unit - 1))) unit--; /* caches are zero, so this cannot be fooled */
  return decode_from(code, &b, unit, out);
}

int hl_instr_start(PyCodeObject* code, int unit) {
  Bytes b;
  HlInstr in;
  if (clean_bytes(code, &b) < 0) {
    PyErr_Clear();
    return -1;
  }
  if (unit < 0 || unit >= b.units) return -1;
  while (unit > 0 && b.p[2 * unit] == 0) unit--;
  if (hl_decode(code, unit, &in) < 0) {
    PyErr_Clear();
    return -1;
  }
  return in.unit;
}

static const struct {
  const char* name;
  HlPolicy policy;
} kOps[HL_OP_COUNT] = {
#define HL_OP(name, policy, text) [HL_##name] = {#name, HL_##policy},
#include "cpython/neutral.def"
#undef HL_OP
};

const char* hl_op_name(HlOp op) {
  return (unsigned)op < HL_OP_COUNT ? kOps[op].name : "?";
}
HlPolicy hl_op_policy(HlOp op) {
  return (unsigned)op < HL_OP_COUNT ? kOps[op].policy : HL_REFUSE;
}
int hl_call_null_first(void) {
  return HLV_NULL_FIRST;
}
int hl_line_of_unit(PyCodeObject* code, int unit) {
  return PyCode_Addr2Line(code, unit * 2);
}

/* co_linetable (Objects/locations.md of CPython): an entry is a byte 1cccclll, of which lll + 1 is the length in units and
 * cccc the form, and bytes below 128 that belong to it. Forms: 0-9 no new line, 10-12 that many lines on, 13 and 14 begin
 * with a signed number of lines, 15 no line. */
void hl_lines(PyCodeObject* code, int* lines) {
  const uint8_t* p = (const uint8_t*)PyBytes_AS_STRING(code->co_linetable);
  const uint8_t* end = p + PyBytes_GET_SIZE(code->co_linetable);
  int unit = 0, count = hl_unit_count(code), line = code->co_firstlineno;
  while (p < end) {
    int form = *p >> 3 & 15, length = (*p & 7) + 1;
    p++;
    if (form >= 10 && form <= 12) line += form - 10;
    if (form == 13 || form == 14) {
      unsigned value = 0;
      int shift = 0;
      const uint8_t* q = p;
      do {
        value |= (unsigned)(*q & 63) << shift;
        shift += 6;
      } while (q < end && (*q++ & 64) != 0 && shift < 30);
      line += value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
    }
    while (p < end && *p < 128) p++;
    for (; length > 0 && unit < count; length--) lines[unit++] = form == 15 ? -1 : line;
  }
  while (unit < count) lines[unit++] = -1;
}

int hl_opcode_row(int opcode, const char** name, int* caches, HlOp* op) {
  if (opcode < 0 || opcode > 255 || hlv_opcodes[opcode].name == NULL) return 0;
  *name = hlv_opcodes[opcode].name;
  *caches = hlv_opcodes[opcode].caches;
  *op = (HlOp)hlv_opcodes[opcode].op;
  return 1;
}

static void reach(int* depths, int units, int unit, int depth) {
  if (unit >= 0 && unit < units && depths[unit] < 0) depths[unit] = depth;
}

/* Forward jumps are settled before their targets are met, and code is laid out so that a block falls through or is jumped
 * to from before, but for loop headers, which fall through too; handlers come from the exception table. */
int hl_stack_depths(PyCodeObject* code, int* depths) {
  Bytes b;
  HlInstr in;
  if (clean_bytes(code, &b) < 0) return -1;
  for (int u = 0; u < b.units; u++) depths[u] = -1;
  reach(depths, b.units, 0, 0);
  for (int u = 0; u < b.units; u = in.next_unit) {
    int handler, depth, lasti, next, jump, oparg = 0;
    if (decode_from(code, &b, u, &in) < 0) return -1;
    if (hl_find_handler(code, in.op_unit, &handler, &depth, &lasti)) reach(depths, b.units, handler, depth + lasti + 1);
    if (depths[u] < 0) continue;
    for (int p = u; p <= in.op_unit; p++) oparg = row_at(&b, p)->rule == HL_RULE_KW_NAMES ? 0 : oparg << 8 | b.p[2 * p + 1];
    depths[in.op_unit] = depths[u];
    next = PyCompile_OpcodeStackEffectWithJump(b.p[2 * in.op_unit], oparg, 0);
    jump = PyCompile_OpcodeStackEffectWithJump(b.p[2 * in.op_unit], oparg, 1);
    if (in.target >= 0 && jump != PY_INVALID_STACK_EFFECT) {
      reach(depths, b.units, in.target, in.op == HL_FOR_ITER ? depths[u] - in.arg : depths[u] + jump);
    }
    switch (in.op) {
      case HL_JUMP:
      case HL_JUMP_BACKWARD:
      case HL_JUMP_BACKWARD_NO_INTERRUPT:
      case HL_RETURN_VALUE:
      case HL_RETURN_CONST:
      case HL_RAISE_VARARGS:
      case HL_RERAISE: break;
      default:
        if (next != PY_INVALID_STACK_EFFECT) reach(depths, b.units, in.next_unit, depths[u] + next);
    }
  }
  return 0;
}

/* Asked of every code object that is run: looks at the code as it stands, where caches and instrumentation may look like
 * a backward jump but none can be overlooked. */
int hl_may_have_back_edge(PyCodeObject* code) {
  static const uint8_t may[256] = {
      [JUMP_BACKWARD] = 1,        [INSTRUMENTED_JUMP_BACKWARD] = 1, [INSTRUMENTED_LINE] = 1,
      [INSTRUMENTED_INSTRUCTION] = 1,
#ifdef ENTER_EXECUTOR
      [ENTER_EXECUTOR] = 1,
#endif
  };
  const _Py_CODEUNIT* units = _PyCode_CODE(code);
  for (Py_ssize_t u = 0, end = Py_SIZE(code); u < end; u++)
    if (may[units[u].op.code]) return 1;
  return 0;
}

int hl_next_back_edge(PyCodeObject* code, int unit, HlInstr* out) {
  Bytes b;
  if (clean_bytes(code, &b) == 0) {
    for (int u = unit; u < b.units; u++) {
      if (b.p[2 * u] == 0 || row_at(&b, u)->op != HL_JUMP_BACKWARD) continue;
      while (u > 0 && is_prefix(row_at(&b, u - 1))) u--;
      if (decode_from(code, &b, u, out) == 0) return 1;
      break;
    }
  }
  PyErr_Clear();
  return 0;
}

int hl_has_back_edge(PyCodeObject* code) {
  HlInstr in;
  return hl_may_have_back_edge(code) && hl_next_back_edge(code, 0, &in);
}

/* Opcodes that name a variable: 1 by their argument, 2 by either half of it. */
static const uint8_t kVariableForm[256] = {
    [LOAD_FAST] = 1,  [LOAD_FAST_CHECK] = 1, [STORE_FAST] = 1,  [LOAD_NAME] = 1,
    [STORE_NAME] = 1, [LOAD_DEREF] = 1,      [STORE_DEREF] = 1,
#ifdef LOAD_FAST__LOAD_FAST
    [LOAD_FAST__LOAD_FAST] = 1, [LOAD_FAST__LOAD_CONST] = 1, [STORE_FAST__LOAD_FAST] = 1, [STORE_FAST__STORE_FAST] = 1,
#endif
#ifdef LOAD_FAST_LOAD_FAST
    [LOAD_FAST_LOAD_FAST] = 2, [STORE_FAST_LOAD_FAST] = 2, [STORE_FAST_STORE_FAST] = 2,
#endif
};

/* By the code as it stands: what a cache says can only add mentions. Arguments count by their low byte. */
int hl_iterates_growing_list(PyCodeObject* code, int header, int jump, PyObject* it) {
  PyObject* list = NULL;
  Py_ssize_t index;
  if (hl_iter_kind(it) != HL_ITER_LIST || !hl_seq_iter_read(it, &list, &index) || list == NULL) return 0;
  if (Py_REFCNT(list) == 1) return 0;
  const _Py_CODEUNIT* units = _PyCode_CODE(code);
  if (header < 2 || units[header - 1].op.code != GET_ITER || kVariableForm[units[header - 2].op.code] != 1) return 1;
  const int variable = units[header - 2].op.arg;
  for (int u = header; u < jump; u++) {
    const int form = kVariableForm[units[u].op.code], arg = units[u].op.arg;
    if (form == 0) continue;
    if (form == 1 && arg == variable) return 1;
    if (form == 2 && (arg >> 4 == variable || (arg & 15) == variable)) return 1;
  }
  return 0;
}
