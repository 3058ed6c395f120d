// Instructions that may run Python code, in the middle of native code (DESIGN T22-T24).
//
// Needs leaving.h, perform.h. Promises: (a) the live frame is what the interpreter would have before the instructions, (b) its ip stands at each,
// (c) tracers see the Python code that runs, (d) each is done as the interpreter does it (perform.h), its exception goes to the handler,
// (e, f) native code goes on only if nothing that it relies on has changed: tools, guards, error state, variables, instances, cells, the headers of
// its arrays; else the interpreter goes on behind the instructions.
#include <alloca.h>
#include <x86intrin.h>

#include <algorithm>

#include "base/log.h"
#include "runtime/numpy_header.h"
#include "tracer/iterators.h"
#include "tracer/leaving.h"
#include "tracer/perform.h"

namespace hotloop::tracer {
namespace {

constexpr int kMaxNested = 100;            // runs inside runs: C stack that the interpreter's own counters do not know of
constexpr uint32_t kJudgedRuns = 256;      // so many runs are judged together:
constexpr uint64_t kInterpretedCost = 40;  // the interpreter needs about so many times the cycles of native code
constexpr uint32_t kPoorTimes = 3;         // judged so often in a row not to be worth it
constexpr uint64_t kNoCycles = 50;         // from run to run with nothing between them: the clock, the snapshot, the call
constexpr uint64_t kInstructionCycles = 25;  // of the interpreter for one instruction
constexpr uint64_t kMostCycles = 10'000;   // of one run: more is another process's
constexpr uint32_t kMaxChanged = 64;       // runs that changed what native code relies on

// Does the run itself store into this variable?
bool is_stored(const ExitPlan& plan, const ir::Slot& slot) {
  for (const HlInstr& in : plan.instrs) {
    const auto first = static_cast<uint32_t>(in.arg), second = static_cast<uint32_t>(in.arg2);
    switch (in.op) {
      case HL_STORE_FAST:
      case HL_STORE_FAST_LOAD_FAST:
      case HL_DELETE_FAST:
        if (slot.kind == ir::SlotKind::kLocal && slot.index == first) return true;
        break;
      case HL_STORE_FAST_STORE_FAST:
        if (slot.kind == ir::SlotKind::kLocal && (slot.index == first || slot.index == second)) return true;
        break;
      case HL_STORE_DEREF:
        if (slot.kind == ir::SlotKind::kCell && slot.index == first) return true;
        break;
      default: break;
    }
  }
  return std::find(plan.results.begin(), plan.results.end(), slot) != plan.results.end();
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
    if (slot.kind == ir::SlotKind::kStack || is_stored(l.plan, slot)) continue;
    if (slot_object(l.region, l.frame, slot, l.inputs) != put[k]) return false;
  }
  const auto& inputs = l.region.function->inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const ir::Slot& slot = inputs[k].slot;
    const bool on_stack = slot.kind == ir::SlotKind::kStack || slot.kind == ir::SlotKind::kSeqArray || slot.kind == ir::SlotKind::kSeqIndex;
    if (!on_stack && !named(slot) && !is_stored(l.plan, slot) && slot_object(l.region, l.frame, slot, l.inputs) != l.inputs[k]) return false;
  }
  return true;
}

// Is the array that came in as input k still in a variable or walked over? Else it may be gone, and nothing in native code is it.
bool is_there(const Leaving& l, size_t k, PyObject* const* put) {
  const ir::Input& input = l.region.function->inputs[k];
  if (input.slot.kind == ir::SlotKind::kSeqArray) {
    int64_t cells[3];
    PyObject* object = nullptr;
    if (unbox_iterator(l.region, input, l.frame, cells, &object, false) && object == l.inputs[k]) return true;
  } else if (slot_object(l.region, l.frame, input.slot, l.inputs) == l.inputs[k]) {
    return true;
  }
  for (size_t j = 0; j < l.plan.slots.size(); ++j) {
    const ir::Slot& slot = l.plan.slots[j].slot;
    if (put[j] == l.inputs[k] && slot.kind != ir::SlotKind::kStack && !is_stored(l.plan, slot)) return true;
  }
  return false;
}

