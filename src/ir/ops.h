// The op table (ops.def) as an enum and a row accessor.
// Needs ir/types.h. Promises: op_info(code) is the row of ops.def; effects are asked here, never inferred from names.
#pragma once
#include <cstdint>
#include <string_view>

#include "ir/types.h"

namespace hotloop::ir {

enum Effects : uint16_t {
  kPure = 0,              // may be moved, merged, dropped
  kReadsHeader = 1 << 0,  // reads array object fields: constant inside a region, so movable like a pure op
  kReadsArray = 1 << 1,   // reads array memory: ordered against kWritesArray
  kWritesArray = 1 << 2,  // writes array memory
  kExits = 1 << 3,        // names a snapshot and may leave native code
  kPoll = 1 << 4,         // must stay where it is
  kTerminator = 1 << 5,   // last op of a block, only there
  kStructured = 1 << 6,   // owns blocks
  kReadsObject = 1 << 7,  // reads items of lists and tuples: ordered against kWritesObject
  kWritesObject = 1 << 8, // changes items of lists
  kReadsShape = 1 << 9,   // reads length or place of a list's items: ordered against kWritesShape, else movable like a pure op
  kWritesShape = 1 << 10, // changes them
  kRunsPython = 1 << 12,  // a barrier for everything
  kAllocates = 1 << 11,   // makes a new object each time: not merged
};
// An exit to a state before such an op may not be taken behind it.
inline constexpr uint16_t kWrites = kWritesArray | kWritesObject | kWritesShape;
inline constexpr uint16_t kStays = kWrites | kAllocates;  // nothing that may leave moves across it

enum class FpRule : uint8_t { none, silent };

enum class OpCode : uint8_t {
#define HL_OP(name, text, operands, result, effects, fp, doc) name,
#include "ir/ops.def"
#undef HL_OP
};
inline constexpr int kOpCount = 0
#define HL_OP(name, text, operands, result, effects, fp, doc) +1
#include "ir/ops.def"
#undef HL_OP
    ;

struct OpInfo {
  std::string_view text;
  std::string_view operands;  // one letter per operand, see ops.def
  char result;                // T, b, l, p, -, *
  uint16_t effects;
  FpRule fp;
  std::string_view doc;
};
const OpInfo& op_info(OpCode code);
bool op_from_text(std::string_view text, OpCode* out);

// What an op's imm and access fields mean.
enum class Attribute : uint8_t { kNone, kBits, kHelper, kAxis, kArrayType, kAddress, kReason, kObject, kPyKind, kNumber, kObjectCall };
Attribute attribute_of(OpCode code);

// The machine type that a letter of the operands or result column stands for; None for '*' and '-'.
Type letter_type(char letter, Type op_type);
// Whether the op's type is part of its text (`add.f64`): its row mentions T.
bool has_type_suffix(OpCode code);

inline bool is_checked_arithmetic(OpCode code) { return code >= OpCode::AddO && code <= OpCode::ShlO; }
inline bool has_effect(OpCode code, Effects effect) { return (op_info(code).effects & effect) != 0; }

}  // namespace hotloop::ir
