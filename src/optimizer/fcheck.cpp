// Float check merging: in straight-line code without effects, checks whose results all flow into a later result through operations that keep
// "not finite" not finite are asked only when that later result is not finite.
//
//   m = mul a, b;  fcheck m, a, b;  r = add s, m;  fcheck r, s, m      →     m = ...; r = ...;  if isfinite r {} else { fcheck m...; fcheck r... }
//
// Needs gvn. Preserves: every check is asked exactly when it might fail, with its exact test, so data with NaN or infinities runs natively
// too. Checks in one group leave through the snapshot of the first: no effect lies between, so the interpreter repeats pure work from there and
// warns at the right place. Other exits inside the stretch take that snapshot as well, or a warning before them would be lost.
#include <algorithm>

#include "optimizer/editor.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

constexpr size_t kMaxGroup = 16;

class FloatChecks {
 public:
  explicit FloatChecks(Function& function) : function_(function), editor_(function) {}

  bool run() {
    block(*function_.body);
    return editor_.finish();
  }

 private:
  using Ops = std::vector<Op*>;

  void block(Block& b) {
    const Ops old = std::move(b.ops);
    b.ops.clear();
    b.ops.reserve(old.size() + 8);
    for (Op* op : old) {
      if (op->code == OpCode::FCheck) {
        if (pending_.size() == kMaxGroup) flush(b.ops);
        if (trivial(*op)) editor_.set_changed();
        else pending_.push_back(op);
        continue;
      }
      const bool passes = op->code == OpCode::Guard || op->code == OpCode::Bound || op->has(kExits);
      if ((op_info(op->code).effects & kStays) != 0 || op->has(kStructured) || op->has(kTerminator) || op->has(kPoll)) {
        flush(b.ops);
      } else if (passes && !pending_.empty()) {
        op->snapshot = pending_.front()->snapshot;
        editor_.set_changed();
      }
      b.ops.push_back(op);
      for (Block* inner : op->blocks) block(*inner);
    }
  }

  // A result that is finite whatever the operands, or exactly an operand's own.
  bool trivial(const Op& check) const {
    const Op* op = editor_.def(check.operands[0]);
    if (op == nullptr) return false;
    if (op->code == OpCode::Const) return finite_constant(*op);
    if (op->code != OpCode::Conv) return false;
    const Type from = function_.type_of(op->operands[0]);
    return from == Type::I1 || is_int(from);
  }

  static bool finite_constant(const Op& op) {
    const uint64_t exponent = op.type == Type::F64 ? 0x7FF0000000000000u : 0x7F800000u;
    return (static_cast<uint64_t>(op.imm) & exponent) != exponent;
  }

  // Adds the values that are finite whenever `v` is: not finite goes through + - * and the dividend, and through what keeps magnitude.
  void covered_by(ValueId v, std::vector<ValueId>& covered, int depth) const {
    const Op* op = editor_.def(v);
    if (op == nullptr || depth == 0 || !is_float(op->type)) return;
    size_t count = 0;
    switch (op->code) {
      case OpCode::Add: case OpCode::Sub: case OpCode::Mul: count = 2; break;
      case OpCode::Div: case OpCode::Neg: case OpCode::Abs: case OpCode::Sqrt: case OpCode::Copysign: case OpCode::RoundHalf:
        count = 1;
        break;
      case OpCode::Conv: count = is_float(function_.type_of(op->operands[0])) ? 1 : 0; break;
      default: break;
    }
    for (size_t k = 0; k < count; ++k) {
      if (std::find(covered.begin(), covered.end(), op->operands[k]) != covered.end()) continue;
      covered.push_back(op->operands[k]);
      covered_by(op->operands[k], covered, depth - 1);
    }
  }

  void flush(Ops& out) {
    if (pending_.empty()) return;
    const Ops checks = std::move(pending_);
    pending_.clear();
    const SnapshotId first = checks.front()->snapshot;
    std::vector<bool> placed(checks.size(), false);
    for (size_t last = checks.size(); last-- > 0;) {
      if (placed[last]) continue;
      const ValueId result = checks[last]->operands[0];
      std::vector<ValueId> covered{result};
      covered_by(result, covered, 12);
      Ops group;
      for (size_t k = 0; k <= last; ++k) {
        if (placed[k] || std::find(covered.begin(), covered.end(), checks[k]->operands[0]) == covered.end()) continue;
        placed[k] = true;
        group.push_back(checks[k]);
      }
      if (checks.size() > 1) {
        for (Op* check : group) check->snapshot = first;
      }
      emit(group, result, out);
    }
  }

  void emit(const Ops& group, ValueId result, Ops& out) {
    if (group.size() == 1) {
      out.push_back(group[0]);
      return;
    }
    const Op& model = *group.back();
    Op* finite = editor_.make(OpCode::IsFinite, model.type, {result}, model.line);
    out.push_back(finite);
    Op* choice = editor_.make(OpCode::If, Type::None, {finite->result()}, model.line);
    for (int side = 0; side < 2; ++side) {
      Block* inner = function_.new_block();
      if (side == 1) inner->ops = group;
      inner->ops.push_back(editor_.make(OpCode::Yield, Type::None, {}, model.line));
      choice->blocks.push_back(inner);
    }
    out.push_back(choice);
    editor_.set_changed();
  }

  Function& function_;
  Editor editor_;
  Ops pending_;
};

}  // namespace

bool merge_float_checks(Function& function) { return FloatChecks(function).run(); }

}  // namespace hotloop::optimizer
