// The one runtime object: options, counters, what is known of each code object and loop, the recording in progress.
//
// Needs cpython/, runtime/, ir/, base/; the GIL for everything. Promises: the only mutable global state of hotloop. It is made when the extension is
// imported and never destroyed (callbacks may come until the interpreter is gone).
//
// Who does what: hotness.cpp counts back edges and decides; observe.cpp watches hot loops; compile.cpp makes regions; enter.cpp runs them;
// deopt.cpp rebuilds the interpreter's frames at exits; control.cpp is enable, disable and the rest that Python sees.
#pragma once
#include <Python.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/options.h"
#include "base/result.h"
#include "base/stats.h"
#include "cpython/access.h"
#include "runtime/errstate.h"
#include "tracer/observation.h"
#include "tracer/region.h"

namespace hotloop::tracer {

struct CodeInfo;

enum class LoopState : uint8_t {
  kCounting,  // interpreted, back edges are counted (also between a refusal and the next try)
  kCompiled,  // has regions
  kDead,      // never again: its back edges are silenced
};

inline constexpr int kMaxVersions = 4;
inline constexpr uint32_t kAskAgain = 16;  // trips until a hot loop asks again whether it can be recorded

// One loop of a code object, known by its header (T3).
struct Loop {
  CodeInfo* info = nullptr;
  int header = 0;     // code unit
  int last_jump = 0;  // the unit of its last back edge
  int line = -1;      // -1: not asked for yet (line_of_loop)
  Loop* outer = nullptr;  // the loop around it in the same code
  LoopState state = LoopState::kCounting;
  bool seen = false;
  bool hot = false;             // has reached its threshold
  bool holds_hot_loop = false;  // an inner loop or callee is compiled: gets hot early
  bool any_step = false;        // its range was entered with other steps than the one that was taken for known
  bool no_hoist = false;        // a hoisted guard failed too often
  uint32_t count = 0;           // back edges since the last decision
  uint32_t threshold = 0;       // decide at this count; 0: not set yet
  uint32_t attempts = 0;        // recordings that failed
  uint32_t growths = 0;
  uint32_t give_ups = 0;        // regions dropped because they left too often
  uint32_t waited = 0;          // how often it was hot while another loop was recorded
  uint32_t interruptions = 0;   // recordings that did not come to their end
  uint64_t total = 0;           // back edges counted, all
  uint32_t noted = 0, entries = 0;  // of the trips before it is hot: those that were looked at, those that were the first of an entry
  int last_from = -1;           // the back edge taken last
  int64_t last_left = -1;       // trips left at the last back edge
  uint32_t session = 0, session_trips = 0;  // back edges during a recording
  std::vector<Region*> regions;             // versions, tried in order
  std::unique_ptr<base::Refusal> refusal;   // the last one
};

// A back edge of a loop that made few trips when it was last looked at (sleep.cpp).
struct ShortLoop {
  int from = 0, header = 0;  // code units
  uint32_t trips = 0;        // counted so far
  bool asleep = false;
  bool counted_elsewhere = false;  // another back edge of the same loop has the trips
};

struct CodeInfo {
  PyCodeObject* code = nullptr;  // borrowed: the code object owns this record (co_extra)
  CodeInfo* previous = nullptr;  // list of all
  CodeInfo* next = nullptr;
  int events = 0;                // our local events that are set now
  bool watched = false;          // part of the recording in progress
  uint32_t recordings = 0;       // how often it was watched (T6)
  std::vector<std::unique_ptr<Loop>> loops;  // by header; filled at the first back edge
  std::vector<ShortLoop> short_loops;        // by `from`, while `loops` is empty
  bool may_sleep = false;
  bool sleeping = false;                     // some short loop is
  uint32_t starts = 0;                       // seen while loops may sleep
  Loop* last = nullptr;
  bool pinned = false;           // in Runtime::warm, which then owns a reference to the code object
  CodeObservation known_paths;   // what all successful recordings saw, and the back edges that were counted
  bool has_known_paths = false;
  std::vector<int> depths;       // hl_stack_depths, once it was watched
};

// The recording in progress.
struct Session {
  uint32_t number = 0;  // 0: none
  Loop* loop = nullptr;
  PyThreadState* thread = nullptr;
  bool growth = false;
  Region* replaces = nullptr;  // growth: the region that the new one takes the place of
  int needed_trips = 3;
  int trips = 0;
  uint64_t jumps = 0, progress_jumps = 0;  // back edges of all loops meanwhile, now and at the last trip
  uint64_t started_ns = 0, progress_ns = 0;
  Observations observations;
  std::vector<CodeInfo*> watched;
  std::vector<PyObject*> kept;  // code objects and callables, owned
  std::vector<std::pair<std::pair<CodeInfo*, int>, int>> call_hits;
};

// How often exits were taken, by reason, operation and whether HOTLOOP_FORCE_EXIT made the guard fail.
struct ExitCounts {
  uint64_t counts[2][ir::kExitReasonCount][ir::kOpCount] = {};
  uint64_t& of(ir::ExitReason reason, ir::OpCode op, bool forced) {
    return counts[forced ? 1 : 0][static_cast<size_t>(reason)][static_cast<size_t>(op)];
  }
};

struct Runtime {
  bool enabled = false;
  int paused = 0;
  HlMonitor monitor = {};
  base::Options options;
  base::Stats stats;
  ExitCounts exit_counts;
  runtime::ErrState errstate;

