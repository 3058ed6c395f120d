// Writes one function into an asmjit Compiler, op by op (dispatch over ops.def: an op without an emit_ member does not link).
//
// Needs analysis.h, asmjit. Split by subject: emitter.cpp (values, constants, dispatch), emit_integer.cpp, emit_checked.cpp,
// emit_float.cpp, emit_convert.cpp, emit_condition.cpp, emit_memory.cpp, emit_control.cpp, emit_exits.cpp.
// Promises: the canonical form of integers in registers: i64, u64, ptr use 64 bits; all narrower ones are sign- or zero-extended by
// their type to 32 bits and the upper 32 bits are zero; i1 is 0 or 1. Floats are in the low lane of an xmm register.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/analysis.h"
#include "codegen/asmjit_compat.h"
#include "ir/activation.h"
#include "ir/numeric.h"

namespace hotloop::codegen {

using Gp = asmjit::x86::Gp;
using Xmm = asmjit::x86::Xmm;
using Mem = asmjit::x86::Mem;
using Label = asmjit::Label;
using CondCode = asmjit::x86::CondCode;
using asmjit::Imm;
using asmjit::InstId;
using asmjit::Operand;
using asmjit::Operand_;

struct EmitterOptions {
  Features features;
  bool force_exits = false;
  bool comments = false;
};

// The flags after a compare: true when `code` holds and, for floats' equality, the operands are ordered (parity clear).
struct Flags {
  enum class Parity : uint8_t { kIgnore, kAndOrdered, kOrUnordered };
  CondCode code = CondCode::kE;
  Parity parity = Parity::kIgnore;
  Flags negated() const;
};

// A float instruction in its four encodings.
struct FloatInst {
  InstId avx64, sse64, avx32, sse32;
};

class Emitter {
 public:
  Emitter(asmjit::x86::Compiler& cc, const ir::Function& function, const Analysis& analysis, const ir::HelperTable& helpers,
          const EmitterOptions& options);

  // Writes everything. False when an op cannot be emitted (a helper without address); problem() says which.
  bool emit_function();
  const std::string& problem() const { return problem_; }

 private:
#define HL_OP(name, text, operands, result, effects, fp, doc) void emit_##name(const ir::Op& op);
#include "ir/ops.def"
#undef HL_OP

  // ---- emitter.cpp
  void emit_block(const ir::Block& block);
  void emit_op(const ir::Op& op);
  void refuse(const std::string& problem);
  bool avx() const { return options_.features.avx; }
  ir::Type type_of(ir::ValueId v) const { return f_.type_of(v); }
  const ValueNote& note(ir::ValueId v) const { return a_.values[v]; }
  bool in_register(ir::ValueId v) const { return note(v).mode == Mode::kRegister; }
  bool is_const(ir::ValueId v) const { return note(v).mode == Mode::kConst; }
  int64_t const_bits(ir::ValueId v) const { return note(v).def->imm; }
  static bool wide(ir::Type type) { return type == ir::Type::I64 || type == ir::Type::U64 || type == ir::Type::Ptr; }
  static Gp sized(const Gp& reg, ir::Type type) { return wide(type) ? Gp(reg.r64()) : Gp(reg.r32()); }
  Gp gp_place(ir::ValueId v);    // register of a value in kRegister mode, 64-bit view
  Xmm xmm_place(ir::ValueId v);
  Gp gp(ir::ValueId v);          // value in a register, constants loaded into a temporary
  Gp sgp(ir::ValueId v) { return sized(gp(v), type_of(v)); }
  Xmm xmm(ir::ValueId v);
  Gp result_gp(const ir::Op& op);   // where to write the result; a temporary when nobody reads it
  Xmm result_xmm(const ir::Op& op);
  Operand gp_operand(ir::ValueId v);   // immediate when it fits, else register in its type's size
  Operand xmm_operand(ir::ValueId v);  // register, or memory for constants and folded loads
  void prefer_register(const asmjit::BaseReg& reg, int depth);  // allocation weight by loop depth
  Gp temp_gp();                        // free again at the next op
  Xmm temp_xmm(ir::Type type);
  void load_const(const Gp& to, int64_t bits, bool keep_flags);
  void load_float_const(const Xmm& to, ir::Type type, int64_t bits, bool keep_flags);
  Mem float_const(ir::Type type, int64_t bits);
  Mem mask_const(ir::Type type, bool sign);  // 16 bytes: the sign bit, or all but it
  void move_gp(const Gp& to, const Gp& from);
  void move_xmm(const Xmm& to, const Xmm& from);

