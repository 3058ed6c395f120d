// Finding hot loops: PY_START and PY_RESUME arm JUMP events where a code object has a backward jump; JUMP events count back edges and enter regions.
//
// Needs cpython/access.h. Promises (T2-T6): JUMP is only ever set locally; loops are keyed by (code, header); "never again" lives in our own table, so
// that events which another tool has re-armed are silenced after one look-up; nothing here raises.
#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "tracer/runtime.h"

namespace hotloop::tracer {
namespace {

constexpr uint32_t kFewTrips = 4;         // T5
constexpr uint32_t kJudgedEntries = 8;    // entries seen before T5 judges
constexpr uint32_t kNotedTrips = 64;      // the last trips before a loop is hot, in which entries are counted
constexpr uint32_t kMaxAttempts = 4;      // recordings that may fail
constexpr size_t kMaxWarm = 256;           // code objects kept alive for their regions
constexpr uint32_t kMaxThreshold = 1u << 28;  // growing thresholds stop here

// An offset argument of a callback: a small non-negative int.
int unit_of(PyObject* offset) {
  auto* value = reinterpret_cast<PyLongObject*>(offset);
  return static_cast<int>(PyUnstable_Long_CompactValue(value)) / 2;
}

// The import system: nothing to gain there, and it runs in the middle of everything.
bool is_frozen(PyCodeObject* code) {
  const char* name = PyUnicode_AsUTF8(code->co_filename);
  if (name == nullptr) PyErr_Clear();
  return name != nullptr && std::strncmp(name, "<frozen importlib", 17) == 0;
}

PyObject* disable_event(Runtime& rt) { return Py_NewRef(hl_monitor_disable_object(&rt.monitor)); }

}  // namespace

// ------------------------------------------------------------------------------------------------- code objects

CodeInfo* find_code(Runtime& rt, PyCodeObject* code) {
  void* extra = nullptr;
  if (PyUnstable_Code_GetExtra(reinterpret_cast<PyObject*>(code), rt.code_extra, &extra) < 0) {
    PyErr_Clear();
    return nullptr;
  }
  return static_cast<CodeInfo*>(extra);
}

CodeInfo* code_info(Runtime& rt, PyCodeObject* code) {
  if (CodeInfo* info = find_code(rt, code)) return info;
  auto* info = new CodeInfo;
  info->code = code;
  if (PyUnstable_Code_SetExtra(reinterpret_cast<PyObject*>(code), rt.code_extra, info) < 0) {
    PyErr_Clear();
    delete info;
    return nullptr;
  }
  info->next = rt.codes;
  if (rt.codes != nullptr) rt.codes->previous = info;
  rt.codes = info;
  return info;
}

namespace {

void scan_loops(CodeInfo* info) {
  HlInstr in;
  std::vector<std::pair<int, int>> edges;  // header, jump
  for (int unit = 0; hl_next_back_edge(info->code, unit, &in); unit = in.next_unit) edges.push_back({in.target, in.op_unit});
  std::sort(edges.begin(), edges.end());
  std::vector<Loop*> around;
  for (const auto& [header, jump] : edges) {
    if (!info->loops.empty() && info->loops.back()->header == header) {
      info->loops.back()->last_jump = jump;
      continue;
    }
    auto loop = std::make_unique<Loop>();
    loop->info = info;
    loop->header = header;
    loop->last_jump = jump;
    info->loops.push_back(std::move(loop));
  }
  for (auto& loop : info->loops) {
    std::erase_if(around, [&](const Loop* other) { return other->last_jump < loop->header; });
    for (Loop* other : around) {
      if (other->last_jump > loop->last_jump) loop->outer = other;  // the last such one is the innermost
    }
    around.push_back(loop.get());
  }
}

// Equal code was compiled before: a notebook cell, a program text that is executed again. What is known of it holds here as well.
void adopt(Runtime& rt, CodeInfo* info) {
  for (CodeInfo* other : rt.warm) {
    if (other == info || other->loops.size() != info->loops.size() || hl_unit_count(other->code) != hl_unit_count(info->code)) continue;
    const int equal = PyObject_RichCompareBool(reinterpret_cast<PyObject*>(other->code), reinterpret_cast<PyObject*>(info->code), Py_EQ);
    if (equal < 0) PyErr_Clear();
    if (equal <= 0) continue;
    for (size_t k = 0; k < info->loops.size(); ++k) {
      Loop& loop = *info->loops[k];
      const Loop& old = *other->loops[k];
      for (Region* region : old.regions) {
        ++region->references;
        region->loop = &loop;
        loop.regions.push_back(region);
      }
      loop.state = old.state;
      loop.line = old.line;
      loop.seen = loop.hot = true;
      loop.threshold = old.threshold;
      loop.attempts = old.attempts;
      loop.no_hoist = old.no_hoist;
      loop.any_step = old.any_step;
      loop.growths = old.growths;
      loop.holds_hot_loop = old.holds_hot_loop;
      if (old.refusal != nullptr) loop.refusal = std::make_unique<base::Refusal>(*old.refusal);
    }
    info->known_paths.add_hits(other->known_paths);
    info->has_known_paths = other->has_known_paths;
    return;
  }
}

// What was counted of short loops goes over to the loops that are now known.
void count_short_loops(Runtime& rt, CodeInfo* info) {
  wake_loops(rt, info);
  info->may_sleep = false;
  for (const ShortLoop& known : info->short_loops) {
    auto at = std::find_if(info->loops.begin(), info->loops.end(), [&](const auto& loop) { return loop->header == known.header; });
    if (at == info->loops.end()) continue;
    Loop& loop = **at;
    if (!loop.seen) loop.threshold = first_threshold(rt, loop);
    loop.seen = true;
    loop.count += known.trips;
    loop.total += known.trips;
    info->known_paths.mark(known.from);
    info->has_known_paths = true;
  }
  info->short_loops = {};
}

void fill_loops(Runtime& rt, CodeInfo* info) {
  scan_loops(info);
  adopt(rt, info);
  count_short_loops(rt, info);
}

}  // namespace

void keep_warm(Runtime& rt, CodeInfo* info) {
  if (info->pinned) return;
  info->pinned = true;
  Py_INCREF(info->code);
  rt.warm.push_back(info);
  if (rt.warm.size() <= kMaxWarm) return;
  CodeInfo* oldest = rt.warm.front();
  rt.warm.pop_front();
  oldest->pinned = false;
  Py_DECREF(oldest->code);
}

Loop* find_loop(Runtime& rt, CodeInfo* info, int header) {
  if (info->last != nullptr && info->last->header == header) return info->last;
  if (info->loops.empty()) fill_loops(rt, info);
  auto at = std::lower_bound(info->loops.begin(), info->loops.end(), header, [](const auto& loop, int unit) { return loop->header < unit; });
  return at != info->loops.end() && (*at)->header == header ? info->last = at->get() : nullptr;
}

Loop* enclosing_loop(Runtime& rt, CodeInfo* info, int unit) {
  Loop* found = nullptr;
  if (info->loops.empty()) fill_loops(rt, info);
  for (auto& loop : info->loops) {
    if (loop->header <= unit && unit <= loop->last_jump) found = loop.get();
  }
  return found;
}

int line_of_loop(Loop& loop) {
  if (loop.line < 0) loop.line = std::max(hl_line_of_unit(loop.info->code, loop.header), 0);
  return loop.line;
}

void set_events(Runtime& rt, CodeInfo* info, int events) {
  if (info->events == events || !rt.monitor.claimed) return;
  PyObject* error = PyErr_GetRaisedException();
  if (hl_monitor_set_local(&rt.monitor, info->code, events) < 0) {
    PyErr_Clear();
  } else {
    info->events = events;
  }
  PyErr_SetRaisedException(error);
}

void arm_code(Runtime& rt, PyCodeObject* code) {
  CodeInfo* info = find_code(rt, code);
  if (info == nullptr) {
    if (!hl_may_have_back_edge(code) || is_frozen(code)) return;
    info = code_info(rt, code);
    // A generator is not started again for each of its loops' entries.
    if (info != nullptr) info->may_sleep = (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) == 0;
  }
  if (info != nullptr && (info->events & HL_EVENT_JUMP) == 0 && hl_may_have_back_edge(code)) set_events(rt, info, info->events | HL_EVENT_JUMP);
}

// Frames that run already when hotloop is enabled never start again.
void arm_running_frames(Runtime& rt) {
  for (CodeInfo* info = rt.codes; info != nullptr; info = info->next) {
    if (hl_has_back_edge(info->code)) set_events(rt, info, HL_EVENT_JUMP);
  }
  for (PyThreadState* ts = PyInterpreterState_ThreadHead(PyInterpreterState_Get()); ts != nullptr; ts = PyThreadState_Next(ts)) {
    for (HlFrame* frame = hl_current_frame(ts); frame != nullptr; frame = hl_frame_previous(frame)) {
      if (hl_frame_is_python(frame)) arm_code(rt, hl_frame_code(frame));
    }
  }
}

// ------------------------------------------------------------------------------------------------- decisions

uint32_t first_threshold(const Runtime& rt, const Loop& loop) {
  const auto threshold = static_cast<uint32_t>(std::clamp<int64_t>(rt.options.threshold, 1, INT32_MAX));
  return loop.holds_hot_loop ? std::max<uint32_t>(2, threshold / 125) : threshold;
}

void kill_loop(Runtime&, Loop& loop) { loop.state = LoopState::kDead; }

void drop_regions(Runtime& rt, Loop& loop) {
  std::vector<Region*> regions;
  regions.swap(loop.regions);
  for (Region* region : regions) {
    if (region->loop == &loop) region->loop = nullptr;
    release_region(rt, region);
  }
}

void drop_region(Runtime& rt, Loop& loop, Region* region) {
  std::erase(loop.regions, region);
  if (region->loop == &loop) region->loop = nullptr;
  release_region(rt, region);
}

void loop_refused(Runtime& rt, Loop& loop, base::Refusal refusal) {
  rt.stats.count_refusal(refusal.reason);
  HOTLOOP_LOG(kRefuse, "%s:%d: %s", PyUnicode_AsUTF8(loop.info->code->co_filename), refusal.line != 0 ? refusal.line : loop.line,
              refusal.message().c_str());
  loop.refusal = std::make_unique<base::Refusal>(std::move(refusal));
  loop.count = 0;
  if (loop.regions.empty() && ++loop.attempts >= kMaxAttempts) {
    kill_loop(rt, loop);
    return;
  }
  // The next try after four times as many trips: what hinders may be over by then. Versions that are there go on meanwhile.
  loop.threshold = std::min<uint32_t>(std::max<uint32_t>(64, loop.threshold), kMaxThreshold) * 4;
}

// The loop around a hot one, in its own code or in the caller, gets hot after a few trips.
void hurry_outer(Runtime& rt, Loop& loop, HlFrame* frame) {
  Loop* outer = loop.outer;
  for (int level = 0; outer == nullptr && frame != nullptr && level < 8; ++level) {
    frame = hl_frame_previous(frame);
    if (frame == nullptr || !hl_frame_is_python(frame)) break;
    CodeInfo* info = find_code(rt, hl_frame_code(frame));
    if (info != nullptr) outer = enclosing_loop(rt, info, hl_frame_unit(frame));
  }
  if (outer == nullptr || outer->holds_hot_loop) return;
  outer->holds_hot_loop = true;
  if (outer->attempts == 0) outer->threshold = first_threshold(rt, *outer);
}

namespace {

// T5: sees fresh entries of `for ... in range` loops by the trips left going up.
void note_entry(HlFrame* frame, Loop& loop) {
  const int depth = hl_stack_depth(frame);
  PyObject* top = depth > 0 ? hl_stack_peek(frame, depth - 1) : nullptr;
  long start, step, left;
  if (top == nullptr || !hl_range_iter_read(top, &start, &step, &left)) return;
  ++loop.noted;
  if (left != loop.last_left - 1) ++loop.entries;
  loop.last_left = left;
}

bool makes_too_few_trips(const Loop& loop) { return loop.entries >= kJudgedEntries && loop.noted < kFewTrips * loop.entries; }

// Versions whose namespace facts no longer hold make room for new ones.
void drop_stale_regions(Runtime& rt, HlFrame* frame, Loop& loop) {
  for (size_t k = loop.regions.size(); k-- > 0;) {
    if (!namespaces_hold(rt, *loop.regions[k], frame)) drop_region(rt, loop, loop.regions[k]);
  }
}

// It is not the loop that keeps it in the interpreter, but what is around it now: explain() shows it, and no attempt is counted.
void note_surroundings(Runtime& rt, Loop& loop, base::RefusalReason reason) {
  if (loop.refusal != nullptr && loop.refusal->reason == reason) return;
  rt.stats.count_refusal(reason);
  loop.refusal = std::make_unique<base::Refusal>(base::refuse(reason, loop.line));
}

// The loop's count has reached its threshold.
void loop_is_hot(Runtime& rt, PyThreadState* ts, HlFrame* frame, Loop& loop) {
  loop.count = 0;
  line_of_loop(loop);
  if (loop.attempts == 0 && loop.regions.empty()) {
    if (!loop.hot) ++rt.stats.loops_hot;
    loop.hot = true;
    if (makes_too_few_trips(loop) && !loop.holds_hot_loop) {
      loop_refused(rt, loop, base::refuse(base::RefusalReason::kTooFewTrips, loop.line));
      kill_loop(rt, loop);
      hurry_outer(rt, loop, frame);
      return;
    }
  }
  if (hl_other_tools_active(ts, loop.info->code)) {
    return note_surroundings(rt, loop, hl_is_traced(ts) ? base::RefusalReason::kTraced : base::RefusalReason::kOtherTool);
  }
  // It is not the types that keep it out.
  if (!loop.regions.empty() && !rt.errstate.is_default(ts)) return note_surroundings(rt, loop, base::RefusalReason::kErrState);
  if (loop.regions.size() >= kMaxVersions) drop_stale_regions(rt, frame, loop);
  if (loop.regions.size() >= kMaxVersions) {
    if (loop.refusal == nullptr || loop.refusal->reason != base::RefusalReason::kTooManyVersions) {
      loop_refused(rt, loop, base::refuse(base::RefusalReason::kTooManyVersions, loop.line));
    }
    loop.threshold = std::min<uint32_t>(std::max<uint32_t>(64, loop.threshold), kMaxThreshold) * 4;
    return;
  }
  if (!may_begin_session(rt, ts, loop)) {
    loop.count = loop.threshold - std::min<uint32_t>(loop.threshold, kAskAgain);  // soon again
    ++loop.waited;
    return;
  }
  HOTLOOP_LOG(kHot, "%s:%d: hot after %llu trips", PyUnicode_AsUTF8(loop.info->code->co_filename), loop.line,
              static_cast<unsigned long long>(loop.total));
  begin_session(rt, ts, loop, 3, false);
}

void count_trip(Runtime& rt, PyThreadState* ts, HlFrame* frame, Loop& loop, int from) {
  if (!loop.seen) {
    loop.seen = true;
    ++rt.stats.loops_seen;
    loop.threshold = first_threshold(rt, loop);
  }
  ++loop.total;
  // A back edge that was taken is a path of the loop, whatever the watched trips of a loop around it will show.
  loop.info->known_paths.mark(from);
  loop.info->has_known_paths = true;
  loop.last_from = from;
  // Not before: is_cold() lets most trips pass unnoted, and the others would look like entries.
  if (loop.regions.empty() && loop.count + kNotedTrips >= loop.threshold) note_entry(frame, loop);
  if (++loop.count >= loop.threshold) loop_is_hot(rt, ts, frame, loop);
}

}  // namespace

// ------------------------------------------------------------------------------------------------- callbacks

PyObject* on_start(PyObject*, PyObject* const* args, Py_ssize_t count) {
  Runtime& rt = runtime();
  if (count >= 1 && rt.enabled && PyCode_Check(args[0])) {
    auto* code = reinterpret_cast<PyCodeObject*>(args[0]);
    arm_code(rt, code);
    CodeInfo* info = find_code(rt, code);
    if (info != nullptr && wait_for_next_start(rt, info)) Py_RETURN_NONE;
  }
  return rt.monitor.disable != nullptr ? disable_event(rt) : Py_NewRef(Py_None);
}

// Most back edges of a program are those of loops that are not hot yet: they are counted, and nothing else is looked at.
// A recording in progress elsewhere looks at one in so many, to see that it is out of sight.
inline bool is_cold(Runtime& rt, const Loop& loop, int from) {
  return loop.count + kNotedTrips < loop.threshold && loop.last_from == from && loop.regions.empty() && loop.state == LoopState::kCounting &&
         (rt.session.number == 0 || (!loop.info->watched && (++rt.session.jumps & 255) != 0));
}

PyObject* on_jump(PyObject*, PyObject* const* args, Py_ssize_t count) {
  Runtime& rt = runtime();
  if (!rt.enabled || count != 3) Py_RETURN_NONE;
  const int from = unit_of(args[1]), to = unit_of(args[2]);
  if (to > from) return disable_event(rt);
  auto* code = reinterpret_cast<PyCodeObject*>(args[0]);
  CodeInfo* info = rt.last_code == code ? rt.last_info : find_code(rt, code);
  if (info != nullptr && info->loops.empty() && rt.paused == 0 && sleep_if_short(rt, info, from, to)) return disable_event(rt);
  Loop* loop = info != nullptr ? find_loop(rt, info, to) : nullptr;
  if (loop == nullptr) return disable_event(rt);
  rt.last_code = code;
  rt.last_info = info;
  if (rt.paused > 0) Py_RETURN_NONE;
  if (is_cold(rt, *loop, from)) {
    ++loop->count;
    ++loop->total;
    Py_RETURN_NONE;
  }
  if (loop->state == LoopState::kDead && rt.session.loop != loop) return disable_event(rt);
  PyThreadState* ts = PyThreadState_Get();
  HlFrame* frame = hl_current_frame(ts);
  if (frame == nullptr || hl_frame_code(frame) != info->code) Py_RETURN_NONE;
  PyObject* result = nullptr;
  if (rt.session.number != 0) {
    if (loop == rt.session.loop && !rt.session.growth && !loop->regions.empty() && enter_loop(rt, ts, frame, *loop, &result)) {
      // Watched for types that no version fits, but now it came with types that one does.
      return result;
    }
    const int what = session_jump(rt, ts, *loop);
    if (what == 1) Py_RETURN_NONE;
    if (what == 2) finish_session(rt, ts, frame);
  }
  if (!loop->regions.empty() && enter_loop(rt, ts, frame, *loop, &result)) return result;
  if (loop->state != LoopState::kDead) count_trip(rt, ts, frame, *loop, from);
  Py_RETURN_NONE;
}

}  // namespace hotloop::tracer
