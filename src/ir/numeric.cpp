// The numeric helpers of the core. Needs libm: the very symbols that CPython's math module and NumPy's scalars call, so that the bits
// are theirs. Promises: as in numeric.h; compiled without contraction and without -ffast-math.
#include "ir/numeric.h"

#include <math.h>

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
  set(HelperId::FloorDivF64, address_of<Binary>(floordiv_f64));
  set(HelperId::FloorModF64, address_of<Binary>(floormod_f64));
  set(HelperId::FloorDivF32, address_of<BinaryF32>(floordiv_f32));
  set(HelperId::FloorModF32, address_of<BinaryF32>(floormod_f32));
  return table;
}

}  // namespace hotloop::ir
