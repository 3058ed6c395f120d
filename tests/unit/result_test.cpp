// base/result and base/stats: values, refusals and their counters.
#include "base/result.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <memory>
#include <set>

#include "base/stats.h"

namespace hotloop::base {
namespace {

Result<int> half(int n) {
  if (n % 2) return refuse(RefusalReason::kUnsupportedType, 12, "odd");
  return n / 2;
}

TEST(Result, HoldsAValueOrARefusal) {
  Result<int> good = half(8);
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 4);
  Result<int> bad = half(3);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.refusal().reason, RefusalReason::kUnsupportedType);
  EXPECT_EQ(bad.refusal().line, 12);
  EXPECT_EQ(bad.refusal().message(),
            std::string(refusal_info(RefusalReason::kUnsupportedType).text) + " (odd)");
}

TEST(Result, MovesValuesOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 5);
}

TEST(Result, OfVoid) {
  Result<void> good;
  EXPECT_TRUE(good);
  Result<void> bad = refuse(RefusalReason::kTooLarge);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.refusal().reason, RefusalReason::kTooLarge);
}

TEST(Refusals, HaveUniqueNamesAndSentences) {
  std::set<std::string> names;
  for (const RefusalInfo& info : kRefusals) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_NE(std::strlen(info.text), 0u) << info.name;
    EXPECT_NE(info.text[std::strlen(info.text) - 1], '.') << info.name << ": a detail may follow the text";
  }
  EXPECT_EQ(names.size(), kRefusalCount);
}

TEST(Stats, CountRefusalsByReasonAndVisitEveryRow) {
  Stats stats;
  stats.count_refusal(RefusalReason::kTooLarge);
  stats.count_refusal(RefusalReason::kTooLarge);
  stats.compile_seconds_ns = 7;
  EXPECT_EQ(stats.refusals[static_cast<size_t>(RefusalReason::kTooLarge)], 2u);
  std::set<std::string> seen;
  uint64_t refused = 0, compile = 0;
  for_each_stat(
      stats,
      [&](const char* name, uint64_t value, const char*) {
        EXPECT_TRUE(seen.insert(name).second) << name;
        if (!std::strcmp(name, "refused")) refused = value;
      },
      [&](const char* name, uint64_t value, const char*) {
        EXPECT_TRUE(seen.insert(name).second) << name;
        if (!std::strcmp(name, "compile_seconds")) compile = value;
      });
  EXPECT_EQ(refused, 2u);
  EXPECT_EQ(compile, 7u);
}

}  // namespace
}  // namespace hotloop::base
