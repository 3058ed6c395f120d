// What a Function can say about itself: array types and objects (interned), values of a snapshot, its exits.
// Needs ir/ir.h. Promises: as in ir.h; the order of exits and of snapshot values depends on the Function alone.
#include "ir/ir.h"

#include <unordered_set>

namespace hotloop::ir {
namespace {

void collect_values(const SnapValue& value, std::unordered_set<ValueId>& seen, std::vector<ValueId>& out) {
  for (ValueId v : value.values) {
    if (seen.insert(v).second) out.push_back(v);
  }
  for (const SnapValue& child : value.children) collect_values(child, seen, out);
}

ExitReason reason_of(const Op& op) {
  switch (op.code) {
    case OpCode::Guard:
    case OpCode::FCheck:
    case OpCode::Exit: return static_cast<ExitReason>(op.imm);
    case OpCode::Bound: return ExitReason::Bounds;
    case OpCode::Poll: return ExitReason::Breaker;
    case OpCode::AsType:
    case OpCode::AsArray: return ExitReason::TypeChange;
    case OpCode::UnboxInt: return ExitReason::Overflow;
    case OpCode::Run:
    case OpCode::Droppable:
    case OpCode::Box:
    case OpCode::ListPut:
    case OpCode::ListAppend:
    case OpCode::ObjectCall: return ExitReason::Unsupported;
    default: return op.imm != 0 ? static_cast<ExitReason>(op.imm) : ExitReason::Overflow;  // checked arithmetic
  }
}

}  // namespace

ArrayTypeId Function::intern_array_type(const ArrayType& type) {
  for (size_t k = 0; k < array_types.size(); ++k) {
    if (array_types[k] == type) return static_cast<ArrayTypeId>(k);
  }
  array_types.push_back(type);
  return static_cast<ArrayTypeId>(array_types.size() - 1);
}

ObjectId Function::add_object(void* pointer, std::string text) {
  if (pointer != nullptr) {
    for (size_t k = 0; k < objects.size(); ++k) {
      if (objects[k].pointer == pointer && !objects[k].weak) return static_cast<ObjectId>(k);
    }
  }
  objects.push_back(ObjectRef{pointer, std::move(text)});
  return static_cast<ObjectId>(objects.size() - 1);
}

ObjectId Function::add_weak_object(void* pointer, std::string text) {
  for (size_t k = 0; k < objects.size(); ++k) {
    if (objects[k].pointer == pointer && objects[k].weak) return static_cast<ObjectId>(k);
  }
  objects.push_back(ObjectRef{pointer, std::move(text), true});
  return static_cast<ObjectId>(objects.size() - 1);
}

std::vector<ValueId> snapshot_values(const Snapshot& snapshot) {
  std::unordered_set<ValueId> seen;
  std::vector<ValueId> out;
  for (const FrameState& frame : snapshot.frames) {
    for (const SlotValue& slot : frame.slots) collect_values(slot.value, seen, out);
  }
  return out;
}

std::vector<ExitInfo> enumerate_exits(Function& function) {
  std::vector<ExitInfo> exits;
  for_each_op(*function.body, [&](Op& op, Block&) {
    op.exit_id = kNone;
    if (!op.has(kExits)) return;
    op.exit_id = static_cast<uint32_t>(exits.size());
    exits.push_back(ExitInfo{&op, op.snapshot, reason_of(op)});
  });
  return exits;
}

}  // namespace hotloop::ir
