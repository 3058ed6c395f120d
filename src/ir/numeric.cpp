// The numeric helpers of the core. Needs libm: the very symbols that CPython's math module and NumPy's scalars call, so that the bits
// are theirs. Promises: as in numeric.h; compiled without contraction and without -ffast-math.
#include "ir/numeric.h"

#include <math.h>

#include <bit>
#include <type_traits>

#ifdef __FAST_MATH__
#error "the helpers must give libm's and IEEE 754's bits"
#endif

namespace hotloop::ir {
namespace {

inline double fmod_of(double a, double b) { return ::fmod(a, b); }
inline float fmod_of(float a, float b) { return ::fmodf(a, b); }
inline double floor_of(double a) { return ::floor(a); }
inline float floor_of(float a) { return ::floorf(a); }
inline double copysign_of(double a, double b) { return ::copysign(a, b); }
inline float copysign_of(float a, float b) { return ::copysignf(a, b); }

// The rule of CPython's float.__divmod__ and NumPy's divmod (they agree bit for bit): the remainder is exact and has the
// divisor's sign; the quotient is rounded from (a - mod) / b and snapped to the integer it stands for.
template <typename Float>
Float floor_mod(Float a, Float b) {
  Float mod = fmod_of(a, b);
  if (mod != 0) {  // also for NaN
    if ((b < 0) != (mod < 0)) mod += b;
    return mod;
  }
  return copysign_of(Float(0), b);
}

template <typename Float>
Float floor_div(Float a, Float b) {
  const Float mod = fmod_of(a, b);
  Float div = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) div -= Float(1);
  if (div == 0) return copysign_of(Float(0), a / b);
  const Float rounded = floor_of(div);
  return div - rounded > Float(0.5) ? rounded + Float(1) : rounded;
}

using Unary = double (*)(double);
using Binary = double (*)(double, double);
using BinaryF32 = float (*)(float, float);

template <typename Pointer>
const void* address_of(Pointer function) {
  static_assert(std::is_pointer_v<Pointer>);
  return reinterpret_cast<const void*>(function);
}

}  // namespace

double floordiv_f64(double a, double b) { return floor_div(a, b); }
double floormod_f64(double a, double b) { return floor_mod(a, b); }
float floordiv_f32(float a, float b) { return floor_div(a, b); }
float floormod_f32(float a, float b) { return floor_mod(a, b); }

// ---------------------------------------------------------------------------------------------------- halves

float half_to_f32(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1Fu;
  uint32_t fraction = half & 0x3FFu;
  if (exponent == 0x1F) {  // infinity, or a NaN that becomes quiet
    return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13) | (fraction != 0 ? 0x400000u : 0u));
  }
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // subnormal halves: exact
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

namespace {

// Rounds a magnitude, given as significand * 2^(exponent), significand below 2^53 or so, to a half without its sign. `sticky` bits are in
// the significand itself: nothing was lost before.
uint16_t round_to_half(uint64_t significand, int exponent) {
  if (significand == 0) return 0;
  const int top = 63 - std::countl_zero(significand) + exponent;  // the value is in [2^top, 2^(top + 1))
  if (top > 15) return 0x7C00;
  const int unit = top < -14 ? -24 : top - 10;                    // the weight of the last bit that stays
  const int drop = unit - exponent;
  uint64_t kept = significand;
  if (drop > 0) {
    if (drop > 62) return 0;
    kept = significand >> drop;
    const uint64_t rest = significand & ((uint64_t{1} << drop) - 1);
    const uint64_t half = uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  } else {
    kept <<= -drop;
  }
  // A carry out of the fraction moves into the exponent by itself.
  const uint64_t biased = top < -14 ? 0 : static_cast<uint64_t>(top + 14);
  return static_cast<uint16_t>((biased << 10) + kept);
}

// A binary floating-point number whose fraction has kFraction bits.
template <typename Bits, int kFraction>
uint16_t to_half(Bits bits) {
  constexpr int kExponent = 8 * static_cast<int>(sizeof(Bits)) - 1 - kFraction;
  constexpr Bits kSpecial = (Bits{1} << kExponent) - 1;
  const auto sign = static_cast<uint16_t>((bits >> (8 * sizeof(Bits) - 16)) & 0x8000u);
  const Bits exponent = (bits >> kFraction) & kSpecial;
  const Bits fraction = bits & ((Bits{1} << kFraction) - 1);
  if (exponent == kSpecial) return static_cast<uint16_t>(sign | 0x7C00u | (fraction != 0 ? 0x200u | (fraction >> (kFraction - 10)) : 0u));
  const uint64_t significand = exponent != 0 ? fraction | (Bits{1} << kFraction) : fraction;
  constexpr int kBias = static_cast<int>(kSpecial / 2) + kFraction;
  return static_cast<uint16_t>(sign | round_to_half(significand, static_cast<int>(exponent != 0 ? exponent : 1) - kBias));
}

}  // namespace

