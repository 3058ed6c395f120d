// Loops of code that is rarely run: the first back edge of a loop whose iterator says that few trips are left counts them all, and the loop sleeps
// (its back edge raises no more events) until its code is started again.
//
// Needs cpython/access.h. Promises: a loop that may make many trips never sleeps; what is not known to be a short loop is left to hotness.cpp. As
// long as nothing sleeps or has slept in a code object, nothing is made for it but its record; its loops are only looked for when one is not short.
#include <algorithm>

#include "tracer/runtime.h"

namespace hotloop::tracer {
namespace {

constexpr uint32_t kLeastThreshold = 64;  // below, every trip is wanted
constexpr uint32_t kMaxStarts = 64;       // of code with sleeping loops; later ones cost more than they save

// Trips that the loop at the top of the frame's stack still makes, this one included; 0: not known, or more if the list grows.
uint32_t trips_left(PyCodeObject* code, HlFrame* frame, int header, int from) {
  const int depth = hl_stack_depth(frame);
  PyObject* it = depth > 0 ? hl_stack_peek(frame, depth - 1) : nullptr;
  const Py_ssize_t left = hl_iter_left(it);
  if (left < 0 || left > UINT16_MAX || hl_iterates_growing_list(code, header, from, it)) return 0;
  return static_cast<uint32_t>(left) + 1;
}

// Whether back edges that were taken belong to another loop inside; those of the same loop do not.
bool has_inner(const CodeInfo& info, size_t place, int header) {
  for (size_t k = place; k-- > 0 && info.short_loops[k].from > header;) {
    if (info.short_loops[k].header != header) return true;
  }
  return false;
}

ShortLoop* same_loop(CodeInfo& info, size_t place, int header) {
  for (size_t k = place; k-- > 0 && info.short_loops[k].from > header;) return &info.short_loops[k];
  return place < info.short_loops.size() && info.short_loops[place].header == header ? &info.short_loops[place] : nullptr;
}

}  // namespace

bool sleep_if_short(Runtime& rt, CodeInfo* info, int from, int header) {
  if (!info->may_sleep || info->watched || rt.options.threshold < kLeastThreshold) return false;
  HlFrame* frame = hl_current_frame(PyThreadState_Get());
  if (frame == nullptr || hl_frame_code(frame) != info->code) return false;
  const uint32_t trips = trips_left(info->code, frame, header, from);
  if (trips == 0) return false;
  auto at = std::lower_bound(info->short_loops.begin(), info->short_loops.end(), from, [](const ShortLoop& s, int unit) { return s.from < unit; });
  const auto place = static_cast<size_t>(at - info->short_loops.begin());
  if (has_inner(*info, place, header)) return false;
  if (at == info->short_loops.end() || at->from != from) {
    // The trips are counted at one of a loop's back edges.
    ShortLoop* other = same_loop(*info, place, header);
    at = info->short_loops.insert(at, {from, header, 0, false, other != nullptr});
    if (other == nullptr) ++rt.stats.loops_seen;
  }
  if (!at->counted_elsewhere) {
    if (at->trips + trips > rt.options.threshold / 2) return false;
    at->trips += trips;
  }
  at->asleep = info->sleeping = true;
  ++rt.session.jumps;
  return true;
}

void wake_loops(Runtime& rt, CodeInfo* info) {
  if (!info->sleeping) return;
  info->sleeping = false;
  bool all = true;
  for (ShortLoop& loop : info->short_loops) {
    if (loop.asleep) all = hl_monitor_rearm_jump(info->code, loop.from) && all;
    loop.asleep = false;
  }
  if (all || (info->events & HL_EVENT_JUMP) == 0) return;
  const int events = info->events;
  set_events(rt, info, events & ~HL_EVENT_JUMP);
  set_events(rt, info, events);
}

bool wait_for_next_start(Runtime& rt, CodeInfo* info) {
  if (!info->may_sleep) return false;
  const bool slept = info->sleeping;
  wake_loops(rt, info);
  info->may_sleep = info->loops.empty() && (slept || info->starts == 0) && ++info->starts < kMaxStarts;
  return info->may_sleep;
}

}  // namespace hotloop::tracer
