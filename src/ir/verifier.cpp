// The verifier.
//
// Promises (each has a rejecting test in tests/ir/verify_*.ir or tests/unit/ir_verifier_test.cpp):
//  V1  Every block belongs to one op (or is the body), every op stands in one block: the blocks form a tree.
//  V2  A value is defined once and used only after its definition in the same block or in an enclosed one.
//  V3  Operands and results of every op have the number and the types of its row in ops.def, and the op's type is one the op exists for.
//  V4  conv, call, const, arr_dim, aload, astore, load, store: their type pairs, signatures, extended bits, axes, array types, writability, scales;
//      box: its kind and parts; object, as_type, droppable: the object.
//  V5  A block ends in one terminator and has none elsewhere; the body's is exit; yield stands in if, for and loop only.
//  V6  yield gives an if its results, a for or loop `cont` (i1) and its carried values, with their types.
//  V7  Every op that may exit names a snapshot and a reason that exist.
//  V8  The values of a snapshot dominate each exit through it and each for / loop that has it as its state before; they have the
//      machine types of their Python kind, the number of its parts, and children only where the kind has them.
//  V9  Frames can be resumed: units not negative, stack items below the depth, none missing above the depth at entry (inlined: none at
//      all), no slot twice, code and function of inlined frames known, callers with the unit to return to.
//  V10 poll stands at the head of the body of a for or loop: only pure ops come before it.
//  V11 The state before a loop is not left through across a store: no exit through it with a store between the exit and the loop, none inside or
//      behind a loop that stores (T36).
//  V12 Inputs are the body's parameters in order; tables and entry guards name existing objects.
//  V13 The snapshot of a run, and of nothing else, has a return unit; it has one frame; made stands right behind a run or another made and names a
//      result or a slot of the run's snapshot. Every exit gives
//      each variable that the snapshot of some run gives: behind a run the frame no longer holds what it held at entry.
//
// Gaps (not checked): REQUIRES of ops.def that depend on values (divisors, steps, shift counts, index ranges, conversions in range); that a snapshot
// describes the truth; other effects between a snapshot's resume point and its guards than V11; that hoisted loads are not stale.
#include "ir/verifier.h"

#include <algorithm>
#include <unordered_set>

#include "ir/snapshot_check.h"
#include "ir/text.h"

namespace hotloop::ir {
namespace {

enum class Visibility : uint8_t { kUndefined, kVisible, kOutOfScope };

std::string type_text(Type type) { return std::string(type_info(type).text); }
std::string value_text(ValueId v) { return v == kNoValue ? "%none" : "%" + std::to_string(v); }

// V3: for which types an op exists.
bool type_allowed(OpCode code, Type type) {
  const bool is_i1 = type == Type::I1;
  switch (code) {
    case OpCode::Add: case OpCode::Sub: case OpCode::Mul: case OpCode::Neg: case OpCode::Abs:
    case OpCode::FloorDiv: case OpCode::FloorMod:
      return is_int(type) || is_float(type);
    case OpCode::MulHi:
      return type == Type::I64 || type == Type::U64;
    case OpCode::Div: case OpCode::Sqrt: case OpCode::Floor: case OpCode::Ceil: case OpCode::Trunc:
    case OpCode::Rint: case OpCode::Copysign: case OpCode::IsFinite: case OpCode::FCheck:
      return is_float(type);
    case OpCode::AddO: case OpCode::SubO: case OpCode::MulO: case OpCode::NegO: case OpCode::ShlO:
    case OpCode::Shl: case OpCode::Shr:
      return is_int(type);
    case OpCode::And: case OpCode::Or: case OpCode::Xor: case OpCode::Not:
      return is_int(type) || is_i1;
    case OpCode::Eq: case OpCode::Ne:
      return type != Type::None;
    case OpCode::Lt: case OpCode::Le: case OpCode::Gt: case OpCode::Ge: case OpCode::Conv:
      return is_int(type) || is_float(type) || is_i1;
    case OpCode::ListPut: return type == Type::F64;
    case OpCode::FromHalf: case OpCode::RoundHalf:
      return type == Type::F32;
    case OpCode::ToHalf:
      return type == Type::U16;
    default:
      return !has_type_suffix(code) || type != Type::None;
  }
}

// V4: constants are extended to 64 bits by their type.
bool bits_fit(Type type, int64_t imm) {
  switch (type) {
    case Type::I1: return imm == 0 || imm == 1;
    case Type::I8: return imm == static_cast<int8_t>(imm);
    case Type::I16: return imm == static_cast<int16_t>(imm);
    case Type::I32: return imm == static_cast<int32_t>(imm);
    case Type::U8: return imm == static_cast<uint8_t>(imm);
    case Type::U16: return imm == static_cast<uint16_t>(imm);
    case Type::U32:
    case Type::F32: return imm == static_cast<uint32_t>(imm);
    default: return true;
  }
}

class Verifier {
 public:
  explicit Verifier(const Function& f) : f_(f) {}

