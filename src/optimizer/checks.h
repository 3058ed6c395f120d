// The walk that proves checks away or moves them in front of loops; checks.cpp proves, hoist.cpp moves, carry.cpp uses the proofs
// for loads of what the trip before stored.
//
// Needs optimizer/facts.h. Internal to the three files.
#pragma once
#include <initializer_list>
#include <map>
#include <vector>

#include "optimizer/facts.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

// The unchecked form of checked arithmetic that is known to fit.
void make_plain(Op& op);

class CheckElimination {
 public:
  CheckElimination(Function& function, const CheckOptions& options)
      : function_(function), options_(options), editor_(function), facts_(editor_), depth_(function.value_types.size(), 0) {}
  bool run();

 private:
  using Ops = std::vector<Op*>;
  // A loop around the current place.
  struct Loop {
    Op* op;
    Ops before;                // goes in front of the loop op
    ValueId last = kNoValue;   // index of the last trip, once it was needed
    ValueId empty = kNoValue;  // "the loop makes no trip"; a constant when known
    bool hoists = false;       // guards may go in front of it
    bool runs = false;         // makes at least one trip
  };
  enum class Direction : uint8_t { kNone, kInvariant, kUp, kDown };

  // checks.cpp
  void block(Block& b, bool conditional);
  void process(Op* op, Ops& out, bool conditional);
  void structured(Op* op, Ops& out, bool conditional);
  void loop(Op* op, Ops& out, bool conditional);
  void if_(Op* op, Ops& out);
  void hoist_loads(Op& loop, Ops& out);
  bool load_in_bounds(const Op& load);
  // carry.cpp
  void carry_stores(Op& loop, Ops& out);
  bool carry_store(Op& loop, const Op& store, size_t load_at, Ops& out);
  bool first_index(const Op& loop, const Op& store, const Op& load, std::vector<Term>* indices);
  ValueId first_value(const Op& loop, const Op& load, const std::vector<Term>& indices, Ops& out);
  void bound(Op* op, Ops& out, bool conditional);
  void guard(Op* op, Ops& out, bool conditional);
  void arithmetic(Op* op, Ops& out, bool conditional);
  void modulo(Op* op, Ops& out);
  void keep(Op* op, Ops& out);
  ValueId place(Ops& out, OpCode code, Type type, std::initializer_list<ValueId> operands, int32_t line);

  // hoist.cpp
  uint32_t here() const { return static_cast<uint32_t>(loops_.size()); }
  uint32_t depth_of(ValueId v) const { return v < depth_.size() ? depth_[v] : 0; }
  void set_depth(ValueId v, uint32_t depth);
  bool invariant(ValueId v) const { return depth_of(v) < here(); }
  bool can_hoist() const { return options_.hoist && !loops_.empty() && loops_.back().hoists; }
  ValueId emit(OpCode code, Type type, std::initializer_list<ValueId> operands);
  ValueId emit_le(Term a, Term b);
  ValueId emit_either(ValueId a, ValueId b);
  void emit_guard(ValueId condition);
  ValueId hoisted_condition(ValueId condition);
  ValueId hoisted_le(Term x, Term y);
  ValueId from_limits(Term variant, Term fixed, bool upper);
  ValueId from_extreme(Term variant, Term fixed, bool upper);
  ValueId unless_empty(ValueId condition);
  ValueId no_trip();
  void assume_upward(const Block& body);
  ValueId last_index();
  int step_sign() const;
  bool unit_step() const;
  Direction direction(ValueId v, int depth);
  ValueId at_index(ValueId v, ValueId index, int& budget);
  bool hoist_bound(const Op& op, bool conditional);
  ValueId hoist_fixed_bound(const Op& op);
  bool hoist_guard(const Op& op, bool conditional);
  bool hoist_arithmetic(Op* op);
  bool is_speculatable_shift(const Op& op) const;

  Function& function_;
  CheckOptions options_;
  Editor editor_;
  Facts facts_;
  std::vector<uint32_t> depth_;  // by value: loops around its definition
  std::vector<Loop> loops_;
  bool conditional_ = false;     // the check being moved is under an if of its loop
  bool covers_empty_ = false;    // the condition being made holds when the loop makes no trip
  std::map<std::pair<ValueId, int64_t>, ValueId> dims_;  // (array, axis) → an arr_dim value
};

}  // namespace hotloop::optimizer
