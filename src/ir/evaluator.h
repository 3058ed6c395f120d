// Executes IR directly: the oracle for every back end, and a back end of its own (HOTLOOP_BACKEND=evaluator).
// Needs ir/. Promises: same exits and same bits as machine code must give; the calling convention of ir/activation.h, forced exits included.
#pragma once
#include <cstdint>

#include "ir/activation.h"
#include "ir/ir.h"
#include "ir/numeric.h"

namespace hotloop::ir {

// Told of every snapshot that is the state of the run when it comes by: at ops that may exit, before they run (where may_be_forced() is false
// only when they leave), and at loops with a state before. `cells` holds the values by ValueId. Tests use it to know all states in which a run may leave.
class SnapshotObserver {
 public:
  virtual ~SnapshotObserver() = default;
  virtual void passes(SnapshotId snapshot, const int64_t* cells) = 0;
};

// REQUIRES: enumerate_exits(function) was called. Returns the exit id.
uint32_t evaluate(const Function& function, const HelperTable& helpers, Activation* activation, SnapshotObserver* observer = nullptr);

}  // namespace hotloop::ir