  std::string run() {
    if (f_.body == nullptr) return "the region has no body";
    message_ = check_tables(f_);
    if (!message_.empty()) return message_;
    visible_.assign(f_.value_types.size(), Visibility::kUndefined);
    snapshot_values_.resize(f_.snapshots.size());
    snapshot_checked_.assign(f_.snapshots.size(), false);
    for (const Input& input : f_.inputs) {
      for (uint32_t k = 0; k < input.parts(); ++k) param_array_type_.push_back(input.kind == PyKind::Array ? input.array_type : kNone);
    }
    check_block(*f_.body, nullptr);
    if (message_.empty()) check_before_snapshots(*f_.body);
    if (message_.empty()) message_ = check_runs(f_);
    return message_;
  }

 private:
  bool ok() const { return message_.empty(); }
  void fail(const Op& op, const std::string& what) {
    if (ok()) message_ = print(f_, op) + ": " + what;
  }
  void fail(const Op* op, const std::string& what) {
    if (op != nullptr) return fail(*op, what);
    if (ok()) message_ = "body: " + what;
  }

  void define(ValueId v, const Op* op, std::vector<ValueId>& scope) {
    if (v >= visible_.size()) return fail(op, value_text(v) + " is not in the value table");
    if (visible_[v] != Visibility::kUndefined) return fail(op, value_text(v) + " is defined twice");
    visible_[v] = Visibility::kVisible;
    scope.push_back(v);
  }
  bool check_use(const Op& op, ValueId v) {
    if (v >= visible_.size() || visible_[v] == Visibility::kUndefined) {
      fail(op, value_text(v) + " is used before its definition");
    } else if (visible_[v] == Visibility::kOutOfScope) {
      fail(op, value_text(v) + " is defined in a block that does not enclose this use");
    }
    return ok();
  }

  void check_block(const Block& block, const Op* owner);
  void check_op(const Op& op, const Block& block, size_t position, const Op* owner);
  void check_types(const Op& op);
  void check_attribute(const Op& op);
  void check_object_call(const Op& op);
  void check_array_access(const Op& op);
  void check_box(const Op& op);
  void check_conv(const Op& op);
  void check_call(const Op& op);
  void check_structured(const Op& op);
  void check_yield(const Op& op, const Op* owner);
  void check_exit(const Op& op);
  void check_uses_of_snapshot(const Op& op, SnapshotId id);
  void check_poll(const Op& op, const Block& block, size_t position, const Op* owner);
  void check_before_snapshots(const Block& block);
  void check_before_snapshot(const Block& block, size_t loop_position);