void take_headers(RunContext& c) {
  int64_t* at = c.headers;
  const auto& inputs = c.region.function->inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].kind != ir::PyKind::Array) continue;
    runtime::copy_header(c.inputs[k], at);
    at += runtime::header_words(c.region.function->array_types[inputs[k].array_type].strides.size());
  }
  c.has_headers = true;
}

// The headers of the arrays that came in are as they were at the first run.
bool headers_hold(const RunContext& c, const Leaving& l, PyObject* const* put) {
  const int64_t* at = c.headers;
  const auto& inputs = c.region.function->inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].kind != ir::PyKind::Array) continue;
    if (is_there(l, k, put) && !runtime::same_header(c.inputs[k], at)) return false;
    at += runtime::header_words(c.region.function->array_types[inputs[k].array_type].strides.size());
  }
  return true;
}

bool may_go_on(RunContext& c, const Leaving& l, PyObject* const* put) {
  c.plain_count = 0;
  if (!c.rt.enabled || c.rt.paused != 0 || c.region.dead || c.region.not_worthwhile || hl_breaker_pending(c.ts)) return false;
  if (!guards_hold(c.rt, c.region, c.ts, c.frame)) return false;
  const bool good = variables_hold(l, put) && entry_facts_hold(c.region, c.frame, c.inputs);
  const bool holds = good && headers_hold(c, l, put);
  PyErr_Clear();  // of a look-up
  if (holds) return true;
  if (++c.region.runs_in_vain >= kMaxChanged) c.region.not_worthwhile = true;
  return false;
}

// What native code saves between runs must be more than what they cost beyond the instructions themselves.
bool is_worthwhile(Region& region) {
  if (region.runs < kJudgedRuns) return true;
  // The clock is too coarse for a few instructions. What inner loops do it can tell.
  const ir::Function& f = *region.function;
  const uint64_t counted = uint64_t{region.runs} * f.native_instructions * kInstructionCycles / std::max<size_t>(1, f.left.size());
  const uint64_t saved = f.has_inner_loops ? region.native_cycles * kInterpretedCost : counted;
  const bool good = saved >= region.run_cycles;
  HOTLOOP_LOG(kExit, "line %d: of %u runs, %llu cycles of native code between them, %llu that they cost", region.function->line, region.runs,
              static_cast<unsigned long long>(region.native_cycles), static_cast<unsigned long long>(region.run_cycles));
  region.runs = 0;
  region.native_cycles = region.run_cycles = 0;
  region.poor_runs = good ? 0 : region.poor_runs + 1;
  if (region.poor_runs < kPoorTimes) return true;
  region.not_worthwhile = true;
  return false;
}

// Decodes what the run does, once.
bool know_instructions(ExitPlan& plan, PyCodeObject* code) {
  if (!plan.instrs.empty()) return true;
  for (int unit = plan.frames[0].resume_unit; unit < plan.frames[0].return_unit;) {
    HlInstr in;
    if (hl_decode(code, unit, &in) < 0) {
      PyErr_Clear();
      plan.instrs.clear();
      return false;
    }
    plan.instrs.push_back(in);
    unit = in.next_unit;
  }
  return true;
}

// The instructions, in the complete frame. kRaised, kLeave: *unit says where; kEnded: where the frame goes on.
Done perform_all(RunContext& c, const ExitPlan& plan, PyCodeObject* code, int* unit) {
  const size_t count = plan.instrs.size();
  for (size_t k = 0; k < count; ++k) {
    const HlInstr& in = plan.instrs[k];
    hl_frame_set_unit(c.frame, in.unit);
    *unit = in.unit;
    const Done done = perform(c.frame, code, in, k + 1 < count ? &plan.instrs[k + 1] : nullptr);
    if (done == Done::kEnded) *unit = in.target;
    if (done != Done::kGood) return done;
  }
  return Done::kGood;
}

