// Executes IR directly: the oracle for every back end, and a back end of its own (HOTLOOP_BACKEND=evaluator).
// Needs ir/. Promises: same exits and same bits as machine code must give; the calling convention of ir/activation.h, forced exits included.
#pragma once
#include <cstdint>

#include "ir/activation.h"
#include "ir/ir.h"
#include "ir/numeric.h"

namespace hotloop::ir {

// REQUIRES: enumerate_exits(function) was called. Returns the exit id.
uint32_t evaluate(const Function& function, const HelperTable& helpers, Activation* activation);

}  // namespace hotloop::ir
