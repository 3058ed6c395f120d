// base/options: the table's defaults, parsing, validation and error lines.
#include "base/options.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "base/log.h"

namespace hotloop::base {
namespace {

std::string set_text(Options& options, const char* name, const char* text) {
  return set_option_text(options, *find_option(name), text, std::string(name) + "=" + text);
}

TEST(Options, EveryDefaultIsAcceptedByItsOwnRow) {
  Options options;
  for (const OptionInfo& option : kOptions)
    EXPECT_EQ(set_option(options, option, option_value(options, option), option.name), "");
  EXPECT_EQ(options, Options{});
}

TEST(Options, NamesAndVariablesAreUniqueAndNamedAlike) {
  std::set<std::string> names, variables;
  for (const OptionInfo& option : kOptions) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(variables.insert(option.env).second) << option.env;
    std::string expected = "HOTLOOP_";
    for (const char* c = option.name; *c; ++c) expected += static_cast<char>(std::toupper(*c));
    EXPECT_EQ(option.env, expected);
    EXPECT_NE(std::strlen(option.doc), 0u) << option.name;
  }
}

TEST(Options, IntegersAreCheckedAgainstTheirRange) {
  Options options;
  EXPECT_EQ(set_text(options, "threshold", "2"), "");
  EXPECT_EQ(options.threshold, 2);
  for (const char* wrong : {"abc", "", "1x", "1.5", " 1", "0x10", "99999999999999999999"})
    EXPECT_EQ(set_text(options, "threshold", wrong),
              std::string("threshold=") + wrong + ": expected an integer >= 1");
  EXPECT_EQ(set_text(options, "threshold", "0"), "threshold=0: expected an integer >= 1");
  EXPECT_EQ(set_text(options, "fuel", "-2"), "fuel=-2: expected an integer >= -1");
  EXPECT_EQ(set_text(options, "fuel", "-1"), "");
  EXPECT_EQ(options.threshold, 2) << "a refused value must not change the option";
}

TEST(Options, KindsOfValuesAreNotMixed) {
  Options options;
  EXPECT_NE(set_option(options, *find_option("threshold"), true, "threshold=True"), "");
  EXPECT_NE(set_option(options, *find_option("threshold"), std::string("5"), "threshold='5'"), "");
  EXPECT_NE(set_option(options, *find_option("gpu"), int64_t{1}, "gpu=1"), "");
  EXPECT_NE(set_option(options, *find_option("isa"), int64_t{1}, "isa=1"), "");
  EXPECT_EQ(options, Options{});
}

TEST(Options, Booleans) {
  Options options;
  for (const char* yes : {"1", "true", "on", "yes"}) {
    options.gpu = false;
    EXPECT_EQ(set_text(options, "gpu", yes), "");
    EXPECT_TRUE(options.gpu) << yes;
  }
  for (const char* no : {"0", "false", "off", "no"}) {
    options.gpu = true;
    EXPECT_EQ(set_text(options, "gpu", no), "");
    EXPECT_FALSE(options.gpu) << no;
  }
  EXPECT_NE(set_text(options, "gpu", "maybe"), "");
}

TEST(Options, ChoicesAndSets) {
  Options options;
  EXPECT_EQ(set_text(options, "isa", "sse2"), "");
  EXPECT_EQ(options.isa, "sse2");
  EXPECT_EQ(set_text(options, "isa", "mmx"), "isa=mmx: expected one of native, sse2, avx, avx2, avx512");
  EXPECT_NE(set_text(options, "isa", "avx|avx2"), "") << "the separator is not part of a word";
  EXPECT_EQ(set_text(options, "log", "hot,exit"), "");
  EXPECT_EQ(options.log, "hot,exit");
  EXPECT_EQ(set_text(options, "log", ""), "");
  EXPECT_NE(set_text(options, "log", "hot,,exit"), "");
  EXPECT_NE(set_text(options, "log", "hot,everything"), "");
}

TEST(Options, SeedAndStep) {
  Options options;
  EXPECT_EQ(set_text(options, "force_exit", "7:3"), "");
  SeedStep parsed = parse_seed_step(options.force_exit);
  EXPECT_EQ(parsed.seed, 7u);
  EXPECT_EQ(parsed.step, 3u);
  for (const char* wrong : {"7", "7:", ":3", "7:0", "a:3", "7:3:1", "-1:3"})
    EXPECT_NE(set_text(options, "force_exit", wrong), "") << wrong;
  EXPECT_EQ(parse_seed_step("").step, 0u);
}

const char* fake_environment(const char* name) {
  if (!std::strcmp(name, "HOTLOOP_THRESHOLD")) return "abc";
  if (!std::strcmp(name, "HOTLOOP_THREADS")) return "4";
  if (!std::strcmp(name, "HOTLOOP_GPU")) return "";
  if (!std::strcmp(name, "HOTLOOP_FUEL")) return "-9";
  return nullptr;
}

TEST(Options, EnvironmentGivesOneLinePerRefusedValueAndKeepsTheRest) {
  Options options;
  std::vector<std::string> errors = load_environment(options, fake_environment);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0], "HOTLOOP_THRESHOLD=abc: expected an integer >= 1");
  EXPECT_EQ(errors[1], "HOTLOOP_FUEL=-9: expected an integer >= -1");
  EXPECT_EQ(options.threads, 4);
  EXPECT_EQ(options.threshold, Options{}.threshold);
}

TEST(Log, ChannelsAreThoseOfTheOption) {
  std::string names;
  for (unsigned i = 0; i < static_cast<unsigned>(LogChannel::kCount); ++i)
    names += (i ? "|" : "") + std::string(log_channel_name(static_cast<LogChannel>(i)));
  EXPECT_EQ(names, find_option("log")->allowed);
}

TEST(Log, OnlyEnabledChannelsWriteAndEveryLineIsMarked) {
  set_log_mask(log_mask("exit"));
  testing::internal::CaptureStderr();
  HOTLOOP_LOG(kExit, "left at %d\nagain", 3);
  HOTLOOP_LOG(kHot, "not shown %d", 1);
  std::string text = testing::internal::GetCapturedStderr();
  set_log_mask(0);
  EXPECT_EQ(text, "hotloop exit: left at 3\nhotloop exit: again\n");
}

}  // namespace
}  // namespace hotloop::base
