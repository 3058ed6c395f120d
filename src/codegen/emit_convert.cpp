// Conversions between all pairs of types. Needs emitter.h. Promises: int to float and f64 to f32 round once to nearest even, u64 included;
// conversions into an xmm register first clear it, because the instructions would otherwise wait for its old contents.
#include "codegen/emitter.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

void Emitter::zero_xmm(const Xmm& reg) {
  if (avx()) cc_.vxorps(reg, reg, reg);
  else cc_.xorps(reg, reg);
}

void Emitter::emit_Conv(const Op& op) {
  ValueId operand = op.operands[0];
  Type to = op.type, from = type_of(operand);
  if (to == Type::I1) {
    if (from == Type::I1) move_gp(result_gp(op), gp(operand));
    else materialize(op);
  } else if (is_float(to) && is_float(from)) {
    Xmm result = result_xmm(op), source = xmm(operand);
    if (to == from) {
      move_xmm(result, source);
    } else if (avx()) {
      cc_.emit(to == Type::F64 ? I::kIdVcvtss2sd : I::kIdVcvtsd2ss, result, source, source);
    } else {
      move_xmm(result, source);
      cc_.emit(to == Type::F64 ? I::kIdCvtss2sd : I::kIdCvtsd2ss, result, result);
    }
  } else if (is_float(to)) {
    conv_int_to_float(result_xmm(op), gp(operand), to, from);
  } else if (is_float(from)) {
    conv_float_to_int(result_gp(op), xmm(operand), to, from);
  } else {
    conv_int_to_int(result_gp(op), gp(operand), to, from);
  }
}

// ---- halves -----------------------------------------------------------------------------------------------------
namespace {
float round_half(float value) { return half_to_f32(f32_to_half(value)); }
int64_t to_half(float value) { return f32_to_half(value); }
float from_half(int64_t half) { return half_to_f32(static_cast<uint16_t>(half)); }
constexpr int kNearestEven = 0;
}  // namespace

void Emitter::emit_FromHalf(const Op& op) {
  if (!options_.features.f16c) return call(op, reinterpret_cast<const void*>(&from_half), "f(l)");
  Gp from = gp(op.operands[0]);
  Xmm to = result_xmm(op);
  cc_.vmovd(to, from.r32());
  cc_.vcvtph2ps(to, to);
}

void Emitter::emit_ToHalf(const Op& op) {
  if (!options_.features.f16c) return call(op, reinterpret_cast<const void*>(&to_half), "l(f)");
  Xmm half = temp_xmm(Type::F32);
  Gp to = result_gp(op);
  cc_.vcvtps2ph(half, xmm(op.operands[0]), Imm(kNearestEven));
  cc_.vmovd(to.r32(), half);
  cc_.movzx(to.r32(), to.r16());
}

void Emitter::emit_RoundHalf(const Op& op) {
  if (!options_.features.f16c) return call(op, reinterpret_cast<const void*>(&round_half), "f(f)");
  Xmm to = result_xmm(op);
  cc_.vcvtps2ph(to, xmm(op.operands[0]), Imm(kNearestEven));
  cc_.vcvtph2ps(to, to);
}

void Emitter::conv_int_to_int(const Gp& to, const Gp& from, Type to_type, Type from_type) {
  if (wide(to_type)) {
    if (wide(from_type)) move_gp(to, from);
    else if (is_signed(from_type)) cc_.movsxd(to, from.r32());
    else if (to.id() != from.id()) cc_.mov(to.r32(), from.r32());
    return;
  }
  switch (to_type) {
    case Type::I8: cc_.movsx(to.r32(), from.r8()); break;
    case Type::U8: cc_.movzx(to.r32(), from.r8()); break;
    case Type::I16: cc_.movsx(to.r32(), from.r16()); break;
    case Type::U16: cc_.movzx(to.r32(), from.r16()); break;
    default:
      if (wide(from_type) || to.id() != from.id()) cc_.mov(to.r32(), from.r32());
      break;
  }
}

void Emitter::conv_int_to_float(const Xmm& to, const Gp& from, Type to_type, Type from_type) {
  if (from_type == Type::U64) {
    conv_u64_to_float(to, from, to_type);
    return;
  }
  // u32 is zero-extended in its register: the 64-bit signed conversion is exact for it.
  Gp source = wide(from_type) || from_type == Type::U32 ? Gp(from.r64()) : Gp(from.r32());
  zero_xmm(to);
  InstId id = pick({I::kIdVcvtsi2sd, I::kIdCvtsi2sd, I::kIdVcvtsi2ss, I::kIdCvtsi2ss}, to_type);
  if (avx()) cc_.emit(id, to, to, source);
  else cc_.emit(id, to, source);
}

// Above 2^63: half of it with the lost bit kept sticky converts with the same rounding, then doubles exactly.
void Emitter::conv_u64_to_float(const Xmm& to, const Gp& from, Type to_type) {
  Label large = new_label(), done = new_label();
  cc_.test(from, from);
  jump_if(CondCode::kS, large);
  conv_int_to_float(to, from, to_type, Type::I64);
  bind_always(done);
  cold_.push_back([this, to, from, to_type, large, done] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(large);
    Gp half = temp_gp(), lost = temp_gp();
    cc_.mov(half, from);
    cc_.mov(lost.r32(), from.r32());
    cc_.shr(half, Imm(1));
    cc_.and_(lost.r32(), Imm(1));
    cc_.or_(half, lost);
    conv_int_to_float(to, half, to_type, Type::I64);
    float_binary({I::kIdVaddsd, I::kIdAddsd, I::kIdVaddss, I::kIdAddss}, to_type, to, to, to);
    jump(done);
  });
}

void Emitter::conv_float_to_int(const Gp& to, const Xmm& from, Type to_type, Type from_type) {
  if (to_type == Type::U64) {
    conv_float_to_u64(to, from, from_type);
    return;
  }
  Gp target = wide(to_type) || to_type == Type::U32 ? Gp(to.r64()) : Gp(to.r32());
  cc_.emit(pick({I::kIdVcvttsd2si, I::kIdCvttsd2si, I::kIdVcvttss2si, I::kIdCvttss2si}, from_type), target, from);
}

void Emitter::conv_float_to_u64(const Gp& to, const Xmm& from, Type from_type) {
  int64_t two63 = from_type == Type::F64 ? INT64_C(0x43E0000000000000) : INT64_C(0x5F000000);
  Label large = new_label(), done = new_label();
  compare_floats(from_type, from, float_const(from_type, two63));
  jump_if(CondCode::kAE, large);
  conv_float_to_int(to, from, Type::I64, from_type);
  bind_always(done);
  cold_.push_back([this, to, from, from_type, two63, large, done] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(large);
    Xmm rest = temp_xmm(from_type);
    float_binary({I::kIdVsubsd, I::kIdSubsd, I::kIdVsubss, I::kIdSubss}, from_type, rest, from, float_const(from_type, two63));
    conv_float_to_int(to, rest, Type::I64, from_type);
    Gp top = temp_gp();
    load_const(top, INT64_MIN, false);
    cc_.xor_(to, top);
    jump(done);
  });
}

}  // namespace hotloop::codegen
