// Float arithmetic and calls. Needs emitter.h. Promises: one rounding per op, never contracted; operands in source order, so that NaNs
// propagate as the hardware does for the same C expression; no instruction waits for the old contents of its result register.
#include <cmath>

#include "codegen/emitter.h"
#include "codegen/preserving_call.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

InstId Emitter::pick(const FloatInst& inst, Type type) const {
  if (type == Type::F64) return avx() ? inst.avx64 : inst.sse64;
  return avx() ? inst.avx32 : inst.sse32;
}

// Without AVX `to` is not b's register, unless it is a's, too.
void Emitter::float_binary(const FloatInst& inst, Type type, const Xmm& to, const Xmm& a, const Operand& b) {
  InstId id = pick(inst, type);
  if (avx()) {
    cc_.emit(id, to, a, b);
    return;
  }
  move_xmm(to, a);
  cc_.emit(id, to, b);
}

void Emitter::float_arith(const Op& op, const FloatInst& inst) {
  Xmm left = xmm(op.operands[0]);
  float_binary(inst, op.type, result_xmm(op), left, xmm_operand(op.operands[1]));
}

void Emitter::float_logic(InstId avx_inst, InstId sse_inst, const Xmm& to, const Xmm& a, const Operand& b) {
  if (avx()) {
    cc_.emit(avx_inst, to, a, b);
  } else {
    move_xmm(to, a);
    cc_.emit(sse_inst, to, b);
  }
}

void Emitter::emit_Div(const Op& op) {
  float_arith(op, {I::kIdVdivsd, I::kIdDivsd, I::kIdVdivss, I::kIdDivss});
}

void Emitter::emit_Sqrt(const Op& op) {
  Xmm to = result_xmm(op), from = xmm(op.operands[0]);
  InstId id = pick({I::kIdVsqrtsd, I::kIdSqrtsd, I::kIdVsqrtss, I::kIdSqrtss}, op.type);
  if (avx()) {
    cc_.emit(id, to, from, from);
  } else {
    move_xmm(to, from);
    cc_.emit(id, to, to);
  }
}

void Emitter::emit_Copysign(const Op& op) {
  Xmm magnitude = temp_xmm(op.type), sign = temp_xmm(op.type);
  float_logic(I::kIdVandps, I::kIdAndps, magnitude, xmm(op.operands[0]), mask_const(op.type, false));
  float_logic(I::kIdVandps, I::kIdAndps, sign, xmm(op.operands[1]), mask_const(op.type, true));
  float_logic(I::kIdVorps, I::kIdOrps, result_xmm(op), magnitude, sign);
}

// mode: the rounding immediate of roundsd (1 down, 2 up, 3 towards zero, 0 nearest even), with 8 = no inexact flag.
void Emitter::round(const Op& op, int mode, const void* libm64, const void* libm32) {
  if (!options_.features.sse41) {
    bool is_double = op.type == Type::F64;
    call(op, is_double ? libm64 : libm32, is_double ? "d(d)" : "f(f)");
    return;
  }
  Xmm to = result_xmm(op), from = xmm(op.operands[0]);
  InstId id = pick({I::kIdVroundsd, I::kIdRoundsd, I::kIdVroundss, I::kIdRoundss}, op.type);
  if (avx()) {
    cc_.emit(id, to, from, from, Imm(mode | 8));
  } else {
    move_xmm(to, from);
    cc_.emit(id, to, to, Imm(mode | 8));
  }
}

namespace {
const void* address_of(double (*function)(double)) { return reinterpret_cast<const void*>(function); }
const void* address_of(float (*function)(float)) { return reinterpret_cast<const void*>(function); }
}  // namespace

void Emitter::emit_Floor(const Op& op) { round(op, 1, address_of(::floor), address_of(::floorf)); }
void Emitter::emit_Ceil(const Op& op) { round(op, 2, address_of(::ceil), address_of(::ceilf)); }
void Emitter::emit_Trunc(const Op& op) { round(op, 3, address_of(::trunc), address_of(::truncf)); }
void Emitter::emit_Rint(const Op& op) { round(op, 0, address_of(::rint), address_of(::rintf)); }

// ---- calls ------------------------------------------------------------------------------------------------------
namespace {
asmjit::TypeId abi_type(char letter) {
  switch (letter) {
    case 'd': return asmjit::TypeId::kFloat64;
    case 'f': return asmjit::TypeId::kFloat32;
    case 'b': return asmjit::TypeId::kUInt8;
    default: return asmjit::TypeId::kInt64;
  }
}
}  // namespace

