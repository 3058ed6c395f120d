// What the passes share to change a function: who defines a value, pending replacements, one constant per bit pattern.
//
// Needs ir/ir.h. Promises: finish() leaves every operand and snapshot free of replaced values and places new constants at the top of the
// region's body; until then find() gives what a value has become. A replacement must dominate what it replaces.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace hotloop::optimizer {

using ir::Block;
using ir::Function;
using ir::Op;
using ir::OpCode;
using ir::Type;
using ir::ValueId;
using ir::kNoValue;

class Editor {
 public:
  explicit Editor(Function& function);

  Function& function() const { return function_; }

  // The op that defines `v` (results of structured ops too), or null for block parameters.
  Op* def(ValueId v) const { return v < defs_.size() ? defs_[v] : nullptr; }
  // The op that owns the block that `v` is a parameter of, or null.
  Op* param_owner(ValueId v) const { return v < owners_.size() ? owners_[v] : nullptr; }
  bool is_code(ValueId v, OpCode code) const { return def(v) != nullptr && def(v)->code == code; }
  bool is_const(ValueId v) const { return is_code(v, OpCode::Const); }
  std::optional<int64_t> const_bits(ValueId v) const {
    return is_const(v) ? std::optional<int64_t>(defs_[v]->imm) : std::nullopt;
  }

  ValueId find(ValueId v);
  void replace(ValueId from, ValueId to);
  bool changed() const { return changed_; }
  void set_changed() { changed_ = true; }

  // A constant; `bits` in the form of ops.def. Dominates everything.
  ValueId constant(Type type, int64_t bits);
  ValueId const_i64(int64_t v) { return constant(Type::I64, v); }
  ValueId const_i1(bool v) { return constant(Type::I1, v ? 1 : 0); }

  // A new op that is in no block yet; its result is made by the row's rule.
  Op* make(OpCode code, Type type, std::span<const ValueId> operands, int32_t line);
  Op* make(OpCode code, Type type, std::initializer_list<ValueId> operands, int32_t line) {
    return make(code, type, std::span<const ValueId>(operands.begin(), operands.size()), line);
  }

  // A new result of a structured op, a new parameter of its block.
  ValueId make_result(Op& op, Type type);
  ValueId make_param(Op& op, Block& block, Type type);

  void resolve_operands(Op& op) {
    for (ValueId& v : op.operands) v = find(v);
  }

  // Places constants, applies replacements. True when anything changed since construction.
  bool finish();

 private:
  void scan(Block& block, Op* owner);
  void define(ValueId v, Op* op);

  Function& function_;
  std::vector<Op*> defs_;
  std::vector<Op*> owners_;
  std::vector<ValueId> to_;  // to_[v] != v: replaced
  struct ConstKey {
    Type type;
    int64_t bits;
    bool operator==(const ConstKey&) const = default;
  };
  struct ConstHash {
    size_t operator()(const ConstKey& k) const {
      return static_cast<size_t>(k.bits) * 0x9E3779B97F4A7C15u ^ static_cast<size_t>(k.type);
    }
  };
  std::unordered_map<ConstKey, ValueId, ConstHash> constants_;  // those at the top of the body
  std::vector<Op*> new_constants_;
  bool changed_ = false;
  bool replaced_ = false;
};

// May run although the original program would not reach it: no exit, no memory, no precondition that could be broken.
bool is_speculatable(const Editor& editor, const Op& op);
// Same value whenever it runs with the same operands (pure ops and array header reads).
inline bool is_movable(const Op& op) { return (ir::op_info(op.code).effects & ~ir::kReadsHeader) == 0; }
inline bool reads_shape(const Op& op) { return ir::op_info(op.code).effects == ir::kReadsShape; }  // movable within what does not write it

// True when the block or a block inside it has an op with one of these effects.
bool has_effect_inside(const Block& block, uint16_t effects);
inline bool ends_in_exit(const Block& block) { return !block.ops.empty() && block.ops.back()->code == OpCode::Exit; }

// Parameters before the carried values, operands before the initial values.
inline size_t first_carried_param(const Op& loop) { return loop.code == OpCode::For ? 1 : 0; }
inline size_t first_carried_operand(const Op& loop) { return loop.code == OpCode::For ? 3 : 0; }
inline bool is_loop(const Op& op) { return op.code == OpCode::For || op.code == OpCode::Loop; }
inline size_t carried_count(const Op& loop) { return loop.operands.size() - first_carried_operand(loop); }

// Bits of an integer of this type in the form of a Const's imm.
int64_t normalize_bits(Type type, int64_t bits);

}  // namespace hotloop::optimizer
