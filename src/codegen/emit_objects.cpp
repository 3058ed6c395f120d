// Objects: type checks, unboxing, items of lists and tuples, boxing, stores into lists. Needs emitter.h, ir/activation.h (field offsets, functions).
// Promises: results are written after the last read of an operand; what is unusual is out of line.
#include <algorithm>

#include "codegen/emitter.h"

namespace hotloop::codegen {
using namespace ir;
namespace x86 = asmjit::x86;
namespace I = x86::Inst;

namespace {
Mem field(const Gp& object, int offset) { return x86::qword_ptr(object, offset); }
Mem digit(const Gp& object, int k) { return x86::dword_ptr(object, kLongDigitsOffset + 4 * k); }
}  // namespace

// A call of one of ObjectFunctions. `result`: none when it is not valid.
void Emitter::call_object(const void* address, std::initializer_list<Operand> arguments, const Gp& result) {
  if (address == nullptr) return refuse("there are no functions on objects");
  asmjit::FuncSignatureBuilder abi(asmjit::CallConvId::kHost);
  abi.setRet(result.isValid() ? asmjit::TypeId::kInt64 : asmjit::TypeId::kVoid);
  for (const Operand& argument : arguments) {
    abi.addArg(argument.isReg() && argument.as<asmjit::BaseReg>().isGroup(asmjit::RegGroup::kVec) ? asmjit::TypeId::kFloat64 : asmjit::TypeId::kInt64);
  }
  asmjit::InvokeNode* node = nullptr;
  if (cc_.addInvokeNode(&node, I::kIdCall, Imm(reinterpret_cast<uint64_t>(address)), abi) != asmjit::kErrorOk) return;
  size_t k = 0;
  for (const Operand& argument : arguments) node->_setArg(k++, 0, argument);
  if (result.isValid()) node->setRet(0, result);
}

void Emitter::emit_Object(const Op& op) { load_const(result_gp(op), reinterpret_cast<int64_t>(f_.objects[op.access].pointer), true); }

// Leaves to `otherwise` unless the object has exactly this type.
void Emitter::check_type(const Gp& object, ObjectId type, Label otherwise) {
  Gp expected = temp_gp();
  load_const(expected, reinterpret_cast<int64_t>(f_.objects[type].pointer), false);
  cc_.cmp(field(object, kObjectTypeOffset), expected);
  jump_if(CondCode::kNE, otherwise);
}

void Emitter::emit_AsType(const Op& op) {
  Label exit = exit_label(op);
  Gp object = gp(op.operands[0]);
  check_type(object, op.access, exit);
  move_gp(result_gp(op), object);
}

void Emitter::emit_AsArray(const Op& op) {
  Label exit = exit_label(op);
  Gp object = gp(op.operands[0]), matches = temp_gp(), type = temp_gp();
  load_const(type, reinterpret_cast<int64_t>(&f_.array_types[op.access]), false);
  call_object(reinterpret_cast<const void*>(helpers_.objects.array_matches), {object, type}, matches);
  cc_.test(matches, matches);
  jump_if(CondCode::kE, exit);
  move_gp(result_gp(op), object);
}

void Emitter::emit_Unbox(const Op& op) { load(op, x86::ptr(gp(op.operands[0]), static_cast<int32_t>(op.imm))); }

// One digit on the usual way; two, and three of which the last has three bits, out of line.
void Emitter::emit_UnboxInt(const Op& op) {
  Label exit = exit_label(op), long_one = new_label(), done = new_label();
  Gp object = gp(op.operands[0]), to = result_gp(op), tag = temp_gp(), value = temp_gp();
  cc_.mov(tag, field(object, kLongTagOffset));
  cc_.mov(value.r32(), digit(object, 0));
  cc_.cmp(tag, Imm(2 << 3));
  jump_if(CondCode::kAE, long_one);
  const bool is_unsigned = op.imm != 0;
  if (is_unsigned) {
    cc_.test(tag.r32(), Imm(2));
    jump_if(CondCode::kNE, exit);
  } else {
    Gp sign = temp_gp();
    cc_.and_(tag.r32(), Imm(3));
    cc_.mov(sign.r32(), Imm(1));
    cc_.sub(sign, tag);
    cc_.imul(value, sign);
  }
  bind_always(done);
  move_gp(to, value);
  cold_.push_back([this, exit, long_one, done, object, tag, value, is_unsigned] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(long_one);
    Label two = new_label(), signless = new_label();
    Gp more = temp_gp();
    cc_.cmp(tag, Imm(4 << 3));
    jump_if(CondCode::kAE, exit);
    cc_.cmp(tag, Imm(3 << 3));
    jump_if(CondCode::kB, two);
    cc_.mov(more.r32(), digit(object, 2));
    cc_.cmp(more.r32(), Imm(is_unsigned ? 16 : 8));
    jump_if(CondCode::kAE, exit);
    cc_.shl(more, Imm(2 * kLongDigitBits));
    cc_.or_(value, more);
    bind(two);
    cc_.mov(more.r32(), digit(object, 1));
    cc_.shl(more, Imm(kLongDigitBits));
    cc_.or_(value, more);
    cc_.test(tag.r32(), Imm(2));
    jump_if(CondCode::kE, signless);
    if (is_unsigned) jump(exit);
    else cc_.neg(value);
    bind(signless);
    jump(done);
  });
}

