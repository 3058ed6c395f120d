// The record of one run of a region, and the calling convention of compiled code (also of the evaluator).
// Needs nothing. Promises: field offsets are fixed here (static_assert below) and used by the emitted code.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hotloop::ir {

// Lives on the C stack of whoever enters (T15). Values are 8-byte cells: f64 as bits, f32 in the low 4 bytes, i1 as 0 or 1, narrower
// integers sign- or zero-extended to 64 bits by their type, ptr as is.
struct Activation {
  const int64_t* in = nullptr;                  // input parts, in the order of the body's parameters; read at entry and again by exits: unchanged until then, apart from `out`
  int64_t* out = nullptr;                       // written by an exit: snapshot_values() of its snapshot
  const volatile uint8_t* breaker = nullptr;    // non-zero byte: something is pending (poll)
  int64_t force_countdown = INT64_MAX;          // forced exits: each guard subtracts 1; at 0 it leaves as if it had failed
  uint32_t forced = 0;                          // set to 1 by the exit that was forced
  uint32_t padding = 0;
};
static_assert(offsetof(Activation, in) == 0);
static_assert(offsetof(Activation, out) == 8);
static_assert(offsetof(Activation, breaker) == 16);
static_assert(offsetof(Activation, force_countdown) == 24);
static_assert(offsetof(Activation, forced) == 32);

// The rule of forced exits, the same for the evaluator and for emitted code: every op for which ir::may_be_forced() holds first subtracts 1
// from the countdown. When that gives 0, it leaves through its own exit with `forced` set, whatever its operands are, and without
// looking at them. Other ops neither count nor set `forced`.
inline bool count_forced_exit(Activation* activation) {
  if (--activation->force_countdown != 0) return false;
  activation->forced = 1;
  return true;
}

// Runs the region, returns the exit id (index into enumerate_exits()).
using NativeFunction = uint32_t (*)(Activation*);

// Fields of numpy.ndarray that arr_data / arr_dim / arr_stride read (checked against NumPy's headers in src/runtime).
inline constexpr int kArrayDataOffset = 16;
inline constexpr int kArrayNdimOffset = 24;
inline constexpr int kArrayDimsOffset = 32;
inline constexpr int kArrayStridesOffset = 40;

}  // namespace hotloop::ir
