// Appends ops to a block: the one way in which the recorder, the passes and the tests make IR.
// Needs ir/ir.h. Promises: operand types are checked by assertion against ops.def; results get fresh values; nothing is folded here.
#pragma once
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace hotloop::ir {

class Builder {
 public:
  explicit Builder(Function& function) : function_(function) {}
  Function& function() { return function_; }

  Block* block() const { return block_; }
  void set_block(Block* block) { block_ = block; }
  void set_line(int line) { line_ = line; }
  int line() const { return line_; }

  // The general form: appends an op with these operands; creates its result by the row's result rule ('*' results are not created here).
  Op* append(OpCode code, Type type, std::span<const ValueId> operands);

  ValueId const_bits(Type type, int64_t bits);
  ValueId const_i64(int64_t v) { return const_bits(Type::I64, v); }
  ValueId const_i1(bool v) { return const_bits(Type::I1, v ? 1 : 0); }
  ValueId const_f64(double v);
  ValueId const_f32(float v);

  ValueId unary(OpCode code, Type type, ValueId a);
  ValueId binary(OpCode code, Type type, ValueId a, ValueId b);                                  // arithmetic, bits, comparisons
  ValueId checked(OpCode code, Type type, std::initializer_list<ValueId> operands, SnapshotId snapshot);  // addo.. shlo, bound
  ValueId select(Type type, ValueId c, ValueId a, ValueId b);
  ValueId conv(Type to, ValueId a);
  ValueId call(HelperId helper, std::initializer_list<ValueId> operands);
  ValueId arr_data(ValueId array);
  ValueId arr_dim(ValueId array, int axis);
  ValueId arr_stride(ValueId array, int axis);
  ValueId aload(ArrayTypeId array_type, ValueId array, std::span<const ValueId> indices, int part = 0);
  void astore(ArrayTypeId array_type, ValueId array, ValueId value, std::span<const ValueId> indices, int part = 0);
  // Objects (see ops.def).
  ValueId object(ObjectId object);
  ValueId as_type(ValueId p, ObjectId type, SnapshotId snapshot);
  ValueId as_array(ValueId p, ArrayTypeId type, SnapshotId snapshot);
  ValueId unbox(Type type, ValueId p, int offset);
  ValueId unbox_int(ValueId p, SnapshotId snapshot, bool is_unsigned = false);
  ValueId list_len(ValueId list) { return unary(OpCode::ListLen, Type::None, list); }
  ValueId list_item(ValueId list, ValueId index) { return binary(OpCode::ListItem, Type::None, list, index); }
  ValueId tuple_item(ValueId tuple, ValueId index) { return binary(OpCode::TupleItem, Type::None, tuple, index); }
  void droppable(ValueId p, ObjectId expected_type, bool kept, SnapshotId snapshot);
  ValueId box(PyKind kind, std::span<const ValueId> parts, SnapshotId snapshot);
  void list_set(ValueId list, ValueId index, ValueId item, bool takes_over, bool drops_now);
  ValueId list_put(ValueId list, ValueId index, ValueId value, SnapshotId snapshot);
  void flush(std::span<const ValueId> retained) { append(OpCode::Flush, Type::None, retained); }
  // An object_call of these operands; kinds and flags as in object_calls.def.
  ValueId object_call(ObjectCallId id, std::span<const ValueId> operands, int64_t kinds, SnapshotId snapshot);
  void list_append(ValueId list, ValueId item, bool takes_over, SnapshotId snapshot);

  void run(SnapshotId snapshot);
  ValueId next_item(ValueId iterator, bool unpacked);
  ValueId made(size_t slot);

  void guard(ValueId condition, ExitReason reason, SnapshotId snapshot);
  void fcheck(Type type, ValueId result, std::initializer_list<ValueId> operands, SnapshotId snapshot);
  void poll(SnapshotId snapshot);
  void exit(ExitReason reason, SnapshotId snapshot);
  void yield(std::span<const ValueId> values);

  // Structured ops: the op is appended to the current block with empty blocks; the caller fills them (set_block) and returns to the
  // parent. Results are created from `result_types`; for `for` and `loop` from the types of the initial values.
  Op* if_(ValueId condition, std::span<const Type> result_types);
  Op* for_(ValueId lo, ValueId hi, ValueId step, std::span<const ValueId> initial, SnapshotId before);  // body params: i, carried...
  Op* loop_(std::span<const ValueId> initial, SnapshotId before);                                      // body params: carried...

 private:
  Function& function_;
  Block* block_ = nullptr;
  int line_ = 0;
};

}  // namespace hotloop::ir
