// What the optimizer must achieve on the loop nests of tests/ir/opt_*.ir: no check left in innermost loops, small compile time.
// Needs optimizer/pipeline.h, ir/text.h. What the optimized code computes is tested by tests/ir/opt_*_run.ir and by random IR.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "ir/text.h"
#include "ir/verifier.h"
#include "optimizer/pipeline.h"

namespace hotloop::optimizer {
namespace {

using ir::Block;
using ir::Op;
using ir::OpCode;

std::unique_ptr<ir::Function> read(const std::string& name) {
  std::ifstream stream(HOTLOOP_SOURCE_DIR "/tests/ir/" + name + ".ir");
  std::stringstream text;
  text << stream.rdbuf();
  std::string error;
  std::unique_ptr<ir::Function> function = ir::parse(text.str(), &error);
  EXPECT_NE(function, nullptr) << name << ": " << error;
  return function;
}

bool is_loop(const Op& op) { return op.code == OpCode::For || op.code == OpCode::Loop; }

bool has_loop(const Block& block) {
  for (const Op* op : block.ops) {
    if (is_loop(*op)) return true;
    for (const Block* inner : op->blocks) {
      if (has_loop(*inner)) return true;
    }
  }
  return false;
}

size_t count(const Block& block, OpCode code) {
  size_t found = 0;
  for (const Op* op : block.ops) {
    found += op->code == code ? 1 : 0;
    for (const Block* inner : op->blocks) found += count(*inner, code);
  }
  return found;
}

template <typename Callback>
void innermost_loops(Block& block, Callback&& callback) {
  for (Op* op : block.ops) {
    for (Block* inner : op->blocks) {
      if (is_loop(*op) && !has_loop(*inner)) callback(*inner);
      innermost_loops(*inner, callback);
    }
  }
}

class Kernels : public ::testing::TestWithParam<const char*> {};

TEST_P(Kernels, innermostLoopsKeepNoChecks) {
  auto function = read(GetParam());
  ASSERT_NE(function, nullptr);
  PipelineOptions options;
  options.verify = true;
  const auto done = optimize(*function, options);
  ASSERT_TRUE(done.ok()) << done.refusal().message();
  size_t loops = 0;
  innermost_loops(*function->body, [&](Block& body) {
    ++loops;
    for (OpCode code : {OpCode::Bound, OpCode::Guard, OpCode::AddO, OpCode::SubO, OpCode::MulO, OpCode::ALoad, OpCode::AStore, OpCode::ArrDim,
                        OpCode::ArrData, OpCode::ArrStride}) {
      EXPECT_EQ(count(body, code), 0u) << ir::op_info(code).text << " left in an innermost loop of " << GetParam();
    }
    EXPECT_LE(count(body, OpCode::IsFinite), 1u);
  });
  EXPECT_EQ(loops, 1u);
}

TEST_P(Kernels, withoutHoistingBoundsStay) {
  auto function = read(GetParam());
  ASSERT_NE(function, nullptr);
  PipelineOptions options;
  options.verify = true;
  options.hoist_guards = false;
  options.lower_addresses = false;
  const auto done = optimize(*function, options);
  ASSERT_TRUE(done.ok()) << done.refusal().message();
  ir::for_each_op(*function->body, [](Op& op, Block&) {
    if (op.code == OpCode::Guard) {
      EXPECT_NE(op.imm, static_cast<int64_t>(ir::ExitReason::Hoisted));
    }
  });
  EXPECT_GT(count(*function->body, OpCode::Bound) + count(*function->body, OpCode::Guard), 0u);
}

INSTANTIATE_TEST_SUITE_P(Ir, Kernels, ::testing::Values("opt_matmul", "opt_jacobi", "opt_lu", "opt_sieve"));

TEST(Pipeline, reportsPassesAndFuel) {
  auto function = read("opt_lu");
  ASSERT_NE(function, nullptr);
  const std::string before = ir::print(*function);
  int64_t fuel = 0;
  std::vector<PassTime> times;
  std::vector<std::string> dumped;
  PipelineOptions options;
  options.fuel = &fuel;
  options.times = &times;
  options.dump = [&](std::string_view pass, const ir::Function&) { dumped.emplace_back(pass); };
  ASSERT_TRUE(optimize(*function, options).ok());
  EXPECT_EQ(ir::print(*function), before) << "no fuel, no change";
  EXPECT_TRUE(times.empty());
  fuel = 1;
  ASSERT_TRUE(optimize(*function, options).ok());
  EXPECT_EQ(fuel, 0);
  EXPECT_EQ(times.size(), dumped.size());
  for (const char* pass : {"simplify", "dce", "gvn", "licm", "checks", "checks-final", "fcheck", "polls", "lower"}) {
    EXPECT_NE(std::find(dumped.begin(), dumped.end(), pass), dumped.end()) << pass;
  }
}

}  // namespace
}  // namespace hotloop::optimizer
