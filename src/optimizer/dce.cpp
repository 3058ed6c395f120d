// Dead code elimination: ops, carried values, results of ifs, whole loops and snapshots that nothing needs.
//
// Needs any verified function. Preserves the order of what stays. An op stays when it writes memory, may leave, or feeds one that does,
// through snapshots included. A carried value and its result are one thing; it lives when either is read. Loops without effects go even if
// they might not end: each has a poll, or ends.
#include <vector>

#include "optimizer/editor.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

class DeadCode {
 public:
  explicit DeadCode(Function& function) : function_(function) {
    const size_t count = function.value_types.size();
    def_.assign(count, nullptr);
    owner_.assign(count, nullptr);
    index_.assign(count, 0);
    live_value_.assign(count, false);
    live_snapshot_.assign(function.snapshots.size(), false);
    collect(*function.body, nullptr);
  }

  bool run() {
    while (!work_.empty()) {
      Op* op = work_.back();
      work_.pop_back();
      visit(*op);
    }
    sweep(*function_.body);
    drop_snapshots();
    return changed_;
  }

 private:
  void collect(Block& block, Op* owner) {
    for (size_t k = 0; k < block.params.size(); ++k) {
      owner_[block.params[k]] = owner;
      index_[block.params[k]] = static_cast<uint32_t>(k);
    }
    for (Op* op : block.ops) {
      op->mark = static_cast<uint32_t>(parents_.size());
      parents_.push_back(owner);
      live_op_.push_back(false);
      for (size_t k = 0; k < op->results.size(); ++k) {
        def_[op->results[k]] = op;
        index_[op->results[k]] = static_cast<uint32_t>(k);
      }
      if ((op_info(op->code).effects & (kExits | kWrites)) != 0) mark_op(op);
      for (Block* inner : op->blocks) collect(*inner, op);
    }
  }

  void mark_op(Op* op) {
    if (live_op_[op->mark]) return;
    live_op_[op->mark] = true;
    work_.push_back(op);
  }

  void visit(Op& op) {
    if (Op* parent = parents_[op.mark]) mark_op(parent);
    if (op.snapshot != kNoSnapshot && !live_snapshot_[op.snapshot]) {
      live_snapshot_[op.snapshot] = true;
      for (ValueId v : snapshot_values(function_.snapshots[op.snapshot])) mark_value(v);
    }
    if (!op.has(kStructured)) {
      for (ValueId v : op.operands) mark_value(v);
      return;
    }
    const size_t own = op.code == OpCode::If ? 1 : first_carried_operand(op);
    for (size_t k = 0; k < own; ++k) mark_value(op.operands[k]);
    if (is_loop(op) && !ends_in_exit(*op.blocks[0])) mark_value(op.blocks[0]->ops.back()->operands[0]);
  }

  void mark_value(ValueId v) {
    if (live_value_[v]) return;
    live_value_[v] = true;
    if (Op* op = def_[v]) {
      mark_op(op);
      if (op->code == OpCode::If) {
        for (Block* block : op->blocks) {
          if (!ends_in_exit(*block)) mark_value(block->ops.back()->operands[index_[v]]);
        }
      } else if (is_loop(*op)) {
        mark_carried(*op, index_[v]);
      }
      return;
    }
    Op* owner = owner_[v];
    if (owner == nullptr) return;
    mark_op(owner);
    const size_t first = first_carried_param(*owner);
    if (index_[v] >= first) mark_carried(*owner, index_[v] - first);
  }

  void mark_carried(Op& loop, size_t k) {
    mark_value(loop.operands[first_carried_operand(loop) + k]);
    mark_value(loop.blocks[0]->params[first_carried_param(loop) + k]);
    mark_value(loop.results[k]);
    if (!ends_in_exit(*loop.blocks[0])) mark_value(loop.blocks[0]->ops.back()->operands[1 + k]);
  }

  template <typename Keep>
  void filter(std::vector<ValueId>& values, size_t first, Keep&& keep) {
    size_t out = first;
    for (size_t k = first; k < values.size(); ++k) {
      if (keep(k - first)) values[out++] = values[k];
    }
    if (out != values.size()) changed_ = true;
    values.resize(out);
  }

  void sweep(Block& block) {
    size_t out = 0;
    for (Op* op : block.ops) {
      if (!op->has(kTerminator) && !live_op_[op->mark]) continue;
      block.ops[out++] = op;
      if (!op->has(kStructured)) continue;
      std::vector<bool> kept;
      for (ValueId v : op->results) kept.push_back(live_value_[v]);
      auto keep = [&](size_t k) { return kept[k]; };
      for (Block* inner : op->blocks) {
        if (!ends_in_exit(*inner)) filter(inner->ops.back()->operands, is_loop(*op) ? 1 : 0, keep);
        if (is_loop(*op)) filter(inner->params, first_carried_param(*op), keep);
      }
      if (is_loop(*op)) filter(op->operands, first_carried_operand(*op), keep);
      filter(op->results, 0, keep);
      for (Block* inner : op->blocks) sweep(*inner);
    }
    if (out != block.ops.size()) changed_ = true;
    block.ops.resize(out);
  }

  // Snapshots that no op names are emptied: they may name values that are gone. Numbers stay.
  void drop_snapshots() {
    for (size_t k = 0; k < live_snapshot_.size(); ++k) {
      if (!live_snapshot_[k]) function_.snapshots[k].frames.clear();
    }
  }

  Function& function_;
  std::vector<Op*> def_;
  std::vector<Op*> owner_;
  std::vector<uint32_t> index_;
  std::vector<bool> live_value_;
  std::vector<bool> live_snapshot_;
  std::vector<Op*> parents_;  // by Op::mark
  std::vector<bool> live_op_;
  std::vector<Op*> work_;
  bool changed_ = false;
};

}  // namespace

bool eliminate_dead_code(Function& function) { return DeadCode(function).run(); }

bool drop_loop_snapshots(Function& function) {
  bool changed = false;
  for_each_op(*function.body, [&](Op& op, Block&) {
    if (!is_loop(op) || op.snapshot == kNoSnapshot) return;
    op.snapshot = kNoSnapshot;
    changed = true;
  });
  return changed;
}

}  // namespace hotloop::optimizer
