// Predictive commoning: what a trip computes from the values it hands on, the next one need not compute from the values it got. `x * x` of a carried x is
// carried itself where the trip before has `next_x * next_x`; in front of the loop it is computed once from the initial value.
//
// Needs equal ops to be one (gvn). Preserves every bit: the same operation on the same operands in the same order. Only float arithmetic that may
// run for nothing, and few values for each loop: each takes a register.
#include <algorithm>
#include <unordered_map>

#include "optimizer/editor.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

constexpr size_t kMaxAdded = 4;      // new carried values of a loop
constexpr size_t kMaxCarried = 10;   // floats that a loop carries

bool is_candidate(const Op& op) {
  switch (op.code) {
    case OpCode::Add: case OpCode::Sub: case OpCode::Mul: case OpCode::Div: case OpCode::Sqrt: return is_float(op.type);
    default: return false;
  }
}

class Commoning {
 public:
  explicit Commoning(Function& function) : editor_(function) {}

  bool run() {
    place_.assign(editor_.function().value_types.size(), 0);
    Block& body = *editor_.function().body;
    number(body);
    block(body);
    return editor_.finish();
  }

 private:
  struct Loop {
    Op* op;
    uint32_t begin, end;  // places of what its body defines: begin < place <= end
    size_t added = 0;
    std::unordered_multimap<ValueId, Op*> by_operand;  // candidates at the top level of the body, by their first operand
  };

  // Definitions get their place in order; those of a loop's body lie between its own two numbers.
  void number(Block& b) {
    for (ValueId v : b.params) place_[v] = ++next_;
    for (Op* op : b.ops) {
      const uint32_t begin = ++next_;
      for (Block* inner : op->blocks) number(*inner);
      if (is_loop(*op)) spans_.emplace(op, std::pair{begin, next_});
      for (ValueId v : op->results) place_[v] = ++next_;
    }
  }

  void block(Block& b) {
    for (size_t k = 0; k < b.ops.size(); ++k) {
      Op* op = b.ops[k];
      for (Block* inner : op->blocks) block(*inner);
      if (!is_loop(*op) || ends_in_exit(*op->blocks[0])) continue;
      std::vector<Op*> before;
      loop(*op, before);
      b.ops.insert(b.ops.begin() + static_cast<std::ptrdiff_t>(k), before.begin(), before.end());
      k += before.size();
    }
  }

  void loop(Op& op, std::vector<Op*>& before) {
    size_t floats = 0;
    for (ValueId v : op.results) floats += is_float(editor_.function().type_of(v)) ? 1 : 0;
    if (floats == 0 || floats > kMaxCarried) return;
    const auto [begin, end] = spans_.at(&op);
    Loop loop{&op, begin, end, 0, {}};
    for (Op* inner : op.blocks[0]->ops) {
      if (is_candidate(*inner)) loop.by_operand.emplace(editor_.find(inner->operands[0]), inner);
    }
    if (!loop.by_operand.empty()) search(loop, *op.blocks[0], before);
  }

  void search(Loop& loop, Block& b, std::vector<Op*>& before) {
    for (Op* op : b.ops) {
      if (loop.added >= kMaxAdded) return;
      if (is_candidate(*op) && editor_.find(op->result()) == op->result()) carry(loop, *op, before);
      for (Block* inner : op->blocks) search(loop, *inner, before);
    }
  }

  // What the operand is in the next trip, and in the first one; kNoValue: not known.
  ValueId next_of(const Loop& loop, ValueId v, ValueId* initial) {
    const Block& body = *loop.op->blocks[0];
    *initial = v;
    if (place_[v] <= loop.begin || place_[v] > loop.end) return v;
    const size_t first = first_carried_param(*loop.op);
    const auto at = std::find(body.params.begin() + static_cast<std::ptrdiff_t>(first), body.params.end(), v);
    if (at == body.params.end()) return kNoValue;
    const size_t k = static_cast<size_t>(at - body.params.begin()) - first;
    *initial = editor_.find(loop.op->operands[first_carried_operand(*loop.op) + k]);
    return editor_.find(body.ops.back()->operands[1 + k]);
  }

  void carry(Loop& loop, Op& op, std::vector<Op*>& before) {
    std::vector<ValueId> next, initial;
    bool varies = false;
    for (ValueId operand : op.operands) {
      const ValueId v = editor_.find(operand);
      ValueId first;
      next.push_back(next_of(loop, v, &first));
      if (next.back() == kNoValue) return;
      initial.push_back(first);
      varies = varies || next.back() != v;
    }
    if (!varies) return;
    const Op* same = nullptr;
    for (auto [at, end] = loop.by_operand.equal_range(next[0]); at != end; ++at) {
      const Op& other = *at->second;
      const bool equal = other.code == op.code && other.type == op.type && std::equal(next.begin(), next.end(), other.operands.begin(), other.operands.end(),
                                                                                     [this](ValueId x, ValueId y) { return x == editor_.find(y); });
      if (&other != &op && equal) same = &other;
    }
    if (same == nullptr || editor_.find(same->result()) != same->result()) return;
    Op* start = editor_.make(op.code, op.type, initial, op.line);
    before.push_back(start);
    loop.op->operands.push_back(start->result());
    loop.op->blocks[0]->ops.back()->operands.push_back(same->result());
    const ValueId param = editor_.make_param(*loop.op, *loop.op->blocks[0], op.type);
    const ValueId result = editor_.make_result(*loop.op, op.type);
    place_.resize(editor_.function().value_types.size(), 0);
    place_[start->result()] = loop.begin;
    place_[param] = loop.end;
    place_[result] = loop.end + 1;
    editor_.replace(op.result(), param);
    ++loop.added;
  }

  Editor editor_;
  std::vector<uint32_t> place_;  // by value
  std::unordered_map<const Op*, std::pair<uint32_t, uint32_t>> spans_;
  uint32_t next_ = 0;
};

}  // namespace

bool carry_computations(Function& function) { return Commoning(function).run(); }

}  // namespace hotloop::optimizer
