// Watching a hot loop: local INSTRUCTION and CALL events on its code, and on the code of the Python functions it calls, mark what is executed.
//
// Needs tracer/observation.h, hotness.cpp. Promises: the interpreter executes, this only looks; each location is silenced after its first event (calls
// after a few), so that watching costs about nothing after one trip; one recording at a time, in one thread; a recording that does not come to its
// end is given up.
#include <algorithm>
#include <ctime>

#include "base/log.h"
#include "tracer/next_item.h"
#include "tracer/runtime.h"
#include "tracer/semantics.h"

namespace hotloop::tracer {

namespace {

constexpr int kMaxTrips = 32;                    // cheap trips: up to so many are watched ...
constexpr uint64_t kWatchNs = 30'000;            // ... but no longer than this, once the needed ones are done
constexpr uint64_t kGiveUpNs = 500'000'000;      // the loop did not come round
constexpr uint64_t kStaleNs = 20'000'000;        // another hot loop may take over after so long without a trip,
constexpr uint64_t kStaleJumps = 16;             // or after so many back edges elsewhere
constexpr uint32_t kMaxInterruptions = 16;
constexpr int64_t kWaitedTrips = 512;            // a loop that has waited so long may take over, too
constexpr uint32_t kInnerTrips = 6;              // back edges of each inner loop that stay in the interpreter
constexpr int kCallEvents = 4;
constexpr size_t kMaxCodes = 32;
constexpr uint32_t kMaxRecordings = 100;         // per code object (T6)
constexpr int kMaxUnits = 200'000;                // watching sets and clears an event on each

int unit_of(PyObject* offset) { return static_cast<int>(PyUnstable_Long_CompactValue(reinterpret_cast<PyLongObject*>(offset))) / 2; }

PyObject* disable_event(Runtime& rt) { return Py_NewRef(hl_monitor_disable_object(&rt.monitor)); }

void keep(Session& session, PyObject* object) { session.kept.push_back(Py_NewRef(object)); }

// The loop was left before enough trips were seen. It may try again soon; many times in vain is a refusal.
void give_up(Runtime& rt) {
  Loop* loop = rt.session.loop;
  HOTLOOP_LOG(kRecord, "line %d: given up after %d trips", loop->line, rt.session.trips);
  ++rt.stats.recordings_aborted;
  const bool growth = rt.session.growth;
  PyObject* code = Py_NewRef(reinterpret_cast<PyObject*>(loop->info->code));  // the session may hold the last reference, and the loop goes with its code
  end_session(rt);
  if (!growth) {
    loop->count = loop->threshold / 2;
    if (++loop->interruptions >= kMaxInterruptions) {
      loop->interruptions = 0;
      loop_refused(rt, *loop, base::refuse(base::RefusalReason::kRecordingInterrupted, loop->line));
    }
  }
  Py_DECREF(code);
}

// Is the recorded loop out of sight, so that another hot loop may take over?
bool is_stale(const Runtime& rt, const Loop& loop) {
  const Session& session = rt.session;
  const bool same_code = loop.info == session.loop->info;
  const bool apart = loop.header > session.loop->last_jump || loop.last_jump < session.loop->header;
  if (same_code && apart) return true;
  const bool inside = same_code && loop.header > session.loop->header && loop.last_jump < session.loop->last_jump;
  if (same_code && !inside && session.jumps - session.progress_jumps > kStaleJumps) return true;
  if (!loop.info->watched && session.jumps - session.progress_jumps > kStaleJumps) return true;
  return now_ns() - session.progress_ns > kStaleNs;
}

// A loop without native code has made many trips while one around it was recorded, whose trips take long: inner loops come first.
bool has_waited_long(const Runtime& rt, const Loop& loop) {
  if (!loop.regions.empty() || rt.session.growth) return false;
  const auto enough = std::max<int64_t>(2 * rt.options.threshold, kWaitedTrips);
  return int64_t{loop.waited} * kAskAgain > enough;
}

}  // namespace

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

bool may_begin_session(Runtime& rt, PyThreadState* ts, const Loop& loop) {
  const CodeInfo* info = loop.info;
  if (rt.compiling || info->recordings >= kMaxRecordings || hl_other_tools_active(ts, info->code)) return false;
  if (rt.session.number == 0) return true;
  if (!is_stale(rt, loop) && !has_waited_long(rt, loop)) return false;
  give_up(rt);
  return true;
}

void watch_code(Runtime& rt, PyCodeObject* code) {
  Session& session = rt.session;
  CodeInfo* info = code_info(rt, code);
  if (info == nullptr || info->watched || session.watched.size() >= kMaxCodes || hl_unit_count(code) > kMaxUnits) return;
  if (info->recordings >= kMaxRecordings || (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0) {
    if (info != session.loop->info) return;  // the hot loop itself may be in a generator
  }
  wake_loops(rt, info);
  const int events = info->events | HL_EVENT_INSTRUCTION | HL_EVENT_CALL;
  set_events(rt, info, events);
  if (info->events != events) return;
  info->watched = true;
  ++info->recordings;
  keep(session, reinterpret_cast<PyObject*>(code));
  session.watched.push_back(info);
  CodeObservation& seen = session.observations.codes[code];
  if (info->has_known_paths) seen.add_hits(info->known_paths);
  if (!info->depths.empty()) return;
  info->depths.resize(static_cast<size_t>(hl_unit_count(code)));
  if (hl_stack_depths(code, info->depths.data()) < 0) {
    PyErr_Clear();
    std::fill(info->depths.begin(), info->depths.end(), -1);
  }
}

void begin_session(Runtime& rt, PyThreadState* ts, Loop& loop, int needed_trips, bool growth) {
  Session& session = rt.session;
  session.number = ++rt.last_session;
  loop.waited = 0;
  session.loop = &loop;
  session.thread = ts;
  session.growth = growth;
  session.needed_trips = needed_trips;
  session.trips = 0;
  session.jumps = session.progress_jumps = 0;
  session.started_ns = session.progress_ns = now_ns();
  ++rt.stats.recordings;
  HOTLOOP_LOG(kRecord, "%s:%d: watching", PyUnicode_AsUTF8(loop.info->code->co_filename), loop.line);
  watch_code(rt, loop.info->code);
  if (!session.watched.empty()) return;
  if (hl_unit_count(loop.info->code) <= kMaxUnits) return give_up(rt);
  end_session(rt);
  loop_refused(rt, loop, base::refuse(base::RefusalReason::kTooLarge, loop.line, "its function"));
  if (loop.regions.empty()) kill_loop(rt, loop);
}

void end_session(Runtime& rt) {
  Session& session = rt.session;
  session.number = 0;
  session.loop = nullptr;
  for (CodeInfo* info : session.watched) {
    info->watched = false;
    set_events(rt, info, info->events & HL_EVENT_JUMP);
  }
  std::vector<PyObject*> kept;
  kept.swap(session.kept);
  session.watched.clear();
  session.call_hits.clear();
  session.observations.codes.clear();
  PyObject* error = PyErr_GetRaisedException();
  for (PyObject* object : kept) Py_DECREF(object);
  PyErr_SetRaisedException(error);
}

int session_jump(Runtime& rt, PyThreadState* ts, Loop& loop) {
  Session& session = rt.session;
  ++session.jumps;
  if (session.thread != ts) {
    if ((session.jumps & 255) == 0 && now_ns() - session.progress_ns > kGiveUpNs) give_up(rt);
    return 0;
  }
  if (&loop == session.loop) {
    const uint64_t now = now_ns();
    session.progress_ns = now;
    session.progress_jumps = session.jumps;
    if (++session.trips < session.needed_trips) return 1;
    // A low threshold asks for compiling at once, and makes tests repeatable.
    if (session.trips < std::min<int64_t>(kMaxTrips, rt.options.threshold) && now - session.started_ns < kWatchNs) return 1;
    return hl_other_tools_active(ts, loop.info->code) ? (give_up(rt), 0) : 2;
  }
  if ((session.jumps & 255) == 0 && now_ns() - session.progress_ns > kGiveUpNs) {
    give_up(rt);
    return 0;
  }
  if (!loop.info->watched) return 0;
  if (loop.session != session.number) {
    loop.session = session.number;
    loop.session_trips = 0;
  }
  return ++loop.session_trips <= kInnerTrips ? 1 : 0;
}

namespace {

// Another tool has begun to watch meanwhile: it must see all events of code that hotloop does not touch (T37).
bool another_tool_came(Runtime& rt, PyCodeObject* code) {
  if (!hl_other_tools_active(rt.session.thread, code)) return false;
  give_up(rt);
  return true;
}

}  // namespace

namespace {

// Code that is about to switch monitoring events on must find its calls as they are: one that is instrumented because it is watched would
// tell a tool that comes with it of its return.
bool is_about_monitoring(PyCodeObject* code, const HlInstr& in) {
  if (in.op != HL_LOAD_ATTR) return false;
  PyObject* name = PyTuple_GET_ITEM(code->co_names, in.arg);
  return PyUnicode_CompareWithASCIIString(name, "set_events") == 0 || PyUnicode_CompareWithASCIIString(name, "set_local_events") == 0;
}

// What the item of an iterator consists of, if of nothing but numbers, None and str. `left`: so many parts at most.
bool look_at_item(PyObject* object, int* left, SeenItem* item) {
  if (--*left < 0) return false;
  if (!PyTuple_CheckExact(object)) {
    item->kind = PyUnicode_CheckExact(object) ? ir::PyKind::Str : classify(object, nullptr);
    return item->kind == ir::PyKind::Str || item->kind == ir::PyKind::None_ || is_py_number(item->kind) || is_np_scalar(item->kind);
  }
  item->kind = ir::PyKind::Tuple;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(object); ++k) {
    item->items.emplace_back();
    if (!look_at_item(PyTuple_GET_ITEM(object, k), left, &item->items.back())) return false;
  }
  return true;
}

bool is_plain_container(PyTypeObject* type) {
  return type == &PyList_Type || type == &PyTuple_Type || type == &PyDict_Type || type == &PySet_Type || type == &PyUnicode_Type || type == &PyBytes_Type;
}

void see_item(CodeObservation& seen, int unit, PyObject* top) {
  int left = 16;
  SeenItem item;
  if (look_at_item(top, &left, &item)) seen.saw_item(unit, std::move(item));
}

// The kind of what the last instruction has left on the stack: results of what is left to the interpreter are taken for that (record_run.cpp).
void see_top(Runtime& rt, PyCodeObject* code, CodeObservation& seen, const HlInstr& in) {
  const int unit = in.op_unit;
  const CodeInfo* info = find_code(rt, code);
  HlFrame* frame = hl_current_frame(rt.session.thread);
  if (info == nullptr || frame == nullptr || hl_frame_code(frame) != code) return;
  const int depth = static_cast<size_t>(unit) < info->depths.size() ? info->depths[static_cast<size_t>(unit)] : -1;
  PyObject* top = depth > 0 && depth <= hl_stack_limit(code) ? hl_stack_slot_at(frame, depth - 1) : nullptr;
  if (top == nullptr) return;
  const ir::PyKind kind = classify(top, nullptr);
  if (is_py_number(kind) || is_np_scalar(kind) || kind == ir::PyKind::None_) {
    seen.saw_top(unit, {kind, nullptr});
  } else if (is_plain_container(Py_TYPE(top))) {
    seen.saw_top(unit, {ir::PyKind::Object, Py_TYPE(top)});
  }
  see_item(seen, unit, top);
  if (in.op == HL_FOR_ITER) seen.saw_iterator(unit, {Py_TYPE(top)->tp_name, is_plain_iterator(top)});
}

}  // namespace

PyObject* on_instruction(PyObject*, PyObject* const* args, Py_ssize_t count) {
  Runtime& rt = runtime();
  Session& session = rt.session;
  if (count != 2 || rt.monitor.disable == nullptr) Py_RETURN_NONE;
  if (session.number == 0) return disable_event(rt);
  if (PyThreadState_Get() != session.thread) Py_RETURN_NONE;
  auto* code = reinterpret_cast<PyCodeObject*>(args[0]);
  auto seen = session.observations.codes.find(code);
  HlInstr in;
  if (seen == session.observations.codes.end() || another_tool_came(rt, code)) return disable_event(rt);
  if (hl_decode(code, unit_of(args[1]), &in) < 0) {
    PyErr_Clear();
    return disable_event(rt);
  }
  if (is_about_monitoring(code, in)) {
    give_up(rt);
    return Py_NewRef(Py_None);
  }
  seen->second.mark(in.op_unit);
  see_top(rt, code, seen->second, in);
  return disable_event(rt);
}

PyObject* on_call(PyObject*, PyObject* const* args, Py_ssize_t count) {
  Runtime& rt = runtime();
  Session& session = rt.session;
  if (count < 3 || rt.monitor.disable == nullptr) Py_RETURN_NONE;
  if (session.number == 0) return disable_event(rt);
  if (PyThreadState_Get() != session.thread) Py_RETURN_NONE;
  auto* code = reinterpret_cast<PyCodeObject*>(args[0]);
  auto seen = session.observations.codes.find(code);
  CodeInfo* info = find_code(rt, code);
  if (seen == session.observations.codes.end() || info == nullptr || another_tool_came(rt, code)) return disable_event(rt);
  const int unit = unit_of(args[1]);
  PyObject* callable = args[2];  // not kept: a recording that is left open must not hold the program's objects
  PyObject* function = PyMethod_Check(callable) ? PyMethod_GET_FUNCTION(callable) : callable;
  if (PyFunction_Check(function)) watch_code(rt, reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function)));
  for (auto& [place, hits] : session.call_hits) {
    if (place.first != info || place.second != unit) continue;
    return ++hits >= kCallEvents ? disable_event(rt) : Py_NewRef(Py_None);
  }
  session.call_hits.push_back({{info, unit}, 1});
  Py_RETURN_NONE;
}

}  // namespace hotloop::tracer
