// The steps of making the live frame what a snapshot says: shared by exits (deopt.cpp) and by operations that run Python code in the middle of native
// code (run_python.cpp).
//
// Needs region.h. Promises: no destructors, Python code may run below (T27). Order: make_all, swap_slots, rebuild_stack, the ip, drop_old_values.
#pragma once
#include "tracer/runtime.h"

namespace hotloop::tracer {

// Everything one exit works with. All in memory blocks without destructors.
struct Leaving {
  Runtime& rt;
  PyThreadState* ts;
  HlFrame* frame;
  Region& region;
  const ExitPlan& plan;
  const int64_t* out;
  PyObject* const* inputs;
  PyObject** made;    // per plan slot, owned until swapped in; null: Unbound or handled in place
  PyObject** boxes;   // per shared box, borrowed from `made` or owned extra references
  PyObject** dropped; // old values, owned
  int dropped_count;
  ir::Activation* activation;  // keeps what native code dropped
};

// How many pointers the arrays of a Leaving need, and the scratch that rebuild_stack takes.
struct LeavingSize {
  size_t made, boxes, dropped, scratch;
  size_t all() const { return made + boxes + dropped + scratch; }
};
LeavingSize leaving_size(HlFrame* frame, const ExitPlan& plan);
Leaving make_leaving(Runtime& rt, PyThreadState* ts, HlFrame* frame, Region& region, const ExitPlan& plan, ir::Activation* activation,
                     PyObject* const* inputs, PyObject** block);

bool make_all(Leaving& l);  // also out of the reserve; false: no memory at all, an exception is set
bool swap_slots(Leaving& l, const PlanFrame& frame);  // false: an exception is set (no memory for a new key); the rest is done all the same
void rebuild_stack(Leaving& l, const PlanFrame& frame, PyObject** scratch);
void drop_old_values(Leaving& l);  // and what native code has kept; may run Python
// What the callback returns: when an exception is set that was raised at `unit`; when the frame goes on at `unit`, after pending work.
PyObject* deliver(Leaving& l, int unit);
bool raise_error_of_iterator(Leaving& l);  // what next_item has met, if anything
PyObject* go_on_at(Leaving& l, int unit);

// An iterator that next_item has looked at, and what it found.
struct PlainIterator {
  PyObject* it = nullptr;
  PyObject* inner = nullptr;  // what is asked in its place, or null
  uint32_t how = 0;
};

// One entry into a region, for what native code calls in the middle (Activation::context).
struct RunContext {
  Runtime& rt;
  PyThreadState* ts;
  HlFrame* frame;
  Region& region;
  PyObject* const* inputs;
  PyObject* result = nullptr;       // what the callback returns, once run_instruction has left
  int64_t* headers = nullptr;       // of the arrays that came in, region.header_words of them; taken at the first run
  bool has_headers = false;
  uint64_t resumed_at = 0;          // time stamp: when native code went on
  void** namespaces = nullptr;      // room for note_namespaces: region.namespace_room of them; null where the region looks into no dictionary
  uint64_t performed_cycles = 0;    // of the last run: what its instructions took
  PlainIterator plain[4] = {};          // those that next_item may ask until the next run
  uint32_t plain_count = 0;
  // What next_item has found out by asking, which must not be asked again: the FOR_ITER behind it takes it from here.
  bool has_ended = false;           // the iterator has none left
  PyObject* error = nullptr;        // it has raised this; owned
};

// Tells the activation which dictionaries hold variables that the region has in registers. Behind a run there may be new ones.
void note_namespaces(const RunContext& context, ir::Activation* activation);

// The `run` operation (ObjectFunctions::run).
int64_t run_instruction(ir::Activation* activation, int64_t exit_id);

}  // namespace hotloop::tracer
