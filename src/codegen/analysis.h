// What the emitter knows about a function before it writes the first instruction: where every yield really goes, which values never
// need a register, and which values share one.
//
// Needs ir/. No asmjit here. Promises: a value in Mode::kRegister has a register number; two values that share a number are never
// alive at the same point of any path; every yield that is emitted has a YieldPlan.
//
// Positions: ops are numbered in preorder, `if`, `for` and `loop` get a second number at their end. Number k has two slots: 2k, where
// operands are read, and 2k + 1, where results are written. A range [from, to) ends at 2k + 1 when its last reader is k.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace hotloop::codegen {

enum class Mode : uint8_t {
  kRegister,
  kConst,   // an immediate or a constant in memory
  kFused,   // a condition that is computed where it is used, as flags
  kMemory,  // a load that is a memory operand of its only user
  kAtExit,  // the index of a `for` and a constant, only read by snapshots: exits compute it
  kInput,   // an input that only snapshots read: exits copy it from Activation::in
  kDead,    // never used
};

struct ValueNote {
  const ir::Op* def = nullptr;  // null: a block parameter
  int32_t loop = -1;            // innermost loop in whose body it is defined
  uint32_t uses = 0;            // reads that need the value itself
  uint32_t snapshot_uses = 0;   // those of `uses` that are snapshots
  uint32_t fused_uses = 0;      // reads that only ask whether it is true
  bool fused_elsewhere = false; // some of the latter lie in another loop than the definition
  uint32_t mentions = 0;        // operands, yields and snapshots that name it, dead ones included
  Mode mode = Mode::kRegister;
  uint32_t reg = ir::kNone;     // virtual register, kRegister only
};

struct OpNote {
  uint32_t index = 0;
  uint32_t end = 0;     // `if`, `for`, `loop`
  int32_t loop = -1;    // innermost loop around it
  bool dead = false;    // pure and unused
  bool absorbed = false;           // yield: the `if` before it yields in its place
  const ir::Op* thread = nullptr;  // if: the `if` right behind it that asks for one of its results
  bool threaded = false;           // if: entered from the arms of the `if` before it
};

// Conditions of a YieldPlan that no value stands for.
inline constexpr ir::ValueId kAlways = UINT32_MAX - 1;
inline constexpr ir::ValueId kNever = UINT32_MAX - 2;

// What one emitted yield does: sources[k] goes to result (or carried) k of the target, then control moves on by `condition`.
struct YieldPlan {
  const ir::Op* target = nullptr;
  std::vector<ir::ValueId> sources;         // kNoValue: not needed; kAlways, kNever: the constant. Loops: of the trips that go on
  std::vector<ir::ValueId> leaving;         // loops: the same when the loop is left
  ir::ValueId condition = ir::kNoValue;     // loops: whether to go on; threaded ifs: the next condition; kAlways, kNever
  bool has_value_condition() const { return condition != ir::kNoValue && condition != kAlways && condition != kNever; }
};
inline bool is_value(ir::ValueId source) { return source != ir::kNoValue && source != kAlways && source != kNever; }

struct LoopNote {
  const ir::Op* op = nullptr;
  int32_t parent = -1;
  int depth = 1;
  bool innermost = true;
  std::vector<ir::ValueId> outer;  // values defined outside that are read inside
  // for: carried k is the loop's own index whenever a trip goes on and not read inside, so it is only set when the loop is left.
  std::vector<bool> last_index;
  // Carried k is one constant from the start to the end of every trip that goes on and not read inside: it is set before the loop.
  std::vector<bool> constant;
};

struct RegisterNote {
  bool is_float = false;
  int depth = 0;  // of the innermost loop that reads or writes it, exits apart
};

struct Analysis {
  std::vector<ValueNote> values;
  std::unordered_map<const ir::Op*, OpNote> ops;
  std::unordered_map<const ir::Op*, YieldPlan> yields;
  std::unordered_map<const ir::Op*, int32_t> loop_index;
  std::vector<LoopNote> loops;
  std::vector<std::vector<ir::ValueId>> snapshots;  // snapshot_values of each
  std::vector<RegisterNote> registers;
  uint32_t op_count = 0;

  const OpNote& note(const ir::Op* op) const { return ops.at(op); }
  int depth_of(int32_t loop) const { return loop < 0 ? 0 : loops[loop].depth; }
  // The block parameter that carries value k of a for / loop.
  static ir::ValueId carried_param(const ir::Op* loop, size_t k) {
    return loop->blocks[0]->params[k + (loop->code == ir::OpCode::For ? 1 : 0)];
  }
  static size_t first_initial(const ir::Op* loop) { return loop->code == ir::OpCode::For ? 3 : 0; }
};

struct Features {
  bool avx = false;
  bool sse41 = false;
  bool bmi2 = false;
  bool f16c = false;
};

Analysis analyze(const ir::Function& function, const Features& features);

// The parts of analyze(), in order.
void number_ops(const ir::Function& function, Analysis* analysis);
void plan_yields(const ir::Function& function, Analysis* analysis);  // yields.cpp
void choose_modes(const ir::Function& function, Analysis* analysis);
void assign_registers(const ir::Function& function, const Features& features, Analysis* analysis);

// Whether a value is a condition the emitter can turn into flags right where it is used.
bool can_fuse(const ir::Function& function, const ir::Op* def);

}  // namespace hotloop::codegen
