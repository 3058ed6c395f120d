// Log channels; see log.h.
#include "base/log.h"

#include <cstdarg>
#include <cstdio>
#include <string>

namespace hotloop::base {

std::atomic<uint32_t> log_mask_{0};

namespace {
constexpr const char* kChannelNames[] = {"hot", "record", "ir", "opt", "asm", "ptx", "exit", "refuse"};
static_assert(sizeof kChannelNames / sizeof *kChannelNames == static_cast<size_t>(LogChannel::kCount));
}  // namespace

const char* log_channel_name(LogChannel channel) { return kChannelNames[static_cast<size_t>(channel)]; }

uint32_t log_mask(std::string_view channels) {
  uint32_t mask = 0;
  while (!channels.empty()) {
    size_t comma = channels.find(',');
    std::string_view word = channels.substr(0, comma);
    for (unsigned i = 0; i < static_cast<unsigned>(LogChannel::kCount); ++i)
      if (word == kChannelNames[i]) mask |= 1u << i;
    channels = comma == std::string_view::npos ? std::string_view{} : channels.substr(comma + 1);
  }
  return mask;
}

void set_log_mask(uint32_t mask) { log_mask_.store(mask, std::memory_order_relaxed); }

void log_text(LogChannel channel, std::string_view text) {
  if (!log_enabled(channel)) return;
  // One string and one write, so that the lines of several threads do not mix.
  std::string lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines += "hotloop ";
    lines += log_channel_name(channel);
    lines += ": ";
    lines += text.substr(0, end);
    lines += '\n';
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

void log_format(LogChannel channel, const char* format, ...) {
  if (!log_enabled(channel)) return;
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int size = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  if (size >= 0) {
    std::string text(static_cast<size_t>(size), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    log_text(channel, text);
  }
  va_end(again);
}

}  // namespace hotloop::base
