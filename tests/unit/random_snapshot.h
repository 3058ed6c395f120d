// Random snapshots for random IR. Needs random_ir.h. Promises: valid at a point where `visible` are the visible values; all kinds occur.
#pragma once
#include <vector>

#include "random_ir.h"

namespace hotloop::test {

// Adds a snapshot to the function. Its object table needs at least four entries: code, function, its code, a constant.
ir::SnapshotId random_snapshot(Random& random, ir::Function& function, const std::vector<ir::ValueId>& visible);

// The Python value that shows this IR value; false for a type that no Python kind has.
bool value_of_type(const ir::Function& function, ir::ValueId v, ir::SnapValue* out);

}  // namespace hotloop::test
