// Check elimination: moving checks in front of loops. A check in the body that must hold in every trip is replaced by one that implies it, made
// only of values from outside: by limits (x <= u + c is known in the body, u fixed: check u + c instead of x) or by extremes (x grows or falls
// with the index: check x at the last or first trip).
//
// Needs optimizer/checks.h. Preserves: the new check implies the old one in every trip; when the loop makes no trip it is not asked ("or no
// trip"), unless that is implied. A check that fails for nothing only costs an exit (reason Hoisted).
#include "optimizer/checks.h"

#include <algorithm>

namespace hotloop::optimizer {

using namespace ir;

namespace {

constexpr uint32_t kExact = 1;  // Op::mark: plain arithmetic that is known not to wrap

bool fits_i64(Wide v) { return v >= INT64_MIN && v <= INT64_MAX; }

OpCode checked(OpCode code) {
  switch (code) {
    case OpCode::Add: return OpCode::AddO;
    case OpCode::Sub: return OpCode::SubO;
    case OpCode::Mul: return OpCode::MulO;
    case OpCode::Neg: return OpCode::NegO;
    default: return code;
  }
}

bool has_code_inside(const Block& block, OpCode code) {
  for (const Op* op : block.ops) {
    if (op->code == code) return true;
    for (const Block* inner : op->blocks) {
      if (has_code_inside(*inner, code)) return true;
    }
  }
  return false;
}

}  // namespace

void make_plain(Op& op) {
  switch (op.code) {
    case OpCode::AddO: op.code = OpCode::Add; break;
    case OpCode::SubO: op.code = OpCode::Sub; break;
    case OpCode::MulO: op.code = OpCode::Mul; break;
    case OpCode::NegO: op.code = OpCode::Neg; break;
    case OpCode::ShlO: op.code = OpCode::Shl; break;
    default: return;
  }
  op.imm = 0;
  op.snapshot = kNoSnapshot;
}

void CheckElimination::set_depth(ValueId v, uint32_t depth) {
  if (v >= depth_.size()) depth_.resize(v + 1, 0);
  depth_[v] = depth;
}

// ---- making ops in front of the innermost loop -----------------------------------------------------------------

ValueId CheckElimination::emit(OpCode code, Type type, std::initializer_list<ValueId> operands) {
  Op* op = editor_.make(code, type, operands, loops_.back().op->line);
  if (op->has(kExits)) {
    op->snapshot = loops_.back().op->snapshot;
    op->imm = static_cast<int64_t>(ExitReason::Hoisted);
    if (facts_.fits(*op)) make_plain(*op);
  }
  set_depth(op->result(), here() - 1);
  facts_.define(*op);
  loops_.back().before.push_back(op);
  return op->result();
}

// a <= b as a value in front of the loop; a constant when it is known.
ValueId CheckElimination::emit_le(Term a, Term b) {
  for (Term* t : {&a, &b}) {
    if (t->v != kNoValue && editor_.is_const(t->v)) *t = Term{kNoValue, t->c + facts_.range(t->v).lo};
  }
  if (facts_.prove_le(a, b)) return editor_.const_i1(true);
  if (facts_.prove_le(Term{b.v, b.c + 1}, a)) return editor_.const_i1(false);
  for (ValueId v : {a.v, b.v}) {
    if (v != kNoValue && function_.type_of(v) != Type::I64) return editor_.const_i1(false);
  }
  const Wide k = b.c - a.c;  // a.v <= b.v + k
  if (a.v == kNoValue) {
    if (!fits_i64(-k)) return editor_.const_i1(-k < 0);
    return emit(OpCode::Ge, Type::I64, {b.v, editor_.const_i64(static_cast<int64_t>(-k))});
  }
  if (b.v == kNoValue) {
    if (!fits_i64(k)) return editor_.const_i1(k > 0);
    return emit(OpCode::Le, Type::I64, {a.v, editor_.const_i64(static_cast<int64_t>(k))});
  }
  if (k == 0) return emit(OpCode::Le, Type::I64, {a.v, b.v});
  if (k == -1) return emit(OpCode::Lt, Type::I64, {a.v, b.v});
  if (!fits_i64(k) || !fits_i64(-k)) return editor_.const_i1(false);
  const Interval range_a = facts_.tight_range(a.v);
  if (fits_i64(range_a.lo - k) && fits_i64(range_a.hi - k)) {
    const ValueId shifted = emit(OpCode::Add, Type::I64, {a.v, editor_.const_i64(static_cast<int64_t>(-k))});
    return emit(OpCode::Le, Type::I64, {shifted, b.v});
  }
  const ValueId shifted = emit(OpCode::AddO, Type::I64, {b.v, editor_.const_i64(static_cast<int64_t>(k))});
  return emit(OpCode::Le, Type::I64, {a.v, shifted});
}

ValueId CheckElimination::emit_either(ValueId a, ValueId b) {
  const auto known_a = editor_.const_bits(a);
  const auto known_b = editor_.const_bits(b);
  if (known_a) return *known_a != 0 ? a : b;
  if (known_b) return *known_b != 0 ? b : a;
  return a == b ? a : emit(OpCode::Or, Type::I1, {a, b});
}

void CheckElimination::emit_guard(ValueId condition) {
  if (editor_.is_const(condition)) return;  // true: callers reject false
  Loop& loop = loops_.back();
  Op* op = editor_.make(OpCode::Guard, Type::None, {condition}, loop.op->line);
  op->imm = static_cast<int64_t>(ExitReason::Hoisted);
  op->snapshot = loop.op->snapshot;
  loop.before.push_back(op);
  editor_.set_changed();
}

// ---- the loop's trips ------------------------------------------------------------------------------------------

int CheckElimination::step_sign() const {
  const Op& loop = *loops_.back().op;
  if (loop.code != OpCode::For) return 0;
  const Interval step = facts_.range(loop.operands[2]);
  return step.lo >= 1 ? 1 : step.hi <= -1 ? -1 : 0;
}

bool CheckElimination::unit_step() const {
  const Interval step = facts_.range(loops_.back().op->operands[2]);
  return step.lo == step.hi && (step.lo == 1 || step.lo == -1);
}

// "The loop makes no trip"; constant false when it surely makes one.
ValueId CheckElimination::no_trip() {
  Loop& loop = loops_.back();
  if (loop.empty != kNoValue) return loop.empty;
  const int sign = step_sign();
  if (loop.runs || sign == 0) return loop.empty = editor_.const_i1(false);
  const ValueId lo = loop.op->operands[0];
  const ValueId hi = loop.op->operands[1];
  return loop.empty = emit(sign > 0 ? OpCode::Le : OpCode::Ge, Type::I64, {hi, lo});
}

ValueId CheckElimination::unless_empty(ValueId condition) {
  if (editor_.is_const(condition) || covers_empty_) return condition;
  return emit_either(condition, no_trip());
}

// A step of unknown sign: taken to be positive, which a check in front makes sure.
void CheckElimination::assume_upward(const Block& body) {
  const Loop& loop = loops_.back();
  const ValueId step = loop.op->operands[2];
  if (!can_hoist() || editor_.is_const(step) || step_sign() != 0 || !has_code_inside(body, OpCode::Bound)) return;
  const ValueId positive = emit(OpCode::Gt, Type::I64, {step, editor_.const_i64(0)});
  emit_guard(positive);
  facts_.assume(positive, true);
}

// The index of the last trip. Garbage when there is none.
ValueId CheckElimination::last_index() {
  Loop& loop = loops_.back();
  if (loop.last != kNoValue) return loop.last;
  const ValueId lo = loop.op->operands[0];
  const ValueId hi = loop.op->operands[1];
  const ValueId step = loop.op->operands[2];
  const bool up = step_sign() > 0;
  const ValueId one = editor_.const_i64(1);
  if (unit_step()) return loop.last = emit(up ? OpCode::Sub : OpCode::Add, Type::I64, {hi, one});
  // lo + (hi - 1 - lo) / step * step, in unsigned arithmetic: the distance may exceed i64.
  const ValueId distance = emit(OpCode::Sub, Type::I64, {up ? hi : lo, up ? lo : hi});
  const ValueId span = emit(OpCode::Conv, Type::U64, {emit(OpCode::Sub, Type::I64, {distance, one})});
  const ValueId size = emit(OpCode::Conv, Type::U64, {up ? step : emit(OpCode::Neg, Type::I64, {step})});
  const ValueId trips = emit(OpCode::FloorDiv, Type::U64, {span, size});
  const ValueId way = emit(OpCode::Conv, Type::I64, {emit(OpCode::Mul, Type::U64, {trips, size})});
  loop.last = emit(up ? OpCode::Add : OpCode::Sub, Type::I64, {lo, way});
  if (up) facts_.add_le(lo, loop.last, 0), facts_.add_le(loop.last, hi, -1);
  else facts_.add_le(loop.last, lo, 0), facts_.add_le(hi, loop.last, -1);
  return loop.last;
}

// How `v` moves as the index of the innermost loop grows. Everything but kNone means: exact, without wrapping.
CheckElimination::Direction CheckElimination::direction(ValueId v, int depth) {
  if (invariant(v)) return Direction::kInvariant;
  const Op& loop = *loops_.back().op;
  if (loop.code == OpCode::For && loop.blocks[0]->params[0] == v) return Direction::kUp;
  const Op* op = editor_.def(v);
  if (op == nullptr || depth == 0 || op->operands.empty()) return Direction::kNone;
  auto of = [&](size_t k) { return direction(editor_.find(op->operands[k]), depth - 1); };
  auto flip = [](Direction d) { return d == Direction::kUp ? Direction::kDown : d == Direction::kDown ? Direction::kUp : d; };
  auto join = [](Direction a, Direction b) {
    if (a == Direction::kInvariant) return b;
    return b == Direction::kInvariant || a == b ? a : Direction::kNone;
  };
  switch (op->code) {
    case OpCode::Add: case OpCode::Sub: case OpCode::Mul:
      if (op->type != Type::I64 || (op->mark != kExact && !facts_.fits(*op))) return Direction::kNone;
      break;
    case OpCode::AddO: case OpCode::SubO: case OpCode::MulO: case OpCode::NegO:
      if (op->type != Type::I64) return Direction::kNone;
      break;
    default: break;
  }
  switch (op->code) {
    case OpCode::Add: case OpCode::AddO: return join(of(0), of(1));
    case OpCode::Sub: case OpCode::SubO: return join(of(0), flip(of(1)));
    case OpCode::NegO: return flip(of(0));
    case OpCode::Mul: case OpCode::MulO: {
      const Direction a = of(0), b = of(1);
      if (a != Direction::kInvariant && b != Direction::kInvariant) return Direction::kNone;
      const Interval factor = facts_.range(editor_.find(op->operands[a == Direction::kInvariant ? 0 : 1]));
      const Direction moving = a == Direction::kInvariant ? b : a;
      return factor.lo >= 0 ? moving : factor.hi <= 0 ? flip(moving) : Direction::kNone;
    }
    case OpCode::FloorDiv: case OpCode::Shr: {
      const auto right = editor_.const_bits(editor_.find(op->operands[1]));
      return op->type == Type::I64 && right && *right > 0 && (op->code == OpCode::FloorDiv || *right < 64) ? of(0) : Direction::kNone;
    }
    case OpCode::Select: {
      ValueId x, y;
      if (op->type != Type::I64 || minimum_or_maximum(editor_, *op, &x, &y) == 0) return Direction::kNone;
      return join(direction(x, depth - 1), direction(y, depth - 1));
    }
    default: return Direction::kNone;
  }
}

// What `v` (with a direction) is in the trip of that index, computed in front of the loop with checked arithmetic. kNoValue: too long.
ValueId CheckElimination::at_index(ValueId v, ValueId index, int& budget) {
  if (invariant(v)) return v;
  const Op* op = editor_.def(v);
  if (op == nullptr) return index;
  if (--budget < 0) return kNoValue;
  if (op->code == OpCode::Select) {
    ValueId x, y;
    const int kind = minimum_or_maximum(editor_, *op, &x, &y);
    const ValueId a = at_index(x, index, budget);
    const ValueId b = a == kNoValue ? kNoValue : at_index(y, index, budget);
    if (b == kNoValue) return kNoValue;
    return emit(OpCode::Select, op->type, {emit(kind < 0 ? OpCode::Lt : OpCode::Gt, Type::I64, {a, b}), a, b});
  }
  const ValueId a = at_index(editor_.find(op->operands[0]), index, budget);
  if (a == kNoValue) return kNoValue;
  if (op->operands.size() == 1) return emit(checked(op->code), op->type, {a});
  const ValueId b = at_index(editor_.find(op->operands[1]), index, budget);
  return b == kNoValue ? kNoValue : emit(checked(op->code), op->type, {a, b});
}

// ---- conditions ------------------------------------------------------------------------------------------------

// variant <= fixed (upper) or fixed <= variant, from what is known about the variant at this place.
ValueId CheckElimination::from_limits(Term variant, Term fixed, bool upper) {
  auto wanted = [this](ValueId v) { return invariant(v); };
  std::vector<Term> limits = upper ? facts_.upper_bounds(variant.v, wanted) : facts_.lower_bounds(variant.v, wanted);
  const Interval range = facts_.tight_range(variant.v);
  const Wide limit = upper ? range.hi : range.lo;
  const Wide far = static_cast<Wide>(1) << 62;
  // A number only where it comes from the loop: 255 as the limit of a loaded byte says nothing about the program.
  if (limit > -far && limit < far && direction(variant.v, 6) != Direction::kNone) limits.insert(limits.begin(), Term{kNoValue, limit});
  const Op& loop = *loops_.back().op;
  if (!conditional_ && loop.code == OpCode::For && step_sign() != 0) {
    // In every trip: the limit that the loop itself sets is reached, others say no more.
    const ValueId own = loop.operands[upper == (step_sign() > 0) ? 1 : 0];
    const auto at = std::find_if(limits.begin(), limits.end(), [&](const Term& t) { return t.v == own; });
    if (at != limits.end()) limits = {*at};
  }
  ValueId result = kNoValue;
  int used = 0;
  for (Term t : limits) {
    t.c += variant.c;
    const ValueId condition = upper ? emit_le(t, fixed) : emit_le(fixed, t);
    if (const auto known = editor_.const_bits(condition)) {
      if (*known != 0) return condition;
      continue;
    }
    if (loop.code == OpCode::For && t.v == loop.operands[1] && step_sign() == (upper ? 1 : -1)) {
      const Term start{loop.operands[0], t.c};  // hi <= lo, and lo passes: hi passes too
      if (upper ? facts_.prove_le(start, fixed) : facts_.prove_le(fixed, start)) covers_empty_ = true;
    }
    result = result == kNoValue ? condition : emit_either(result, condition);
    if (++used == 2) break;
  }
  return result;
}

// The same from the value that the variant has in the first or last trip.
ValueId CheckElimination::from_extreme(Term variant, Term fixed, bool upper) {
  const int sign = step_sign();
  const Direction moves = sign == 0 ? Direction::kNone : direction(variant.v, 8);
  if (moves != Direction::kUp && moves != Direction::kDown) return kNoValue;
  const bool at_largest = upper == (moves == Direction::kUp);
  const ValueId index = at_largest == (sign > 0) ? last_index() : loops_.back().op->operands[0];
  int budget = 12;
  const ValueId v = at_index(variant.v, index, budget);
  if (v == kNoValue) return kNoValue;
  const ValueId condition = upper ? emit_le(Term{v, variant.c}, fixed) : emit_le(fixed, Term{v, variant.c});
  const auto known = editor_.const_bits(condition);
  return known && *known == 0 ? kNoValue : condition;
}

// x <= y in every trip, from values outside the loop, or kNoValue.
ValueId CheckElimination::hoisted_le(Term x, Term y) {
  const bool x_varies = x.v != kNoValue && !invariant(x.v);
  const bool y_varies = y.v != kNoValue && !invariant(y.v);
  if (x_varies && y_varies) return kNoValue;
  if (!x_varies && !y_varies) {
    const ValueId condition = emit_le(x, y);
    const auto known = editor_.const_bits(condition);
    return known && *known == 0 ? kNoValue : condition;
  }
  const Term variant = x_varies ? x : y;
  const Term fixed = x_varies ? y : x;
  // A constant step may end short of the limit; the exact last index for a variable one is a division, the limit will do.
  const Op& loop = *loops_.back().op;
  const bool exact_limits = loop.code != OpCode::For || unit_step() || !editor_.is_const(loop.operands[2]);
  ValueId result = exact_limits ? kNoValue : from_extreme(variant, fixed, x_varies);
  if (result == kNoValue) result = from_limits(variant, fixed, x_varies);
  if (result == kNoValue && exact_limits) result = from_extreme(variant, fixed, x_varies);
  return result;
}

ValueId CheckElimination::hoisted_condition(ValueId condition) {
  condition = editor_.find(condition);
  if (editor_.is_const(condition) || invariant(condition)) return condition;
  const Op* op = editor_.def(condition);
  if (op == nullptr || op->operands.size() != 2) return kNoValue;
  const ValueId a = editor_.find(op->operands[0]);
  const ValueId b = editor_.find(op->operands[1]);
  if (op->type == Type::I1 && op->code == OpCode::Or) {
    // The left side is the check itself, the right one a way out ("no trip"): without the check nothing is gained.
    const ValueId left = hoisted_condition(a);
    if (left == kNoValue) return kNoValue;
    const ValueId right = hoisted_condition(b);
    covers_empty_ = false;
    return right == kNoValue ? left : emit_either(left, right);
  }
  if (op->type != Type::I64) return kNoValue;
  switch (op->code) {
    case OpCode::Lt: return hoisted_le(Term{a, 1}, Term{b, 0});
    case OpCode::Le: return hoisted_le(Term{a, 0}, Term{b, 0});
    case OpCode::Gt: return hoisted_le(Term{b, 1}, Term{a, 0});
    case OpCode::Ge: return hoisted_le(Term{b, 0}, Term{a, 0});
    default: return kNoValue;
  }
}

// ---- the checks ------------------------------------------------------------------------------------------------

bool CheckElimination::hoist_bound(const Op& op, bool conditional) {
  const ValueId i = op.operands[0];
  const ValueId n = op.operands[1];
  if (!invariant(n)) return false;
  // Known to start just below zero, as a[i - 1] from i = 0 does: a check in front would fail every time.
  const Wide least = facts_.tight_range(i).lo;
  if (least < 0 && least > -(1 << 20) && facts_.lower_bounds(i, [this](ValueId v) { return depth_of(v) == 0; }).empty()) return false;
  conditional_ = conditional;
  covers_empty_ = false;
  const ValueId low = facts_.prove_at_least(i, 0) ? editor_.const_i1(true) : hoisted_le(Term{kNoValue, 0}, Term{i, 0});
  if (low == kNoValue) return false;
  const ValueId low_guard = unless_empty(low);
  covers_empty_ = false;
  const ValueId high = hoisted_le(Term{i, 1}, Term{n, 0});
  if (high == kNoValue) return false;
  emit_guard(low_guard);
  emit_guard(unless_empty(high));
  facts_.assume(low, true);
  facts_.assume(high, true);
  facts_.refine(i, {0, type_interval(Type::I64).hi});
  facts_.add_le(i, n, -1);
  return true;
}

// a[k] with k and the array fixed and k's sign unknown or negative: the wrapped index, or kNoValue.
ValueId CheckElimination::hoist_fixed_bound(const Op& op) {
  const ValueId i = op.operands[0];
  const ValueId n = op.operands[1];
  if (!invariant(i) || !invariant(n) || !facts_.prove_at_least(n, 0)) return kNoValue;
  covers_empty_ = false;
  emit_guard(unless_empty(emit(OpCode::Lt, Type::I64, {i, n})));
  const ValueId sum = emit(OpCode::Add, Type::I64, {i, n});
  const ValueId negative = emit(OpCode::Lt, Type::I64, {i, editor_.const_i64(0)});
  const ValueId index = emit(OpCode::Select, Type::I64, {negative, sum, i});
  emit_guard(unless_empty(emit(OpCode::Ge, Type::I64, {index, editor_.const_i64(0)})));
  facts_.refine(index, {0, type_interval(Type::I64).hi});
  facts_.add_le(index, n, -1);
  return index;
}

bool CheckElimination::hoist_guard(const Op& op, bool conditional) {
  const bool is_bound = op.imm == static_cast<int64_t>(ExitReason::Bounds) || op.imm == static_cast<int64_t>(ExitReason::Hoisted);
  if (conditional && !is_bound) return false;
  conditional_ = conditional;
  covers_empty_ = false;
  const ValueId condition = hoisted_condition(op.operands[0]);
  if (condition == kNoValue) return false;
  if (const auto known = editor_.const_bits(condition)) return *known != 0;
  emit_guard(unless_empty(condition));
  facts_.assume(condition, true);
  return true;
}

// True: the op was moved in front of the loop (still checked), or is plain now.
bool CheckElimination::hoist_arithmetic(Op* op) {
  bool fixed = true;
  for (ValueId v : op->operands) fixed = fixed && invariant(v);
  if (op->code == OpCode::ShlO && !is_speculatable_shift(*op)) return false;
  if (fixed) {
    op->snapshot = loops_.back().op->snapshot;
    op->imm = static_cast<int64_t>(ExitReason::Hoisted);
    set_depth(op->result(), here() - 1);
    facts_.define(*op);
    loops_.back().before.push_back(op);
    return true;
  }
  const int sign = step_sign();
  if (sign == 0 || op->type != Type::I64 || op->code == OpCode::ShlO) return false;
  if (!unit_step() && !editor_.is_const(loops_.back().op->operands[2])) return false;
  set_depth(op->result(), here());
  const Direction moves = direction(op->result(), 8);
  if (moves != Direction::kUp && moves != Direction::kDown) return false;
  int budget = 12;
  if (at_index(op->result(), last_index(), budget) == kNoValue) return false;
  budget = 12;
  if (at_index(op->result(), loops_.back().op->operands[0], budget) == kNoValue) return false;
  facts_.define(*op);
  make_plain(*op);
  op->mark = kExact;
  return true;
}

bool CheckElimination::is_speculatable_shift(const Op& op) const {
  const auto count = editor_.const_bits(op.operands[1]);
  return count && *count >= 0 && *count < type_size(op.type) * 8;
}

}  // namespace hotloop::optimizer
