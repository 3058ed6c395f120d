// Seeded random IR: valid functions over all ops and types, with arrays and inputs to run them on.
// Needs ir_run.h. Promises: the same seed gives the same case (with one compiler: it chooses the order in which arguments are evaluated); the function verifies; every run ends (loops have few trips); the
// REQUIRES of ops.def hold in every run; what happens inside can be seen in the out values and in the arrays.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "ir_run.h"

namespace hotloop::test {

struct RandomOptions {
  int ops = 60;            // about so many ops
  int depth = 3;           // nesting of if, for and loop
  bool addresses = false;  // also padd, load and store, which passes before address lowering do not expect
  int runs = 4;            // input sets
};

struct RandomCase {
  std::unique_ptr<ir::Function> function;
  std::vector<std::unique_ptr<TestArray>> arrays;
  std::vector<RunInputs> runs;
};
RandomCase random_case(uint64_t seed, const RandomOptions& options = {});

// The generator's source of chance (SplitMix64, Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& pick(const std::vector<T>& items) { return items[next() % items.size()]; }

 private:
  uint64_t state_;
};

// A cell of this type: small numbers most of the time, else the corners (NaN, signed zeros, infinities, denormals, MIN, MAX).
int64_t random_cell(Random& random, ir::Type type);

}  // namespace hotloop::test
