// Helpers of the core beyond plain libm: integer functions of the math module, decimal rounding, the pieces of floats.
//
// Needs ir/numeric.h. Promises: CPython's results for the arguments that helpers.def allows; integer results that do not fit 64 bits are
// -1, which none of these functions gives otherwise.
#include <math.h>

#include <bit>
#include <charconv>
#include <limits>

#include "ir/numeric.h"

namespace hotloop::ir {
namespace {

uint64_t magnitude(int64_t value) { return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value); }

int64_t fitting(uint64_t value) { return value <= static_cast<uint64_t>(INT64_MAX) ? static_cast<int64_t>(value) : -1; }

uint64_t gcd_of(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int64_t int_gcd(int64_t a, int64_t b) { return fitting(gcd_of(magnitude(a), magnitude(b))); }

int64_t int_lcm(int64_t a, int64_t b) {
  const uint64_t divisor = gcd_of(magnitude(a), magnitude(b));
  if (divisor == 0) return 0;
  uint64_t product = 0;
  if (__builtin_mul_overflow(magnitude(a) / divisor, magnitude(b), &product)) return -1;
  return fitting(product);
}

int64_t int_sqrt(int64_t n) {
  if (n < 0) return -1;
  auto root = static_cast<int64_t>(::sqrt(static_cast<double>(n)));  // within one of the answer
  if (root > INT64_C(3037000499)) root = INT64_C(3037000499);
  while (root * root > n) --root;
  while (root < INT64_C(3037000499) && (root + 1) * (root + 1) <= n) ++root;
  return root;
}

int64_t int_comb(int64_t n, int64_t k) {
  if (n < 0 || k < 0) return -1;
  if (k > n) return 0;
  if (k > n - k) k = n - k;
  uint64_t result = 1;
  for (int64_t i = 1; i <= k; ++i) {
    // result * (n - k + i) / i is whole; the common factors go first, so that nothing overflows that need not.
    auto top = static_cast<uint64_t>(n - k + i), bottom = static_cast<uint64_t>(i);
    const uint64_t common = gcd_of(result, bottom);
    result /= common;
    bottom /= common;
    if (__builtin_mul_overflow(result, top / bottom, &result)) return -1;
  }
  return fitting(result);
}

int64_t int_perm(int64_t n, int64_t k) {
  if (n < 0 || k < 0) return -1;
  if (k > n) return 0;
  uint64_t result = 1;
  for (int64_t i = 0; i < k; ++i) {
    if (__builtin_mul_overflow(result, static_cast<uint64_t>(n - i), &result)) return -1;
  }
  return fitting(result);
}

int64_t int_factorial(int64_t n) { return n < 0 || n > 20 ? -1 : int_perm(n, n); }

int64_t bit_length(int64_t n) { return 64 - std::countl_zero(magnitude(n)); }
int64_t bit_count(int64_t n) { return std::popcount(magnitude(n)); }

// The remainder of a 128-bit number by an unsigned 64-bit one, floored; most of them are 64 bits really.
int64_t wide_mod_u(int64_t low, int64_t high, int64_t modulus) {
  const auto m = static_cast<uint64_t>(modulus);
  if (m == 0) return 0;  // not asked for
  if (high == 0) return static_cast<int64_t>(static_cast<uint64_t>(low) % m);
  const auto value = static_cast<unsigned __int128>(static_cast<uint64_t>(high)) << 64 | static_cast<uint64_t>(low);
  return static_cast<int64_t>(static_cast<uint64_t>(value % m));
}
int64_t wide_mod(int64_t low, int64_t high, int64_t modulus) {
  if (high >= 0) return wide_mod_u(low, high, modulus);
  // floor: -1 - n is not negative, and n mod m = m - 1 - (-1 - n) mod m.
  return static_cast<int64_t>(static_cast<uint64_t>(modulus) - 1 - static_cast<uint64_t>(wide_mod_u(~low, ~high, modulus)));
}

int64_t power_mod(int64_t base, int64_t exponent, int64_t modulus) {
  if (exponent < 0 || modulus <= 0) return -1;
  const auto m = static_cast<uint64_t>(modulus);
  uint64_t power = static_cast<uint64_t>(wide_mod(base, base >> 63, modulus)), result = 1 % m;
  for (auto bits = static_cast<uint64_t>(exponent); bits != 0; bits >>= 1) {
    if ((bits & 1) != 0) result = static_cast<uint64_t>(static_cast<unsigned __int128>(result) * power % m);
    power = static_cast<uint64_t>(static_cast<unsigned __int128>(power) * power % m);
  }
  return static_cast<int64_t>(result);
}

// round(x, digits) of a finite float: the shortest way through the correctly rounded decimal, half to even, as CPython's is.
double round_decimal(double x, int64_t digits) {
  if (!std::isfinite(x) || digits < 0 || digits > 300) return std::numeric_limits<double>::quiet_NaN();
  char text[700];
  const auto printed = std::to_chars(text, text + sizeof text, x, std::chars_format::fixed, static_cast<int>(digits));
  double rounded = 0;
  if (printed.ec != std::errc() || std::from_chars(text, printed.ptr, rounded).ec != std::errc()) return std::numeric_limits<double>::quiet_NaN();
  return rounded;
}

double load_exponent(double x, int64_t exponent) {
  const int64_t limit = 100000;  // beyond all exponents
  return ::ldexp(x, static_cast<int>(exponent > limit ? limit : exponent < -limit ? -limit : exponent));
}

double fraction_of(double x) {
  int exponent = 0;
  return std::isfinite(x) ? ::frexp(x, &exponent) : x;
}
int64_t exponent_of(double x) {
  int exponent = 0;
  if (std::isfinite(x)) ::frexp(x, &exponent);
  return exponent;
}

double ulp(double x) {
  if (std::isnan(x)) return x;
  x = ::fabs(x);
  if (std::isinf(x)) return x;
  const double above = ::nextafter(x, std::numeric_limits<double>::infinity());
  return std::isinf(above) ? x - ::nextafter(x, -std::numeric_limits<double>::infinity()) : above - x;
}

}  // namespace

void add_math_helpers(HelperTable* table) {
  auto set = [&]<typename R, typename... A>(HelperId id, R (*function)(A...)) {
    table->address[static_cast<int>(id)] = reinterpret_cast<const void*>(function);
  };
  using Unary = double (*)(double);
  using Binary = double (*)(double, double);
  set(HelperId::IntGcd, int_gcd);
  set(HelperId::IntLcm, int_lcm);
  set(HelperId::IntSqrt, int_sqrt);
  set(HelperId::IntComb, int_comb);
  set(HelperId::IntPerm, int_perm);
  set(HelperId::IntFactorial, int_factorial);
  set(HelperId::BitLength, bit_length);
  set(HelperId::BitCount, bit_count);
  set(HelperId::WideMod, wide_mod);
  set(HelperId::WideModU, wide_mod_u);
  set(HelperId::PowerMod, power_mod);
  set(HelperId::RoundDecimal, round_decimal);
  set(HelperId::MathLdexp, load_exponent);
  set(HelperId::MathFrexp, fraction_of);
  set(HelperId::MathFrexpExp, exponent_of);
  set(HelperId::MathUlp, ulp);
  set(HelperId::MathRemainder, static_cast<Binary>(::remainder));
  set(HelperId::MathNextafter, static_cast<Binary>(::nextafter));
  set(HelperId::MathCbrt, static_cast<Unary>(::cbrt));
  set(HelperId::MathExp2, static_cast<Unary>(::exp2));
  set(HelperId::MathAsinh, static_cast<Unary>(::asinh));
  set(HelperId::MathAcosh, static_cast<Unary>(::acosh));
  set(HelperId::MathAtanh, static_cast<Unary>(::atanh));
}

}  // namespace hotloop::ir