// signature as in helpers.def: "d(dd)".
void Emitter::call(const Op& op, const void* address, const std::string& signature) {
  if (!address) {
    refuse("helper without an address: " + std::string(op.code == OpCode::Call ? helper_info(static_cast<HelperId>(op.imm)).text
                                                                              : op_info(op.code).text));
    return;
  }
  asmjit::FuncSignatureBuilder abi(asmjit::CallConvId::kHost);
  abi.setRet(abi_type(signature[0]));
  for (size_t k = 0; k < op.operands.size(); ++k) abi.addArg(abi_type(signature[k + 2]));
  const bool preserving = in_cold_ && op.code == OpCode::Call && static_cast<HelperId>(op.imm) == HelperId::PowF64;
  std::vector<Operand> arguments;
  for (ValueId operand : op.operands) {
    if (preserving) {
      // A copy: asmjit gives a value that is an argument itself no place of its own.
      arguments.push_back(cc_.newXmmSd());
      if (in_register(operand)) move_xmm(arguments.back().as<Xmm>(), xmm_place(operand));
      else load_float_const(arguments.back().as<Xmm>(), Type::F64, const_bits(operand), false);
    } else if (is_float(type_of(operand))) arguments.push_back(xmm(operand));
    else arguments.push_back(gp(operand));
  }
  asmjit::InvokeNode* node = nullptr;
  if (preserving) address = reinterpret_cast<const void*>(&hotloop_pow_preserving);
  if (cc_.addInvokeNode(&node, I::kIdCall, Imm(reinterpret_cast<uint64_t>(address)), abi) != asmjit::kErrorOk) return;
  if (preserving) {
    node->detail()._callConv.setPreservedRegs(asmjit::RegGroup::kGp, 0xFFFF);
    node->detail()._callConv.setPreservedRegs(asmjit::RegGroup::kVec, 0xFFFE);
  }
  for (size_t k = 0; k < arguments.size(); ++k) node->_setArg(k, 0, arguments[k]);
  if (is_float(op.type)) {
    node->setRet(0, result_xmm(op));
  } else {
    node->setRet(0, result_gp(op));
    if (op.type == Type::I1) cc_.movzx(result_gp(op).r32(), result_gp(op).r8());
  }
}

void Emitter::emit_Call(const Op& op) {
  auto id = static_cast<HelperId>(op.imm);
  call(op, helpers_.at(id), std::string(helper_info(id).signature));
}

void Emitter::float_helper(const Op& op, HelperId on64, HelperId on32) {
  HelperId id = op.type == Type::F64 ? on64 : on32;
  call(op, helpers_.at(id), std::string(helper_info(id).signature));
}

// ---- comparing --------------------------------------------------------------------------------------------------
void Emitter::compare_floats(Type type, const Xmm& a, const Operand& b) {
  cc_.emit(pick({I::kIdVucomisd, I::kIdUcomisd, I::kIdVucomiss, I::kIdUcomiss}, type), a, b);
}

void Emitter::self_difference(const Xmm& to, Type type, const Xmm& a) {
  float_binary({I::kIdVsubsd, I::kIdSubsd, I::kIdVsubss, I::kIdSubss}, type, to, a, a);
}

// AVX: a mask from the comparison picks by vblendv. Otherwise, and for conditions that are not one float comparison, a jump.
void Emitter::float_select(const Op& op) {
  Xmm to = result_xmm(op);
  ValueId condition = op.operands[0];
  const Op* compare_op = note(condition).mode == Mode::kFused ? note(condition).def : nullptr;
  bool float_compare = compare_op && compare_op->code != OpCode::IsFinite && compare_op->operands.size() == 2 &&
                       type_of(compare_op->operands[0]) == op.type;
  if (avx() && float_compare) {
    int predicate = 0;  // quiet, ordered except for ne
    switch (compare_op->code) {
      case OpCode::Eq: predicate = 0x00; break;
      case OpCode::Ne: predicate = 0x04; break;
      case OpCode::Lt: predicate = 0x11; break;
      case OpCode::Le: predicate = 0x12; break;
      case OpCode::Gt: predicate = 0x1E; break;
      default: predicate = 0x1D; break;
    }
    Xmm mask = temp_xmm(op.type);
    cc_.emit(op.type == Type::F64 ? I::kIdVcmpsd : I::kIdVcmpss, mask, xmm(compare_op->operands[0]), xmm_operand(compare_op->operands[1]),
             Imm(predicate));
    cc_.emit(op.type == Type::F64 ? I::kIdVblendvpd : I::kIdVblendvps, to, xmm(op.operands[2]), xmm(op.operands[1]), mask);
    return;
  }
  Label yes = new_label(), no = new_label(), done = new_label();
  branch(condition, yes, no);
  bind(yes);
  move_xmm(to, xmm(op.operands[1]));
  jump(done);
  bind(no);
  move_xmm(to, xmm(op.operands[2]));
  bind(done);
}

}  // namespace hotloop::codegen
