// The one description of the IR's text form, read in both directions: the printer and the parser are two `Io` classes, and every
// function here says once what stands where. Internal to src/ir.
//
// Needs ir/ir.h; Io is ir::Printer (printer.cpp) or ir::Parser (parser.cpp). Promises: whatever is printed is what is parsed.
// In the printer the records are const, in the parser they are filled in; `auto&` stands for both.
//
//   region "name" file "x.py" line 3 stack 1
//   arraytype @0 np.float64 [c,s] writable
//   object $0 "len"
//   input %1, %2, %3 stack 0 range_iter            one value per part
//   nsguard globals $0 builtins $1 name $2 value $3
//   fnguard $0 code $1 defaults $2 kwdefaults $3
//   typeguard $0
//   instance input 2 type $4                       numbered from 0; the type's version is not part of the text
//   cell local 2 (function $0 0, input 3 1)         likewise
//   attribute of 0 $5                              likewise; `input %7 attribute 0 float` reads it
//   snapshot !0 { frame code $0 resume 12 depth 1 { local 2 = int %5 stack 0 = range_iter %1 %2 %3 } }
//   body {
//     %7 = add.f64 %5, %6 #12                      #n: this op and those that follow are at line n
//     %8, %9 = for %i = %1 to %2 step %3 carried (%a : f64 = %0, %b : i1 = %4) before !0 { ... yield %true, %x, %y }
//   }
#pragma once
#include <algorithm>
#include <vector>

#include "ir/ir.h"

