// A region: the compiled form of one loop nest for one set of types, with what is checked at its entry and rebuilt at its exits.
//
// Needs ir/, codegen/, the GIL. Promises: plain data after make_region(); keeps types, functions and code objects alive and compares them by
// pointer, never arrays; dictionaries are watched, not owned. Freed when its loop has let go of it and no activation uses it.
#pragma once
#include <Python.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/x86.h"
#include "cpython/access.h"
#include "ir/ir.h"
#include "runtime/box.h"

namespace hotloop::tracer {

struct Loop;
struct Runtime;

// How to make one object at an exit: a leaf reads Activation::out, children follow in ExitPlan::values.
struct PlanValue {
  ir::PyKind kind = ir::PyKind::Unbound;
  uint32_t out[3] = {0, 0, 0};  // indices into Activation::out
  uint32_t index = ir::kNone;   // Const: object; Input: input
  uint32_t box = 0;             // 1 + place among the exit's shared boxes, 0: not shared
  uint32_t first_child = 0, child_count = 0;
};
struct PlanSlot {
  ir::Slot slot;
  uint32_t value = 0;  // into ExitPlan::values
};
struct PlanFrame {
  PyObject* code = nullptr;      // borrowed from the region's objects
  PyObject* function = nullptr;  // likewise; null for the live frame
  uint32_t function_input = ir::kNone;  // or the input that holds the function
  int resume_unit = 0, return_unit = 0, stack_depth = 0;
  bool drop_result = false;
  uint32_t first_slot = 0, slot_count = 0;
};
struct ExitPlan {
  std::vector<PlanValue> values;
  std::vector<PlanSlot> slots;    // of all frames, outermost first
  std::vector<PlanFrame> frames;  // outermost first
  uint32_t box_count = 0;
  std::vector<ir::Slot> results;  // of a run: what native code gets of what it has left
  std::vector<HlInstr> instrs;    // of a run: what it does, decoded when it is first done
};

struct ExitState {
  std::unique_ptr<ExitPlan> plan;  // made when the exit is first taken
  uint64_t count = 0;
  uint64_t grow_at = 0;            // at this count the loop is observed again; 0: never
};

// How one input is read at entry, for those that are read in a moment; the others go by their slot and kind.
struct QuickRead {
  enum class How : uint8_t { kGeneral, kPlain, kInt, kArray };
  How how = How::kGeneral;
  uint32_t parts = 0;        // cells that it fills
  int local = 0;             // index into the frame's localsplus
  runtime::PlainPart plain;  // kPlain
};

struct Region {
  uint32_t references = 1;  // the loop's, and one per activation
  Loop* loop = nullptr;     // null once the loop has let go
  std::unique_ptr<ir::Function> function;
  std::unique_ptr<codegen::CompiledCode> code;  // null: the evaluator runs it
  ir::NativeFunction entry = nullptr;
  std::vector<ir::ExitInfo> exits;
  std::vector<ExitState> exit_states;
  uint32_t in_cells = 0, out_cells = 0;
  std::vector<runtime::ArrayCheck> array_checks;  // of function->array_types
  std::vector<QuickRead> quick_reads;             // of function->inputs
  bool compares_inputs = false;                   // some input must be the object of another

  PyObject* globals = nullptr;   // of the frame at recording, if it matters; compared only (namespaces are not owned)
  PyObject* builtins = nullptr;
  PyObject* own_code = nullptr;  // of the frame at recording; compared only
  PyObject* names = nullptr;     // the locals mapping of module, class and exec code
  bool uses_names = false;       // an input or exit has kName slots
  bool any_namespace = false;    // all facts are about the frame's own namespaces: they are looked up in those of the frame that enters
  bool needs_errstate = false;
  size_t namespace_room = 0;     // 0: it looks into no dictionary
  bool has_runs = false;         // operations that run Python code
  bool not_worthwhile = false;   // they cost more than native code saves
  uint32_t runs = 0;             // since they were judged last
  uint64_t native_cycles = 0;    // between them
  uint64_t run_cycles = 0;       // what they took beyond their instructions
  uint32_t poor_runs = 0;        // how often in a row they were found not to be worth it
  uint32_t runs_in_vain = 0;     // of them, that changed what native code relies on
  size_t header_words = 0;       // of all arrays that come in
  bool dead = false;             // a namespace it depends on is gone
  uint64_t checked_epoch = 0;    // namespace guards held at this epoch (0: not yet) ...
  PyObject* checked_globals = nullptr;  // ... in these namespaces
  PyObject* checked_names = nullptr;
  std::vector<PyObject*> weak_dicts;   // dictionaries of function->objects: watched, no reference
  std::vector<PyCodeObject*> codes;    // code objects of inlined frames (borrowed from objects)
  std::vector<int> attribute_hints;    // where each of function->attributes was found last

  uint64_t entries = 0;
  uint32_t hoisted_failures = 0;
  uint32_t fruitless = 0;   // entries in a row that did next to nothing
  uint32_t backoffs = 0;
  uint32_t skip = 0;        // entries still to be skipped
  double compile_seconds = 0;
  std::string asm_listing;
};

// Takes over a recorded, optimised function whose exits were enumerated, with its machine code (null for the evaluator).
Region* make_region(Runtime& rt, std::unique_ptr<ir::Function> function, std::vector<ir::ExitInfo> exits,
                    std::unique_ptr<codegen::CompiledCode> code, HlFrame* frame);
void release_region(Runtime& rt, Region* region);  // drops one reference; at the last one frees (may run Python)

// The plan of an exit, made on first use.
ExitPlan& exit_plan(Region& region, uint32_t exit_id);

// All that is checked before native code may run in this frame; fills `in` (in_cells cells) and `objects` (one borrowed object per input, null
// where there is none). exact_strides: see runtime::array_matches.
bool unbox_inputs(Region& region, HlFrame* frame, int64_t* in, PyObject** objects, bool exact_strides);
// What unbox_inputs has found out about instances, cells and functions, looked at again: the slots hold `objects` as before.
// An object that came in whose attributes, code or closure the region looks at later: behind a run it must be alive still.
bool is_looked_into(const ir::Input& input);
bool entry_facts_hold(Region& region, HlFrame* frame, PyObject* const* objects);
bool namespaces_hold(Runtime& rt, Region& region, HlFrame* frame);
bool guards_hold(Runtime& rt, Region& region, PyThreadState* ts, HlFrame* frame);

// The instance itself, borrowed; `objects`: of the inputs.
PyObject* instance_of_region(const Region& region, uint32_t instance, PyObject* const* objects);

// The cell object function->cells[cell], likewise.
PyObject* cell_of_region(const Region& region, uint32_t cell, PyObject* const* objects);

// The object in an input's slot, borrowed; null where there is none, and for parts of an iterator. May leave an exception set.
PyObject* slot_object(Region& region, HlFrame* frame, const ir::Slot& slot, PyObject* const* objects);

// A dictionary that regions depend on went away.
void forget_dict(Runtime& rt, PyObject* dict);

}  // namespace hotloop::tracer
