// Facts: what each op says about its result. Needs optimizer/facts.h. Promises: as there.
#include <algorithm>

#include "optimizer/facts.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

constexpr Wide kHuge = static_cast<Wide>(1) << 100;

Interval hull(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
bool inside(Interval a, Interval b) { return a.lo >= b.lo && a.hi <= b.hi; }

Wide floor_div(Wide a, Wide b) {
  const Wide q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

bool is_checked(OpCode code) {
  return code == OpCode::AddO || code == OpCode::SubO || code == OpCode::MulO || code == OpCode::NegO || code == OpCode::ShlO;
}

}  // namespace

int minimum_or_maximum(Editor& editor, const Op& op, ValueId* x, ValueId* y) {
  const Op* compare = editor.def(editor.find(op.operands[0]));
  if (compare == nullptr || !is_int(compare->type)) return 0;
  int less;
  switch (compare->code) {
    case OpCode::Lt: case OpCode::Le: less = -1; break;
    case OpCode::Gt: case OpCode::Ge: less = 1; break;
    default: return 0;
  }
  const ValueId a = editor.find(compare->operands[0]);
  const ValueId b = editor.find(compare->operands[1]);
  *x = editor.find(op.operands[1]);
  *y = editor.find(op.operands[2]);
  if (*x == a && *y == b) return less;
  if (*x == b && *y == a) return -less;
  return 0;
}

Interval Facts::product(Interval a, Interval b) const {
  const Wide limit = static_cast<Wide>(1) << 63;  // keeps products inside 128 bits
  // Each end is looked at: in code that never runs what is known may contradict itself, and the lower end be the larger one.
  for (const Wide end : {a.lo, a.hi, b.lo, b.hi}) {
    if (end < -limit || end > limit) return {-kHuge, kHuge};
  }
  const Wide p[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

// The interval of the exact (unbounded) result; {-kHuge, kHuge} when nothing is known.
Interval Facts::exact_result(const Op& op) const {
  const Interval a = tight_range(editor_.find(op.operands[0]));
  const Interval b = op.operands.size() > 1 ? tight_range(editor_.find(op.operands[1])) : Interval{0, 0};
  switch (op.code) {
    case OpCode::Add: case OpCode::AddO: return {a.lo + b.lo, a.hi + b.hi};
    case OpCode::Sub: case OpCode::SubO: {
      Interval r{a.lo - b.hi, a.hi - b.lo};
      const ValueId x = editor_.find(op.operands[0]);
      const ValueId y = editor_.find(op.operands[1]);
      if (r.lo < 0 && prove_le(y, x, 0)) r.lo = 0;
      if (r.hi > 0 && prove_le(x, y, 0)) r.hi = 0;
      return r;
    }
    case OpCode::Mul: case OpCode::MulO: return product(a, b);
    case OpCode::Neg: case OpCode::NegO: return {-a.hi, -a.lo};
    case OpCode::Shl: case OpCode::ShlO:
      if (b.lo == b.hi && b.lo >= 0 && b.lo < 32) return product(a, {static_cast<Wide>(1) << static_cast<int>(b.lo), static_cast<Wide>(1) << static_cast<int>(b.lo)});
      return {-kHuge, kHuge};
    default: return {-kHuge, kHuge};
  }
}

bool Facts::fits(const Op& op) const {
  if (!is_int(op.type)) return false;
  const Interval whole = type_interval(op.type);
  return inside(exact_result(op), whole);
}

void Facts::define_sum(const Op& op, ValueId r) {
  const bool plus = op.code == OpCode::Add || op.code == OpCode::AddO;
  const Interval exact = exact_result(op);
  if (!is_checked(op.code) && !inside(exact, type_interval(op.type))) return;  // may wrap
  refine(r, exact);
  const ValueId a = editor_.find(op.operands[0]);
  const ValueId b = editor_.find(op.operands[1]);
  const Interval range_b = tight_range(b);
  if (range_b.lo == range_b.hi) {
    equal(r, a, plus ? range_b.lo : -range_b.lo);
    return;
  }
  const Wide far = static_cast<Wide>(1) << 62;
  // r is a plus something in an interval; r is b plus something in an interval.
  const Interval added = plus ? range_b : Interval{-range_b.hi, -range_b.lo};
  if (added.hi < far) add_le(r, a, added.hi);
  if (added.lo > -far) add_le(a, r, -added.lo);
  if (!plus) return;
  const Interval range_a = tight_range(a);
  if (range_a.hi < far) add_le(r, b, range_a.hi);
  if (range_a.lo > -far) add_le(b, r, -range_a.lo);
}

// Each arm counts under its condition: select(x == n, 0, x) with x <= n is below n.
void Facts::define_select(const Op& op, ValueId r) {
  const ValueId condition = editor_.find(op.operands[0]);
  ValueId x = editor_.find(op.operands[1]);
  ValueId y = editor_.find(op.operands[2]);
  const int kind = minimum_or_maximum(editor_, op, &x, &y);
  if (kind < 0) add_le(r, x, 0), add_le(r, y, 0);
  if (kind > 0) add_le(x, r, 0), add_le(y, r, 0);
  if (kind != 0) {
    refine(r, hull(tight_range(x), tight_range(y)));
    return;
  }
  // What the result may be compared with: the other side of the condition, what an arm is known to be below.
  std::vector<ValueId> others;
  const Op* compare = editor_.def(condition);
  if (compare != nullptr && is_int(compare->type) && compare->operands.size() == 2) others.push_back(editor_.find(compare->operands[1]));
  for (ValueId arm : {x, y}) {
    if (arm < upper_.size() && upper_[arm] != kNone) others.push_back(edges_[upper_[arm]].high);
  }
  bool below[3] = {true, true, true};
  Interval range{0, 0};
  for (const bool side : {true, false}) {
    const ValueId arm = side ? x : y;
    const Mark mark = this->mark();
    assume(condition, side);
    range = side ? tight_range(arm) : hull(range, tight_range(arm));
    for (size_t k = 0; k < others.size(); ++k) below[k] = below[k] && is_integer(others[k]) && prove_le(arm, others[k], -1);
    rollback(mark);
  }
  refine(r, range);
  for (size_t k = 0; k < others.size(); ++k) {
    if (below[k]) add_le(r, others[k], -1);
  }
}

void Facts::define_division(const Op& op, ValueId r) {
  const ValueId a = editor_.find(op.operands[0]);
  const ValueId b = editor_.find(op.operands[1]);
  const Interval range_a = tight_range(a);
  const Interval range_b = tight_range(b);
  if (range_a.lo > range_a.hi || range_b.lo > range_b.hi) return;  // never reached
  if (op.code == OpCode::FloorMod) {
    if (range_b.lo >= 1) {
      refine(r, {0, range_b.hi - 1});
      add_le(r, b, -1);
      if (range_a.lo >= 0) add_le(r, a, 0);
    } else if (range_b.hi <= -1) {
      refine(r, {range_b.lo + 1, 0});
    }
    return;
  }
  if (range_b.lo < 1) return;
  const Wide corners[] = {floor_div(range_a.lo, range_b.lo), floor_div(range_a.lo, range_b.hi), floor_div(range_a.hi, range_b.lo),
                          floor_div(range_a.hi, range_b.hi)};
  refine(r, {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)});
  if (range_a.lo >= 0) add_le(r, a, 0);
}

void Facts::define_arithmetic(const Op& op, ValueId r) {
  const ValueId a = editor_.find(op.operands[0]);
  const Interval range_a = tight_range(a);
  switch (op.code) {
    case OpCode::Mul: case OpCode::MulO: case OpCode::Neg: case OpCode::NegO: case OpCode::Shl: case OpCode::ShlO: {
      const Interval exact = exact_result(op);
      if (is_checked(op.code) || inside(exact, type_interval(op.type))) refine(r, exact);
      break;
    }
    case OpCode::And: {
      const ValueId b = editor_.find(op.operands[1]);
      const Interval range_b = tight_range(b);
      if (range_a.lo >= 0) refine(r, {0, range_a.hi}), add_le(r, a, 0);
      if (range_b.lo >= 0) refine(r, {0, range_b.hi}), add_le(r, b, 0);
      break;
    }
    case OpCode::Shr: {
      const auto count = editor_.const_bits(editor_.find(op.operands[1]));
      if (!count || *count < 0 || *count > 63) break;
      refine(r, {range_a.lo >> static_cast<int>(*count), range_a.hi >> static_cast<int>(*count)});
      if (range_a.lo >= 0) add_le(r, a, 0);
      break;
    }
    case OpCode::Not:
      if (is_signed(op.type)) refine(r, {-1 - range_a.hi, -1 - range_a.lo});
      break;
    case OpCode::Abs:
      if (range_a.lo > type_interval(op.type).lo) refine(r, {0, std::max(range_a.hi, -range_a.lo)});
      break;
    default: break;
  }
}

void Facts::define(const Op& op) {
  if (op.results.size() != 1 || op.has(kStructured)) return;
  const ValueId r = op.result();
  if (!is_integer(r)) return;
  grow(r);
  switch (op.code) {
    case OpCode::Add: case OpCode::AddO: case OpCode::Sub: case OpCode::SubO: define_sum(op, r); break;
    case OpCode::FloorDiv: case OpCode::FloorMod: define_division(op, r); break;
    case OpCode::Select: define_select(op, r); break;
    case OpCode::ListLen:
    case OpCode::ArrDim: refine(r, {0, type_interval(Type::I64).hi}); break;
    case OpCode::Bound: {
      const ValueId i = editor_.find(op.operands[0]);
      const ValueId n = editor_.find(op.operands[1]);
      refine(r, {0, tight_range(n).hi - 1});
      add_le(r, n, -1);
      if (tight_range(i).lo >= 0) equal(r, i, 0);
      break;
    }
    case OpCode::Conv: {
      const ValueId source = editor_.find(op.operands[0]);
      const Type from = editor_.function().type_of(source);
      if (from == Type::I1) refine(r, {0, 1});
      else if (is_int(from) && inside(tight_range(source), type_interval(op.type))) equal(r, source, 0);
      break;
    }
    case OpCode::Mul: case OpCode::MulO: case OpCode::Neg: case OpCode::NegO: case OpCode::Shl: case OpCode::ShlO:
    case OpCode::And: case OpCode::Shr: case OpCode::Not: case OpCode::Abs:
      define_arithmetic(op, r);
      break;
    default: break;
  }
}

}  // namespace hotloop::optimizer
