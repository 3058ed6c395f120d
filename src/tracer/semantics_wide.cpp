// See semantics_wide.h.
#include "tracer/semantics_wide.h"

#include <algorithm>
#include <bit>

namespace hotloop::tracer {

namespace {

using Magnitude = unsigned __int128;
using Range = WideRange;  // -below <= value <= most

constexpr Magnitude kAll = ~Magnitude{0};
constexpr Magnitude kSigned128 = kAll >> 1;  // 2^127 - 1
constexpr Magnitude kSigned64 = INT64_MAX, kUnsigned64 = UINT64_MAX;

struct Wide {
  ValueId low, high;  // both i64
  Range range;
};

std::optional<Magnitude> sum(Magnitude a, Magnitude b) {
  if (a > kAll - b) return std::nullopt;
  return a + b;
}
std::optional<Magnitude> product(Magnitude a, Magnitude b) {
  if (b != 0 && a > kAll / b) return std::nullopt;
  return a * b;
}
// All ones up to the highest bit.
Magnitude filled(Magnitude v) {
  for (int shift = 1; shift < 128; shift *= 2) v |= v >> shift;
  return v;
}

bool representable(const Range& r) { return r.below == 0 || (r.most <= kSigned128 && r.below <= kSigned128 + 1); }

ValueId as_u64(Emit& e, ValueId v) { return e.b().conv(Type::U64, v); }
ValueId as_i64(Emit& e, ValueId v) { return e.b().conv(Type::I64, v); }
ValueId flag_as_i64(Emit& e, ValueId flag) { return e.b().conv(Type::I64, flag); }

ValueId sign_of(Emit& e, ValueId v) { return e.b().binary(OpCode::Shr, Type::I64, v, e.b().const_i64(63)); }

// A known int of 0 .. 2^64 - 1.
std::optional<uint64_t> known_u64(const Sym& s) {
  if (s.object == nullptr) return std::nullopt;
  if (s.kind == PyKind::IntU64) return PyLong_AsUnsignedLongLongMask(s.object);
  auto v = known_int(s);
  if (!v || *v < 0) return std::nullopt;
  return static_cast<uint64_t>(*v);
}

Wide wide_of(Emit& e, const Sym& s) {
  ir::Builder& ir = e.b();
  if (is_wide_int(s.kind)) return {s.v[0], s.v[1], *s.range};
  if (s.range && s.object == nullptr) {
    ValueId low = s.kind == PyKind::IntU64 ? as_i64(e, s.v[0]) : s.v[0];
    return {low, s.range->below == 0 ? ir.const_i64(0) : sign_of(e, low), *s.range};
  }
  if (s.kind == PyKind::IntU64) {
    auto v = known_u64(s);
    return {as_i64(e, s.v[0]), ir.const_i64(0), {v ? Magnitude{*v} : kUnsigned64, 0}};
  }
  ValueId low = to_i64(e, s);
  if (s.kind == PyKind::Bool) return {low, ir.const_i64(0), {1, 0}};
  if (auto v = known_int(s)) {
    const Magnitude size = *v < 0 ? Magnitude{0} - static_cast<Magnitude>(static_cast<__int128>(*v)) : static_cast<Magnitude>(*v);
    return {low, ir.const_i64(*v < 0 ? -1 : 0), *v < 0 ? Range{0, size} : Range{size, 0}};
  }
  return {low, sign_of(e, low), {kSigned64, kSigned64 + 1}};
}

// In the smallest kind that surely holds it.
Sym made(Emit& e, const Wide& w) {
  const bool with_sign = w.range.below != 0 || w.range.most <= kSigned128;
  Sym s;
  if (w.range.most <= kSigned64 && w.range.below <= kSigned64 + 1) s = make_sym(e, PyKind::Int, w.low);
  else if (w.range.below == 0 && w.range.most <= kUnsigned64) s = make_sym(e, PyKind::IntU64, as_u64(e, w.low));
  else s = make_sym(e, with_sign ? PyKind::Int128 : PyKind::IntU128, w.low, w.high);
  s.range = std::make_shared<const Range>(w.range);
  return s;
}

bool fits_word(const Range& r) { return r.below == 0 ? r.most <= kUnsigned64 : r.most <= kSigned64 && r.below <= kSigned64 + 1; }

// With a number of 2^63 and more, which has no sign, the other one hardly has: it leaves where it is negative.
Wide without_sign(Emit& e, const Wide& w, const Wide& other) {
  if (w.range.below == 0 || other.range.below != 0 || other.range.most <= kSigned64 || !fits_word(w.range) || w.range.most == 0) return w;
  e.b().guard(e.b().binary(OpCode::Ge, Type::I64, w.low, e.b().const_i64(0)), ExitReason::Overflow, e.before());
  return {w.low, e.b().const_i64(0), {w.range.most, 0}};
}

std::optional<Sym> wide_sum(Emit& e, Wide a, Wide b, bool minus) {
  ir::Builder& ir = e.b();
  if (!minus && (a.range.most > kSigned128 || b.range.most > kSigned128)) {  // there is no room for a sign beside it
    a = without_sign(e, a, b);
    b = without_sign(e, b, a);
  }
  auto most = sum(a.range.most, minus ? b.range.below : b.range.most), below = sum(a.range.below, minus ? b.range.most : b.range.below);
  if (!most || !below || !representable({*most, *below})) return std::nullopt;
  const OpCode code = minus ? OpCode::Sub : OpCode::Add;
  ValueId low = ir.binary(code, Type::I64, a.low, b.low);
  ValueId carry = ir.binary(OpCode::Lt, Type::U64, as_u64(e, minus ? a.low : low), as_u64(e, minus ? b.low : a.low));
  ValueId high = ir.binary(code, Type::I64, ir.binary(code, Type::I64, a.high, b.high), flag_as_i64(e, carry));
  return made(e, {low, high, {*most, *below}});
}

std::optional<Sym> wide_product(Emit& e, const Wide& a, const Wide& b) {
  ir::Builder& ir = e.b();
  auto up = product(a.range.most, b.range.most), up_below = product(a.range.below, b.range.below);
  auto down = product(a.range.most, b.range.below), down_below = product(a.range.below, b.range.most);
  if (!up || !up_below || !down || !down_below) return std::nullopt;
  const Range range{std::max(*up, *up_below), std::max(*down, *down_below)};
  if (!representable(range)) return std::nullopt;
  ValueId low = ir.binary(OpCode::Mul, Type::I64, a.low, b.low);
  ValueId high;
  if (!fits_word(a.range) || !fits_word(b.range)) {
    high = as_i64(e, ir.binary(OpCode::MulHi, Type::U64, as_u64(e, a.low), as_u64(e, b.low)));
    high = ir.binary(OpCode::Add, Type::I64, high, ir.binary(OpCode::Mul, Type::I64, a.high, b.low));
    high = ir.binary(OpCode::Add, Type::I64, high, ir.binary(OpCode::Mul, Type::I64, a.low, b.high));
  } else if (a.range.below != 0 && b.range.below != 0) {
    high = ir.binary(OpCode::MulHi, Type::I64, a.low, b.low);
  } else {
    // Unsigned; of an operand with a sign its bits count 2^64 too many where it is negative.
    high = as_i64(e, ir.binary(OpCode::MulHi, Type::U64, as_u64(e, a.low), as_u64(e, b.low)));
    if (a.range.below != 0) high = ir.binary(OpCode::Sub, Type::I64, high, ir.binary(OpCode::And, Type::I64, a.high, b.low));
    if (b.range.below != 0) high = ir.binary(OpCode::Sub, Type::I64, high, ir.binary(OpCode::And, Type::I64, b.high, a.low));
  }
  return made(e, {low, high, range});
}

// The count as a value in 0 .. 63; others leave.
ValueId small_count(Emit& e, const Sym& count, std::optional<int64_t> known) {
  ValueId n = to_i64(e, plain_int(e, count));
  if (!known) guard_i64_range(e, n, 0, 63, ExitReason::Overflow);
  return n;
}

std::optional<Sym> wide_left_shift(Emit& e, const Wide& a, const Sym& count) {
  ir::Builder& ir = e.b();
  auto n = known_int(count);
  if (n && (*n < 0 || *n > 63)) return std::nullopt;
  const Magnitude factor = Magnitude{1} << (n ? *n : 63);
  auto most = product(a.range.most, factor), below = product(a.range.below, factor);
  if (!most || !below || !representable({*most, *below})) return std::nullopt;
  if (n && *n == 0) return made(e, a);
  ValueId by = small_count(e, count, n);
  ValueId low = ir.binary(OpCode::Shl, Type::I64, a.low, by);
  // What goes from the low half to the high one: shifted right by 64 - n, which is one and 63 - n.
  ValueId carried = ir.binary(OpCode::Shr, Type::U64, as_u64(e, a.low), ir.const_bits(Type::U64, 1));
  ValueId rest = as_u64(e, ir.binary(OpCode::Sub, Type::I64, ir.const_i64(63), by));
  if (n) rest = ir.const_bits(Type::U64, 63 - *n);
  carried = as_i64(e, ir.binary(OpCode::Shr, Type::U64, carried, rest));
  ValueId high = ir.binary(OpCode::Or, Type::I64, ir.binary(OpCode::Shl, Type::I64, a.high, by), carried);
  return made(e, {low, high, {*most, *below}});
}

std::optional<Sym> wide_right_shift(Emit& e, const Wide& a, const Sym& count) {
  ir::Builder& ir = e.b();
  auto n = known_int(count);
  if (n && (*n < 0 || *n > 63)) return std::nullopt;
  if (n && *n == 0) return made(e, a);
  ValueId by = small_count(e, count, n);
  ValueId by_u64 = n ? ir.const_bits(Type::U64, *n) : as_u64(e, by);
  // From the high half to the low one: shifted left by 64 - n.
  ValueId carried = ir.binary(OpCode::Shl, Type::I64, a.high, ir.const_i64(1));
  ValueId rest = n ? ir.const_i64(63 - *n) : ir.binary(OpCode::Sub, Type::I64, ir.const_i64(63), by);
  carried = ir.binary(OpCode::Shl, Type::I64, carried, rest);
  ValueId low = ir.binary(OpCode::Or, Type::I64, as_i64(e, ir.binary(OpCode::Shr, Type::U64, as_u64(e, a.low), by_u64)), carried);
  ValueId high = a.range.below != 0 ? ir.binary(OpCode::Shr, Type::I64, a.high, by)
                                    : as_i64(e, ir.binary(OpCode::Shr, Type::U64, as_u64(e, a.high), by_u64));
  const int shift = n ? static_cast<int>(*n) : 0;
  // -1 stays -1: what is below 0 stays there. The kind stays what it is where it is one word.
  Range range{a.range.most >> shift, a.range.below == 0 ? 0 : ((a.range.below - 1) >> shift) + 1};
  if (a.range.below == 0 && a.range.most <= kUnsigned64 && a.range.most > kSigned64) range.most = kUnsigned64;
  return made(e, {low, high, range});
}

std::optional<Sym> wide_and(Emit& e, const Wide& a, const Wide& b) {
  ir::Builder& ir = e.b();
  ValueId low = ir.binary(OpCode::And, Type::I64, a.low, b.low);
  if (a.range.below == 0 || b.range.below == 0) {
    Magnitude most = a.range.below == 0 ? a.range.most : kAll;
    if (b.range.below == 0) most = std::min(most, b.range.most);
    return made(e, {low, ir.binary(OpCode::And, Type::I64, a.high, b.high), {most, 0}});
  }
  const Range range{filled(std::max(a.range.most, b.range.most)), filled(std::max(a.range.below, b.range.below) - 1) + 1};
  if (range.below == 0 || !representable(range)) return std::nullopt;
  return made(e, {low, ir.binary(OpCode::And, Type::I64, a.high, b.high), range});
}

std::optional<Sym> wide_bits(Emit& e, OpCode code, const Wide& left, const Wide& right) {
  ir::Builder& ir = e.b();
  const Wide a = without_sign(e, left, right), b = without_sign(e, right, left);
  Magnitude most = filled(std::max(a.range.most, b.range.most)), below = std::max(a.range.below, b.range.below);
  if (below != 0) {
    most = std::max(most, filled(below - 1));
    below = most + 1;
    if (below == 0) return std::nullopt;
  }
  if (!representable({most, below})) return std::nullopt;
  return made(e, {ir.binary(code, Type::I64, a.low, b.low), ir.binary(code, Type::I64, a.high, b.high), {most, below}});
}

// Powers of two are masks; others go through a helper, or one division where both are one word. A modulus that is not known to be positive leaves.
std::optional<Sym> wide_modulo(Emit& e, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  const Wide w = wide_of(e, a);
  if (b.object != nullptr && b.kind == PyKind::Const) {
    const PyObject* one_more = b.object;
    if (!PyLong_CheckExact(one_more) || PyLong_AsUnsignedLongLongMask(b.object) != 0) return std::nullopt;
    if (PyLong_AsDouble(b.object) != 18446744073709551616.0) {  // 2^64 is the only such int in reach: multiples of 2^64 near it there are none
      PyErr_Clear();
      return std::nullopt;
    }
    Sym r = make_sym(e, PyKind::IntU64, as_u64(e, w.low));
    e.note_choice(r, ir.binary(OpCode::Eq, Type::I64, w.high, ir.const_i64(0)), a, Sym{});
    return r;
  }
  auto noted = [&](Sym r) {
    auto known = known_u64(b);
    if (known && *known < kTwoDigits) return r;
    const ValueId of_b = b.kind == PyKind::Int ? as_u64(e, b.v[0]) : b.v[0];  // positive
    note_untouched_dividend(e, r, a, as_u64(e, w.low), of_b, ir.binary(OpCode::Eq, Type::I64, w.high, ir.const_i64(0)));
    return r;
  };
  if (is_wide_int(b.kind) || b.kind == PyKind::Bool) return std::nullopt;
  auto m = known_u64(b);
  if (m && *m == 0) return std::nullopt;
  if (m && std::has_single_bit(*m)) {
    ValueId low = ir.binary(OpCode::And, Type::I64, w.low, ir.const_i64(static_cast<int64_t>(*m - 1)));
    return noted(ranged(make_sym(e, PyKind::Int, low), *m - 1));
  }
  if (!m && b.kind == PyKind::Int) {
    ir.guard(ir.binary(OpCode::Gt, Type::I64, b.v[0], ir.const_i64(0)), ExitReason::Domain, e.before());
  } else if (!m) {
    ir.guard(ir.binary(OpCode::Ne, Type::U64, b.v[0], ir.const_bits(Type::U64, 0)), ExitReason::ZeroDivide, e.before());
  }
  ValueId modulus = b.kind == PyKind::Int ? b.v[0] : as_i64(e, b.v[0]);
  ValueId r;
  if (w.range.below == 0 && w.range.most <= kUnsigned64) {
    r = as_i64(e, ir.binary(OpCode::FloorMod, Type::U64, as_u64(e, w.low), as_u64(e, modulus)));
  } else {
    r = ir.call(w.range.below != 0 ? ir::HelperId::WideMod : ir::HelperId::WideModU, {w.low, w.high, modulus});
  }
  if (b.kind != PyKind::Int) return noted(make_sym(e, PyKind::IntU64, as_u64(e, r)));
  return noted(ranged(make_sym(e, PyKind::Int, r), m ? *m - 1 : static_cast<uint64_t>(INT64_MAX)));
}

// Of one unsigned word by another, or by a positive Int.
std::optional<Sym> word_quotient(Emit& e, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  if (a.kind != PyKind::IntU64 || is_wide_int(b.kind) || b.kind == PyKind::Bool) return std::nullopt;
  auto m = known_u64(b);
  if (m && *m == 0) return std::nullopt;
  if (!m && b.kind == PyKind::Int) {
    ir.guard(ir.binary(OpCode::Gt, Type::I64, b.v[0], ir.const_i64(0)), ExitReason::Domain, e.before());
  } else if (!m) {
    ir.guard(ir.binary(OpCode::Ne, Type::U64, b.v[0], ir.const_bits(Type::U64, 0)), ExitReason::ZeroDivide, e.before());
  }
  ValueId divisor = b.kind == PyKind::Int ? as_u64(e, b.v[0]) : b.v[0];
  return make_sym(e, PyKind::IntU64, ir.binary(OpCode::FloorDiv, Type::U64, a.v[0], divisor));
}

Sym in_other_kind(const Sym& s, PyKind kind, ValueId v) {
  Sym out = s;  // the same int: its identity stays
  out.kind = kind;
  out.v[0] = v;
  out.v[1] = ir::kNoValue;
  out.range.reset();
  return out;
}

}  // namespace

std::optional<Sym> wide_binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b) {
  if (op == BinaryOp::kRemainder && is_any_int(a.kind) && (is_any_int(b.kind) || b.kind == PyKind::Const)) return wide_modulo(e, a, b);
  if (!is_any_int(a.kind) || !is_any_int(b.kind)) return std::nullopt;
  if (a.kind == PyKind::Bool && b.kind == PyKind::Bool) return std::nullopt;
  switch (op) {
    case BinaryOp::kAdd: return wide_sum(e, wide_of(e, a), wide_of(e, b), false);
    case BinaryOp::kSubtract: return wide_sum(e, wide_of(e, a), wide_of(e, b), true);
    case BinaryOp::kMultiply: return wide_product(e, wide_of(e, a), wide_of(e, b));
    case BinaryOp::kLshift: return wide_left_shift(e, wide_of(e, a), b);
    case BinaryOp::kRshift: return wide_right_shift(e, wide_of(e, a), b);
    case BinaryOp::kAnd: return wide_and(e, wide_of(e, a), wide_of(e, b));
    case BinaryOp::kOr: return wide_bits(e, OpCode::Or, wide_of(e, a), wide_of(e, b));
    case BinaryOp::kXor: return wide_bits(e, OpCode::Xor, wide_of(e, a), wide_of(e, b));
    case BinaryOp::kFloorDivide: return word_quotient(e, a, b);
    default: return std::nullopt;
  }
}

