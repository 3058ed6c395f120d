// The interpreter's instructions, done one at a time on a live frame through the C API: what native code leaves to the interpreter in the middle.
//
// Needs cpython/access.h. Promises: perform() does what the interpreter does, with the same results, exceptions and order of effects; what it cannot
// do so it says (kLeave) before it has changed anything. No destructors: Python code runs below (T27).
#pragma once
#include "cpython/access.h"

namespace hotloop::tracer {

// What an instruction takes from the stack and puts there. Only straight-line instructions, and FOR_ITER where there is an item; can == false: perform() does not know it.
struct StackEffect {
  bool can = false;
  int pops = 0, pushes = 0;
};
StackEffect stack_effect(const HlInstr& in);

enum class Done {
  kGood,
  kRaised,
  kLeave,  // the interpreter must do this one, nothing was changed
  kEnded,  // FOR_ITER, whose iterator had no item left and is gone: control goes to its target
};

// REQUIRES stack_effect(in).can, a complete frame whose unit is in.unit, tracing off. `next`: the instruction behind it, or null.
Done perform(HlFrame* frame, PyCodeObject* code, const HlInstr& in, const HlInstr* next);

}  // namespace hotloop::tracer
