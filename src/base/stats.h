// The counters behind hotloop.stats(), from stats.def and refusals.def.
// Needs: the GIL (or one writer) for every change. Promises: a plain struct, all zero at first; the runtime object owns the one in use.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"

namespace hotloop::base {

struct Stats {
#define STAT(name, doc) uint64_t name = 0;
#define STAT_SECONDS(name, doc) uint64_t name##_ns = 0;
#include "base/stats.def"
#undef STAT
#undef STAT_SECONDS
  std::array<uint64_t, kRefusalCount> refusals{};  // by RefusalReason

  void count_refusal(RefusalReason reason) {
    ++refused;
    ++refusals[static_cast<size_t>(reason)];
  }
};

// Calls count(name, value, doc) for each STAT and seconds(name, nanoseconds, doc) for each STAT_SECONDS, in table order.
template <typename Count, typename Seconds>
void for_each_stat(const Stats& stats, Count&& count, Seconds&& seconds) {
#define STAT(name, doc) count(#name, stats.name, doc);
#define STAT_SECONDS(name, doc) seconds(#name, stats.name##_ns, doc);
#include "base/stats.def"
#undef STAT
#undef STAT_SECONDS
}

}  // namespace hotloop::base