// CPython's a % b is the object a where its digits of 30 bits show at a glance that nothing is to be divided, and the signs agree; not where both
// have one digit. Of the absolute values.
void note_untouched_dividend(Emit& e, const Sym& r, const Sym& a, ValueId of_a, ValueId of_b, ValueId agree) {
  ir::Builder& ir = e.b();
  auto constant = [&](int64_t v) { return ir.const_bits(Type::U64, v); };
  ValueId by = ir.select(Type::U64, ir.binary(OpCode::Ge, Type::U64, of_b, constant(kTwoDigits << 30)), constant(60), constant(30));
  ValueId less = ir.binary(OpCode::Lt, Type::U64, ir.binary(OpCode::Shr, Type::U64, of_a, by), ir.binary(OpCode::Shr, Type::U64, of_b, by));
  ValueId large = ir.binary(OpCode::Ge, Type::U64, of_b, constant(kTwoDigits));
  e.note_choice(r, ir.binary(OpCode::And, Type::I1, ir.binary(OpCode::And, Type::I1, less, large), agree), a, Sym{});
}

Sym ranged(Sym s, uint64_t most) {
  s.range = std::make_shared<const Range>(Range{most, 0});
  return s;
}

Sym narrow_int(Emit& e, const Sym& s) {
  if (!is_wide_int(s.kind)) return s;
  ir::Builder& ir = e.b();
  const bool with_sign = s.range->below != 0 && s.range->most / 2 <= s.range->below;  // which of the two holds more of what it may be
  ValueId fits = ir.binary(OpCode::Eq, Type::I64, s.v[1], with_sign ? sign_of(e, s.v[0]) : ir.const_i64(0));
  ir.guard(fits, ExitReason::Overflow, e.before());
  return with_sign ? in_other_kind(s, PyKind::Int, s.v[0]) : in_other_kind(s, PyKind::IntU64, as_u64(e, s.v[0]));
}

Sym plain_int(Emit& e, const Sym& s) {
  Sym n = narrow_int(e, s);
  if (n.kind != PyKind::IntU64) return n;
  ir::Builder& ir = e.b();
  ir.guard(ir.binary(OpCode::Le, Type::U64, n.v[0], ir.const_bits(Type::U64, INT64_MAX)), ExitReason::Overflow, e.before());
  return in_other_kind(n, PyKind::Int, as_i64(e, n.v[0]));
}

}  // namespace hotloop::tracer
