// The IR of one region: a tree of blocks of ops, values in SSA form, inputs, array types, snapshots.
//
// Needs ir/types.h and ir/ops.h. Promises: structured control only (if / for / loop with yield; exit leaves), every value is
// defined once and used only where its definition dominates (same block earlier, or an enclosing block earlier); everything that a
// back end needs is in the Function: no pointers into CPython but the opaque object table.
//
// A region is entered with `inputs` unboxed by the caller into Activation::in (ir/activation.h); the body block's parameters are the
// input parts in order. It never returns a value: it always leaves through an exit, whose snapshot says what the interpreter's
// frames must hold.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/ops.h"
#include "ir/types.h"

namespace hotloop::ir {

using ValueId = uint32_t;
using SnapshotId = uint32_t;
using ArrayTypeId = uint32_t;
using ObjectId = uint32_t;
inline constexpr ValueId kNoValue = UINT32_MAX;
inline constexpr SnapshotId kNoSnapshot = UINT32_MAX;
inline constexpr uint32_t kNone = UINT32_MAX;

struct Block;

struct Op {
  OpCode code = OpCode::Const;
  Type type = Type::None;             // the `T` of the op's row (operand type for comparisons and stores)
  uint32_t access = kNone;            // aload/astore: ArrayTypeId; load/store: scale
  int64_t imm = 0;                    // see ops.def
  SnapshotId snapshot = kNoSnapshot;  // kExits ops; for/loop: state before the loop (may be kNoSnapshot)
  uint32_t exit_id = kNone;           // set by enumerate_exits()
  int32_t line = 0;                   // source line, 0 unknown
  uint32_t mark = 0;                  // scratch number of the pass or back end at work, meaningless between them
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<Block*> blocks;         // if: then, else; for/loop: body

