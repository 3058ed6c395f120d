// The readable list of passes. Needs optimizer/passes.h. Promises: as in pipeline.h.
//
// Order matters in three places: checks are eliminated while additions still say that they do not wrap (addo), so checked arithmetic becomes
// plain only in the last run; float checks are merged once guards between them are gone; addresses are lowered last, because every
// analysis reads aload and astore, and then only value numbering and invariant motion run again.
#include "optimizer/pipeline.h"

#include "optimizer/pass_scope.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {
namespace {

void clean(PassRunner& passes) {
  for (int round = 0; round < 3; ++round) {
    if (!passes.run("simplify", simplify)) break;
    passes.run("dce", eliminate_dead_code);
  }
}

void run_all(PassRunner& passes, const PipelineOptions& options) {
  clean(passes);
  passes.run("gvn", number_values);
  clean(passes);
  passes.run("licm", hoist_invariants);
  passes.run("checks", [&](ir::Function& f) { return eliminate_checks(f, CheckOptions{options.hoist_guards, false}); });
  clean(passes);
  passes.run("gvn", number_values);
  passes.run("checks-final", [&](ir::Function& f) { return eliminate_checks(f, CheckOptions{false, true}); });
  clean(passes);
  passes.run("gvn", number_values);
  passes.run("licm", hoist_invariants);
  passes.run("fcheck", merge_float_checks);
  if (passes.run("guard-band", compare_squares)) passes.run("gvn", number_values);
  passes.run("commoning", carry_computations);
  passes.run("polls", thin_polls);
  if (options.lower_addresses) {
    passes.run("lower", lower_addresses);
    passes.run("loop-snapshots", drop_loop_snapshots);
    clean(passes);
    passes.run("gvn", number_values);
    passes.run("licm", hoist_invariants);
    passes.run("gvn", number_values);  // header reads that came out of different blocks
  }
  clean(passes);
  passes.run("dce", eliminate_dead_code);
}

}  // namespace

base::Result<bool> optimize(ir::Function& function, const PipelineOptions& options) {
  if (options.fuel != nullptr) {
    if (*options.fuel <= 0) return true;
    --*options.fuel;
  }
  PassRunner passes(function, options);
  run_all(passes, options);
  if (passes.failed()) return base::refuse(base::RefusalReason::kVerifierFailed, function.line, passes.failure());
  return true;
}

}  // namespace hotloop::optimizer
