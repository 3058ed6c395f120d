// The recorder: bytecode + a live frame + observations → the IR of the whole loop nest below a hot back edge.
//
// Needs ir/, tracer/observation.h, cpython/access.h. Promises: a Function that passes the verifier, or a Refusal with a line; runs no Python code of the
// user; changes nothing in the frame.
//
// What the caller (entry and deoptimisation) may rely on:
// - The region is entered at `header_unit` with `Function::entry_stack_depth` items on the stack. Inputs name slots of that frame; each is guarded by
//   exact kind (Array: by its ArrayType too; Const: the slot must hold objects[Input::object]; Object: anything but NULL; Unbound: NULL).
//   A RangeIter input is the iterator at its stack slot: next value, stop, step with start + len * step = stop, which must fit 64 bits.
//   Other iterators come in by their parts, as inputs of slot kinds kSeqArray and kSeqIndex (ir/iter_path.h). Bool-like and None inputs are guarded alike.
// - kGlobal slots mean the globals of the frame at recording, kName its locals mapping: the caller checks at entry that the frame's globals,
//   builtins and locals mapping are the very dicts of the recording.
// - Exits: Snapshot::frames[0] is the live frame. Stack items of it below entry_stack_depth that are not listed stay as they are; a listed iterator
//   there means: set the state of the iterator object that is there. stack_depth may be below entry_stack_depth: pop.
// - objects[i].pointer: the Function owns one reference to each (release_objects gives them back); on refusal nothing is owned.
#pragma once
#include <Python.h>

#include <memory>

#include "base/options.h"
#include "base/result.h"
#include "cpython/access.h"
#include "ir/ir.h"
#include "ir/numeric.h"
#include "tracer/observation.h"

namespace hotloop::tracer {

inline constexpr int kMaxInlineDepth = 6;  // frames of callees above the region's own

struct RecordRequest {
  PyThreadState* thread = nullptr;
  HlFrame* frame = nullptr;         // inside its JUMP callback for the back edge to header_unit: locals and stack are readable
  PyCodeObject* code = nullptr;     // the frame's
  int header_unit = 0;              // target of the back edge
  const Observations* observations = nullptr;
  const ir::HelperTable* helpers = nullptr;  // a helper without an address is refused
  const base::Options* options = nullptr;
  bool any_step = false;            // the range iterator at entry had other steps before: its step is an input, only the sign is fixed
  bool any_dead_type = false;       // variables that are overwritten before they are read may hold anything at entry (other versions asked for exact types)
};

base::Result<std::unique_ptr<ir::Function>> record_region(const RecordRequest& request);

// Drops the references that function.objects owns. May run Python (finalizers).
void release_objects(ir::Function& function);

}  // namespace hotloop::tracer