void Emitter::emit_ListLen(const Op& op) { cc_.mov(result_gp(op), field(gp(op.operands[0]), kVarSizeOffset)); }

// The address of item `index`, `base` bytes behind `items`.
Mem Emitter::item_address(const Gp& items, ValueId index, int base) {
  if (is_const(index)) {
    const int64_t offset = const_bits(index) * 8 + base;
    if (offset == static_cast<int32_t>(offset)) return x86::qword_ptr(items, static_cast<int32_t>(offset));
  }
  return x86::qword_ptr(items, gp(index), 3, base);
}

void Emitter::emit_ListItem(const Op& op) {
  Gp items = temp_gp();
  cc_.mov(items, field(gp(op.operands[0]), kListItemsOffset));
  cc_.mov(result_gp(op), item_address(items, op.operands[1], 0));
}

void Emitter::emit_TupleItem(const Op& op) { cc_.mov(result_gp(op), item_address(gp(op.operands[0]), op.operands[1], kTupleItemsOffset)); }

void Emitter::emit_Droppable(const Op& op) {
  Label exit = exit_label(op), other = new_label(), good = new_label();
  Gp object = gp(op.operands[0]);
  check_type(object, op.access, other);
  bind_always(good);
  cold_.push_back([this, exit, other, good, object] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(other);
    Gp closed = temp_gp();
    call_object(reinterpret_cast<const void*>(helpers_.objects.closed), {object}, closed);
    cc_.test(closed, closed);
    jump_if(CondCode::kNE, good);
    jump(exit);
  });
  if (op.imm == 0) return;
  Label full = new_label(), room = new_label();
  Gp base = activation(), next = temp_gp();
  cc_.mov(next, x86::qword_ptr(base, offsetof(Activation, keep_next)));
  cc_.cmp(next, x86::qword_ptr(base, offsetof(Activation, keep_end)));
  jump_if(CondCode::kE, full);
  bind_always(room);
  cold_.push_back([this, exit, full, room] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(full);
    Gp made = temp_gp();
    call_object(reinterpret_cast<const void*>(helpers_.objects.room), {activation()}, made);
    cc_.test(made, made);
    jump_if(CondCode::kNE, room);
    jump(exit);
  });
}

void Emitter::emit_Box(const Op& op) {
  Label exit = exit_label(op);
  Gp made = temp_gp();
  const auto kind = static_cast<PyKind>(op.imm);
  if (kind == PyKind::Float) {
    call_object(reinterpret_cast<const void*>(helpers_.objects.box_float), {xmm(op.operands[0])}, made);
  } else if (kind == PyKind::Int) {
    call_object(reinterpret_cast<const void*>(helpers_.objects.box_int), {gp(op.operands[0])}, made);
  } else {
    if (!parts_slot_.hasBase()) parts_slot_ = cc_.newStack(16, 8);
    for (size_t k = 0; k < op.operands.size(); ++k) {
      Mem cell = parts_slot_;
      cell.addOffset(static_cast<int64_t>(8 * k));
      cell.setSize(8);
      store_cell(cell, op.operands[k]);
    }
    Gp parts = temp_gp(), number = temp_gp();
    cc_.lea(parts, parts_slot_);
    load_const(number, op.imm, false);
    call_object(reinterpret_cast<const void*>(helpers_.objects.box), {number, parts}, made);
  }
  cc_.test(made, made);
  jump_if(CondCode::kE, exit);
  move_gp(result_gp(op), made);
}

// A value as an 8-byte cell of ir/activation.h.
void Emitter::store_cell(const Mem& cell, ValueId value) {
  const Type type = type_of(value);
  if (type == Type::F64) {
    cc_.emit(avx() ? I::kIdVmovsd : I::kIdMovsd, cell, xmm(value));
  } else if (type == Type::F32) {
    Mem low = cell, high = cell;
    low.setSize(4);
    high.setSize(4);
    high.addOffset(4);
    cc_.emit(avx() ? I::kIdVmovss : I::kIdMovss, low, xmm(value));
    cc_.mov(high, Imm(0));
  } else if (is_signed(type) && !wide(type)) {
    Gp wide_value = temp_gp();
    cc_.movsxd(wide_value, gp(value).r32());
    cc_.mov(cell, wide_value);
  } else {
    cc_.mov(cell, gp(value));
  }
}

void Emitter::emit_ListSet(const Op& op) {
  Gp flags = temp_gp();
  load_const(flags, op.imm, false);
  call_object(reinterpret_cast<const void*>(helpers_.objects.list_set),
              {activation(), gp(op.operands[0]), gp(op.operands[1]), gp(op.operands[2]), flags}, Gp());
}