  // ---- emit_integer.cpp, emit_checked.cpp
  void int_binary(InstId inst, const Gp& to, const Gp& a, const Operand& b, bool commutes);
  void int_arith(const ir::Op& op, InstId inst, bool commutes);
  void int_mul(const Gp& to, const Gp& a, const Operand& b);
  void int_mul_op(const ir::Op& op);
  void extend(const Gp& reg, ir::Type type);                       // narrow result back to canonical form
  void shift(const ir::Op& op, InstId inst, InstId bmi_inst);
  void shift_into(const Gp& to, const Gp& a, ir::ValueId count, InstId inst, InstId bmi_inst, ir::Type type);
  void divide(const ir::Op& op, bool want_mod);
  bool divide_by_constant(const ir::Op& op, bool want_mod);
  bool divide_by_reciprocal(const ir::Op& op, bool want_mod);
  void exit_unless_fits(const Gp& value, ir::Type type, Label exit);
  bool is_finite_const(ir::ValueId value) const;
  void add_sub_checked(const ir::Op& op, InstId inst, bool commutes);

  // ---- emit_float.cpp
  InstId pick(const FloatInst& inst, ir::Type type) const;
  void float_binary(const FloatInst& inst, ir::Type type, const Xmm& to, const Xmm& a, const Operand& b);
  void float_arith(const ir::Op& op, const FloatInst& inst);
  void float_logic(InstId avx_inst, InstId sse_inst, const Xmm& to, const Xmm& a, const Operand& b);
  void round(const ir::Op& op, int mode, const void* libm64, const void* libm32);
  void call(const ir::Op& op, const void* address, const std::string& signature);
  void float_helper(const ir::Op& op, ir::HelperId on64, ir::HelperId on32);
  void float_select(const ir::Op& op);
  void compare_floats(ir::Type type, const Xmm& a, const Operand& b);
  void self_difference(const Xmm& to, ir::Type type, const Xmm& a);  // a - a: NaN unless finite

  // ---- emit_convert.cpp
  void conv_int_to_int(const Gp& to, const Gp& from, ir::Type to_type, ir::Type from_type);
  void conv_int_to_float(const Xmm& to, const Gp& from, ir::Type to_type, ir::Type from_type);
  void conv_float_to_int(const Gp& to, const Xmm& from, ir::Type to_type, ir::Type from_type);
  void conv_u64_to_float(const Xmm& to, const Gp& from, ir::Type to_type);
  void conv_float_to_u64(const Gp& to, const Xmm& from, ir::Type from_type);
  void zero_xmm(const Xmm& reg);

  // ---- emit_condition.cpp
  Flags test(ir::ValueId condition);             // emits the compare of a condition that is_simple()
  Flags compare(const ir::Op& op);
  Flags compare_ints(const ir::Op& op);
  bool is_simple(ir::ValueId condition) const;   // one compare decides it
  void branch(ir::ValueId condition, Label on_true, Label on_false);  // control never falls through
  void jump_flags(const Flags& flags, Label on_true, Label on_false);
  void set_flags(const Gp& to, const Flags& flags);  // `to` := 0 or 1
  void materialize(const ir::Op& op);

  // ---- emit_memory.cpp
  Mem address(const ir::Op& load_or_store);
  Mem element_address(const ir::Op& op, size_t first_index);
  void load(const ir::Op& op, const Mem& from);
  void store(ir::Type type, ir::ValueId value, const Mem& to);

