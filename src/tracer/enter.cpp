// Entering native code from the JUMP callback, and what is decided when it comes back.
//
// Needs region.h, deopt.cpp, ir/evaluator.h. Promises: nothing is run unless every guard of the region holds; the region stays alive while it runs;
// regions that leave again and again without doing anything are entered less and less, then given up.
#include <alloca.h>
#include <x86intrin.h>

#include <algorithm>

#include "base/log.h"
#include "ir/evaluator.h"
#include "runtime/numpy_import.h"
#include "tracer/leaving.h"

namespace hotloop::tracer {
namespace {

constexpr uint64_t kFruitlessCycles = 150;   // native time under which an entry was not worth its cost
constexpr uint32_t kFruitlessEntries = 64;   // so many more than were made up for: back off
constexpr uint32_t kFruitful = 3;            // fruitless entries that one other makes up for
constexpr double kWorthwhileTrips = 8;
constexpr uint64_t kTimedEntries = 4096;     // of a region; later ones are timed now and then, for reading the clock costs as much as a guard
constexpr uint64_t kTimedEvery = 16;
constexpr uint32_t kMaxBackoffs = 8;
constexpr uint32_t kHoistedFailures = 3;
constexpr uint32_t kMaxGrowths = 12;
constexpr uint64_t kGrowAgain = 8;
constexpr uint32_t kMaxGiveUps = 3;

uint32_t run(Runtime& rt, Region& region, ir::Activation& activation) {
  uint32_t exit_id;
  if (region.entry != nullptr) {
    exit_id = region.entry(&activation);
  } else {
    exit_id = ir::evaluate(*region.function, runtime::helper_table(), &activation);
  }
  if (rt.force_step != 0) {
    rt.force_countdown = activation.force_countdown;
    if (activation.forced != 0) next_forced_exit(rt);
  }
  return exit_id;
}

// The recorder is told which counted loop it was that ran no trip.
void note_no_trip(Observations& observations, const Region& region, uint32_t exit_id) {
  const ir::ExitInfo& exit = region.exits[exit_id];
  if (exit.reason != ir::ExitReason::ZeroTrip) return;
  const ir::FrameState& frame = region.function->snapshots[exit.snapshot].frames.back();
  // Of the live frame: the code of the loop, which need not be that of the recording (equal code shares regions).
  const bool live = region.function->snapshots[exit.snapshot].frames.size() == 1;
  auto* code = live ? region.loop->info->code : static_cast<PyCodeObject*>(region.function->objects[frame.code].pointer);
  HlInstr in;
  if (hl_decode(code, frame.resume_unit, &in) < 0) {
    PyErr_Clear();
    return;
  }
  auto seen = observations.codes.find(code);
  if (seen != observations.codes.end()) seen->second.saw_no_trip(in.op_unit);
}

// Whether the exit is the guard on the step of the range iterator at entry: an input is compared with a constant in front of everything.
bool is_step_guard(const Region& region, uint32_t exit_id) {
  const ir::Op& guard = *region.exits[exit_id].op;
  if (guard.code != ir::OpCode::Guard || region.exits[exit_id].reason != ir::ExitReason::TypeChange) return false;
  const ir::Block& body = *region.function->body;
  const ir::Op* equal = nullptr;
  for (const ir::Op* op : body.ops) {
    if (op->result() == guard.operands[0]) equal = op;
  }
  if (equal == nullptr || equal->code != ir::OpCode::Eq || equal->type != ir::Type::I64) return false;
  auto is_input = [&](ir::ValueId v) { return std::find(body.params.begin(), body.params.end(), v) != body.params.end(); };
  return is_input(equal->operands[0]) && !is_input(equal->operands[1]);
}

// An exit that is taken often stands for a path that should be compiled too: the loop is observed from here on and made anew.
void maybe_grow(Runtime& rt, PyThreadState* ts, Region& region, uint32_t exit_id) {
  ExitState& state = region.exit_states[exit_id];
  Loop* loop = region.loop;
  if (loop == nullptr) return;
  if (loop->growths >= kMaxGrowths) {
    state.grow_at = UINT64_MAX;
    return;
  }
  if (!may_begin_session(rt, ts, *loop)) {
    state.grow_at = state.count + kGrowAgain;  // another recording is under way
    return;
  }
  state.grow_at = state.count * 4;
  ++loop->growths;
  HOTLOOP_LOG(kHot, "line %d: exit %u (%s) taken %llu times, observing again", loop->line, exit_id,
              std::string(ir::exit_reason_text(region.exits[exit_id].reason)).c_str(), static_cast<unsigned long long>(state.count));
  loop->any_step = loop->any_step || is_step_guard(region, exit_id);
  begin_session(rt, ts, *loop, 1, true);
  if (rt.session.number == 0) return;
  rt.session.replaces = &region;
  for (const PlanFrame& frame : exit_plan(region, exit_id).frames) {
    if (frame.function != nullptr || frame.function_input != ir::kNone) watch_code(rt, reinterpret_cast<PyCodeObject*>(frame.code));
  }
  note_no_trip(rt.session.observations, region, exit_id);
}

void note_hoisted_failure(Runtime& rt, PyThreadState* ts, Region& region) {
  Loop* loop = region.loop;
  if (++region.hoisted_failures < kHoistedFailures || loop == nullptr || loop->no_hoist) return;
  if (!may_begin_session(rt, ts, *loop)) return;
  loop->no_hoist = true;
  HOTLOOP_LOG(kHot, "line %d: a hoisted guard fails, making the loop again without", loop->line);
  begin_session(rt, ts, *loop, 1, true);
  rt.session.replaces = &region;
}

// The loop is not worth its exits and runs.
void give_up(Runtime& rt, Region& region) {
  if (region.loop == nullptr) return;
  Loop& loop = *region.loop;
  HOTLOOP_LOG(kHot, "line %d: native code does too little between exits, given up", loop.line);
  // What is left to the interpreter is the reason, if anything is.
  base::Refusal why = base::refuse(base::RefusalReason::kTooManyExits, loop.line);
  const std::vector<base::Refusal>& left = region.function->left;
  if (region.not_worthwhile && !left.empty()) why = base::refuse(base::RefusalReason::kTooManyExits, left.front().line, left.front().message());
  drop_regions(rt, loop);
  loop.state = LoopState::kCounting;
  loop_refused(rt, loop, std::move(why));
  if (++loop.give_ups >= kMaxGiveUps) kill_loop(rt, loop);
}

void note_fruitless(Runtime& rt, Region& region, const ExitState& exit) {
  const bool recorded = region.loop != nullptr && region.loop->info->watched;
  if (recorded && (rt.session.loop == region.loop || exit.grow_at != UINT64_MAX)) return;  // what makes it leave is being recorded, or will be
  if (++region.fruitless < kFruitlessEntries) return;
  region.fruitless = 0;
  region.skip = 64u << std::min(region.backoffs, kMaxBackoffs);
  if (++region.backoffs < kMaxBackoffs || recorded) return;
  give_up(rt, region);
}

void count_exit(Runtime& rt, Region& region, uint32_t exit_id, bool forced) {
  ++rt.stats.exits;
  ++region.exit_states[exit_id].count;
  if (forced) ++rt.stats.exits_forced;
  const ir::ExitInfo& exit = region.exits[exit_id];
  ++rt.exit_counts.of(exit.reason, exit.op->code, forced);
  switch (exit.reason) {
    case ir::ExitReason::Breaker: ++rt.stats.exits_breaker; break;
    case ir::ExitReason::Finished:
    case ir::ExitReason::Left: ++rt.stats.exits_finished; break;
    default: break;
  }
}

// A range that was walked to its end in next to no time: worth it all the same when the interpreter would have taken longer than an entry does.
bool walked_enough(const Region& region, ir::ExitReason reason, const int64_t* in) {
  if (reason != ir::ExitReason::Finished || region.function->inputs.empty()) return false;
  const ir::Input& input = region.function->inputs[0];
  if (input.kind != ir::PyKind::RangeIter || input.slot.kind != ir::SlotKind::kStack) return false;
  const auto span = static_cast<double>(in[1]) - static_cast<double>(in[0]);  // next value, stop, step
  return span / static_cast<double>(in[2]) >= kWorthwhileTrips;
}

// Decides on growth and back-off; cycles 0: not timed. Nothing here runs Python code of the user, and nothing touches the frame.
void judge_exit(Runtime& rt, PyThreadState* ts, Region& region, uint32_t exit_id, uint64_t cycles, const int64_t* in) {
  const ir::ExitReason reason = region.exits[exit_id].reason;
  if (region.exit_states[exit_id].count >= region.exit_states[exit_id].grow_at) maybe_grow(rt, ts, region, exit_id);
  if (reason == ir::ExitReason::Hoisted) note_hoisted_failure(rt, ts, region);
  if (reason == ir::ExitReason::Breaker || cycles == 0) return;
  if (cycles >= kFruitlessCycles || walked_enough(region, reason, in)) {
    region.fruitless -= std::min(region.fruitless, kFruitful);
    return;
  }
  note_fruitless(rt, region, region.exit_states[exit_id]);
}

// Objects that came in are looked at again behind runs, whatever becomes of the variables that held them.
void hold_inputs(const Region& region, PyObject* const* objects) {
  for (size_t k = 0; k < region.function->inputs.size(); ++k) {
    if (is_looked_into(region.function->inputs[k])) Py_INCREF(objects[k]);
  }
}

void let_inputs_go(PyThreadState* ts, const Region& region, PyObject* const* objects) {
  PyObject* error = hl_has_exception(ts) ? PyErr_GetRaisedException() : nullptr;
  const int tracing = hl_tracing_swap(ts, 0);
  for (size_t k = 0; k < region.function->inputs.size(); ++k) {
    if (is_looked_into(region.function->inputs[k])) Py_DECREF(objects[k]);
  }
  hl_tracing_swap(ts, tracing);
  if (error != nullptr || hl_has_exception(ts)) PyErr_SetRaisedException(error);
}

}  // namespace

void note_namespaces(const RunContext& c, ir::Activation* activation) {
  if (c.namespaces == nullptr) return;
  void** next = c.namespaces;
  auto add = [&](PyObject* dict) {
    if (dict != nullptr) *next++ = dict;
  };
  add(hl_frame_globals(c.frame));
  add(hl_frame_builtins(c.frame));
  add(hl_frame_locals(c.frame));
  const ir::Function& f = *c.region.function;
  auto object = [&](ir::ObjectId id) { return id == ir::kNone ? nullptr : static_cast<PyObject*>(f.objects[id].pointer); };
  for (const ir::NamespaceGuard& guard : f.namespace_guards) {
    add(object(guard.globals));
    add(object(guard.builtins));
  }
  for (const ir::Instance& instance : f.instances) {
    PyObject* o = instance.input != ir::kNone ? c.inputs[instance.input] : object(instance.object);
    add(o != nullptr ? hl_instance_dict(o) : nullptr);
  }
  activation->namespaces = c.namespaces;
  activation->namespace_count = next - c.namespaces;
}

namespace {

// The region fits and runs. Apart so that its frame, with the cells, is only there while needed.
PyObject* run_region(Runtime& rt, PyThreadState* ts, HlFrame* frame, Region& region, const int64_t* in, PyObject** objects) {
  auto* out = static_cast<int64_t*>(alloca(sizeof(int64_t) * (region.out_cells + 1)));
  ir::Activation activation;
  activation.in = in;
  activation.out = out;
  activation.breaker = hl_breaker_address(ts);
  activation.force_countdown = rt.force_countdown;
  RunContext context{rt, ts, frame, region, objects};
  activation.context = &context;
  if (region.has_runs) context.headers = static_cast<int64_t*>(alloca(sizeof(int64_t) * (region.header_words + 1)));
  if (region.namespace_room > 0) {
    context.namespaces = static_cast<void**>(alloca(sizeof(void*) * region.namespace_room));
    note_namespaces(context, &activation);
  }
  ++region.references;
  ++region.entries;
  ++rt.stats.entries;
  const bool timed = region.entries < kTimedEntries || region.entries % kTimedEvery == 0;
  const uint64_t begin = timed ? __rdtsc() : 0;
  if (region.has_runs) {
    hold_inputs(region, objects);
    context.resumed_at = __rdtsc();
  }
  const uint32_t exit_id = run(rt, region, activation);
  const uint64_t cycles = timed ? __rdtsc() - begin : 0;
  const bool forced = activation.forced != 0;
  if (exit_id == ir::kLeft) {
    HOTLOOP_LOG(kExit, "line %d: left behind an operation that ran Python code", region.function->line);
    ++rt.stats.exits;
    if (region.not_worthwhile) give_up(rt, region);
    let_inputs_go(ts, region, objects);
    release_region(rt, &region);
    return context.result;
  }
  count_exit(rt, region, exit_id, forced);
  HOTLOOP_LOG(kExit, "line %d: exit %u, %s%s, after %llu cycles", region.function->line, exit_id,
              std::string(ir::exit_reason_text(region.exits[exit_id].reason)).c_str(), forced ? " (forced)" : "",
              static_cast<unsigned long long>(cycles));
  if (!forced) judge_exit(rt, ts, region, exit_id, cycles, in);
  PyObject* result = leave(rt, ts, frame, region, exit_id, &activation, objects);
  if (region.has_runs) let_inputs_go(ts, region, objects);
  release_region(rt, &region);
  return result;
}

}  // namespace

bool enter_loop(Runtime& rt, PyThreadState* ts, HlFrame* frame, Loop& loop, PyObject** result) {
  if (hl_breaker_pending(ts)) return false;
  const bool full = loop.regions.size() >= kMaxVersions;
  for (int pass = 0; pass < (full ? 2 : 1); ++pass) {
    for (size_t k = 0; k < loop.regions.size(); ++k) {
      Region& region = *loop.regions[k];
      if (region.dead) {
        drop_region(rt, loop, &region);
        --k;
        continue;
      }
      if (!guards_hold(rt, region, ts, frame)) continue;
      auto* in = static_cast<int64_t*>(alloca(sizeof(int64_t) * (region.in_cells + 1)));
      auto** objects = static_cast<PyObject**>(alloca(sizeof(PyObject*) * (region.function->inputs.size() + 1)));
      if (!unbox_inputs(region, frame, in, objects, pass == 0)) continue;
      if (region.skip > 0) {
        --region.skip;
        *result = Py_NewRef(Py_None);
        return true;
      }
      if (k > 0) std::swap(loop.regions[k], loop.regions[0]);
      *result = run_region(rt, ts, frame, region, in, objects);
      return true;
    }
  }
  return false;
}

}  // namespace hotloop::tracer
