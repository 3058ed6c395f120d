// Options: parsing and validation; see options.h.
#include "base/options.h"

#include <charconv>
#include <optional>
#include <utility>

namespace hotloop::base {
namespace {

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::optional<bool> parse_bool(std::string_view text) {
  for (std::string_view word : {"1", "true", "on", "yes"})
    if (text == word) return true;
  for (std::string_view word : {"0", "false", "off", "no"})
    if (text == word) return false;
  return std::nullopt;
}

struct Range {
  std::optional<int64_t> low, high;
  bool holds(int64_t n) const { return (!low || n >= *low) && (!high || n <= *high); }
};

Range parse_range(std::string_view allowed) {
  size_t dots = allowed.find("..");
  if (dots == std::string_view::npos) return {};
  return {parse_number<int64_t>(allowed.substr(0, dots)), parse_number<int64_t>(allowed.substr(dots + 2))};
}

bool has_word(std::string_view list, char separator, std::string_view word) {
  while (true) {
    size_t end = list.find(separator);
    if (list.substr(0, end) == word) return true;
    if (end == std::string_view::npos) return false;
    list = list.substr(end + 1);
  }
}

bool all_words(std::string_view text, std::string_view allowed) {
  if (text.empty()) return true;
  while (true) {
    size_t comma = text.find(',');
    if (!has_word(allowed, '|', text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text = text.substr(comma + 1);
  }
}

std::optional<SeedStep> parse_seed_step_strictly(std::string_view text) {
  if (text.empty()) return SeedStep{};
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto seed = parse_number<uint64_t>(text.substr(0, colon));
  auto step = parse_number<uint64_t>(text.substr(colon + 1));
  if (!seed || !step || *step == 0) return std::nullopt;
  return SeedStep{*seed, *step};
}

std::string listed(std::string_view words) {
  std::string text;
  for (char c : words) {
    if (c == '|')
      text += ", ";
    else
      text += c;
  }
  return text;
}

bool acceptable(const OptionInfo& option, const OptionValue& value) {
  if (option.kind == OptionKind::kBool) return std::holds_alternative<bool>(value);
  if (option.kind == OptionKind::kInt) {
    const int64_t* number = std::get_if<int64_t>(&value);
    return number && parse_range(option.allowed).holds(*number);
  }
  const std::string* text = std::get_if<std::string>(&value);
  if (!text) return false;
  switch (option.kind) {
    case OptionKind::kChoice: return has_word(option.allowed, '|', *text);
    case OptionKind::kSet: return all_words(*text, option.allowed);
    case OptionKind::kSeedStep: return parse_seed_step_strictly(*text).has_value();
    default: return true;
  }
}

// Overloads that only the matching member type accepts; the kind was checked before.
void assign(bool& member, const OptionValue& value) { member = *std::get_if<bool>(&value); }
void assign(int64_t& member, const OptionValue& value) { member = *std::get_if<int64_t>(&value); }
void assign(std::string& member, const OptionValue& value) { member = *std::get_if<std::string>(&value); }

}  // namespace

const OptionInfo* find_option(std::string_view name) {
  for (const OptionInfo& option : kOptions)
    if (name == option.name) return &option;
  return nullptr;
}

const char* option_kind_name(OptionKind kind) {
  constexpr const char* kNames[] = {"int", "bool", "choice", "set", "text", "seed:step"};
  return kNames[static_cast<size_t>(kind)];
}

std::string expected_text(const OptionInfo& option) {
  switch (option.kind) {
    case OptionKind::kBool: return "1 or 0, true or false, on or off, yes or no";
    case OptionKind::kChoice: return "one of " + listed(option.allowed);
    case OptionKind::kSet: return "words with commas between, from " + listed(option.allowed);
    case OptionKind::kSeedStep: return "SEED:K, two integers, K >= 1";
    case OptionKind::kText: return "text";
    case OptionKind::kInt: break;
  }
  Range range = parse_range(option.allowed);
  if (range.low && range.high)
    return "an integer from " + std::to_string(*range.low) + " to " + std::to_string(*range.high);
  if (range.low) return "an integer >= " + std::to_string(*range.low);
  return "an integer";
}

OptionValue option_value(const Options& options, const OptionInfo& option) {
  size_t index = static_cast<size_t>(&option - kOptions);
  switch (static_cast<OptionId>(index)) {
#define OPTION(name, kind, value, env, allowed, doc) \
  case OptionId::name: return options.name;
#include "base/options.def"
#undef OPTION
  }
  return false;
}

std::string set_option(Options& options, const OptionInfo& option, const OptionValue& value, std::string_view label) {
  if (!acceptable(option, value)) return std::string(label) + ": expected " + expected_text(option);
  size_t index = static_cast<size_t>(&option - kOptions);
  switch (static_cast<OptionId>(index)) {
#define OPTION(name, kind, default_value, env, allowed, doc) \
  case OptionId::name: assign(options.name, value); break;
#include "base/options.def"
#undef OPTION
  }
  return {};
}

std::string set_option_text(Options& options, const OptionInfo& option, std::string_view text, std::string_view label) {
  OptionValue value = std::string(text);
  if (option.kind == OptionKind::kBool) {
    if (auto parsed = parse_bool(text)) value = *parsed;
  } else if (option.kind == OptionKind::kInt) {
    if (auto parsed = parse_number<int64_t>(text)) value = *parsed;
  }
  return set_option(options, option, value, label);
}

std::vector<std::string> load_environment(Options& options, const char* (*get)(const char* name)) {
  std::vector<std::string> errors;
  for (const OptionInfo& option : kOptions) {
    const char* text = get(option.env);
    if (!text || !*text) continue;
    std::string error = set_option_text(options, option, text, std::string(option.env) + "=" + text);
    if (!error.empty()) errors.push_back(std::move(error));
  }
  return errors;
}

SeedStep parse_seed_step(std::string_view text) { return parse_seed_step_strictly(text).value_or(SeedStep{}); }

}  // namespace hotloop::base
