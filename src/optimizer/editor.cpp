// Editor: definitions, replacements, constants. Needs optimizer/editor.h. Promises: as there.
#include "optimizer/editor.h"

namespace hotloop::optimizer {

using namespace ir;

Editor::Editor(Function& function) : function_(function) {
  const size_t count = function.value_types.size();
  defs_.assign(count, nullptr);
  owners_.assign(count, nullptr);
  to_.resize(count);
  for (size_t v = 0; v < count; ++v) to_[v] = static_cast<ValueId>(v);
  scan(*function.body, nullptr);
  for (Op* op : function.body->ops) {
    if (op->code != OpCode::Const) break;
    constants_.try_emplace(ConstKey{op->type, op->imm}, op->result());
  }
}

void Editor::scan(Block& block, Op* owner) {
  for (ValueId v : block.params) owners_[v] = owner;
  for (Op* op : block.ops) {
    for (ValueId v : op->results) defs_[v] = op;
    for (Block* inner : op->blocks) scan(*inner, op);
  }
}

void Editor::define(ValueId v, Op* op) {
  if (v >= defs_.size()) {
    const size_t old = to_.size();
    defs_.resize(v + 1, nullptr);
    owners_.resize(v + 1, nullptr);
    to_.resize(v + 1);
    for (size_t k = old; k <= v; ++k) to_[k] = static_cast<ValueId>(k);
  }
  defs_[v] = op;
}

ValueId Editor::find(ValueId v) {
  if (v >= to_.size()) return v;
  ValueId root = v;
  while (to_[root] != root) root = to_[root];
  while (to_[v] != root) {
    const ValueId next = to_[v];
    to_[v] = root;
    v = next;
  }
  return root;
}

void Editor::replace(ValueId from, ValueId to) {
  from = find(from);
  to = find(to);
  if (from == to) return;
  to_[from] = to;
  changed_ = replaced_ = true;
}

ValueId Editor::constant(Type type, int64_t bits) {
  auto [place, fresh] = constants_.try_emplace(ConstKey{type, bits}, kNoValue);
  if (fresh) {
    Op* op = make(OpCode::Const, type, {}, 0);
    op->imm = bits;
    new_constants_.push_back(op);
    place->second = op->result();
  }
  return place->second;
}

Op* Editor::make(OpCode code, Type type, std::span<const ValueId> operands, int32_t line) {
  Op* op = function_.new_op(code, type);
  op->line = line;
  op->operands.assign(operands.begin(), operands.end());
  const char rule = op_info(code).result;
  Type result = Type::None;
  if (rule == 'T') result = type;
  if (rule == 'b') result = Type::I1;
  if (rule == 'l') result = Type::I64;
  if (rule == 'p') result = Type::Ptr;
  if (result != Type::None) {
    op->results.push_back(function_.new_value(result));
    define(op->result(), op);
  }
  return op;
}

ValueId Editor::make_result(Op& op, Type type) {
  const ValueId v = function_.new_value(type);
  define(v, &op);
  op.results.push_back(v);
  return v;
}

ValueId Editor::make_param(Op& op, Block& block, Type type) {
  const ValueId v = function_.new_value(type);
  define(v, nullptr);
  owners_[v] = &op;
  block.params.push_back(v);
  return v;
}

namespace {

void rewrite(SnapValue& value, Editor& editor) {
  for (ValueId& v : value.values) v = editor.find(v);
  for (SnapValue& child : value.children) rewrite(child, editor);
}

void rewrite(Block& block, Editor& editor) {
  for (Op* op : block.ops) {
    for (ValueId& v : op->operands) v = editor.find(v);
    for (Block* inner : op->blocks) rewrite(*inner, editor);
  }
}

}  // namespace

bool Editor::finish() {
  if (!new_constants_.empty()) {
    auto& ops = function_.body->ops;
    ops.insert(ops.begin(), new_constants_.begin(), new_constants_.end());
    new_constants_.clear();
    changed_ = true;
  }
  if (replaced_) {
    rewrite(*function_.body, *this);
    for (Snapshot& snapshot : function_.snapshots) {
      for (FrameState& frame : snapshot.frames) {
        for (SlotValue& slot : frame.slots) rewrite(slot.value, *this);
      }
    }
  }
  return changed_;
}

bool is_speculatable(const Editor& editor, const Op& op) {
  if (!is_movable(op)) return false;
  switch (op.code) {
    case OpCode::FloorDiv:
    case OpCode::FloorMod: {
      const auto divisor = editor.const_bits(op.operands[1]);
      if (!divisor) return false;
      return is_float(op.type) || (*divisor != 0 && (op.code == OpCode::FloorMod || *divisor != -1 || is_unsigned(op.type)));
    }
    case OpCode::Shl:
    case OpCode::Shr: {
      const auto count = editor.const_bits(op.operands[1]);
      return count && *count >= 0 && *count < type_size(op.type) * 8;
    }
    case OpCode::Conv: {
      const Type from = editor.function().type_of(op.operands[0]);
      return !(is_float(from) && is_int(op.type));
    }
    case OpCode::Call: return false;  // not wrong, but not cheap, and some have preconditions
    default: return true;
  }
}

bool has_effect_inside(const Block& block, uint16_t effects) {
  for (const Op* op : block.ops) {
    if ((op_info(op->code).effects & effects) != 0) return true;
    for (const Block* inner : op->blocks) {
      if (has_effect_inside(*inner, effects)) return true;
    }
  }
  return false;
}

int64_t normalize_bits(Type type, int64_t bits) {
  switch (type) {
    case Type::I1: return bits & 1;
    case Type::I8: return static_cast<int8_t>(bits);
    case Type::I16: return static_cast<int16_t>(bits);
    case Type::I32: return static_cast<int32_t>(bits);
    case Type::U8: return static_cast<uint8_t>(bits);
    case Type::U16: return static_cast<uint16_t>(bits);
    case Type::U32: return static_cast<uint32_t>(bits);
    case Type::F32: return static_cast<int64_t>(static_cast<uint32_t>(bits));
    default: return bits;
  }
}

}  // namespace hotloop::optimizer
