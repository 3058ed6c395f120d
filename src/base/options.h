// The options of the program, from options.def: the struct, its table, and one parser and validator for
// environment variables and keyword values.
// Needs: nothing. Promises: a value that is refused leaves the options unchanged and gives one line for the user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hotloop::base {

enum class OptionKind : uint8_t { kInt, kBool, kChoice, kSet, kText, kSeedStep };

namespace option_type {
using Int = int64_t;
using Bool = bool;
using Choice = std::string;
using Set = std::string;
using Text = std::string;
using SeedStep = std::string;
}  // namespace option_type

struct Options {
#define OPTION(name, kind, value, env, allowed, doc) option_type::kind name = value;
#include "base/options.def"
#undef OPTION
  bool operator==(const Options&) const = default;
};

enum class OptionId : uint8_t {
#define OPTION(name, kind, value, env, allowed, doc) name,
#include "base/options.def"
#undef OPTION
};

struct OptionInfo {
  const char* name;
  OptionKind kind;
  const char* env;
  const char* allowed;
  const char* doc;
};

inline constexpr OptionInfo kOptions[] = {
#define OPTION(name, kind, value, env, allowed, doc) {#name, OptionKind::k##kind, env, allowed, doc},
#include "base/options.def"
#undef OPTION
};
inline constexpr size_t kOptionCount = sizeof kOptions / sizeof *kOptions;

using OptionValue = std::variant<bool, int64_t, std::string>;

const OptionInfo* find_option(std::string_view name);
const char* option_kind_name(OptionKind kind);  // "int", "bool", ... as --help-options shows it

// What a value of this option must be: "an integer >= 1", "one of native, sse2, avx".
std::string expected_text(const OptionInfo& option);

OptionValue option_value(const Options& options, const OptionInfo& option);

// Sets an option. `label` is what the user wrote, such as "HOTLOOP_THRESHOLD=abc" or "threshold=0"; a value that is
// refused gives "LABEL: expected ...", success the empty string.
std::string set_option(Options& options, const OptionInfo& option, const OptionValue& value, std::string_view label);
std::string set_option_text(Options& options, const OptionInfo& option, std::string_view text, std::string_view label);

// Reads every variable of the table through `get` (getenv); unset and empty variables change nothing. One line per
// refused value.
std::vector<std::string> load_environment(Options& options, const char* (*get)(const char* name));

struct SeedStep {
  uint64_t seed = 0;
  uint64_t step = 0;  // 0: off
};
// The parsed form of a SeedStep option; {0, 0} for "".
SeedStep parse_seed_step(std::string_view text);

}  // namespace hotloop::base
