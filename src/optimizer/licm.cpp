// Loop invariant code motion: pure ops and array header reads whose operands are defined outside go in front of the loop, as far out as they can.
//
// Needs any verified function. Preserves everything observable: only ops without exits, memory and broken preconditions move (is_speculatable);
// from under an if only what is cheap to run for nothing. Calls move from the top level of a body only.
#include <algorithm>

#include "optimizer/editor.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

class InvariantMotion {
 public:
  explicit InvariantMotion(Function& function) : function_(function), editor_(function) {
    depth_.assign(function.value_types.size(), 0);
  }

  bool run() {
    block(*function_.body, 0);
    return editor_.finish() || moved_;
  }

 private:
  using Ops = std::vector<Op*>;

  // In a loop of this depth and all deeper ones is `op` invariant.
  uint32_t needed_depth(const Op& op) const {
    uint32_t depth = 0;
    for (ValueId v : op.operands) depth = std::max(depth, depth_[v]);
    if (reads_shape(op)) depth = std::max(depth, shape_depth_);
    return depth;
  }

  // The outermost depth that `op` may move to: what costs something does not leave the innermost if around it.
  uint32_t target_depth(const Op& op, uint32_t if_depth) const {
    const uint32_t depth = needed_depth(op);
    switch (op.code) {
      case OpCode::FloorDiv:
      case OpCode::FloorMod:
      case OpCode::Div:
      case OpCode::Sqrt:
      case OpCode::Call: return std::max(depth, if_depth);
      default: return depth;
    }
  }

  // `if_depth`: the number of loops around the innermost if around this block.
  void block(Block& b, uint32_t if_depth) {
    Ops old = std::move(b.ops);
    b.ops.clear();
    b.ops.reserve(old.size());
    const uint32_t here = static_cast<uint32_t>(preheaders_.size());
    for (Op* op : old) {
      if (op->code != OpCode::Const && (is_speculatable(editor_, *op) || reads_shape(*op) || op->code == OpCode::Call)) {
        const uint32_t depth = target_depth(*op, if_depth);
        if (depth < here) {
          for (ValueId v : op->results) depth_[v] = depth;
          preheaders_[depth]->push_back(op);
          moved_ = true;
          continue;
        }
      }
      for (ValueId v : op->results) depth_[v] = here;
      if (op->code == OpCode::If) {
        block(*op->blocks[0], here);
        block(*op->blocks[1], here);
      } else if (is_loop(*op)) {
        Ops preheader;
        preheaders_.push_back(&preheader);
        for (ValueId v : op->blocks[0]->params) depth_[v] = here + 1;
        const uint32_t shape_depth = shape_depth_;
        if (has_effect_inside(*op->blocks[0], kWritesShape)) shape_depth_ = here + 1;
        block(*op->blocks[0], if_depth);
        shape_depth_ = shape_depth;
        preheaders_.pop_back();
        b.ops.insert(b.ops.end(), preheader.begin(), preheader.end());
      }
      b.ops.push_back(op);
    }
  }

  Function& function_;
  Editor editor_;
  std::vector<uint32_t> depth_;      // by value: number of loops around its definition
  std::vector<Ops*> preheaders_;     // one per loop around the current place, outermost first
  uint32_t shape_depth_ = 0;         // of the innermost loop around the current place that changes a list's length
  bool moved_ = false;
};

}  // namespace

bool hoist_invariants(Function& function) { return InvariantMotion(function).run(); }

}  // namespace hotloop::optimizer
