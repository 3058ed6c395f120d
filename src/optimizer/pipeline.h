// The readable list of passes from recorded IR to IR that a back end emits.
// Needs ir/. Promises: the function computes the same exits with the same values (verified after every pass when `verify`).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"

namespace hotloop::optimizer {

struct PassTime {
  std::string_view name;
  double seconds;
};
struct PipelineOptions {
  bool verify = false;
  bool hoist_guards = true;        // off once a hoisted guard failed too often for this region
  bool lower_addresses = true;     // off for tests that look at aload/astore after optimisation
  int64_t* fuel = nullptr;         // HOTLOOP_FUEL: passes run while > 0 (per region, not per pass), null: no limit
  std::function<void(std::string_view pass, const ir::Function&)> dump;  // called after every pass when set
  std::vector<PassTime>* times = nullptr;
};

// Refusal: VerifierFailed, with the verifier's text and the pass's name in detail.
base::Result<bool> optimize(ir::Function& function, const PipelineOptions& options);

}  // namespace hotloop::optimizer