namespace hotloop::ir::text_form {

template <class Io>
void region_line(Io& io, auto& f) {
  io.word("region");
  io.string(f.name);
  if (io.optional("file", !f.file.empty())) io.string(f.file);
  if (io.optional("line", f.line != 0)) io.number(f.line);
  if (io.optional("stack", f.entry_stack_depth != 0)) io.number(f.entry_stack_depth);
}

template <class Io>
void array_type_line(Io& io, auto& type) {
  io.py_kind(type.elem);
  io.punct("[");
  io.list(type.strides, [&](auto& stride) { io.stride(stride); });
  io.punct("]");
  io.flag("writable", type.writable);
}

template <class Io>
void slot(Io& io, auto& s) {
  io.slot_kind(s.kind);
  if (s.kind == SlotKind::kGlobal || s.kind == SlotKind::kName) {
    io.object(s.index);
  } else {
    io.number(s.index);
  }
}

template <class Io>
void input_line(Io& io, auto& f, auto& input) {
  io.input_values(f, input);
  slot(io, input.slot);
  io.py_kind(input.kind);
  if (input.kind == PyKind::Array) io.array_type(input.array_type);
  if (input.kind == PyKind::Const) io.object(input.object);
  if (io.optional("type", input.kind == PyKind::Object && input.object != kNone)) io.object(input.object);
  if (io.optional("same", input.same_as != kNone)) io.number(input.same_as);
  if (io.optional("instance", input.instance != kNone)) io.number(input.instance);
  if (io.optional("code", input.code != kNone)) io.object(input.code);
  if (io.optional("of", input.method != kNone)) io.object(input.method);
  io.flag("unknown", input.unknown);
  io.end_input(f, input);
}

template <class Io>
void instance_line(Io& io, auto& instance) {
  if (io.optional("object", instance.object != kNone)) io.object(instance.object);
  if (io.optional("input", instance.input != kNone)) io.number(instance.input);
  io.word("type");
  io.object(instance.type);
}

template <class Io>
void cell_line(Io& io, auto& cell) {
  if (io.optional("local", cell.local != kNone)) io.number(cell.local);
  io.punct("(");
  io.list(cell.refs, [&](auto& ref) {
    if (io.optional("function", ref.function != kNone)) io.object(ref.function);
    if (io.optional("input", ref.input != kNone)) io.number(ref.input);
    io.number(ref.number);
  });
  io.punct(")");
}

template <class Io>
void attribute_line(Io& io, auto& attribute) {
  io.word("of");
  io.number(attribute.instance);
  io.object(attribute.name);
  if (io.optional("offset", attribute.offset != 0)) io.number(attribute.offset);
}

template <class Io>
void namespace_guard_line(Io& io, auto& guard) {
  io.word("globals");
  io.object(guard.globals);
  if (io.optional("builtins", guard.builtins != kNone)) io.object(guard.builtins);
  io.word("name");
  io.object(guard.name);
  io.word("value");
  io.object(guard.value);
}

template <class Io>
void function_guard_line(Io& io, auto& guard) {
  if (io.optional("input", guard.input != kNone)) {
    io.number(guard.input);
  } else {
    io.object(guard.function);
  }
  io.word("code");
  io.object(guard.code);
  if (io.optional("defaults", guard.defaults != kNone)) io.object(guard.defaults);
  if (io.optional("kwdefaults", guard.kwdefaults != kNone)) io.object(guard.kwdefaults);
}

template <class Io>
void snap_value(Io& io, auto& value) {
  if (!io.enter()) return;
  io.py_kind(value.kind);
  if (io.optional("box", value.box != 0)) io.number(value.box);
  switch (value.kind) {
    case PyKind::Const: io.object(value.index); break;
    case PyKind::Input: io.number(value.index); break;
    case PyKind::Array:
      if (io.optional_array_type(value.index)) io.array_type(value.index);
      break;
    default: break;
  }
  io.parts(value.values);
  if (may_have_children(value.kind)) {
    io.punct("(");
    io.list(value.children, [&](auto& child) { snap_value(io, child); });
    io.punct(")");
  }
  io.leave();
}

template <class Io>
void frame(Io& io, auto& f) {
  if (io.optional("code", f.code != kNone)) io.object(f.code);
  if (io.optional("function", f.function != kNone)) io.object(f.function);
  if (io.optional("input", f.function_input != kNone)) io.number(f.function_input);
  io.word("resume");
  io.number(f.resume_unit);
  if (io.optional("return", f.return_unit != 0)) io.number(f.return_unit);
  io.result_use(f.result_use);
  io.word("depth");
  io.number(f.stack_depth);
  if (io.optional("results", !f.results.empty())) {
    io.punct("(");
    io.list(f.results, [&](auto& s) { slot(io, s); });
    io.punct(")");
  }
  io.open();
  io.until_close(f.slots, [&](auto& s) {
    io.line();
    slot(io, s.slot);
    io.punct("=");
    snap_value(io, s.value);
  });
  io.close();
}

template <class Io>
void snapshot_line(Io& io, auto& s) {
  io.open();
  io.until_close(s.frames, [&](auto& f) {
    io.line();
    io.word("frame");
    frame(io, f);
  });
  io.close();
}

template <class Io>
void block(Io& io, auto& f, auto& b);

// Operands, attributes and snapshot of an op without blocks, in the order in which they are written.
template <class Io>
void plain_op(Io& io, auto& f, auto& op) {
  const Attribute attribute = attribute_of(op.code);
  if (attribute == Attribute::kHelper) io.item(), io.helper(op.imm);
  if (attribute == Attribute::kArrayType) io.item(), io.array_type(op.access);
  if (attribute == Attribute::kObject) io.item(), io.object(op.access);
  if (attribute == Attribute::kPyKind) io.item(), io.kind_number(op.imm);
  if (attribute == Attribute::kObjectCall) io.item(), io.object_call(op.access);
  io.operands(op.operands);
  if (attribute == Attribute::kObjectCall) io.item(), io.number(op.imm);
  if (attribute == Attribute::kBits) io.item(), io.bits(op.type, op.imm);
  if (attribute == Attribute::kAxis || attribute == Attribute::kNumber) io.item(), io.number(op.imm);
  if (attribute == Attribute::kReason) io.item(), io.reason(op.imm);
  if (attribute == Attribute::kAddress) {
    io.item(), io.word("scale"), io.number(op.access);
    io.item(), io.word("disp"), io.number(op.imm);
  }
  if (op.has(kExits)) io.item(), io.snapshot(op.snapshot);
  io.end_items();
  if (op.code == OpCode::UnboxInt && io.optional("unsigned", op.imm != 0)) io.one(op.imm);
  if (op.code == OpCode::Droppable && io.optional("kept", op.imm != 0)) io.one(op.imm);
  if (is_checked_arithmetic(op.code) && io.optional("as", op.imm != 0)) io.reason(op.imm);
  if ((op.code == OpCode::ALoad || op.code == OpCode::AStore) && io.optional("part", op.imm != 0)) io.number(op.imm);
  (void)f;
}

template <class Io>
void carried_and_before(Io& io, auto& f, auto& op, size_t first) {
  if (io.optional("carried", op.operands.size() > first || op.blocks[0]->params.size() > (first != 0 ? 1u : 0u))) {
    io.punct("(");
    io.carried(f, op, first);
    io.punct(")");
  }
  if (io.optional("before", op.snapshot != kNoSnapshot)) io.snapshot(op.snapshot);
}

template <class Io>
void op(Io& io, auto& f, auto& o) {
  io.line();
  io.results(o.results);
  io.op_name(o.code, o.type);
  io.make_blocks(f, o);
  switch (o.code) {
    case OpCode::If:
      io.operand(o.operands, 0);
      io.if_types(f, o);
      break;
    case OpCode::For:
      io.param(f, o, 0, Type::I64);
      io.punct("=");
      io.operand(o.operands, 0);
      io.word("to");
      io.operand(o.operands, 1);
      io.word("step");
      io.operand(o.operands, 2);
      carried_and_before(io, f, o, 3);
      break;
    case OpCode::Loop: carried_and_before(io, f, o, 0); break;
    default: plain_op(io, f, o); break;
  }
  io.define_results(f, o);
  io.op_line(o.line);
  for (size_t k = 0; k < o.blocks.size(); ++k) {
    if (k > 0) io.word("else");
    block(io, f, *o.blocks[k]);
  }
}

template <class Io>
void block(Io& io, auto& f, auto& b) {
  if (!io.enter()) return;
  io.open();
  io.block_ops(f, b, [&](auto& o) { op(io, f, o); });
  io.close();
  io.leave();
}

template <class Io>
void function(Io& io, auto& f) {
  region_line(io, f);
  io.each("arraytype", '@', f.array_types, [&](auto& type) { array_type_line(io, type); });
  io.each("object", '$', f.objects, [&](auto& object) { io.string(object.text); });
  io.each("input", '\0', f.inputs, [&](auto& input) { input_line(io, f, input); });
  io.each("nsguard", '\0', f.namespace_guards, [&](auto& guard) { namespace_guard_line(io, guard); });
  io.each("fnguard", '\0', f.function_guards, [&](auto& guard) { function_guard_line(io, guard); });
  io.each("typeguard", '\0', f.type_guards, [&](auto& guard) { io.object(guard.type); });
  io.each("instance", '\0', f.instances, [&](auto& instance) { instance_line(io, instance); });
  io.each("cell", '\0', f.cells, [&](auto& cell) { cell_line(io, cell); });
  io.each("attribute", '\0', f.attributes, [&](auto& attribute) { attribute_line(io, attribute); });
  io.each("snapshot", '!', f.snapshots, [&](auto& s) { snapshot_line(io, s); });
  io.line();
  io.word("body");
  block(io, f, *f.body);
  io.end();
}

}  // namespace hotloop::ir::text_form
