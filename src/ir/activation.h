// The record of one run of a region, and the calling convention of compiled code (also of the evaluator).
// Needs nothing. Promises: field offsets are fixed here (static_assert below) and used by the emitted code.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ir/types.h"

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
  void** keep_next = nullptr;                   // where the next object that must live until the exit goes; room is made by ObjectFunctions::room
  void** keep_end = nullptr;
  void** keep_begin = nullptr;
  void** flush_at = reinterpret_cast<void**>(UINTPTR_MAX);  // from here on a flush drops what it can
  void* const* namespaces = nullptr;            // dictionaries whose items are variables of the region: object_call leaves them to the interpreter
  int64_t namespace_count = 0;
  void* context = nullptr;                      // of whoever entered: what ObjectFunctions need
};
static_assert(offsetof(Activation, in) == 0);
static_assert(offsetof(Activation, out) == 8);
static_assert(offsetof(Activation, breaker) == 16);
static_assert(offsetof(Activation, force_countdown) == 24);
static_assert(offsetof(Activation, forced) == 32);
static_assert(offsetof(Activation, keep_next) == 40);
static_assert(offsetof(Activation, keep_end) == 48);
static_assert(offsetof(Activation, flush_at) == 64);

// The rule of forced exits, the same for the evaluator and for emitted code: every op for which ir::may_be_forced() holds first subtracts 1
// from the countdown. When that gives 0, it leaves through its own exit with `forced` set, whatever its operands are, and without
// looking at them. Other ops neither count nor set `forced`.
inline bool count_forced_exit(Activation* activation) {
  if (--activation->force_countdown != 0) return false;
  activation->forced = 1;
  return true;
}

// Runs the region, returns the exit id (index into enumerate_exits()), or kLeft when a `run` has left already.
inline constexpr uint32_t kLeft = UINT32_MAX;
using NativeFunction = uint32_t (*)(Activation*);

// Fields of numpy.ndarray that arr_data / arr_dim / arr_stride read (checked against NumPy's headers in src/runtime).
inline constexpr int kArrayDataOffset = 16;
inline constexpr int kArrayNdimOffset = 24;
inline constexpr int kArrayDimsOffset = 32;
inline constexpr int kArrayStridesOffset = 40;

// Fields of CPython's objects that compiled code reads (checked against CPython's headers in src/runtime): of every object, of lists and tuples,
// of numbers. An int has its sign (0 positive, 1 zero, 2 negative) and, times 8, its number of digits in the tag; digits have 30 bits.
inline constexpr int kObjectRefcountOffset = 0;
inline constexpr int kObjectTypeOffset = 8;
inline constexpr int kVarSizeOffset = 16;
inline constexpr int kListItemsOffset = 24;
inline constexpr int kTupleItemsOffset = 24;
inline constexpr int kNumberValueOffset = 16;   // float, complex (real, imag), NumPy scalars
inline constexpr int kLongTagOffset = 16;
inline constexpr int kLongDigitsOffset = 24;    // bool too: its digit is 0 or 1
inline constexpr int kLongDigitBits = 30;

// Functions on Python objects that compiled code calls; they never run Python code. All null where there is no Python (hotloop_core's own tests).
struct ObjectFunctions {
  void* (*box)(int64_t kind, const int64_t* parts) = nullptr;    // new reference, null: no memory
  void* (*box_float)(double value) = nullptr;                    // likewise
  void* (*box_int)(int64_t value) = nullptr;
  int64_t (*closed)(void* object) = nullptr;                     // may it be dropped without running Python code?
  int64_t (*room)(Activation* activation) = nullptr;             // makes room for one object to keep; 0: there is none
  void (*list_set)(Activation* activation, void* list, int64_t index, void* item, int64_t flags) = nullptr;  // as list_set of ops.def
  void* (*list_put)(void* list, int64_t index, double value) = nullptr;                                      // as list_put; null: leave
  int64_t (*list_append)(void* list, void* item, int64_t flags) = nullptr;                                   // as list_append; 0: leave
  // The functions of object_calls.def: cells hold the operands, and the result in the first; 0: leave.
  using Call = int64_t (*)(Activation* activation, int64_t* cells, int64_t kinds);
  Call calls[kObjectCallCount] = {};
  void (*flush)(Activation* activation, const int64_t* retained, int64_t count) = nullptr;                     // as flush, once keep_next has come to flush_at
  const void* float_type = nullptr;
  int64_t (*run)(Activation* activation, int64_t exit_id) = nullptr;  // as run; 0: has left; else out holds the objects of the snapshot's slots
  void* (*next_item)(Activation* activation, void* iterator, int64_t flags) = nullptr;  // as next_item
  int64_t (*array_matches)(void* object, const void* array_type) = nullptr;                                  // as as_array
};



}  // namespace hotloop::ir