uint16_t f32_to_half(float value) { return to_half<uint32_t, 23>(std::bit_cast<uint32_t>(value)); }
uint16_t f64_to_half(double value) { return to_half<uint64_t, 52>(std::bit_cast<uint64_t>(value)); }

namespace {

float half_of_f64(double value) { return half_to_f32(f64_to_half(value)); }

int64_t int_power(int64_t base, int64_t exponent) {
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto n = static_cast<uint64_t>(exponent); n != 0; n >>= 1) {
    if ((n & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}

bool int_power_fits(int64_t base, int64_t exponent) {
  if (base >= -1 && base <= 1) return true;
  if (exponent > 63) return false;
  int64_t result = 1, square = base;
  bool square_fits = true;
  for (auto n = static_cast<uint64_t>(exponent); n != 0; n >>= 1) {
    if ((n & 1) != 0 && (!square_fits || __builtin_mul_overflow(result, square, &result))) return false;
    if (n > 1 && __builtin_mul_overflow(square, square, &square)) square_fits = false;
  }
  return true;
}

}  // namespace

HelperTable core_helpers() {
  HelperTable table;
  auto set = [&](HelperId id, const void* address) { table.address[static_cast<int>(id)] = address; };
  set(HelperId::PowF64, address_of<Binary>(::pow));
  set(HelperId::PowF32, address_of<BinaryF32>(::powf));
  set(HelperId::FmodF64, address_of<Binary>(::fmod));
  set(HelperId::MathSin, address_of<Unary>(::sin));
  set(HelperId::MathCos, address_of<Unary>(::cos));
  set(HelperId::MathTan, address_of<Unary>(::tan));
  set(HelperId::MathAsin, address_of<Unary>(::asin));
  set(HelperId::MathAcos, address_of<Unary>(::acos));
  set(HelperId::MathAtan, address_of<Unary>(::atan));
  set(HelperId::MathAtan2, address_of<Binary>(::atan2));
  set(HelperId::MathSinh, address_of<Unary>(::sinh));
  set(HelperId::MathCosh, address_of<Unary>(::cosh));
  set(HelperId::MathTanh, address_of<Unary>(::tanh));
  set(HelperId::MathExp, address_of<Unary>(::exp));
  set(HelperId::MathExpm1, address_of<Unary>(::expm1));
  set(HelperId::MathLog, address_of<Unary>(::log));
  set(HelperId::MathLog2, address_of<Unary>(::log2));
  set(HelperId::MathLog10, address_of<Unary>(::log10));
  set(HelperId::MathLog1p, address_of<Unary>(::log1p));
  set(HelperId::MathErf, address_of<Unary>(::erf));
  set(HelperId::MathErfc, address_of<Unary>(::erfc));
  set(HelperId::HypotF64, address_of<Binary>(::hypot));
  set(HelperId::HypotF32, address_of<BinaryF32>(::hypotf));
  set(HelperId::HalfOfF64, reinterpret_cast<const void*>(&half_of_f64));
  set(HelperId::IntPower, reinterpret_cast<const void*>(&int_power));
  set(HelperId::IntPowerFits, reinterpret_cast<const void*>(&int_power_fits));
  set(HelperId::FloorDivF64, address_of<Binary>(floordiv_f64));
  set(HelperId::FloorModF64, address_of<Binary>(floormod_f64));
  set(HelperId::FloorDivF32, address_of<BinaryF32>(floordiv_f32));
  set(HelperId::FloorModF32, address_of<BinaryF32>(floormod_f32));
  add_math_helpers(&table);
  return table;
}

}  // namespace hotloop::ir
