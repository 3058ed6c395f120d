// One run of a pass: times it, verifies what it left, hands the result to the dump callback.
// Needs optimizer/pipeline.h. Promises: every pass of the pipeline runs inside one of these and nowhere else; a pass that broke the IR becomes
// a Refusal that names it.
#pragma once
#include <string_view>

#include "base/result.h"
#include "ir/ir.h"
#include "optimizer/pipeline.h"

namespace hotloop::optimizer {

class PassRunner {
 public:
  PassRunner(ir::Function& function, const PipelineOptions& options) : function_(function), options_(options) {}

  // Runs pass(function); false when it changed nothing or an earlier pass failed.
  template <typename Pass>
  bool run(std::string_view name, Pass&& pass) {
    if (!failure_.empty()) return false;
    const double start = now();
    const bool changed = pass(function_);
    finish(name, start, changed);
    return changed;
  }
  bool failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }

 private:
  static double now();
  void finish(std::string_view name, double start, bool changed);

  ir::Function& function_;
  const PipelineOptions& options_;
  std::string failure_;  // "pass: what the verifier says"
};

}  // namespace hotloop::optimizer