  Py_ssize_t code_extra = -1;
  CodeInfo* codes = nullptr;
  PyCodeObject* last_code = nullptr;  // of the last back edge, and what is known of it
  CodeInfo* last_info = nullptr;
  std::deque<CodeInfo*> warm;  // code objects kept alive for their regions, oldest first: equal code finds them again (T31)
  Session session;
  uint32_t last_session = 0;
  bool compiling = false;  // between the end of a session and the region: no new session

  int dict_watcher = -1;
  uint64_t namespace_epoch = 1;
  bool watch_all_names = false;
  std::unordered_set<PyObject*> watched_names;  // interned strings, compared only
  std::unordered_set<PyObject*> watched_dicts;
  std::vector<Region*> regions;                 // alive

  uint64_t force_state = 0, force_step = 0;  // HOTLOOP_FORCE_EXIT
  int64_t force_countdown = INT64_MAX;
  int nested_runs = 0;      // runs of Python code inside native code that are under way, of all threads together
  PyObject* ended_iterator = nullptr;  // one that has no items; made once
  void* ballast = nullptr;  // freed when memory for boxes runs out
};
Runtime& runtime();

uint64_t now_ns();

// control.cpp
void make_runtime();                          // before anything else
bool start(Runtime& rt);                     // once, at import; false with an exception
bool enable(Runtime& rt);                    // false with an exception
void disable(Runtime& rt);
void options_changed(Runtime& rt);
void next_forced_exit(Runtime& rt);

// hotness.cpp
CodeInfo* find_code(Runtime& rt, PyCodeObject* code);          // null if unknown
CodeInfo* code_info(Runtime& rt, PyCodeObject* code);          // made if need be; null without memory (no exception)
Loop* find_loop(Runtime& rt, CodeInfo* info, int header);
Loop* enclosing_loop(Runtime& rt, CodeInfo* info, int unit);
int line_of_loop(Loop& loop);                                  // looked up when it is needed: CPython searches for lines from the start
void keep_warm(Runtime& rt, CodeInfo* info);                   // may free other code objects
void set_events(Runtime& rt, CodeInfo* info, int events);      // our local events; errors are swallowed
void arm_code(Runtime& rt, PyCodeObject* code);
void arm_running_frames(Runtime& rt);
PyObject* on_start(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* on_jump(PyObject* self, PyObject* const* args, Py_ssize_t count);
void loop_refused(Runtime& rt, Loop& loop, base::Refusal refusal);
void hurry_outer(Runtime& rt, Loop& loop, HlFrame* frame);     // the loop around it gets hot early
void kill_loop(Runtime& rt, Loop& loop);
void drop_regions(Runtime& rt, Loop& loop);
void drop_region(Runtime& rt, Loop& loop, Region* region);
uint32_t first_threshold(const Runtime& rt, const Loop& loop);

// sleep.cpp
// Whether the loop whose back edge was just taken makes few more trips: they are counted, and the event may be disabled until wake_loops().
bool sleep_if_short(Runtime& rt, CodeInfo* info, int from, int header);
void wake_loops(Runtime& rt, CodeInfo* info);
bool wait_for_next_start(Runtime& rt, CodeInfo* info);  // at a start of the code: wakes; whether the next start is wanted too

// observe.cpp
bool may_begin_session(Runtime& rt, PyThreadState* ts, const Loop& loop);
void begin_session(Runtime& rt, PyThreadState* ts, Loop& loop, int needed_trips, bool growth);
void watch_code(Runtime& rt, PyCodeObject* code);
void end_session(Runtime& rt);
// A back edge during a recording. 0: not ours, go on as usual; 1: stay in the interpreter; 2: the recording is complete.
int session_jump(Runtime& rt, PyThreadState* ts, Loop& loop);
PyObject* on_instruction(PyObject* self, PyObject* const* args, Py_ssize_t count);
PyObject* on_call(PyObject* self, PyObject* const* args, Py_ssize_t count);

// compile.cpp
uint64_t first_growth(const Runtime& rt, const Loop& loop);  // exits through one place before the loop is observed again
// Ends the session, records, optimises, compiles; installs the region or notes the refusal. True: the loop has a new region.
bool finish_session(Runtime& rt, PyThreadState* ts, HlFrame* frame);
std::string assembly_of(Runtime& rt, Region& region);

// enter.cpp
// Runs a region of this loop that fits the frame. True if one ran: *result is what the callback returns (null with an exception).
bool enter_loop(Runtime& rt, PyThreadState* ts, HlFrame* frame, Loop& loop, PyObject** result);

// deopt.cpp
// Rebuilds the frames for this exit and sets where the interpreter goes on. Returns what the JUMP callback returns.
PyObject* leave(Runtime& rt, PyThreadState* ts, HlFrame* frame, Region& region, uint32_t exit_id, ir::Activation* activation, PyObject* const* inputs);

}  // namespace hotloop::tracer