  ValueId result() const { return results.empty() ? kNoValue : results[0]; }
  bool has(Effects effect) const { return has_effect(code, effect); }
};

struct Block {
  std::vector<ValueId> params;  // for: i, carried...; loop: carried...; region body: the input parts
  std::vector<Op*> ops;         // the last one is a terminator: yield or exit
};

// Stride class of one axis of an array, guarded at entry.
enum class Stride : uint8_t {
  kItem,   // 'c': stride == itemsize
  kZero,   // '0': stride == 0
  kOther,  // 's': anything else, read by arr_stride
};

// What is known of an array operand; guarded at entry by the caller (exact ndarray, dtype, native byte order, aligned, ndim, strides).
struct ArrayType {
  PyKind elem = PyKind::NpFloat64;  // the scalar kind that a[i] gives; its part type is the element's machine type (np.bool: i1, one byte)
  std::vector<Stride> strides;      // one per axis
  bool writable = false;            // guarded only where the region stores to it
  bool operator==(const ArrayType&) const = default;
};

// How to rebuild one Python value at an exit. Leaves name IR values; tuples, iterators, rows and Either have children.
struct SnapValue {
  PyKind kind = PyKind::Unbound;
  uint32_t index = kNone;            // Const: ObjectId; Input: input number; Array: ArrayTypeId (informative)
  uint32_t box = 0;                  // identity: equal non-zero `box` in one exit means the same object (SEMANTICS of `is`, DESIGN T29)
  std::vector<ValueId> values;       // pykind_info(kind).parts of them
  std::vector<SnapValue> children;
};

inline bool may_have_children(PyKind kind) {
  return kind == PyKind::Tuple || kind == PyKind::Either || kind == PyKind::Row || kind == PyKind::SeqIter || kind == PyKind::Countdown ||
         kind == PyKind::Enumerate || kind == PyKind::Zip || kind == PyKind::StrictZip || kind == PyKind::Map || kind == PyKind::Method;
}
inline bool is_iterator(PyKind kind) {
  return kind == PyKind::RangeIter || kind == PyKind::SeqIter || kind == PyKind::Countdown || kind == PyKind::Enumerate || kind == PyKind::Zip ||
         kind == PyKind::StrictZip || kind == PyKind::Map;
}

// Where a value lives in a frame.
enum class SlotKind : uint8_t {
  kLocal,   // localsplus[index]
  kCell,    // contents of the cell in localsplus[index]
  kGlobal,  // globals()[objects[index]]
  kName,    // locals()[objects[index]] of a module, class body or exec
  kStack,   // stack item, 0 = bottom
  // Inputs only:
  kSeqArray,    // the sequence that an iterator walks over; index: see iter_path.h (exhausted: no entry)
  kSeqIndex,    // the state of that iterator: kind Int its next index, or an enumerate object's next number; kind RangeIter
  kObjectCell,  // contents of cells[index]: a cell in the closure of an inlined function (inputs and exits)
  kAttribute,   // attributes[index]: an attribute of an instance (inputs and exits)
  kMethodSelf,  // inputs only: what the bound method in input `index` is bound to
};
struct Slot {
  SlotKind kind = SlotKind::kLocal;
  uint32_t index = 0;
  bool operator==(const Slot&) const = default;
};
struct SlotValue {
  Slot slot;
  SnapValue value;
};

// What the caller frame does with the result of an inlined callee that is materialised (T18).
enum class ResultUse : uint8_t { kPush, kDrop };

struct FrameState {
  ObjectId code = kNone;       // code object (outermost: the region's own)
  ObjectId function = kNone;   // inlined frames: the function object,
  uint32_t function_input = kNone;  // or the input that holds it
  int32_t resume_unit = 0;     // code unit of the next instruction to run in this frame. In a frame that has a callee inlined above it: the CALL instruction in progress
  int32_t return_unit = 0;     // only if a callee is inlined above: unit after the CALL, where the frame goes on once the result is there; of a `run`: the unit behind its last instruction
  ResultUse result_use = ResultUse::kPush;  // likewise
  uint32_t stack_depth = 0;    // number of stack items after the exit (before the callee's result is pushed)
  std::vector<SlotValue> slots;  // sparse for the outermost frame (only what differs from region entry), complete for inlined frames.
                                 // kStack items of the outermost frame below its entry depth that are not listed are untouched.
  std::vector<Slot> results;     // of a `run` only: where its instructions leave objects that native code wants, see made
};

struct Snapshot {
  std::vector<FrameState> frames;  // outermost first
};

// One value that the region reads when it is entered. Its parts become parameters of the body block.
struct Input {
  Slot slot;
  PyKind kind = PyKind::Unbound;       // guarded: exact type
  ArrayTypeId array_type = kNone;      // kind == Array
  ObjectId object = kNone;             // kind == Const: the slot holds this very object; kind == Object: one of exactly this type
  uint32_t same_as = kNone;            // guarded: it is the very object of this input, an earlier one
  uint32_t instance = kNone;           // kind == Object: it is instances[instance]
  ObjectId code = kNone;               // kind == Object: a function with this code, see FunctionGuard
  ObjectId method = kNone;             // kind == Object: a bound method of this function
  bool unknown = false;                // kind == Object: of none of the other kinds, which have versions of their own
  uint32_t parts() const { return static_cast<uint32_t>(pykind_info(kind).parts); }
};

// A fact about a namespace that is checked at entry (cheaply, through a dict watcher): namespace[name] is object.
struct NamespaceGuard {
  ObjectId globals = kNone;  // dict
  ObjectId builtins = kNone; // dict looked up when globals lacks the name, or kNone
  ObjectId name = kNone;
  ObjectId value = kNone;
};
// A fact about a function that was inlined: function.__code__ is code, __defaults__ and __kwdefaults__ are the same objects.
// A function that comes in as an input is known by its code (each run of a `def` makes another); its globals and builtins are the live frame's.
struct FunctionGuard {
  ObjectId function = kNone;
  uint32_t input = kNone;       // the function is this input
  ObjectId code = kNone;
  ObjectId defaults = kNone;    // kNone: NULL
  ObjectId kwdefaults = kNone;  // kNone: NULL
};
// An object whose attributes are variables of the region. Guarded at entry: exact type and the type's version tag (which stands for all that the
// type says about its attributes); no two of them are one object or share a dictionary; all inputs that name one hold the same object.
struct Instance {
  uint32_t input = kNone;    // the first input that holds it (Input::instance says which others do),
  ObjectId object = kNone;   // or the known object that it is
  ObjectId type = kNone;     // not owned: version tags are never used twice
  uint32_t version = 0;
};
// One attribute of an instance: in its dictionary or inline values, or in a slot of its type.
struct InstanceAttribute {
  uint32_t instance = kNone;
  ObjectId name = kNone;
  uint32_t offset = 0;  // of a slot, in bytes; 0: it is none
};
// A cell that an inlined function reads or writes, by the closures it is found in. Guarded at entry: all of them hold the same cell; it is the one
// in `local` of the live frame (whose variable is that kCell slot, then) or none of that frame's, and no other of this table.
struct ClosureRef {
  ObjectId function = kNone;  // closure of this function,
  uint32_t input = kNone;     // or of the one in this input
  uint32_t number = 0;        // place in the closure
};
struct ClosureCell {
  uint32_t local = kNone;
  std::vector<ClosureRef> refs;
};
// A known type whose attributes the region takes as constants: its version tag is this one.
struct TypeGuard {
  ObjectId type = kNone;
  uint32_t version = 0;
};
// A Python object that the region knows.
struct ObjectRef {
  void* pointer = nullptr;  // PyObject*, kept alive by the region; null in text form
  std::string text;         // for people: repr or name
  bool weak = false;        // only compared, never looked into or kept alive
};

struct Function {
  std::string name = "region";
  std::string file;
  int32_t line = 0;
  uint32_t entry_stack_depth = 0;  // of the frame at the header
  Block* body = nullptr;           // params = input parts
  std::vector<Input> inputs;
  std::vector<ArrayType> array_types;
  std::vector<Snapshot> snapshots;
  std::vector<ObjectRef> objects;
  std::vector<NamespaceGuard> namespace_guards;
  std::vector<FunctionGuard> function_guards;
  std::vector<Instance> instances;
  std::vector<InstanceAttribute> attributes;
  std::vector<TypeGuard> type_guards;
  std::vector<ClosureCell> cells;
  uint32_t native_instructions = 0;  // bytecode instructions that ops stand for, each counted once; those of runs are not among them
  bool has_inner_loops = false;
  std::vector<base::Refusal> left;  // why instructions were left to the interpreter's functions (run); for people, not in text form

