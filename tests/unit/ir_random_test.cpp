// Random functions through everything: verifier, text form, evaluator, x86 back end, optimizer. The strongest evidence that they agree.
//
// HOTLOOP_RANDOM_SECONDS=n  how long (default 10)     HOTLOOP_RANDOM_FIRST=n  first seed (default 1)
// HOTLOOP_RANDOM_SEED=n     only this seed, and its text on the standard error     HOTLOOP_RANDOM_KEEP_GOING=1  list all failing seeds
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "ir/text.h"
#include "ir/verifier.h"
#include "optimizer/pipeline.h"
#include "random_ir.h"

namespace hotloop::test {
namespace {

uint64_t environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// A crash names its seed.
volatile uint64_t current_seed = 0;
void report_crash(int signal) {
  std::fprintf(stderr, "random IR: signal %d at seed %llu\n", signal, static_cast<unsigned long long>(current_seed));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Statistics {
  uint64_t cases = 0;
  uint64_t runs = 0;
  uint64_t forced = 0;
  uint64_t native_runs = 0;
  uint64_t optimised_runs = 0;
  uint64_t optimised_elsewhere = 0;  // left in another state than the unoptimised function, one that it had come by
  std::map<ir::ExitReason, uint64_t> exits;
  std::set<ir::OpCode> ops;

  void print() const {
    std::printf("cases %llu, runs %llu (forced exits %llu), x86 runs %llu, optimised runs %llu (%llu left elsewhere)\n",
                static_cast<unsigned long long>(cases), static_cast<unsigned long long>(runs), static_cast<unsigned long long>(forced),
                static_cast<unsigned long long>(native_runs), static_cast<unsigned long long>(optimised_runs),
                static_cast<unsigned long long>(optimised_elsewhere));
    for (const auto& [reason, count] : exits) {
      std::printf("  %-12s %llu\n", std::string(ir::exit_reason_name(reason)).c_str(), static_cast<unsigned long long>(count));
    }
  }
};

class Check {
 public:
  Check(uint64_t seed, Statistics& statistics) : seed_(seed), statistics_(statistics) {
    RandomOptions options;
    options.addresses = seed % 4 == 0;
    options.ops = 10 + static_cast<int>(seed % 7) * 20;
    addresses_ = options.addresses;
    case_ = random_case(seed, options);
  }
  const ir::Function& function() const { return *case_.function; }

  // Empty, or what is wrong.
  std::string run() {
    ir::Function& f = *case_.function;
    ++statistics_.cases;
    ir::for_each_op(*f.body, [&](ir::Op& op, ir::Block&) { statistics_.ops.insert(op.code); });
    if (std::string bad = ir::verify(f); !bad.empty()) return "verifier: " + bad;
    const std::string text = ir::print(f);
    std::string error;
    std::unique_ptr<ir::Function> copy = ir::parse(text, &error);
    if (copy == nullptr) return "parser: " + error;
    if (ir::print(*copy) != text) return "prints differently after parsing:\n" + ir::print(*copy);
    if (std::string bad = ir::verify(*copy); !bad.empty()) return "verifier after parsing: " + bad;

    expected_ = results(f, evaluator_entry(f));
    for (const RunResult& result : expected_) {
      ++statistics_.runs;
      statistics_.forced += result.forced ? 1 : 0;
      ++statistics_.exits[result.reason];
    }
    if (std::string bad = compare(expected_, results(*copy, evaluator_entry(*copy)), "parsed copy"); !bad.empty()) return bad;
    if (std::string bad = check_native(f, expected_, "x86"); !bad.empty()) return bad;
    return check_optimised(*copy);
  }

 private:
  std::vector<RunResult> results(ir::Function& f, const Entry& entry) {
    const std::vector<ir::ExitInfo> exits = ir::enumerate_exits(f);
    std::vector<RunResult> out;
    for (const RunInputs& inputs : case_.runs) out.push_back(test::run(f, exits, entry, inputs));
    return out;
  }

  static std::string compare(const std::vector<RunResult>& a, const std::vector<RunResult>& b, const std::string& who) {
    for (size_t k = 0; k < a.size(); ++k) {
      const std::string bad = difference(a[k], b[k], true);
      if (!bad.empty()) return who + ", run " + std::to_string(k) + ": " + bad;
    }
    return {};
  }

  std::string check_native(ir::Function& f, const std::vector<RunResult>& expected, const std::string& who) {
    for (bool baseline : {true, false}) {
      const std::string name = who + (baseline ? " (sse2)" : "");
      ir::enumerate_exits(f);
      std::string error;
      const Entry entry = x86_entry(f, baseline, &error);
      if (!error.empty()) return name + ": " + error;
      if (!entry) continue;
      statistics_.native_runs += expected.size();
      if (std::string bad = compare(expected, results(f, entry), name); !bad.empty()) return bad;
    }
    return {};
  }

  std::string check_optimised(ir::Function& f);

  uint64_t seed_;
  Statistics& statistics_;
  RandomCase case_;
  bool addresses_ = false;
  std::vector<RunResult> expected_;
};

std::string Check::check_optimised(ir::Function& f) {
  if (addresses_) return {};
  optimizer::PipelineOptions options;
  options.verify = true;
  options.hoist_guards = seed_ % 2 == 0;
  options.lower_addresses = seed_ % 3 != 0;
  const base::Result<bool> done = optimizer::optimize(f, options);
  if (!done) return "optimizer: " + done.refusal().message();
  const std::vector<RunResult> found = results(f, evaluator_entry(f));
  for (size_t k = 0; k < found.size(); ++k) {
    ++statistics_.optimised_runs;
    if (!expected_[k].forced && !found[k].forced && difference(expected_[k], found[k], true).empty()) continue;
    // Another exit: because a check moved, or because forced exits count other ops now. The state must be one on the way.
    ++statistics_.optimised_elsewhere;
    if (States(*case_.function, case_.runs[k]).contain(found[k])) continue;
    return "optimised, run " + std::to_string(k) + ": " + difference(expected_[k], found[k], true) + ", a state that the function does not come by\n" + ir::print(f);
  }
  std::string bad = check_native(f, found, "optimised x86");
  return bad.empty() ? bad : bad + "\n" + ir::print(f);
}

TEST(RandomIr, allBackEndsAgree) {
  for (int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, report_crash);
  Statistics statistics;
  const uint64_t only = environment("HOTLOOP_RANDOM_SEED", 0);
  const bool keep_going = environment("HOTLOOP_RANDOM_KEEP_GOING", 0) != 0;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(environment("HOTLOOP_RANDOM_SECONDS", 10));
  uint64_t seed = only != 0 ? only : environment("HOTLOOP_RANDOM_FIRST", 1);
  do {
    current_seed = seed;
    Check check(seed, statistics);
    if (only != 0) std::fprintf(stderr, "%s\n", ir::print(check.function()).c_str());
    const std::string bad = check.run();
    if (keep_going && !bad.empty()) {
      ADD_FAILURE() << "HOTLOOP_RANDOM_SEED=" << seed << ": " << bad.substr(0, bad.find('\n'));
    } else {
      ASSERT_TRUE(bad.empty()) << "HOTLOOP_RANDOM_SEED=" << seed << ": " << bad << "\n" << ir::print(check.function());
    }
    ++seed;
  } while (only == 0 && std::chrono::steady_clock::now() < limit);
  for (int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(signal, SIG_DFL);
  statistics.print();
  if (statistics.cases < 300) return;
  for (int k = 0; k < ir::kOpCount; ++k) {
    const auto code = static_cast<ir::OpCode>(k);
    // Objects need Python: their operations are compared by the programs in tests/python.
    if (code >= ir::OpCode::Object && code < ir::OpCode::Guard) continue;
    EXPECT_TRUE(statistics.ops.contains(code)) << "never made: " << ir::op_info(code).text;
  }
  for (ir::ExitReason reason : {ir::ExitReason::Finished, ir::ExitReason::Left, ir::ExitReason::Breaker, ir::ExitReason::Overflow, ir::ExitReason::Bounds,
                                ir::ExitReason::ZeroDivide, ir::ExitReason::Domain, ir::ExitReason::FpWarning, ir::ExitReason::Path}) {
    EXPECT_GT(statistics.exits[reason], 0u) << "never taken: " << ir::exit_reason_name(reason);
  }
  EXPECT_GT(statistics.exits[ir::ExitReason::Finished] * 10, statistics.runs) << "too few runs reach the end";
  EXPECT_GT(statistics.forced, 0u);
  EXPECT_LT(statistics.optimised_elsewhere * 2, statistics.optimised_runs + 1) << "optimised functions leave too early";
}

}  // namespace
}  // namespace hotloop::test