// An old float that only the list has takes the new value in place: nobody can tell it from a new object at the same address.
void Emitter::emit_ListPut(const Op& op) {
  Label exit = exit_label(op), other = new_label(), done = new_label();
  Gp list = gp(op.operands[0]), index = gp(op.operands[1]), old = temp_gp(), items = temp_gp(), to = result_gp(op);
  Xmm value = xmm(op.operands[2]);
  cc_.mov(items, field(list, kListItemsOffset));
  cc_.mov(old, x86::qword_ptr(items, index, 3));
  load_const(items, reinterpret_cast<int64_t>(helpers_.objects.float_type), false);
  cc_.cmp(field(old, kObjectTypeOffset), items);
  jump_if(CondCode::kNE, other);
  cc_.cmp(field(old, kObjectRefcountOffset), Imm(1));
  jump_if(CondCode::kNE, other);
  cc_.emit(avx() ? I::kIdVmovsd : I::kIdMovsd, field(old, kNumberValueOffset), value);
  bind_always(done);
  move_gp(to, old);
  cold_.push_back([this, exit, other, done, list, index, value, old] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(other);
    call_object(reinterpret_cast<const void*>(helpers_.objects.list_put), {list, index, value}, old);
    cc_.test(old, old);
    jump_if(CondCode::kNE, done);
    jump(exit);
  });
}

void Emitter::emit_ListAppend(const Op& op) {
  Label exit = exit_label(op);
  Gp good = temp_gp(), flags = temp_gp();
  load_const(flags, op.imm, false);
  call_object(reinterpret_cast<const void*>(helpers_.objects.list_append), {gp(op.operands[0]), gp(op.operands[1]), flags}, good);
  cc_.test(good, good);
  jump_if(CondCode::kE, exit);
}

Mem Emitter::call_cell(size_t k) {
  if (!call_cells_.hasBase()) call_cells_ = cc_.newStack(8 * std::max(kMaxObjectCallCells, kMaxFlushCells), 8);
  Mem at = call_cells_;
  at.addOffset(static_cast<int64_t>(8 * k));
  at.setSize(8);
  return at;
}

void Emitter::emit_Flush(const Op& op) {
  Label full = new_label(), done = new_label();
  Gp next = temp_gp();
  cc_.mov(next, x86::qword_ptr(activation(), offsetof(Activation, keep_next)));
  cc_.cmp(next, x86::qword_ptr(activation(), offsetof(Activation, flush_at)));
  jump_if(CondCode::kAE, full);
  bind_always(done);
  cold_.push_back([this, &op, full, done] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(full);
    for (size_t k = 0; k < op.operands.size(); ++k) store_cell(call_cell(k), op.operands[k]);
    Gp cells = temp_gp(), count = temp_gp();
    cc_.lea(cells, call_cell(0));
    load_const(count, static_cast<int64_t>(op.operands.size()), false);
    call_object(reinterpret_cast<const void*>(helpers_.objects.flush), {activation(), cells, count}, Gp());
    jump(done);
  });
}

void Emitter::emit_ObjectCall(const Op& op) {
  Label exit = exit_label(op);
  for (size_t k = 0; k < op.operands.size(); ++k) store_cell(call_cell(k), op.operands[k]);
  Gp cells = temp_gp(), kinds = temp_gp(), good = temp_gp();
  cc_.lea(cells, call_cell(0));
  load_const(kinds, op.imm, false);
  call_object(reinterpret_cast<const void*>(helpers_.objects.calls[op.access]), {activation(), cells, kinds}, good);
  cc_.test(good, good);
  jump_if(CondCode::kE, exit);
  Mem first = call_cell(0);
  if (op.type == Type::F64) {
    cc_.emit(avx() ? I::kIdVmovsd : I::kIdMovsd, result_xmm(op), first);
  } else {
    cc_.mov(result_gp(op), first);
  }
}

void Emitter::emit_Run(const Op& op) {
  Label left = new_label();
  Gp goes_on = temp_gp(), exit_id = temp_gp();
  store_snapshot(op.snapshot);
  load_const(exit_id, op.exit_id, false);
  call_object(reinterpret_cast<const void*>(helpers_.objects.run), {activation(), exit_id}, goes_on);
  cc_.test(goes_on, goes_on);
  jump_if(CondCode::kE, left);
  cold_.push_back([this, left] {
    temps_gp_used_ = temps_xmm_used_ = 0;
    bind(left);
    cc_.mov(exit_id_, Imm(kLeft));
    jump(return_);
  });
}

void Emitter::emit_NextItem(const Op& op) {
  Gp flags = temp_gp(), item = temp_gp();
  load_const(flags, op.imm, false);
  call_object(reinterpret_cast<const void*>(helpers_.objects.next_item), {activation(), gp(op.operands[0]), flags}, item);
  move_gp(result_gp(op), item);
}

void Emitter::emit_Made(const Op& op) {
  Gp out = temp_gp();
  cc_.mov(out, x86::qword_ptr(activation(), offsetof(Activation, out)));
  cc_.mov(result_gp(op), x86::qword_ptr(out, static_cast<int32_t>(8 * op.imm)));
}

}  // namespace hotloop::codegen
