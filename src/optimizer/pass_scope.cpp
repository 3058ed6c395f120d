// PassRunner. Needs optimizer/pass_scope.h. Promises: as there.
#include "optimizer/pass_scope.h"

#include <chrono>

#include "ir/verifier.h"

namespace hotloop::optimizer {

double PassRunner::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void PassRunner::finish(std::string_view name, double start, bool changed) {
  if (options_.times != nullptr) options_.times->push_back(PassTime{name, now() - start});
  if (options_.dump) options_.dump(name, function_);
  if (!options_.verify || !changed) return;
  std::string error = ir::verify(function_);
  if (!error.empty()) failure_ = std::string(name) + ": " + std::move(error);
}

}  // namespace hotloop::optimizer
