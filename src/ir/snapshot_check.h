// The verifier's part about snapshots, inputs and tables. Internal to src/ir.
// Needs ir/ir.h. Promises: empty text when all is well, else what is wrong. Whether values dominate is asked by the verifier itself.
#pragma once
#include <string>

#include "ir/ir.h"

namespace hotloop::ir {

std::string check_runs(const Function& f);  // V13
std::string check_tables(const Function& function);                           // array types, inputs, entry guards
std::string check_snapshot(const Function& function, const Snapshot& snapshot);  // frames, slots, kinds, parts and their types

}  // namespace hotloop::ir
