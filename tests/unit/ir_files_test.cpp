// Runs every file of tests/ir/ (format: ir_file.h). HOTLOOP_BLESS=1 writes what was found into the files as their expectations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir_file.h"

namespace hotloop::test {
namespace {

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(HOTLOOP_SOURCE_DIR "/tests/ir")) {
    if (entry.path().extension() == ".ir") names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class IrFiles : public ::testing::TestWithParam<std::string> {};

TEST_P(IrFiles, holds) {
  std::ifstream stream(GetParam());
  std::stringstream text;
  text << stream.rdbuf();
  IrFile file(GetParam(), text.str());
  const std::string bad = file.check();
  if (!bad.empty() && std::getenv("HOTLOOP_BLESS") != nullptr) std::ofstream(GetParam()) << file.blessed();
  EXPECT_TRUE(bad.empty()) << GetParam() << ": " << bad;
}

INSTANTIATE_TEST_SUITE_P(Text, IrFiles, ::testing::ValuesIn(files()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

}  // namespace
}  // namespace hotloop::test
