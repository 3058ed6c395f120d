// The leaf numeric helpers owned by the core (helpers.def, owner core) and the table of helper addresses.
// Needs ir/types.h, ir/activation.h. Promises: exactly the results of CPython and NumPy for the arguments that helpers.def allows; no state, no errno use by callers.
#pragma once
#include "ir/activation.h"
#include "ir/types.h"

namespace hotloop::ir {

struct HelperTable {
  const void* address[kHelperCount] = {};  // null: not available (a call to it is refused when the region is built)
  ObjectFunctions objects;
  const void* at(HelperId id) const { return address[static_cast<int>(id)]; }
};
HelperTable core_helpers();
void add_math_helpers(HelperTable* table);  // part of core_helpers()

double floordiv_f64(double a, double b);  // Python's a // b, REQUIRES b != 0 (SEMANTICS D4)
double floormod_f64(double a, double b);  // Python's a % b, REQUIRES b != 0
float floordiv_f32(float a, float b);
float floormod_f32(float a, float b);

// IEEE halves by their bits. Rounding is to the nearest, ties to even, in one step (also from double); too large becomes infinity; NaNs
// keep their sign and upper bits and become quiet, as the processor's conversions do.
float half_to_f32(uint16_t half);
uint16_t f32_to_half(float value);
uint16_t f64_to_half(double value);

}  // namespace hotloop::ir