  // ---- emit_objects.cpp
  void call_object(const void* address, std::initializer_list<Operand> arguments, const Gp& result);
  void check_type(const Gp& object, ir::ObjectId type, Label otherwise);
  Mem item_address(const Gp& items, ir::ValueId index, int base);
  Mem call_cell(size_t k);
  void store_cell(const Mem& cell, ir::ValueId value);

  // ---- emit_control.cpp
  struct Copy {
    bool is_float;
    uint32_t to;          // register number
    uint32_t from;        // register number, or kNone: the constant
    ir::ValueId value;    // may be kAlways or kNever
  };
  struct LoopLabels {
    Label head, latch, exit;
  };
  struct IfLabels {
    Label on_true, on_false, join;
  };
  Label new_label() { return cc_.newLabel(); }
  void jump(Label to);
  void jump_if(CondCode code, Label to);
  void bind(Label label);         // forward label: unreferenced ones vanish, jumps to it right before are removed
  void bind_always(Label label);
  asmjit::BaseNode* last_code_node() const;
  void add_copy(std::vector<Copy>* copies, ir::ValueId to, ir::ValueId from);
  void emit_copies(std::vector<Copy> copies, bool keep_flags);
  void emit_copy(const Copy& copy, bool keep_flags);
  void emit_leaf(const ir::Op& yield, const YieldPlan& plan);
  void leave(ir::ValueId condition, const std::vector<Copy>& copies, Label on_true, Label on_false);
  void emit_loop_leaf(const YieldPlan& plan);
  void go_on_or_leave(const YieldPlan& plan, const std::vector<Copy>& staying, const std::vector<Copy>& leaving);
  bool spares(const std::vector<Copy>& copies, const YieldPlan& plan) const;
  void set_last_indices(const ir::Op& op, const LoopNote& loop);
  Gp trip_count(const ir::Op& op);
  bool leaves(const ir::Block& block) const;   // never comes back: belongs out of line
  bool calls(const ir::Block& block) const;
  void keep(Label label);
  void keep_targets(const ir::Block& block);
  bool is_unlikely(ir::ValueId condition, bool outcome) const;
  IfLabels& if_labels(const ir::Op* op);

  // ---- emit_exits.cpp
  Label exit_label(const ir::Op& op);           // the cold stub of an op with an exit
  void count_down(const ir::Op& op);            // forced exits
  void emit_cold();
  void emit_stub(const ir::Op& op, Label label);
  void store_snapshot(ir::SnapshotId snapshot);
  template <typename Use>
  void exit_operand(ir::ValueId value, Use&& use);
  Mem input_cell(const Gp& inputs, ir::ValueId value);
  void compute_at_exit(const ir::Op& def, const Gp& to);
  Gp activation();

  asmjit::x86::Compiler& cc_;
  const ir::Function& f_;
  const Analysis& a_;
  const ir::HelperTable& helpers_;
  EmitterOptions options_;
  std::string problem_;

  std::vector<Operand> places_;  // by register number
  std::unordered_map<int32_t, std::vector<Gp>> temps_gp_;
  std::unordered_map<int32_t, std::vector<Xmm>> temps_xmm_;
  size_t temps_gp_used_ = 0, temps_xmm_used_ = 0;
  int32_t loop_ = -1;            // of the op being emitted; -2 in cold code

  std::vector<uint32_t> label_uses_;  // by label id
  std::unordered_map<const ir::Op*, LoopLabels> loop_labels_;
  std::unordered_map<const ir::Op*, IfLabels> if_labels_;
  std::vector<std::function<void()>> cold_;
  bool in_cold_ = false;         // what is being written is out of line
  std::unordered_map<const ir::Op*, Label> stubs_;
  std::vector<const ir::Op*> stub_list_;
  std::vector<uint32_t> snapshot_exits_;        // how many stubs share a snapshot
  std::vector<Label> snapshot_tails_;
  Label return_;
  Gp exit_id_;
  Mem activation_slot_;
  Mem parts_slot_;               // of a value that is boxed
  Mem call_cells_;               // operands and result of an object_call
  Gp breaker_;
};

}  // namespace hotloop::codegen