// What native code gets: the objects that the run has left, then those that were put into the snapshot's slots.
void give_results(RunContext& c, const ExitPlan& plan, bool ended, PyObject* const* put, int64_t* first) {
  int64_t* out = first;
  for (const ir::Slot& slot : plan.results) {
    const bool nothing = ended && slot.kind == ir::SlotKind::kStack;
    *out++ = nothing ? 0 : reinterpret_cast<int64_t>(slot_object(c.region, c.frame, slot, c.inputs));
  }
  // The item that FOR_ITER gave may have been taken by the instructions behind it: that there was one is what counts.
  if (!ended && plan.instrs[0].op == HL_FOR_ITER && *first == 0) *first = reinterpret_cast<int64_t>(Py_None);
  for (size_t k = 0; k < plan.slots.size(); ++k) *out++ = reinterpret_cast<int64_t>(put[k]);
  PyErr_Clear();  // of a look-up
}

int64_t run_in_frame(RunContext& c, Leaving& l, ExitPlan& plan, PyObject** put, PyObject** scratch) {
  const PlanFrame& frame = plan.frames[0];
  int unit = frame.resume_unit;
  PyCodeObject* code = hl_frame_code(c.frame);
  const bool named = swap_slots(l, frame);
  rebuild_stack(l, frame, scratch);
  hl_frame_set_unit(c.frame, unit);
  drop_old_values(l);
  if (!named) {
    c.result = deliver(l, unit);
    return 0;
  }
  if (raise_error_of_iterator(l)) {
    c.result = deliver(l, unit);
    return 0;
  }
  const uint64_t begin = __rdtsc();
  const int tracing = hl_tracing_swap(c.ts, 0);
  const Done done = know_instructions(plan, code) ? perform_all(c, plan, code, &unit) : Done::kLeave;
  hl_tracing_swap(c.ts, tracing);
  c.performed_cycles = __rdtsc() - begin;  // the interpreter would have needed them too
  if (done == Done::kRaised) {
    c.result = deliver(l, unit);
    return 0;
  }
  if (done == Done::kLeave) {
    if (++c.region.runs_in_vain >= kMaxChanged) c.region.not_worthwhile = true;
    c.result = go_on_at(l, unit);
    return 0;
  }
  if (!may_go_on(c, l, put) || !is_worthwhile(c.region)) {
    c.result = go_on_at(l, done == Done::kEnded ? unit : frame.return_unit);
    return 0;
  }
  note_namespaces(c, l.activation);
  give_results(c, plan, done == Done::kEnded, put, l.activation->out);
  return 1;
}

}  // namespace

int64_t run_instruction(ir::Activation* activation, int64_t exit_id) {
  auto& c = *static_cast<RunContext*>(activation->context);
  const uint64_t begin = __rdtsc();
  c.region.native_cycles += std::max(begin - c.resumed_at, kNoCycles) - kNoCycles;
  ++c.region.runs;
  ++c.rt.stats.runs;
  ExitPlan& plan = exit_plan(c.region, static_cast<uint32_t>(exit_id));
  if (c.rt.nested_runs >= kMaxNested || hl_recursion_headroom(c.ts) < 100) {  // the interpreter does it (T26)
    c.result = leave(c.rt, c.ts, c.frame, c.region, static_cast<uint32_t>(exit_id), activation, c.inputs);
    return 0;
  }
  if (!c.has_headers) take_headers(c);
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
  const int64_t goes_on = run_in_frame(c, l, plan, put, block + size.made + size.boxes + size.dropped);
  --c.rt.nested_runs;
  c.resumed_at = __rdtsc();
  c.region.run_cycles += std::min(c.resumed_at - begin - c.performed_cycles, kMostCycles);
  return goes_on;
}

}  // namespace hotloop::tracer
