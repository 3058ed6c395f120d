// Log channels: what HOTLOOP_LOG=hot,record,... turns on, written to stderr as "hotloop CHANNEL: line".
// Needs: the `log` row of options.def for the channel names. Promises: a channel that is off costs one load and test;
// lines of several threads do not mix. The mask is the one piece of state here; the runtime sets it when options change.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace hotloop::base {

// In the order of the `log` row in options.def; a unit test compares the two.
enum class LogChannel : uint8_t { kHot, kRecord, kIr, kOpt, kAsm, kPtx, kExit, kRefuse, kCount };

const char* log_channel_name(LogChannel channel);

// The mask for a value of the `log` option, such as "hot,asm". Unknown words are ignored: the option's parser
// has refused them before.
uint32_t log_mask(std::string_view channels);
void set_log_mask(uint32_t mask);

extern std::atomic<uint32_t> log_mask_;

inline bool log_enabled(LogChannel channel) {
  return (log_mask_.load(std::memory_order_relaxed) >> static_cast<unsigned>(channel)) & 1u;
}

// Writes the text, each of its lines with the channel's name before it.
void log_text(LogChannel channel, std::string_view text);

// printf form; nothing is formatted while the channel is off.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void log_format(LogChannel channel, const char* format, ...);

}  // namespace hotloop::base

// The arguments are not evaluated while the channel is off.
#define HOTLOOP_LOG(CHANNEL, ...)                                                            \
  do {                                                                                       \
    if (::hotloop::base::log_enabled(::hotloop::base::LogChannel::CHANNEL))                  \
      ::hotloop::base::log_format(::hotloop::base::LogChannel::CHANNEL, __VA_ARGS__);        \
  } while (0)
