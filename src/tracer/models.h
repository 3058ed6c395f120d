// The models of known callables: one function per row family of models.def.
// Needs tracer/semantics_common.h. Internal to the semantics files. Each model states what leaves; argument counts are checked by the caller.
#pragma once
#include <span>
#include <string_view>

#include "tracer/semantics_common.h"

namespace hotloop::tracer {

struct ModelCall {
  std::span<const Sym> args;
  ir::HelperId helper;
  std::string_view name;
};
using ModelFunction = Result<Sym> (*)(Emit&, const ModelCall&);

Result<Sym> model_abs(Emit& e, const ModelCall& call);
Result<Sym> model_min(Emit& e, const ModelCall& call);
Result<Sym> model_max(Emit& e, const ModelCall& call);
Result<Sym> model_int(Emit& e, const ModelCall& call);
Result<Sym> model_float(Emit& e, const ModelCall& call);
Result<Sym> model_bool(Emit& e, const ModelCall& call);
Result<Sym> model_complex(Emit& e, const ModelCall& call);
Result<Sym> model_len(Emit& e, const ModelCall& call);
Result<Sym> model_ord(Emit& e, const ModelCall& call);
Result<Sym> model_chr(Emit& e, const ModelCall& call);
Result<Sym> model_range(Emit& e, const ModelCall& call);
Result<Sym> model_round(Emit& e, const ModelCall& call);
Result<Sym> model_divmod(Emit& e, const ModelCall& call);
Result<Sym> model_pow(Emit& e, const ModelCall& call);
Result<Sym> model_conjugate(Emit& e, const ModelCall& call);
Result<Sym> model_is_integer(Emit& e, const ModelCall& call);
Result<Sym> model_bits(Emit& e, const ModelCall& call);
Result<Sym> model_math_sqrt(Emit& e, const ModelCall& call);
Result<Sym> model_math_fabs(Emit& e, const ModelCall& call);
Result<Sym> model_math_floor(Emit& e, const ModelCall& call);
Result<Sym> model_math_ceil(Emit& e, const ModelCall& call);
Result<Sym> model_math_trunc(Emit& e, const ModelCall& call);
Result<Sym> model_math_copysign(Emit& e, const ModelCall& call);
Result<Sym> model_math_isnan(Emit& e, const ModelCall& call);
Result<Sym> model_math_isinf(Emit& e, const ModelCall& call);
Result<Sym> model_math_isfinite(Emit& e, const ModelCall& call);
Result<Sym> model_math_degrees(Emit& e, const ModelCall& call);
Result<Sym> model_math_radians(Emit& e, const ModelCall& call);
Result<Sym> model_math_pow(Emit& e, const ModelCall& call);
Result<Sym> model_math_2(Emit& e, const ModelCall& call);
Result<Sym> model_math_finite(Emit& e, const ModelCall& call);
Result<Sym> model_math_1(Emit& e, const ModelCall& call);
Result<Sym> model_math_log_base(Emit& e, const ModelCall& call);
Result<Sym> model_math_log(Emit& e, const ModelCall& call);
Result<Sym> model_math_int(Emit& e, const ModelCall& call);
Result<Sym> model_math_ldexp(Emit& e, const ModelCall& call);
Result<Sym> model_math_frexp(Emit& e, const ModelCall& call);
Result<Sym> model_math_modf(Emit& e, const ModelCall& call);
Result<Sym> model_math_isclose(Emit& e, const ModelCall& call);
Result<Sym> model_cmath_1(Emit& e, const ModelCall& call);
Result<Sym> model_cmath_log(Emit& e, const ModelCall& call);
Result<Sym> model_cmath_rect(Emit& e, const ModelCall& call);
Result<Sym> model_cmath_isclose(Emit& e, const ModelCall& call);
Result<Sym> model_cmath_sqrt(Emit& e, const ModelCall& call);
Result<Sym> model_cmath_phase(Emit& e, const ModelCall& call);
Result<Sym> model_cmath_polar(Emit& e, const ModelCall& call);
Result<Sym> model_cmath_class(Emit& e, const ModelCall& call);
Result<Sym> model_np_angle(Emit& e, const ModelCall& call);
Result<Sym> model_np_sqrt(Emit& e, const ModelCall& call);
Result<Sym> model_np_1(Emit& e, const ModelCall& call);
Result<Sym> model_np_2(Emit& e, const ModelCall& call);
Result<Sym> model_np_power(Emit& e, const ModelCall& call);
Result<Sym> model_np_add(Emit& e, const ModelCall& call);
Result<Sym> model_np_subtract(Emit& e, const ModelCall& call);
Result<Sym> model_np_multiply(Emit& e, const ModelCall& call);
Result<Sym> model_np_divide(Emit& e, const ModelCall& call);
Result<Sym> model_np_floor_divide(Emit& e, const ModelCall& call);
Result<Sym> model_np_remainder(Emit& e, const ModelCall& call);
Result<Sym> model_np_left_shift(Emit& e, const ModelCall& call);
Result<Sym> model_np_right_shift(Emit& e, const ModelCall& call);
Result<Sym> model_np_and(Emit& e, const ModelCall& call);
Result<Sym> model_np_or(Emit& e, const ModelCall& call);
Result<Sym> model_np_xor(Emit& e, const ModelCall& call);
Result<Sym> model_np_abs(Emit& e, const ModelCall& call);
Result<Sym> model_np_negative(Emit& e, const ModelCall& call);
Result<Sym> model_np_positive(Emit& e, const ModelCall& call);
Result<Sym> model_np_square(Emit& e, const ModelCall& call);
Result<Sym> model_np_reciprocal(Emit& e, const ModelCall& call);
Result<Sym> model_np_sign(Emit& e, const ModelCall& call);
Result<Sym> model_np_floor(Emit& e, const ModelCall& call);
Result<Sym> model_np_ceil(Emit& e, const ModelCall& call);
Result<Sym> model_np_trunc(Emit& e, const ModelCall& call);
Result<Sym> model_np_rint(Emit& e, const ModelCall& call);
Result<Sym> model_np_minimum(Emit& e, const ModelCall& call);
Result<Sym> model_np_maximum(Emit& e, const ModelCall& call);
Result<Sym> model_np_isnan(Emit& e, const ModelCall& call);
Result<Sym> model_np_isinf(Emit& e, const ModelCall& call);
Result<Sym> model_np_isfinite(Emit& e, const ModelCall& call);
Result<Sym> model_np_conjugate(Emit& e, const ModelCall& call);
Result<Sym> model_np_real(Emit& e, const ModelCall& call);
Result<Sym> model_np_round(Emit& e, const ModelCall& call);
Result<Sym> model_np_scalar(Emit& e, const ModelCall& call);
Result<Sym> model_item(Emit& e, const ModelCall& call);

// The function of NumPy of this name on a complex scalar.
Result<Sym> np_complex_function(Emit& e, const ModelCall& call, std::string_view name);

// round(a, digits) of a NumPy float scalar.
Result<Sym> round_np_float(Emit& e, const Sym& a, const Sym& digits);

}  // namespace hotloop::tracer