  // Value table.
  std::vector<Type> value_types;
  Type type_of(ValueId v) const { return value_types[v]; }
  ValueId new_value(Type type) {
    value_types.push_back(type);
    return static_cast<ValueId>(value_types.size() - 1);
  }
  Op* new_op(OpCode code, Type type) {
    Op& op = op_store_.emplace_back();
    op.code = code;
    op.type = type;
    return &op;
  }
  Block* new_block() { return &block_store_.emplace_back(); }
  ArrayTypeId intern_array_type(const ArrayType& type);
  ObjectId add_object(void* pointer, std::string text);  // interned by pointer when not null
  ObjectId add_weak_object(void* pointer, std::string text);

  Function() = default;
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

 private:
  std::deque<Op> op_store_;
  std::deque<Block> block_store_;
};

// The distinct IR values that an exit through this snapshot stores, in first-use order over frames, slots, children. Exit code stores
// value k to Activation::out[k]; the materialiser reads it there.
std::vector<ValueId> snapshot_values(const Snapshot& snapshot);

// Whether a forced exit (Activation::force_countdown) may make this op leave although it would not. Not where the snapshot stands behind
// a branch, on the side that is not compiled: it is right only when the guard really fails.
inline bool may_be_forced(const Op& op) {
  if (!op.has(kExits) || op.code == OpCode::Exit) return false;
  if (op.code != OpCode::Guard) return true;
  switch (static_cast<ExitReason>(op.imm)) {
    case ExitReason::Finished:
    case ExitReason::Left:
    case ExitReason::Path:
    case ExitReason::TypeChange:
    case ExitReason::Unsupported: return false;
    default: return true;
  }
}

// All exits of a function in preorder: numbers ops (Op::exit_id) that have kExits. Call once, after the last pass.
struct ExitInfo {
  const Op* op;
  SnapshotId snapshot;
  ExitReason reason;  // guard/fcheck/exit: imm; addo..shlo: imm, 0 is Overflow; bound: Bounds; poll: Breaker
};
std::vector<ExitInfo> enumerate_exits(Function& function);

// Visits every op in preorder (an op before its blocks). Callback: void(Op&, Block&).
template <typename Callback>
void for_each_op(Block& block, Callback&& callback) {
  for (size_t k = 0; k < block.ops.size(); ++k) {
    Op* op = block.ops[k];
    callback(*op, block);
    for (Block* inner : op->blocks) for_each_op(*inner, callback);
  }
}

}  // namespace hotloop::ir
