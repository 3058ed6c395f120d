// What is known about integer values at the current place of a walk: intervals, and differences between values (a <= b + c).
//
// Needs optimizer/editor.h; the walk calls define() after each op, assume() for guards and branches, enter_loop() at bodies, and mark() /
// rollback() around blocks. Promises: every fact holds whenever control is at the current place; proofs are bounded searches (a failed
// proof means nothing). Also usable for dependence analysis: a subscript's range is upper_bounds() / lower_bounds().
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "optimizer/editor.h"

namespace hotloop::optimizer {

using Wide = __int128;
struct Interval {
  Wide lo;
  Wide hi;
};
Interval type_interval(Type type);

// v + c; v == kNoValue: the number c.
struct Term {
  ValueId v = kNoValue;
  Wide c = 0;
};

class Facts {
 public:
  explicit Facts(Editor& editor);

  struct Mark {
    size_t edges, ranges, known, choices;
  };
  Mark mark() const { return {edges_.size(), range_trail_.size(), known_.size(), choices_.size()}; }
  void rollback(const Mark& mark);

  // Facts about the results of an op that was just passed (its exit not taken). Structured ops: see below.
  void define(const Op& op);
  void enter_loop(const Op& loop);   // index and carried parameters of the body
  void leave_loop(const Op& loop);   // results
  void assume(ValueId condition, bool truth);
  void add_le(ValueId a, ValueId b, Wide c);  // a <= b + c
  void refine(ValueId v, Interval interval);

  Interval range(ValueId v) const;
  Interval tight_range(ValueId v) const { return {lower_limit(v), upper_limit(v)}; }
  bool prove(ValueId condition, bool truth) const;
  bool prove_le(Term a, Term b) const;
  bool prove_le(ValueId a, ValueId b, Wide c) const { return prove_le(Term{a, 0}, Term{b, c}); }
  bool prove_at_least(ValueId v, Wide c) const { return prove_le(Term{kNoValue, c}, Term{v, 0}); }
  bool prove_at_most(ValueId v, Wide c) const { return prove_le(Term{v, 0}, Term{kNoValue, c}); }
  // The exact result of this addo, add, mul, ... fits the type.
  bool fits(const Op& op) const;

  // Terms t with v <= t (v >= t) whose values satisfy `wanted`, nearest first; at most 3.
  using Wanted = std::function<bool(ValueId)>;
  std::vector<Term> upper_bounds(ValueId v, const Wanted& wanted) const { return bounds(v, wanted, true); }
  std::vector<Term> lower_bounds(ValueId v, const Wanted& wanted) const { return bounds(v, wanted, false); }

 private:
  struct Edge {
    ValueId low, high;  // low <= high + c
    Wide c;
    uint32_t next_of_low, next_of_high;
  };
  struct Path;  // values on the current search path

  bool is_integer(ValueId v) const { return is_int(editor_.function().type_of(v)); }
  void grow(ValueId v);
  Interval exact_result(const Op& op) const;
  Interval product(Interval a, Interval b) const;
  void define_sum(const Op& op, ValueId r);
  void define_select(const Op& op, ValueId r);
  void define_division(const Op& op, ValueId r);
  void define_arithmetic(const Op& op, ValueId r);
  void equal(ValueId a, ValueId b, Wide c);  // a == b + c
  bool search(ValueId a, Term goal, Wide c, int depth, Path& path) const;
  Wide upper_limit(ValueId v) const;
  Wide lower_limit(ValueId v) const;
  void limit(ValueId v, Wide c, bool upper, int depth, int& budget, Wide& best) const;
  std::vector<Term> bounds(ValueId v, const Wanted& wanted, bool upper) const;
  bool grows(ValueId v, ValueId param, int sign, int depth) const;
  bool not_negative(ValueId v, int depth) const;
  void resolve_choices();

  Editor& editor_;
  std::vector<Interval> ranges_;
  std::vector<uint32_t> upper_;  // by value: newest edge with low == v
  std::vector<uint32_t> lower_;  // by value: newest edge with high == v
  std::vector<Edge> edges_;
  std::vector<std::pair<ValueId, Interval>> range_trail_;
  std::vector<std::pair<ValueId, bool>> known_;  // conditions, for those that are no comparison
  std::vector<ValueId> choices_;                 // `or`s known to be true
};

// select(a < b, a, b) and its relatives: +1 maximum, -1 minimum, 0 neither. *x, *y: the two values.
int minimum_or_maximum(Editor& editor, const Op& op, ValueId* x, ValueId* y);

}  // namespace hotloop::optimizer
