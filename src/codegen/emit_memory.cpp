// Array headers, loads and stores. Needs emitter.h, ir/activation.h (header offsets).
#include <cassert>

#include "codegen/emitter.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

namespace {
uint32_t log2_of(uint32_t scale) { return scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0; }
}  // namespace

void Emitter::emit_ArrData(const Op& op) { cc_.mov(result_gp(op), x86::qword_ptr(gp(op.operands[0]), kArrayDataOffset)); }

void Emitter::emit_ArrDim(const Op& op) {
  Gp to = result_gp(op), dims = temp_gp();
  cc_.mov(dims, x86::qword_ptr(gp(op.operands[0]), kArrayDimsOffset));
  cc_.mov(to, x86::qword_ptr(dims, static_cast<int32_t>(8 * op.imm)));
}

void Emitter::emit_ArrStride(const Op& op) {
  Gp to = result_gp(op), strides = temp_gp();
  cc_.mov(strides, x86::qword_ptr(gp(op.operands[0]), kArrayStridesOffset));
  cc_.mov(to, x86::qword_ptr(strides, static_cast<int32_t>(8 * op.imm)));
}

void Emitter::emit_PtrAdd(const Op& op) {
  Gp to = result_gp(op);
  if (is_const(op.operands[0])) {
    Gp base = gp(op.operands[0]);
    int_binary(I::kIdAdd, to, base, gp_operand(op.operands[1]), true);
    return;
  }
  Gp base = gp(op.operands[0]);
  Operand offset = gp_operand(op.operands[1]);
  if (to.id() == base.id()) cc_.emit(I::kIdAdd, to, offset);
  else if (offset.isImm()) cc_.lea(to, x86::ptr(base, offset.as<Imm>().valueAs<int32_t>()));
  else cc_.lea(to, x86::ptr(base, offset.as<Gp>()));
}

// [p + l * scale + disp] of a load or store.
Mem Emitter::address(const Op& op) {
  Gp base = gp(op.operands[0]);
  auto scale = op.access == kNone ? 1 : op.access;
  int64_t disp = op.imm;
  ValueId index = op.operands[1];
  if (is_const(index)) {
    disp += const_bits(index) * static_cast<int64_t>(scale);
    if (disp == static_cast<int32_t>(disp)) return x86::ptr(base, static_cast<int32_t>(disp));
    Gp far = temp_gp();
    load_const(far, disp, true);
    return x86::ptr(base, far);
  }
  if (disp == static_cast<int32_t>(disp)) return x86::ptr(base, gp(index), log2_of(scale), static_cast<int32_t>(disp));
  Gp far = temp_gp();
  load_const(far, disp, true);
  cc_.add(far, base);
  return x86::ptr(far, gp(index), log2_of(scale));
}

void Emitter::load(const Op& op, const Mem& from) {
  switch (op.type) {
    case Type::F64: cc_.emit(avx() ? I::kIdVmovsd : I::kIdMovsd, result_xmm(op), from); break;
    case Type::F32: cc_.emit(avx() ? I::kIdVmovss : I::kIdMovss, result_xmm(op), from); break;
    case Type::I1: {
      Mem byte = from;
      byte.setSize(1);
      cc_.cmp(byte, Imm(0));
      set_flags(result_gp(op), {CondCode::kNE, Flags::Parity::kIgnore});
      break;
    }
    case Type::I8: { Mem m = from; m.setSize(1); cc_.movsx(result_gp(op).r32(), m); break; }
    case Type::U8: { Mem m = from; m.setSize(1); cc_.movzx(result_gp(op).r32(), m); break; }
    case Type::I16: { Mem m = from; m.setSize(2); cc_.movsx(result_gp(op).r32(), m); break; }
    case Type::U16: { Mem m = from; m.setSize(2); cc_.movzx(result_gp(op).r32(), m); break; }
    default: cc_.mov(sized(result_gp(op), op.type), from); break;
  }
}

void Emitter::emit_Load(const Op& op) { load(op, address(op)); }

void Emitter::store(Type type, ValueId value, const Mem& to) {
  if (is_float(type)) {
    cc_.emit(pick({I::kIdVmovsd, I::kIdMovsd, I::kIdVmovss, I::kIdMovss}, type), to, xmm(value));
    return;
  }
  Mem sized_to = to;
  sized_to.setSize(static_cast<uint32_t>(type_size(type)));
  Operand operand = gp_operand(value);
  if (operand.isImm()) {
    int64_t bits = operand.as<Imm>().value();
    if (type_size(type) == 1) bits = static_cast<int8_t>(bits);
    if (type_size(type) == 2) bits = static_cast<int16_t>(bits);
    cc_.mov(sized_to, Imm(bits));
    return;
  }
  Gp reg = operand.as<Gp>();
  switch (type_size(type)) {
    case 1: cc_.mov(sized_to, reg.r8()); break;
    case 2: cc_.mov(sized_to, reg.r16()); break;
    case 4: cc_.mov(sized_to, reg.r32()); break;
    default: cc_.mov(sized_to, reg.r64()); break;
  }
}

void Emitter::emit_Store(const Op& op) { store(op.type, op.operands[2], address(op)); }

// Address of array element [i, j, ...]: operands of `op` from first_index on are the indices.
Mem Emitter::element_address(const Op& op, size_t first_index) {
  const ArrayType& array_type = f_.array_types[op.access];
  int item = element_size(array_type.elem);
  int32_t part = static_cast<int32_t>(op.imm) * type_size(op.type);
  Gp array = gp(op.operands[0]);
  Gp base = temp_gp();
  cc_.mov(base, x86::qword_ptr(array, kArrayDataOffset));
  Gp strides;
  ValueId unit = kNoValue;
  for (size_t axis = 0; axis < array_type.strides.size(); ++axis) {
    ValueId index = op.operands[first_index + axis];
    Stride kind = array_type.strides[axis];
    if (kind == Stride::kZero) continue;
    if (kind == Stride::kItem && item <= 8 && unit == kNoValue) {
      unit = index;
      continue;
    }
    Gp offset = temp_gp();
    move_gp(offset, gp(index));
    if (kind == Stride::kItem) {
      cc_.imul(offset, offset, Imm(item));
    } else {
      if (!strides.isValid()) {
        strides = temp_gp();
        cc_.mov(strides, x86::qword_ptr(array, kArrayStridesOffset));
      }
      cc_.imul(offset, x86::qword_ptr(strides, static_cast<int32_t>(8 * axis)));
    }
    cc_.add(base, offset);
  }
  if (unit == kNoValue) return x86::ptr(base, part);
  if (is_const(unit)) {
    int64_t disp = 0;  // of an index that no array has, in code that is never reached, it may not fit
    const bool fits = !__builtin_mul_overflow(const_bits(unit), int64_t{item}, &disp) && !__builtin_add_overflow(disp, int64_t{part}, &disp);
    if (fits && disp == static_cast<int32_t>(disp)) return x86::ptr(base, static_cast<int32_t>(disp));
  }
  return x86::ptr(base, gp(unit), log2_of(static_cast<uint32_t>(item)), part);
}

void Emitter::emit_ALoad(const Op& op) { load(op, element_address(op, 1)); }
void Emitter::emit_AStore(const Op& op) { store(op.type, op.operands[1], element_address(op, 2)); }

}  // namespace hotloop::codegen