  const Function& f_;
  std::string message_;
  std::vector<Visibility> visible_;
  std::unordered_set<const Block*> seen_blocks_;
  std::unordered_set<const Op*> seen_ops_;
  std::vector<std::vector<ValueId>> snapshot_values_;
  std::vector<bool> snapshot_checked_;
  std::vector<ArrayTypeId> param_array_type_;  // of the body's parameters
  int depth_ = 0;
};

void Verifier::check_block(const Block& block, const Op* owner) {
  if (depth_ > 1000) return fail(owner, "nested too deeply");
  if (!seen_blocks_.insert(&block).second) return fail(owner, "a block stands in two places");
  ++depth_;
  std::vector<ValueId> scope;
  for (ValueId v : block.params) define(v, owner, scope);
  for (size_t k = 0; ok() && k < block.ops.size(); ++k) {
    const Op& op = *block.ops[k];
    if (!seen_ops_.insert(&op).second) return fail(op, "the op stands in two places");
    check_op(op, block, k, owner);
    for (ValueId v : op.results) define(v, &op, scope);
  }
  if (ok() && (block.ops.empty() || !block.ops.back()->has(kTerminator))) fail(owner, "a block does not end in yield or exit");
  for (ValueId v : scope) visible_[v] = Visibility::kOutOfScope;
  --depth_;
}

void Verifier::check_op(const Op& op, const Block& block, size_t position, const Op* owner) {
  for (ValueId v : op.operands) {
    if (!check_use(op, v)) return;
  }
  check_types(op);
  if (ok()) check_attribute(op);
  if (ok() && op.has(kTerminator) && position + 1 != block.ops.size()) fail(op, "a terminator stands in the middle of a block");
  if (ok() && op.code == OpCode::Yield) check_yield(op, owner);
  if (ok() && op.has(kExits)) check_exit(op);
  if (ok() && op.code == OpCode::Poll) check_poll(op, block, position, owner);
  if (ok()) check_structured(op);
}

void Verifier::check_types(const Op& op) {
  const OpInfo& info = op_info(op.code);
  if (!type_allowed(op.code, op.type)) return fail(op, "does not exist for " + type_text(op.type));
  size_t k = 0;
  bool open = false;
  for (char letter : info.operands) {
    if (letter == '*') {
      open = true;
      break;
    }
    if (k == op.operands.size()) return fail(op, "too few operands");
    const Type expected = letter_type(letter, op.type);
    const Type found = f_.type_of(op.operands[k]);
    if (found != expected) return fail(op, value_text(op.operands[k]) + " is " + type_text(found) + ", not " + type_text(expected));
    ++k;
  }
  if (!open && k != op.operands.size()) return fail(op, "too many operands");
  if (info.result == '*') return;
  if (op.results.size() != (info.result == '-' ? 0u : 1u)) return fail(op, "wrong number of results");
  if (info.result == '-') return;
  const ValueId result = op.results[0];
  if (result >= f_.value_types.size() || f_.type_of(result) != letter_type(info.result, op.type)) fail(op, "the result has another type");
}

void Verifier::check_attribute(const Op& op) {
  switch (attribute_of(op.code)) {
    case Attribute::kBits:
      if (!bits_fit(op.type, op.imm)) fail(op, "the constant is not extended from " + type_text(op.type));
      break;
    case Attribute::kHelper: check_call(op); break;
    case Attribute::kAxis:
      if (op.imm < 0 || op.imm >= 64) fail(op, "there is no such axis");
      break;
    case Attribute::kArrayType: check_array_access(op); break;
    case Attribute::kAddress:
      if (op.access != 1 && op.access != 2 && op.access != 4 && op.access != 8) fail(op, "scale must be 1, 2, 4 or 8");
      if (op.imm != static_cast<int32_t>(op.imm)) fail(op, "the displacement must fit 32 bits");
      break;
    case Attribute::kObject:
      if (op.access >= f_.objects.size()) fail(op, "unknown object");
      break;
    case Attribute::kPyKind: check_box(op); break;
    case Attribute::kNumber:
      if (op.code == OpCode::Unbox && (op.imm < 0 || op.imm > 64)) fail(op, "there is no such field");
      if (op.code == OpCode::Made && op.imm < 0) fail(op, "there is no such slot");
      if (op.code != OpCode::Unbox && op.code != OpCode::Made && (op.imm < 0 || op.imm > 3)) fail(op, "there is no such flag");
      break;
    case Attribute::kObjectCall: check_object_call(op); break;
    case Attribute::kReason:
      if (op.imm < 0 || op.imm >= kExitReasonCount) fail(op, "there is no such exit reason");
      break;
    case Attribute::kNone:
      if (is_checked_arithmetic(op.code) && (op.imm < 0 || op.imm >= kExitReasonCount)) fail(op, "there is no such exit reason");
      break;
  }
  if (op.code == OpCode::Flush) {
    if (op.operands.size() > kMaxFlushCells) return fail(op, "too many operands");
    for (ValueId v : op.operands) {
      if (f_.type_of(v) != Type::Ptr) return fail(op, value_text(v) + " is " + type_text(f_.type_of(v)) + ", not ptr");
    }
  }
  if (op.code == OpCode::Conv) check_conv(op);
  if (op.code == OpCode::FromHalf || op.code == OpCode::ToHalf) {
    const Type from = op.code == OpCode::FromHalf ? Type::U16 : Type::F32;
    if (op.operands.size() != 1 || f_.type_of(op.operands[0]) != from) return fail(op, "needs one operand, " + type_text(from));
  }
  if (op.code == OpCode::FCheck) {
    if (op.operands.size() > 3) return fail(op, "too many operands");
    for (ValueId v : op.operands) {
      if (f_.type_of(v) != op.type) return fail(op, value_text(v) + " is " + type_text(f_.type_of(v)) + ", not " + type_text(op.type));
    }
  }
}

// The operands are what the row of object_calls.def says, the values of the kinds that imm gives.
void Verifier::check_object_call(const Op& op) {
  if (op.access >= static_cast<uint32_t>(kObjectCallCount)) return fail(op, "there is no such call on objects");
  if (op.imm < 0 || op.operands.size() > kMaxObjectCallCells) return fail(op, "too many operands, or a wrong kind");
  const ObjectCallInfo& info = object_call_info(static_cast<ObjectCallId>(op.access));
  size_t next = 0;
  int values = 0;
  auto take = [&](Type type) {
    if (next >= op.operands.size() || f_.type_of(op.operands[next]) != type) return false;
    ++next;
    return true;
  };
  auto take_value = [&] {
    const auto kind = static_cast<PyKind>(op.imm >> (kObjectCallKindBits * values++) & ((1 << kObjectCallKindBits) - 1));
    if (kind == PyKind::Object) return take(Type::Ptr);
    const PyKindInfo& row = pykind_info(kind);
    for (int k = 0; k < row.parts; ++k) {
      if (row.part_type == Type::Ptr || !take(row.part_type)) return false;
    }
    return row.parts > 0;
  };
  bool good = true;
  for (size_t k = 0; good && k < info.operands.size(); ++k) {
    const char letter = info.operands[k];
    if (letter == 'v' && k + 1 < info.operands.size() && info.operands[k + 1] == '*') {
      while (good && next < op.operands.size()) good = take_value();
      break;
    }
    good = letter == 'v' ? take_value() : take(letter_type(letter, Type::None));
  }
  if (!good || next != op.operands.size()) return fail(op, "the operands are not those of " + std::string(info.text));
  const Type result = info.result == 'd' ? Type::F64 : letter_type(info.result, Type::None);
  if (op.type != result) fail(op, "the result is " + type_text(result));
}

void Verifier::check_array_access(const Op& op) {
  if (op.access >= f_.array_types.size()) return fail(op, "unknown array type");
  if (op.code == OpCode::AsArray) return;
  const ArrayType& type = f_.array_types[op.access];
  const int parts = pykind_info(type.elem).parts;
  if (parts == 0 || element_type(type.elem) != op.type) return fail(op, "the array's elements are not " + type_text(op.type));
  if (op.imm < 0 || op.imm >= parts) return fail(op, "the elements have " + std::to_string(parts) + " parts");
  if (op.code == OpCode::AStore && !type.writable) return fail(op, "the array type is not writable");
  const size_t first = op.code == OpCode::AStore ? 2 : 1;
  if (op.operands.size() != first + type.strides.size()) return fail(op, "needs one index per axis");
  for (size_t k = first; k < op.operands.size(); ++k) {
    if (f_.type_of(op.operands[k]) != Type::I64) return fail(op, value_text(op.operands[k]) + " is not an i64 index");
  }
  const std::vector<ValueId>& params = f_.body->params;
  const auto param = std::find(params.begin(), params.end(), op.operands[0]);
  if (param == params.end()) return;
  const ArrayTypeId known = param_array_type_[static_cast<size_t>(param - params.begin())];
  if (known != op.access) fail(op, known == kNone ? "the input is not an array" : "the array came in with another array type");
}

void Verifier::check_box(const Op& op) {
  const auto pykind = static_cast<PyKind>(op.imm);
  const bool wide = pykind == PyKind::IntU64 || pykind == PyKind::Int128 || pykind == PyKind::IntU128;
  if (op.imm < 0 || (pykind > PyKind::NpComplex128 && !wide)) return fail(op, "a value of this kind cannot be boxed");
  const PyKindInfo& kind = pykind_info(pykind);
  if (kind.parts == 0 || op.operands.size() != static_cast<size_t>(kind.parts)) return fail(op, "does not have the kind's parts");
  for (ValueId v : op.operands) {
    if (f_.type_of(v) != kind.part_type) return fail(op, value_text(v) + " is not a part of the kind");
  }
}

void Verifier::check_conv(const Op& op) {
  if (op.operands.size() != 1) return fail(op, "needs one operand");
  const Type from = f_.type_of(op.operands[0]);
  if (from == Type::Ptr || from == Type::None || from == op.type) fail(op, "does not convert " + type_text(from) + " to " + type_text(op.type));
}

void Verifier::check_call(const Op& op) {
  if (op.imm < 0 || op.imm >= kHelperCount) return fail(op, "there is no such helper");
  const auto helper = static_cast<HelperId>(op.imm);
  const bool count_fits = op.operands.size() == static_cast<size_t>(helper_argument_count(helper));
  if (!count_fits || op.type != helper_result_type(helper)) return fail(op, "does not fit the helper's signature");
  for (size_t k = 0; k < op.operands.size(); ++k) {
    if (f_.type_of(op.operands[k]) != helper_argument_type(helper, static_cast<int>(k))) return fail(op, "does not fit the helper's signature");
  }
}

void Verifier::check_structured(const Op& op) {
  const size_t blocks = op.code == OpCode::If ? 2 : op.has(kStructured) ? 1 : 0;
  if (op.blocks.size() != blocks) return fail(op, "needs " + std::to_string(blocks) + " blocks");
  if (blocks == 0) return;
  if (op.code == OpCode::If) {
    for (const Block* block : op.blocks) {
      if (!block->params.empty()) return fail(op, "the blocks of an if have no parameters");
    }
  } else {
    const size_t first_operand = op.code == OpCode::For ? 3 : 0;
    const size_t first_param = op.code == OpCode::For ? 1 : 0;
    const std::vector<ValueId>& params = op.blocks[0]->params;
    const size_t carried = op.operands.size() - first_operand;
    if (params.size() != first_param + carried || op.results.size() != carried) return fail(op, "carried values, parameters and results differ in number");
    auto type_is = [&](ValueId v, Type type) { return v < f_.value_types.size() && f_.type_of(v) == type; };
    if (first_param == 1 && !type_is(params[0], Type::I64)) return fail(op, "the loop variable is not i64");
    for (size_t k = 0; k < carried; ++k) {
      const Type type = f_.type_of(op.operands[first_operand + k]);
      if (!type_is(params[first_param + k], type) || !type_is(op.results[k], type)) return fail(op, "carried value " + std::to_string(k) + " changes its type");
    }
    if (op.snapshot != kNoSnapshot) check_uses_of_snapshot(op, op.snapshot);
  }
  for (const Block* block : op.blocks) {
    if (ok()) check_block(*block, &op);
  }
}

void Verifier::check_yield(const Op& op, const Op* owner) {
  if (owner == nullptr) return fail(op, "the body must end in exit");
  const size_t first = owner->code == OpCode::If ? 0 : 1;
  if (op.operands.size() != first + owner->results.size()) {
    return fail(op, "gives " + std::to_string(op.operands.size()) + " values, needs " + std::to_string(first + owner->results.size()));
  }
  if (first == 1 && f_.type_of(op.operands[0]) != Type::I1) return fail(op, "the first value of a loop's yield must be i1");
  for (size_t k = 0; k < owner->results.size(); ++k) {
    const ValueId result = owner->results[k];
    if (result >= f_.value_types.size() || f_.type_of(op.operands[first + k]) != f_.type_of(result)) {
      return fail(op, "value " + std::to_string(first + k) + " has another type than the result");
    }
  }
}

void Verifier::check_exit(const Op& op) {
  if (op.snapshot == kNoSnapshot) return fail(op, "may exit but has no snapshot");
  check_uses_of_snapshot(op, op.snapshot);
}

void Verifier::check_uses_of_snapshot(const Op& op, SnapshotId id) {
  if (id >= f_.snapshots.size()) return fail(op, "there is no snapshot " + std::to_string(id));
  if (!snapshot_checked_[id]) {
    const std::string bad = check_snapshot(f_, f_.snapshots[id]);
    if (!bad.empty()) return fail(op, "snapshot " + std::to_string(id) + ": " + bad);
    snapshot_values_[id] = snapshot_values(f_.snapshots[id]);
    snapshot_checked_[id] = true;
  }
  for (ValueId v : snapshot_values_[id]) {
    if (v >= visible_.size() || visible_[v] != Visibility::kVisible) {
      return fail(op, "snapshot " + std::to_string(id) + ": " + value_text(v) + " does not dominate the exit");
    }
  }
}

void Verifier::check_poll(const Op& op, const Block& block, size_t position, const Op* owner) {
  const bool in_loop = owner != nullptr && owner->code != OpCode::If;
  const bool at_head = std::all_of(block.ops.begin(), block.ops.begin() + static_cast<std::ptrdiff_t>(position),
                                   [](const Op* before) { return (op_info(before->code).effects & ~kReadsHeader) == kPure; });
  if (!in_loop || !at_head) fail(op, "does not stand at the head of a loop");
}

bool contains_store(const Op& op) {
  if ((op_info(op.code).effects & kWrites) != 0) return true;
  for (const Block* block : op.blocks) {
    for (const Op* inner : block->ops) {
      if (contains_store(*inner)) return true;
    }
  }
  return false;
}

// The first exit through the snapshot in this op or below it. A poll of `own_loop` may share the snapshot: state that lies in memory alone
// is the same before every trip.
const Op* exit_through(const Op& op, SnapshotId id, const Op* own_loop) {
  if (op.has(kExits) && op.snapshot == id) return &op;
  for (const Block* block : op.blocks) {
    for (const Op* inner : block->ops) {
      if (&op == own_loop && op.code == OpCode::Loop && inner->code == OpCode::Poll) continue;
      if (const Op* found = exit_through(*inner, id, own_loop)) return found;
    }
  }
  return nullptr;
}

void Verifier::check_before_snapshots(const Block& block) {
  for (size_t k = 0; ok() && k < block.ops.size(); ++k) {
    const Op& op = *block.ops[k];
    if ((op.code == OpCode::For || op.code == OpCode::Loop) && op.snapshot != kNoSnapshot) check_before_snapshot(block, k);
    for (const Block* inner : op.blocks) check_before_snapshots(*inner);
  }
}

void Verifier::check_before_snapshot(const Block& block, size_t loop_position) {
  const Op& loop = *block.ops[loop_position];
  bool store_between = false;
  for (size_t k = loop_position; k-- > 0;) {
    const Op& op = *block.ops[k];
    store_between = store_between || contains_store(op);
    const Op* exit = store_between ? exit_through(op, loop.snapshot, nullptr) : nullptr;
    if (exit != nullptr) return fail(*exit, "leaves to the state before a loop, with a store in between");
  }
  store_between = false;
  for (size_t k = loop_position; k < block.ops.size(); ++k) {
    const Op& op = *block.ops[k];
    store_between = store_between || contains_store(op);
    const Op* exit = store_between ? exit_through(op, loop.snapshot, &loop) : nullptr;
    if (exit != nullptr) return fail(*exit, "leaves to the state before a loop, behind a store");
  }
}

}  // namespace

std::string verify(const Function& function) { return Verifier(function).run(); }

}  // namespace hotloop::ir
