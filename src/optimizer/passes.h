// The passes, one per file. Each returns true when it changed the function and keeps the IR's promises (ir/verifier.h).
// Needs ir/ir.h. What each needs and preserves is said at the top of its file.
#pragma once
#include "ir/ir.h"

namespace hotloop::optimizer {

bool simplify(ir::Function& function);           // constant folding, exact identities, ifs that are known or trivial
bool eliminate_dead_code(ir::Function& function);
bool number_values(ir::Function& function);      // gvn, memory included; repeated guards; known conditions
bool hoist_invariants(ir::Function& function);   // licm of pure ops
struct CheckOptions {
  bool hoist = true;   // move checks in front of loops (needs `before` snapshots)
  bool final = false;  // turn checked arithmetic that cannot overflow into plain arithmetic (loses "does not wrap")
};
bool eliminate_checks(ir::Function& function, const CheckOptions& options);  // ranges, bounds, overflow, guard hoisting
bool merge_float_checks(ir::Function& function);
bool lower_addresses(ir::Function& function);
bool compare_squares(ir::Function& function);     // x ** 2 that is only compared
bool carry_computations(ir::Function& function);  // predictive commoning
bool thin_polls(ir::Function& function);
bool drop_loop_snapshots(ir::Function& function);  // `before` snapshots are no longer wanted

}  // namespace hotloop::optimizer
