// Result<T>: a value, or the named reason why there is none.
// Needs: nothing. Promises: no exceptions; a Refusal always carries a reason from refusals.def, so that every
// place that gives up is counted and explained to the user under the same name.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace hotloop::base {

enum class RefusalReason : uint16_t {
#define REFUSAL(NAME, TEXT, ADVICE) k##NAME,
#include "base/refusals.def"
#undef REFUSAL
};

inline constexpr size_t kRefusalCount = 0
#define REFUSAL(NAME, TEXT, ADVICE) +1
#include "base/refusals.def"
#undef REFUSAL
    ;

struct RefusalInfo {
  const char* name;    // the name in stats()["refusals"], as in refusals.def
  const char* text;    // what the user reads
  const char* advice;  // what the user can do about it
};

inline constexpr RefusalInfo kRefusals[] = {
#define REFUSAL(NAME, TEXT, ADVICE) {#NAME, TEXT, ADVICE},
#include "base/refusals.def"
#undef REFUSAL
};

constexpr const RefusalInfo& refusal_info(RefusalReason reason) { return kRefusals[static_cast<size_t>(reason)]; }

struct Refusal {
  RefusalReason reason;
  int line = 0;        // source line, 0 when none is known
  std::string detail;  // what exactly: the opcode's, type's or function's name

  // "calls a function that hotloop does not know (foo.bar)"
  std::string message() const {
    std::string text = refusal_info(reason).text;
    if (!detail.empty()) text += " (" + detail + ")";
    return text;
  }
};

// A Result is tested with `if (!r) return r.refusal();` and read with `*r`, `r->`.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Refusal refusal) : state_(std::in_place_index<1>, std::move(refusal)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Refusal& refusal() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Refusal> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Refusal refusal) : refusal_(std::move(refusal)) {}  // NOLINT: implicit by design

  bool ok() const { return !refusal_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Refusal& refusal() const {
    assert(!ok());
    return *refusal_;
  }

 private:
  std::optional<Refusal> refusal_;
};

inline Refusal refuse(RefusalReason reason, int line = 0, std::string detail = {}) {
  return Refusal{reason, line, std::move(detail)};
}

}  // namespace hotloop::base
