// Builder: appends ops. Needs ir/builder.h. Promises: as in builder.h.
#include "ir/builder.h"

#include <bit>
#include <cassert>

namespace hotloop::ir {
namespace {

// The operand column of ops.def against these values. The verifier says more, with text; this stops a wrong caller where it stands.
[[maybe_unused]] bool operands_fit(const Function& function, OpCode code, Type type, std::span<const ValueId> operands) {
  const std::string_view letters = op_info(code).operands;
  size_t k = 0;
  for (char letter : letters) {
    if (letter == '*') return true;
    if (k == operands.size() || operands[k] >= function.value_types.size()) return false;
    if (function.type_of(operands[k]) != letter_type(letter, type)) return false;
    ++k;
  }
  return k == operands.size();
}

}  // namespace

Op* Builder::append(OpCode code, Type type, std::span<const ValueId> operands) {
  assert(block_ != nullptr && operands_fit(function_, code, type, operands));
  Op* op = function_.new_op(code, type);
  op->line = line_;
  op->operands.assign(operands.begin(), operands.end());
  const char result = op_info(code).result;
  if (result != '-' && result != '*') op->results.push_back(function_.new_value(letter_type(result, type)));
  block_->ops.push_back(op);
  return op;
}

ValueId Builder::const_bits(Type type, int64_t bits) {
  Op* op = append(OpCode::Const, type, {});
  op->imm = bits;
  return op->result();
}
ValueId Builder::const_f64(double v) { return const_bits(Type::F64, std::bit_cast<int64_t>(v)); }
ValueId Builder::const_f32(float v) { return const_bits(Type::F32, static_cast<int64_t>(std::bit_cast<uint32_t>(v))); }

ValueId Builder::unary(OpCode code, Type type, ValueId a) {
  const ValueId operands[] = {a};
  return append(code, type, operands)->result();
}
ValueId Builder::binary(OpCode code, Type type, ValueId a, ValueId b) {
  const ValueId operands[] = {a, b};
  return append(code, type, operands)->result();
}
ValueId Builder::checked(OpCode code, Type type, std::initializer_list<ValueId> operands, SnapshotId snapshot) {
  Op* op = append(code, type, {operands.begin(), operands.size()});
  op->snapshot = snapshot;
  return op->result();
}
ValueId Builder::select(Type type, ValueId c, ValueId a, ValueId b) {
  const ValueId operands[] = {c, a, b};
  return append(OpCode::Select, type, operands)->result();
}
ValueId Builder::conv(Type to, ValueId a) { return unary(OpCode::Conv, to, a); }

ValueId Builder::call(HelperId helper, std::initializer_list<ValueId> operands) {
  assert(static_cast<int>(operands.size()) == helper_argument_count(helper));
  Op* op = append(OpCode::Call, helper_result_type(helper), {operands.begin(), operands.size()});
  op->imm = static_cast<int64_t>(helper);
  return op->result();
}

ValueId Builder::arr_data(ValueId array) { return unary(OpCode::ArrData, Type::Ptr, array); }
ValueId Builder::arr_dim(ValueId array, int axis) {
  const ValueId operands[] = {array};
  Op* op = append(OpCode::ArrDim, Type::I64, operands);
  op->imm = axis;
  return op->result();
}
ValueId Builder::arr_stride(ValueId array, int axis) {
  const ValueId operands[] = {array};
  Op* op = append(OpCode::ArrStride, Type::I64, operands);
  op->imm = axis;
  return op->result();
}

ValueId Builder::aload(ArrayTypeId array_type, ValueId array, std::span<const ValueId> indices, int part) {
  const ArrayType& type = function_.array_types[array_type];
  assert(indices.size() == type.strides.size());
  std::vector<ValueId> operands{array};
  operands.insert(operands.end(), indices.begin(), indices.end());
  Op* op = append(OpCode::ALoad, element_type(type.elem), operands);
  op->access = array_type;
  op->imm = part;
  return op->result();
}
void Builder::astore(ArrayTypeId array_type, ValueId array, ValueId value, std::span<const ValueId> indices, int part) {
  const ArrayType& type = function_.array_types[array_type];
  assert(indices.size() == type.strides.size());
  std::vector<ValueId> operands{array, value};
  operands.insert(operands.end(), indices.begin(), indices.end());
  Op* op = append(OpCode::AStore, element_type(type.elem), operands);
  op->access = array_type;
  op->imm = part;
}

ValueId Builder::object(ObjectId object) {
  Op* op = append(OpCode::Object, Type::None, {});
  op->access = object;
  return op->result();
}
ValueId Builder::as_type(ValueId p, ObjectId type, SnapshotId snapshot) {
  const ValueId v = checked(OpCode::AsType, Type::None, {p}, snapshot);
  block_->ops.back()->access = type;
  return v;
}
ValueId Builder::as_array(ValueId p, ArrayTypeId type, SnapshotId snapshot) {
  const ValueId v = checked(OpCode::AsArray, Type::None, {p}, snapshot);
  block_->ops.back()->access = type;
  return v;
}
ValueId Builder::unbox(Type type, ValueId p, int offset) {
  const ValueId v = unary(OpCode::Unbox, type, p);
  block_->ops.back()->imm = offset;
  return v;
}
ValueId Builder::unbox_int(ValueId p, SnapshotId snapshot, bool is_unsigned) {
  const ValueId v = checked(OpCode::UnboxInt, Type::None, {p}, snapshot);
  block_->ops.back()->imm = is_unsigned ? 1 : 0;
  return v;
}
void Builder::droppable(ValueId p, ObjectId expected_type, bool kept, SnapshotId snapshot) {
  const ValueId operands[] = {p};
  Op* op = append(OpCode::Droppable, Type::None, operands);
  op->access = expected_type;
  op->imm = kept ? 1 : 0;
  op->snapshot = snapshot;
}
ValueId Builder::box(PyKind kind, std::span<const ValueId> parts, SnapshotId snapshot) {
  Op* op = append(OpCode::Box, Type::None, parts);
  op->imm = static_cast<int64_t>(kind);
  op->snapshot = snapshot;
  return op->result();
}
void Builder::list_set(ValueId list, ValueId index, ValueId item, bool takes_over, bool drops_now) {
  const ValueId operands[] = {list, index, item};
  append(OpCode::ListSet, Type::None, operands)->imm = (takes_over ? 1 : 0) | (drops_now ? 2 : 0);
}
ValueId Builder::list_put(ValueId list, ValueId index, ValueId value, SnapshotId snapshot) {
  return checked(OpCode::ListPut, Type::F64, {list, index, value}, snapshot);
}
void Builder::list_append(ValueId list, ValueId item, bool takes_over, SnapshotId snapshot) {
  const ValueId operands[] = {list, item};
  Op* op = append(OpCode::ListAppend, Type::None, operands);
  op->imm = takes_over ? 1 : 0;
  op->snapshot = snapshot;
}

ValueId Builder::object_call(ObjectCallId id, std::span<const ValueId> operands, int64_t kinds, SnapshotId snapshot) {
  const char result = object_call_info(id).result;
  Op* op = append(OpCode::ObjectCall, result == 'd' ? Type::F64 : letter_type(result, Type::None), operands);
  op->access = static_cast<uint32_t>(id);
  op->imm = kinds;
  op->snapshot = snapshot;
  return op->result();
}

void Builder::run(SnapshotId snapshot) { append(OpCode::Run, Type::None, {})->snapshot = snapshot; }
ValueId Builder::next_item(ValueId iterator, bool unpacked) {
  const ValueId v = unary(OpCode::NextItem, Type::None, iterator);
  block_->ops.back()->imm = unpacked ? 1 : 0;
  return v;
}
ValueId Builder::made(size_t slot) {
  Op* op = append(OpCode::Made, Type::None, {});
  op->imm = static_cast<int64_t>(slot);
  return op->result();
}

void Builder::guard(ValueId condition, ExitReason reason, SnapshotId snapshot) {
  const ValueId operands[] = {condition};
  Op* op = append(OpCode::Guard, Type::None, operands);
  op->imm = static_cast<int64_t>(reason);
  op->snapshot = snapshot;
}
void Builder::fcheck(Type type, ValueId result, std::initializer_list<ValueId> operands, SnapshotId snapshot) {
  std::vector<ValueId> all{result};
  all.insert(all.end(), operands.begin(), operands.end());
  Op* op = append(OpCode::FCheck, type, all);
  op->imm = static_cast<int64_t>(ExitReason::FpWarning);
  op->snapshot = snapshot;
}
void Builder::poll(SnapshotId snapshot) { append(OpCode::Poll, Type::None, {})->snapshot = snapshot; }
void Builder::exit(ExitReason reason, SnapshotId snapshot) {
  Op* op = append(OpCode::Exit, Type::None, {});
  op->imm = static_cast<int64_t>(reason);
  op->snapshot = snapshot;
}
void Builder::yield(std::span<const ValueId> values) { append(OpCode::Yield, Type::None, values); }

Op* Builder::if_(ValueId condition, std::span<const Type> result_types) {
  const ValueId operands[] = {condition};
  Op* op = append(OpCode::If, Type::None, operands);
  op->blocks = {function_.new_block(), function_.new_block()};
  for (Type type : result_types) op->results.push_back(function_.new_value(type));
  return op;
}

Op* Builder::for_(ValueId lo, ValueId hi, ValueId step, std::span<const ValueId> initial, SnapshotId before) {
  std::vector<ValueId> operands{lo, hi, step};
  operands.insert(operands.end(), initial.begin(), initial.end());
  Op* op = append(OpCode::For, Type::None, operands);
  op->snapshot = before;
  Block* body = function_.new_block();
  op->blocks = {body};
  body->params.push_back(function_.new_value(Type::I64));
  for (ValueId v : initial) body->params.push_back(function_.new_value(function_.type_of(v)));
  for (ValueId v : initial) op->results.push_back(function_.new_value(function_.type_of(v)));
  return op;
}

Op* Builder::loop_(std::span<const ValueId> initial, SnapshotId before) {
  Op* op = append(OpCode::Loop, Type::None, initial);
  op->snapshot = before;
  Block* body = function_.new_block();
  op->blocks = {body};
  for (ValueId v : initial) body->params.push_back(function_.new_value(function_.type_of(v)));
  for (ValueId v : initial) op->results.push_back(function_.new_value(function_.type_of(v)));
  return op;
}

}  // namespace hotloop::ir
