// Instructions that may run Python code, in the middle of native code (DESIGN T22-T24).
//
// Needs leaving.h, cpython/access.h. Promises: (a) the live frame is what the interpreter would have before the instruction, (b) its ip stands there,
// (c) tracers see the Python code that runs, (d) the instruction is done by the interpreter's own C function, its exception goes to the handler,
// (e, f) native code goes on only if nothing that it relies on has changed: tools, guards, error state, variables, the headers of its arrays;
// else the interpreter goes on behind the instruction.
#include <alloca.h>
#include <x86intrin.h>

#include <cstring>

#include "base/log.h"
#include "runtime/numpy_header.h"
#include "tracer/leaving.h"

namespace hotloop::tracer {
namespace {

constexpr int kMaxNested = 100;             // runs inside runs: C stack that the interpreter's own counters do not know of
constexpr uint32_t kJudgedRuns = 256;       // so many runs ...
constexpr uint64_t kWorthwhileCycles = 40;  // ... with less native code between them cost more than they save

// The operands stay on the stack until the instruction has succeeded. A new row here needs one in run_operands().
bool perform(HlFrame* frame, PyCodeObject* code, const HlInstr& in) {
  const int depth = hl_stack_depth(frame);
  auto item = [&](int from_top) { return hl_stack_peek(frame, depth - from_top); };
  switch (in.op) {
    case HL_STORE_SUBSCR: return PyObject_SetItem(item(2), item(1), item(3)) == 0;
    case HL_STORE_ATTR: return PyObject_SetAttr(item(1), PyTuple_GET_ITEM(code->co_names, in.arg), item(2)) == 0;
    default: PyErr_SetString(PyExc_SystemError, "hotloop: no such run"); return false;
  }
}

void drop_operands(HlFrame* frame, int count) {
  PyObject* operands[4];
  for (int k = count; k-- > 0;) operands[k] = hl_stack_pop(frame);
  for (int k = 0; k < count; ++k) Py_XDECREF(operands[k]);  // from the bottom, as the interpreter does
}

// Do the variables still hold what was put there, and those that were not touched what they held at entry?
bool variables_hold(const Leaving& l, PyObject* const* put) {
  const PlanFrame& frame = l.plan.frames[0];
  auto named = [&](const ir::Slot& slot) {
    for (uint32_t k = frame.first_slot; k < frame.first_slot + frame.slot_count; ++k) {
      if (l.plan.slots[k].slot == slot) return true;
    }
    return false;
  };
  for (uint32_t k = frame.first_slot; k < frame.first_slot + frame.slot_count; ++k) {
    const ir::Slot& slot = l.plan.slots[k].slot;
    if (slot.kind != ir::SlotKind::kStack && slot_object(l.region, l.frame, slot, l.inputs) != put[k]) return false;
  }
  const auto& inputs = l.region.function->inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const ir::Slot& slot = inputs[k].slot;
    const bool on_stack = slot.kind == ir::SlotKind::kStack || slot.kind == ir::SlotKind::kSeqArray || slot.kind == ir::SlotKind::kSeqIndex;
    if (!on_stack && !named(slot) && slot_object(l.region, l.frame, slot, l.inputs) != l.inputs[k]) return false;
  }
  return true;
}

// The headers of the arrays that came in: taken at the first run, compared after each.
bool headers_hold(RunContext& c, bool take) {
  int64_t* at = c.headers;
  const auto& inputs = c.region.function->inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].kind != ir::PyKind::Array) continue;
    const size_t words = runtime::header_words(c.region.function->array_types[inputs[k].array_type].strides.size());
    if (take) {
      runtime::copy_header(c.inputs[k], at);
    } else if (!runtime::same_header(c.inputs[k], at)) {
      return false;
    }
    at += words;
  }
  return true;
}

bool may_go_on(RunContext& c, const Leaving& l, PyObject* const* put) {
  if (!c.rt.enabled || c.rt.paused != 0 || c.region.dead || hl_breaker_pending(c.ts)) return false;
  if (!guards_hold(c.rt, c.region, c.ts, c.frame)) return false;
  const bool good = variables_hold(l, put);
  PyErr_Clear();  // of a look-up
  return good && headers_hold(c, false);
}

// Native code that does next to nothing between runs is slower than the interpreter.
bool is_worthwhile(RunContext& c) {
  if (c.runs < kJudgedRuns) return true;
  const bool good = c.native_cycles >= kJudgedRuns * kWorthwhileCycles;
  c.runs = 0;
  c.native_cycles = 0;
  if (!good) c.region.not_worthwhile = true;
  return good;
}

int64_t run_in_frame(RunContext& c, Leaving& l, PyObject** put, PyObject** scratch) {
  const PlanFrame& frame = l.plan.frames[0];
  const int unit = frame.resume_unit;
  PyCodeObject* code = hl_frame_code(c.frame);
  const bool named = swap_slots(l, frame);
  rebuild_stack(l, frame, scratch);
  hl_frame_set_unit(c.frame, unit);
  if (!named) {
    drop_old_values(l);
    c.result = deliver(l, unit);
    return 0;
  }
  drop_old_values(l);
  HlInstr in;
  const int tracing = hl_tracing_swap(c.ts, 0);
  bool good = hl_decode(code, unit, &in) == 0 && perform(c.frame, code, in);
  if (good) drop_operands(c.frame, run_operands(in.op));
  hl_tracing_swap(c.ts, tracing);
  if (!good) {
    c.result = deliver(l, unit);
    return 0;
  }
  if (!may_go_on(c, l, put) || !is_worthwhile(c)) {
    c.result = go_on_at(l, in.next_unit);
    return 0;
  }
  for (size_t k = 0; k < l.plan.slots.size(); ++k) l.activation->out[k] = reinterpret_cast<int64_t>(put[k]);
  return 1;
}

}  // namespace

int run_operands(int op) {
  switch (op) {
    case HL_STORE_SUBSCR: return 3;
    case HL_STORE_ATTR: return 2;
    default: return 0;
  }
}

int64_t run_instruction(ir::Activation* activation, int64_t exit_id) {
  auto& c = *static_cast<RunContext*>(activation->context);
  c.native_cycles += __rdtsc() - c.resumed_at;
  ++c.runs;
  ++c.rt.stats.runs;
  const ExitPlan& plan = exit_plan(c.region, static_cast<uint32_t>(exit_id));
  if (c.rt.nested_runs >= kMaxNested || hl_recursion_headroom(c.ts) < 100) {  // the interpreter does it (T26)
    c.result = leave(c.rt, c.ts, c.frame, c.region, static_cast<uint32_t>(exit_id), activation, c.inputs);
    return 0;
  }
  if (!c.has_headers) c.has_headers = headers_hold(c, true);
  const LeavingSize size = leaving_size(c.frame, plan);
  auto** block = static_cast<PyObject**>(alloca(sizeof(PyObject*) * (size.all() + size.made + 1)));
  Leaving l = make_leaving(c.rt, c.ts, c.frame, c.region, plan, activation, c.inputs, block);
  PyObject** put = block + size.all();
  if (!make_all(l)) {
    drop_old_values(l);
    c.result = deliver(l, hl_frame_unit(c.frame));
    return 0;
  }
  for (size_t k = 0; k < plan.slots.size(); ++k) put[k] = l.made[k];
  ++c.rt.nested_runs;
  const int64_t goes_on = run_in_frame(c, l, put, block + size.made + size.boxes + size.dropped);
  --c.rt.nested_runs;
  c.resumed_at = __rdtsc();
  return goes_on;
}

}  // namespace hotloop::tracer
