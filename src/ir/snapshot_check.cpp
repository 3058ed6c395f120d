// Checks of snapshots, inputs and tables for the verifier. Needs ir/snapshot_check.h. Promises: as there; looks at nothing but its arguments.
#include "ir/snapshot_check.h"

#include <algorithm>

namespace hotloop::ir {
namespace {

constexpr size_t kMaxAxes = 64;  // NumPy's own limit

std::string kind_text(PyKind kind) { return std::string(pykind_info(kind).text); }

bool is_numpy_scalar(PyKind kind) { return kind >= PyKind::NpBool && kind <= PyKind::NpComplex128; }

std::string check_object(const Function& f, ObjectId id, const char* what, bool optional = false) {
  if ((optional && id == kNone) || id < f.objects.size()) return {};
  return std::string(what) + " is not in the object table";
}

std::string check_slot(const Function& f, const Slot& slot) {
  if (slot.kind == SlotKind::kAttribute && slot.index >= f.attributes.size()) return "there is no attribute " + std::to_string(slot.index);
  if (slot.kind == SlotKind::kObjectCell && slot.index >= f.cells.size()) return "there is no cell " + std::to_string(slot.index);
  if (slot.kind == SlotKind::kMethodSelf && slot.index >= f.inputs.size()) return "there is no input " + std::to_string(slot.index);
  if (slot.kind != SlotKind::kGlobal && slot.kind != SlotKind::kName) return {};
  return check_object(f, slot.index, "the slot's name");
}

// The kinds of the children of iterators and rows.
std::string check_children(const Function& f, const SnapValue& value) {
  auto kind_of = [&](const SnapValue& child) {
    return child.kind == PyKind::Input && child.index < f.inputs.size() ? f.inputs[child.index].kind : child.kind;
  };
  const bool by_index = value.kind == PyKind::SeqIter || value.kind == PyKind::Countdown;
  if (by_index || value.kind == PyKind::Row) {
    const PyKind first = value.children.empty() ? PyKind::Unbound : kind_of(value.children[0]);
    bool good = first == PyKind::Array || (by_index && (first == PyKind::Row || first == PyKind::Str || first == PyKind::Bytes || first == PyKind::Char || first == PyKind::List || first == PyKind::TupleObject ||
                               first == PyKind::Const));
    good = good && (by_index ? value.children.size() == 2 : value.children.size() > 1);
    for (size_t k = 1; k < value.children.size(); ++k) good = good && value.children[k].kind == PyKind::Int;
    if (!good) return kind_text(value.kind) + (by_index ? " needs an array and an int" : " needs an array and ints");
  }
  const bool is_map = value.kind == PyKind::Map;
  if (value.kind == PyKind::Enumerate || value.kind == PyKind::Zip || value.kind == PyKind::StrictZip || is_map) {
    bool good = value.kind == PyKind::Enumerate ? value.children.size() == 1 : value.children.size() > (is_map ? 1 : 0);
    for (size_t k = is_map ? 1 : 0; k < value.children.size(); ++k) good = good && is_iterator(value.children[k].kind);
    if (!good) return kind_text(value.kind) + " needs iterators";
  }
  return {};
}

// The parts and children of one value.
std::string check_value(const Function& f, const SnapValue& value, int depth) {
  if (depth > 32) return "tuples nested too deeply";
  const PyKindInfo& info = pykind_info(value.kind);
  if (value.values.size() != static_cast<size_t>(info.parts)) {
    return kind_text(value.kind) + " needs " + std::to_string(info.parts) + " values, not " + std::to_string(value.values.size());
  }
  for (ValueId v : value.values) {
    if (v >= f.value_types.size()) return "value %" + std::to_string(v) + " is not defined";
    if (f.type_of(v) == info.part_type) continue;
    return kind_text(value.kind) + " needs " + std::string(type_info(info.part_type).text) + " values, %" + std::to_string(v) + " is " +
           std::string(type_info(f.type_of(v)).text);
  }
  if (value.kind == PyKind::Const) {
    if (std::string bad = check_object(f, value.index, "the constant"); !bad.empty()) return bad;
  }
  if (value.kind == PyKind::Input && value.index >= f.inputs.size()) return "there is no input " + std::to_string(value.index);
  if (value.kind == PyKind::Array && value.index != kNone && value.index >= f.array_types.size()) return "unknown array type";
  if (!may_have_children(value.kind) && !value.children.empty()) return kind_text(value.kind) + " cannot have children";
  if (std::string bad = check_children(f, value); !bad.empty()) return bad;
  if ((value.kind == PyKind::Either || value.kind == PyKind::Method) && value.children.size() != 2) return kind_text(value.kind) + " needs two children";
  for (const SnapValue& child : value.children) {
    if (std::string bad = check_value(f, child, depth + 1); !bad.empty()) return bad;
  }
  return {};
}

std::string check_frame(const Function& f, const FrameState& frame, bool outermost, bool innermost) {
  if (frame.resume_unit < 0) return "the resume unit is negative";
  if (std::string bad = check_object(f, frame.code, "the frame's code", outermost); !bad.empty()) return bad;
  const bool by_input = frame.function_input < f.inputs.size();
  if (std::string bad = check_object(f, frame.function, "the frame's function", outermost || by_input); !bad.empty()) return bad;
  if (!innermost && frame.return_unit <= frame.resume_unit) return "a frame that called needs a return unit behind its resume unit";
  if (innermost && !outermost && frame.return_unit != 0) return "the innermost frame has a return unit";
  if (!(innermost && outermost) && !frame.results.empty()) return "a frame that is inlined or has called has results";
  for (const Slot& slot : frame.results) {
    if (slot.kind != SlotKind::kStack && slot.kind != SlotKind::kLocal && slot.kind != SlotKind::kCell && slot.kind != SlotKind::kGlobal &&
        slot.kind != SlotKind::kName) {
      return "a result that is no variable or stack item";
    }
  }
  std::vector<bool> stack(std::min<size_t>(frame.stack_depth, 1u << 16), false);
  for (size_t k = 0; k < frame.slots.size(); ++k) {
    const SlotValue& entry = frame.slots[k];
    for (size_t j = 0; j < k; ++j) {
      if (frame.slots[j].slot == entry.slot) return "a slot is given twice";
    }
    if (std::string bad = check_slot(f, entry.slot); !bad.empty()) return bad;
    if (entry.slot.kind == SlotKind::kStack) {
      if (entry.slot.index >= stack.size()) return "stack item " + std::to_string(entry.slot.index) + " lies above the stack depth";
      stack[entry.slot.index] = true;
    }
    if (std::string bad = check_value(f, entry.value, 0); !bad.empty()) return bad;
  }
  for (size_t k = outermost ? f.entry_stack_depth : 0; k < stack.size(); ++k) {
    if (!stack[k]) return "stack item " + std::to_string(k) + " is missing";
  }
  return {};
}

std::string check_inputs(const Function& f) {
  size_t next = 0;
  for (size_t k = 0; k < f.inputs.size(); ++k) {
    const Input& input = f.inputs[k];
    const std::string name = "input " + std::to_string(k) + ": ";
    if (std::string bad = check_slot(f, input.slot); !bad.empty()) return name + bad;
    if (input.kind == PyKind::Array && input.array_type >= f.array_types.size()) return name + "unknown array type";
    if (input.same_as != kNone && input.same_as >= k) return name + "is the same object as an input that does not come before it";
    for (uint32_t part = 0; part < input.parts(); ++part, ++next) {
      if (next >= f.body->params.size()) return name + "has no parameter";
      const ValueId v = f.body->params[next];
      if (v >= f.value_types.size() || f.type_of(v) != pykind_info(input.kind).part_type) return name + "its parameter has another type";
    }
  }
  return next == f.body->params.size() ? std::string() : "the body has more parameters than the inputs have parts";
}

std::string check_instances(const Function& f) {
  for (const TypeGuard& guard : f.type_guards) {
    if (std::string bad = check_object(f, guard.type, "typeguard: the type"); !bad.empty()) return bad;
  }
  for (const Instance& instance : f.instances) {
    if (std::string bad = check_object(f, instance.type, "instance: the type"); !bad.empty()) return bad;
    if ((instance.input == kNone) == (instance.object == kNone)) return "instance: needs an input or an object";
    if (std::string bad = check_object(f, instance.object, "instance: the object", true); !bad.empty()) return bad;
    if (instance.input != kNone && instance.input >= f.inputs.size()) return "instance: there is no such input";
  }
  for (const InstanceAttribute& attribute : f.attributes) {
    if (std::string bad = check_object(f, attribute.name, "attribute: the name"); !bad.empty()) return bad;
    if (attribute.instance >= f.instances.size()) return "attribute: there is no such instance";
  }
  for (const ClosureCell& cell : f.cells) {
    if (cell.refs.empty()) return "cell: it is in no closure";
    for (const ClosureRef& ref : cell.refs) {
      if (std::string bad = check_object(f, ref.function, "cell: the function", ref.input < f.inputs.size()); !bad.empty()) return bad;
    }
  }
  for (size_t k = 0; k < f.inputs.size(); ++k) {
    const Input& input = f.inputs[k];
    if (input.slot.kind == SlotKind::kMethodSelf && input.slot.index >= k) return "input " + std::to_string(k) + ": its method is read later";
    if (input.slot.kind == SlotKind::kObjectCell) {
      const ClosureRef& ref = f.cells[input.slot.index].refs[0];
      if (ref.function == kNone && ref.input >= k) return "input " + std::to_string(k) + ": its function is read later";
    }
    if (input.instance != kNone && (input.kind != PyKind::Object || input.instance >= f.instances.size())) return "input: there is no such instance";
    if (input.slot.kind != SlotKind::kAttribute) continue;
    // An instance is read before its attributes are.
    const Instance& instance = f.instances[f.attributes[input.slot.index].instance];
    if (instance.input != kNone && instance.input >= k) return "input " + std::to_string(k) + ": its instance is read later";
  }
  return {};
}

}  // namespace

namespace {

// Variables that runs put into the frame; stack items are always given.
std::vector<Slot> slots_of_runs(const Function& f) {
  std::vector<Slot> slots;
  for_each_op(*f.body, [&](Op& op, Block&) {
    if (op.code != OpCode::Run || f.snapshots[op.snapshot].frames.size() != 1) return;
    for (const SlotValue& entry : f.snapshots[op.snapshot].frames[0].slots) {
      if (entry.slot.kind != SlotKind::kStack && std::find(slots.begin(), slots.end(), entry.slot) == slots.end()) slots.push_back(entry.slot);
    }
  });
  return slots;
}

bool gives(const FrameState& frame, const Slot& slot) {
  return std::any_of(frame.slots.begin(), frame.slots.end(), [&](const SlotValue& entry) { return entry.slot == slot; });
}

}  // namespace

std::string check_runs(const Function& f) {
  const std::vector<Slot> slots = slots_of_runs(f);
  std::string bad;
  for_each_op(*f.body, [&](Op& op, Block& block) {
    if (!bad.empty()) return;
    if (op.has(kExits) && op.snapshot != kNoSnapshot && f.snapshots[op.snapshot].frames.size() == 1) {
      const FrameState& frame = f.snapshots[op.snapshot].frames[0];
      if ((op.code == OpCode::Run) != (frame.return_unit > frame.resume_unit)) bad = "a run, and nothing else, needs a return unit behind its resume unit";
      if (op.code != OpCode::Run && !frame.results.empty()) bad = "only a run has results";
    }
    if (op.code == OpCode::Run && f.snapshots[op.snapshot].frames.size() != 1) bad = "the snapshot of a run must have one frame";
    if (op.code == OpCode::Made) {
      auto at = std::find(block.ops.begin(), block.ops.end(), &op);
      while (at != block.ops.begin() && (*at)->code == OpCode::Made) --at;
      if ((*at)->code != OpCode::Run) {
        bad = "made does not stand behind a run";
      } else if (static_cast<size_t>(op.imm) >= f.snapshots[(*at)->snapshot].frames[0].results.size() + f.snapshots[(*at)->snapshot].frames[0].slots.size()) {
        bad = "made names no result and no slot of the run's snapshot";
      }
    }
    if (!op.has(kExits) || op.snapshot == kNoSnapshot || f.snapshots[op.snapshot].frames.empty()) return;
    for (const Slot& slot : slots) {
      if (!gives(f.snapshots[op.snapshot].frames[0], slot)) bad = "an exit does not give a variable that a run has put into the frame";
    }
  });
  return bad;
}

std::string check_tables(const Function& f) {
  for (const ArrayType& type : f.array_types) {
    if (!is_numpy_scalar(type.elem)) return "array type with elements of kind " + kind_text(type.elem);
    if (type.strides.size() > kMaxAxes) return "array type with too many axes";
  }
  if (std::string bad = check_inputs(f); !bad.empty()) return bad;
  for (const NamespaceGuard& guard : f.namespace_guards) {
    for (ObjectId id : {guard.globals, guard.name, guard.value}) {
      if (std::string bad = check_object(f, id, "nsguard: an object"); !bad.empty()) return bad;
    }
    if (std::string bad = check_object(f, guard.builtins, "nsguard: builtins", true); !bad.empty()) return bad;
  }
  for (const FunctionGuard& guard : f.function_guards) {
    const bool by_input = guard.input < f.inputs.size();
    if (std::string bad = check_object(f, guard.function, "fnguard: the function", by_input); !bad.empty()) return bad;
    if (std::string bad = check_object(f, guard.code, "fnguard: the code"); !bad.empty()) return bad;
    for (ObjectId id : {guard.defaults, guard.kwdefaults}) {
      if (std::string bad = check_object(f, id, "fnguard: the defaults", true); !bad.empty()) return bad;
    }
  }
  return check_instances(f);
}

std::string check_snapshot(const Function& f, const Snapshot& snapshot) {
  if (snapshot.frames.empty()) return "there is no frame";
  for (size_t k = 0; k < snapshot.frames.size(); ++k) {
    std::string bad = check_frame(f, snapshot.frames[k], k == 0, k + 1 == snapshot.frames.size());
    if (!bad.empty()) return "frame " + std::to_string(k) + ": " + bad;
  }
  return {};
}

}  // namespace hotloop::ir
