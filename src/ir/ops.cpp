// The rows of ops.def as an array, and look-up by text. Needs ops.def. Promises: as in ops.h.
#include "ir/ops.h"


namespace hotloop::ir {
namespace {

constexpr OpInfo kOps[] = {
#define HL_OP(name, text, operands, result, effects, fp, doc) {text, operands, (result)[0], effects, FpRule::fp, doc},
#include "ir/ops.def"
#undef HL_OP
};

}  // namespace

const OpInfo& op_info(OpCode code) { return kOps[static_cast<size_t>(code)]; }

bool op_from_text(std::string_view text, OpCode* out) {
  for (size_t k = 0; k < static_cast<size_t>(kOpCount); ++k) {
    if (kOps[k].text == text) {
      *out = static_cast<OpCode>(k);
      return true;
    }
  }
  return false;
}

Attribute attribute_of(OpCode code) {
  switch (code) {
    case OpCode::Const: return Attribute::kBits;
    case OpCode::Call: return Attribute::kHelper;
    case OpCode::ArrDim:
    case OpCode::ArrStride: return Attribute::kAxis;
    case OpCode::AsArray:
    case OpCode::ALoad:
    case OpCode::AStore: return Attribute::kArrayType;
    case OpCode::Object:
    case OpCode::AsType:
    case OpCode::Droppable: return Attribute::kObject;
    case OpCode::Box: return Attribute::kPyKind;
    case OpCode::ObjectCall: return Attribute::kObjectCall;
    case OpCode::Unbox:
    case OpCode::Made:
    case OpCode::NextItem:
    case OpCode::ListSet:
    case OpCode::ListAppend: return Attribute::kNumber;
    case OpCode::Load:
    case OpCode::Store: return Attribute::kAddress;
    case OpCode::Guard:
    case OpCode::FCheck:
    case OpCode::Exit: return Attribute::kReason;
    default: return Attribute::kNone;
  }
}

Type letter_type(char letter, Type op_type) {
  switch (letter) {
    case 'T': return op_type;
    case 'b': return Type::I1;
    case 'l': return Type::I64;
    case 'p': return Type::Ptr;
    default: return Type::None;
  }
}

bool has_type_suffix(OpCode code) {
  const OpInfo& info = op_info(code);
  return info.result == 'T' || info.operands.find('T') != std::string_view::npos;
}

}  // namespace hotloop::ir
