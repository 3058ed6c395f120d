// Constant folding. Needs optimizer/fold.h. Promises: as there.
#include "optimizer/fold.h"

#include <bit>
#include <cmath>
#include <limits>

#include "optimizer/editor.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

using Int = __int128;
using Folded = std::optional<int64_t>;

// The mathematical value of an integer constant.
Int integer(Type type, int64_t bits) { return type == Type::U64 ? static_cast<Int>(static_cast<uint64_t>(bits)) : static_cast<Int>(bits); }

bool fits(Type type, Int v) {
  const int width = type_size(type) * 8;
  if (is_unsigned(type)) return v >= 0 && v < (static_cast<Int>(1) << width);
  const Int half = static_cast<Int>(1) << (width - 1);
  return v >= -half && v < half;
}

Folded wrapped(Type type, Int v) { return normalize_bits(type, static_cast<int64_t>(static_cast<uint64_t>(v))); }
Folded checked(Type type, Int v) { return fits(type, v) ? wrapped(type, v) : std::nullopt; }

Int floor_div(Int a, Int b) {
  const Int q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

Folded fold_integer(const Op& op, std::span<const int64_t> bits) {
  const Type t = op.type;
  const Int a = integer(t, bits[0]);
  const Int b = bits.size() > 1 ? integer(t, bits[1]) : 0;
  const int width = type_size(t) * 8;
  const bool shift_ok = b >= 0 && b < width;
  switch (op.code) {
    case OpCode::Add: return wrapped(t, a + b);
    case OpCode::Sub: return wrapped(t, a - b);
    case OpCode::Mul: return normalize_bits(t, static_cast<int64_t>(static_cast<uint64_t>(bits[0]) * static_cast<uint64_t>(bits[1])));
    case OpCode::Neg: return wrapped(t, -a);
    case OpCode::Abs: return wrapped(t, a < 0 ? -a : a);
    case OpCode::AddO: return checked(t, a + b);
    case OpCode::SubO: return checked(t, a - b);
    case OpCode::NegO: return checked(t, -a);
    case OpCode::MulO:
      if (a > -(static_cast<Int>(1) << 62) && a < (static_cast<Int>(1) << 62)) return checked(t, a * b);
      return std::nullopt;
    case OpCode::ShlO: return shift_ok ? checked(t, a * (static_cast<Int>(1) << (b < 62 ? b : 62)) * (b == 63 ? 2 : 1)) : std::nullopt;
    case OpCode::FloorDiv:
      if (b == 0 || !fits(t, floor_div(a, b))) return std::nullopt;
      return wrapped(t, floor_div(a, b));
    case OpCode::FloorMod:
      if (b == 0) return std::nullopt;
      return wrapped(t, a - floor_div(a, b) * b);
    case OpCode::And: return normalize_bits(t, bits[0] & bits[1]);
    case OpCode::Or: return normalize_bits(t, bits[0] | bits[1]);
    case OpCode::Xor: return normalize_bits(t, bits[0] ^ bits[1]);
    case OpCode::Not: return normalize_bits(t, ~bits[0]);
    case OpCode::Shl: return shift_ok ? Folded(normalize_bits(t, static_cast<int64_t>(static_cast<uint64_t>(bits[0]) << static_cast<int>(b)))) : std::nullopt;
    case OpCode::Shr: return shift_ok ? wrapped(t, a >> static_cast<int>(b)) : std::nullopt;
    case OpCode::Eq: return a == b;
    case OpCode::Ne: return a != b;
    case OpCode::Lt: return a < b;
    case OpCode::Le: return a <= b;
    case OpCode::Gt: return a > b;
    case OpCode::Ge: return a >= b;
    default: return std::nullopt;
  }
}

template <typename F>
F from_bits(int64_t bits) {
  if constexpr (sizeof(F) == 8) return std::bit_cast<F>(bits);
  else return std::bit_cast<F>(static_cast<uint32_t>(bits));
}
template <typename F>
Folded to_bits(F v) {
  if (std::isnan(v)) return std::nullopt;
  if constexpr (sizeof(F) == 8) return std::bit_cast<int64_t>(v);
  else return static_cast<int64_t>(std::bit_cast<uint32_t>(v));
}

template <typename F>
Folded fold_float(const Op& op, std::span<const int64_t> bits) {
  const F a = from_bits<F>(bits[0]);
  const F b = bits.size() > 1 ? from_bits<F>(bits[1]) : F(0);
  switch (op.code) {
    case OpCode::Add: return to_bits<F>(a + b);
    case OpCode::Sub: return to_bits<F>(a - b);
    case OpCode::Mul: return to_bits<F>(a * b);
    case OpCode::Div: return b == 0 ? std::nullopt : to_bits<F>(a / b);
    case OpCode::Neg: return to_bits<F>(-a);
    case OpCode::Abs: return to_bits<F>(std::fabs(a));
    case OpCode::Sqrt: return to_bits<F>(std::sqrt(a));
    case OpCode::Floor: return to_bits<F>(std::floor(a));
    case OpCode::Ceil: return to_bits<F>(std::ceil(a));
    case OpCode::Trunc: return to_bits<F>(std::trunc(a));
    case OpCode::Rint: return to_bits<F>(std::nearbyint(a));
    case OpCode::Copysign: return to_bits<F>(std::copysign(a, b));
    case OpCode::Eq: return a == b;
    case OpCode::Ne: return a != b;
    case OpCode::Lt: return a < b;
    case OpCode::Le: return a <= b;
    case OpCode::Gt: return a > b;
    case OpCode::Ge: return a >= b;
    case OpCode::IsFinite: return std::isfinite(a);
    default: return std::nullopt;
  }
}

template <typename F>
Folded float_to_integer(Type to, F v) {
  if (to == Type::I1) return v != 0;  // NaN is non-zero
  // Only what is far inside of every rounding question; the rest is left to the machine.
  if (!(v > F(-4e18) && v < F(4e18))) return std::nullopt;
  return checked(to, static_cast<Int>(v));
}

Folded fold_conv(Type to, Type from, int64_t bits) {
  if (to == from) return bits;
  if (from == Type::F64 || from == Type::F32) {
    const double v = from == Type::F64 ? from_bits<double>(bits) : from_bits<float>(bits);
    if (to == Type::F64) return to_bits<double>(v);
    if (to == Type::F32) return to_bits<float>(static_cast<float>(v));
    return float_to_integer(to, v);
  }
  if (from == Type::Ptr || to == Type::Ptr) return std::nullopt;
  if (to == Type::I1) return bits != 0;
  if (is_int(to)) return normalize_bits(to, bits);
  if (from == Type::U64) {
    const auto u = static_cast<uint64_t>(bits);
    return to == Type::F64 ? to_bits<double>(static_cast<double>(u)) : to_bits<float>(static_cast<float>(u));
  }
  return to == Type::F64 ? to_bits<double>(static_cast<double>(bits)) : to_bits<float>(static_cast<float>(bits));
}

}  // namespace

Folded fold(const Op& op, Type from, std::span<const int64_t> bits) {
  if (op.code == OpCode::Conv) return fold_conv(op.type, from, bits[0]);
  if (op.code == OpCode::Select) return bits[0] != 0 ? bits[1] : bits[2];
  if (op.type == Type::I1) {
    switch (op.code) {
      case OpCode::And: return bits[0] & bits[1];
      case OpCode::Or: return bits[0] | bits[1];
      case OpCode::Xor: case OpCode::Ne: return bits[0] ^ bits[1];
      case OpCode::Eq: return (bits[0] ^ bits[1]) ^ 1;
      case OpCode::Not: return bits[0] ^ 1;
      default: return std::nullopt;
    }
  }
  if (is_int(op.type) && !bits.empty()) return fold_integer(op, bits);
  if (op.type == Type::F64 && !bits.empty()) return fold_float<double>(op, bits);
  if (op.type == Type::F32 && !bits.empty()) return fold_float<float>(op, bits);
  return std::nullopt;
}

}  // namespace hotloop::optimizer
