// Simplification: constants folded, exact identities applied, ifs with a known or negated condition, ifs that only choose (to selects),
// ifs with a side that only leaves (to guards), carried values that never change.
//
// Needs any verified function. Preserves the order of effects and of exits, and each exit's snapshot. Constants end up once each at the top of
// the body. Repeat until nothing changes.
#include <algorithm>

#include "optimizer/editor.h"
#include "optimizer/fold.h"
#include "optimizer/identities.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

constexpr size_t kMaxCompared = 32;  // carried values of one loop that are compared pair by pair

class Simplifier {
 public:
  explicit Simplifier(Function& function) : function_(function), editor_(function) {}

  bool run() {
    block(*function_.body);
    return editor_.finish();
  }

 private:
  using Ops = std::vector<Op*>;

  void block(Block& b) {
    const Ops old = std::move(b.ops);
    b.ops.clear();
    b.ops.reserve(old.size());
    append_all(old, b.ops, &b == function_.body);
  }

  // False when an exit ends the block early.
  bool append_all(const Ops& ops, Ops& out, bool top = false) {
    bool prefix = top;  // constants at the very top stay
    for (Op* op : ops) {
      if (op->code == OpCode::Const) {
        if (prefix && editor_.constant(op->type, op->imm) == op->result()) {
          out.push_back(op);
        } else {
          editor_.replace(op->result(), editor_.constant(op->type, op->imm));
        }
        continue;
      }
      prefix = false;
      if (!append(op, out)) return false;
    }
    return true;
  }

  bool append(Op* op, Ops& out) {
    editor_.resolve_operands(*op);
    if (op->code == OpCode::If) return append_if(op, out);
    if (is_loop(*op)) {
      unchanged_carried(*op);
      equal_carried(*op);
      block(*op->blocks[0]);
      out.push_back(op);
      return true;
    }
    if (op->code == OpCode::Guard) return append_guard(op, out);
    if (!op->results.empty()) {
      const ValueId same = simpler(*op, out);
      if (same != kNoValue) {
        editor_.replace(op->result(), same);
        return true;
      }
    }
    out.push_back(op);
    return op->code != OpCode::Exit;
  }

  ValueId simpler(Op& op, Ops& out) {
    int64_t bits[3];
    size_t known = 0;
    if (op.operands.size() <= 3 && op.code != OpCode::Call && !op.has(kReadsArray) && (op_info(op.code).effects & kStays) == 0) {
      for (ValueId v : op.operands) {
        const auto c = editor_.const_bits(v);
        if (!c) break;
        bits[known++] = *c;
      }
    }
    if (op.code == OpCode::Select && editor_.is_const(op.operands[0])) return op.operands[*editor_.const_bits(op.operands[0]) != 0 ? 1 : 2];
    if (known == op.operands.size() && known > 0) {
      const auto value = fold(op, function_.type_of(op.operands[0]), {bits, known});
      if (value) return editor_.constant(function_.type_of(op.result()), *value);
    }
    return identity(editor_, op, out);
  }

  bool append_guard(Op* op, Ops& out) {
    const auto known = editor_.const_bits(op->operands[0]);
    if (known && *known != 0) {
      editor_.set_changed();
      return true;
    }
    if (known) {  // always leaves
      op->code = OpCode::Exit;
      op->operands.clear();
      out.push_back(op);
      editor_.set_changed();
      return false;
    }
    if (const Op* both = editor_.def(op->operands[0]); both != nullptr && both->code == OpCode::And && both->type == Type::I1) {
      // Two guards: each can be proved or moved by itself.
      for (ValueId part : both->operands) {
        Op* guard = editor_.make(OpCode::Guard, Type::None, {editor_.find(part)}, op->line);
        guard->imm = op->imm;
        guard->snapshot = op->snapshot;
        if (!append_guard(guard, out)) return false;
      }
      editor_.set_changed();
      return true;
    }
    out.push_back(op);
    return true;
  }

  // Two carried values that start alike and are handed on alike are one.
  void equal_carried(Op& loop) {
    const Block& body = *loop.blocks[0];
    const size_t count = carried_count(loop);
    if (ends_in_exit(body) || count > kMaxCompared) return;
    const std::vector<ValueId>& yielded = body.ops.back()->operands;
    auto initial = [&](size_t k) { return editor_.find(loop.operands[first_carried_operand(loop) + k]); };
    auto param = [&](size_t k) { return body.params[first_carried_param(loop) + k]; };
    for (size_t k = 1; k < count; ++k) {
      for (size_t j = 0; j < k; ++j) {
        if (editor_.find(param(k)) != param(k) || editor_.find(param(j)) != param(j)) continue;
        if (initial(j) != initial(k) || editor_.find(yielded[1 + j]) != editor_.find(yielded[1 + k])) continue;
        if (function_.type_of(param(j)) != function_.type_of(param(k))) continue;
        editor_.replace(param(k), param(j));
        editor_.replace(loop.results[k], loop.results[j]);
        break;
      }
    }
  }

  // A carried value that every trip hands on unchanged is its initial value.
  void unchanged_carried(Op& loop) {
    const Block& body = *loop.blocks[0];
    if (ends_in_exit(body)) return;
    const std::vector<ValueId>& yielded = body.ops.back()->operands;
    for (size_t k = 0; k < carried_count(loop); ++k) {
      const ValueId param = body.params[first_carried_param(loop) + k];
      const ValueId initial = loop.operands[first_carried_operand(loop) + k];
      const ValueId next = editor_.find(yielded[1 + k]);
      if (editor_.find(param) != param || (next != param && next != initial)) continue;
      editor_.replace(param, initial);
      editor_.replace(loop.results[k], initial);
    }
  }

  bool append_if(Op* op, Ops& out) {
    if (const Op* negated = editor_.def(op->operands[0]); negated != nullptr && negated->code == OpCode::Not) {
      op->operands[0] = editor_.find(negated->operands[0]);
      std::swap(op->blocks[0], op->blocks[1]);
      editor_.set_changed();
    }
    if (const auto known = editor_.const_bits(op->operands[0])) return splice(*op, *op->blocks[*known != 0 ? 0 : 1], out);
    block(*op->blocks[0]);
    block(*op->blocks[1]);
    for (int side = 0; side < 2; ++side) {
      if (becomes_guard(*op->blocks[side]) && !ends_in_exit(*op->blocks[1 - side])) return guard_instead(*op, side, out);
    }
    if (!ends_in_exit(*op->blocks[0]) && !ends_in_exit(*op->blocks[1])) {
      same_results(*op);
      if (conditional_add(*op, out)) return true;
      flatten(*op, out);
      if (selects_instead(*op, out)) return true;
    }
    out.push_back(op);
    return true;
  }

  // The block runs for sure: its ops take the place of the if.
  bool splice(Op& op, Block& chosen, Ops& out) {
    editor_.set_changed();
    const bool leaves = ends_in_exit(chosen);
    Ops ops = chosen.ops;
    if (!leaves) ops.pop_back();
    if (!append_all(ops, out)) return false;
    if (leaves) return false;
    const std::vector<ValueId>& yielded = chosen.ops.back()->operands;
    for (size_t k = 0; k < op.results.size(); ++k) editor_.replace(op.results[k], editor_.find(yielded[k]));
    return true;
  }

  // An arm that only leaves. The guard in its place has a snapshot that stands behind the branch, so its reason must be one of those that
  // are never forced (may_be_forced).
  static bool becomes_guard(const Block& block) {
    if (block.ops.size() != 1 || block.ops[0]->code != OpCode::Exit) return false;
    Op guard;
    guard.code = OpCode::Guard;
    guard.imm = block.ops[0]->imm;
    return !may_be_forced(guard);
  }

  bool guard_instead(Op& op, int leaving, Ops& out) {
    ValueId condition = op.operands[0];
    if (leaving == 0) {
      Op* inverted = editor_.make(OpCode::Not, Type::I1, {condition}, op.line);
      append(inverted, out);
      condition = editor_.find(inverted->result());
    }
    const Op* exit = op.blocks[leaving]->ops[0];
    Op* guard = editor_.make(OpCode::Guard, Type::None, {condition}, exit->line);
    guard->imm = exit->imm;
    guard->snapshot = exit->snapshot;
    out.push_back(guard);
    return splice(op, *op.blocks[1 - leaving], out);
  }

  void same_results(Op& op) {
    const auto& yes = op.blocks[0]->ops.back()->operands;
    const auto& no = op.blocks[1]->ops.back()->operands;
    for (size_t k = 0; k < op.results.size(); ++k) {
      if (editor_.find(yes[k]) == editor_.find(no[k])) editor_.replace(op.results[k], yes[k]);
    }
  }

  bool only_yields(const Block& block) const { return block.ops.size() == 1; }

  bool cheap(const Op& op) const {
    switch (op.code) {
      case OpCode::Eq: case OpCode::Ne: case OpCode::Lt: case OpCode::Le: case OpCode::Gt: case OpCode::Ge:
      case OpCode::Not: case OpCode::And: case OpCode::Or: case OpCode::Xor: return true;
      case OpCode::Add: case OpCode::Sub: case OpCode::Neg: case OpCode::Select: return !is_float(op.type);
      case OpCode::Shl: case OpCode::Shr: {
        const auto count = editor_.const_bits(op.operands[1]);
        return count && *count >= 0 && *count < (op.type == Type::I64 || op.type == Type::U64 ? 64 : 8);
      }
      default: return false;
    }
  }

  // A few cheap integer ops in the arms of an if without float results run in front of it; the if then only chooses.
  void flatten(Op& op, Ops& out) {
    size_t count = 0;
    for (const Block* arm : op.blocks) {
      count += arm->ops.size() - 1;
      for (size_t k = 0; k + 1 < arm->ops.size(); ++k) {
        if (!cheap(*arm->ops[k])) return;
      }
    }
    if (count == 0 || count > 3) return;
    for (ValueId v : op.results) {
      if (is_float(function_.type_of(v))) return;
    }
    for (Block* arm : op.blocks) {
      out.insert(out.end(), arm->ops.begin(), arm->ops.end() - 1);
      arm->ops.erase(arm->ops.begin(), arm->ops.end() - 1);
    }
    editor_.set_changed();
  }

  // Integer results of an if that only chooses are selects: no branch to mispredict. Floats keep the branch: it is usually predicted, and
  // a select would put the compare into the dependency chain.
  bool selects_instead(Op& op, Ops& out) {
    if (!only_yields(*op.blocks[0]) || !only_yields(*op.blocks[1])) return false;
    for (ValueId v : op.results) {
      if (editor_.find(v) == v && is_float(function_.type_of(v))) return false;
    }
    const auto& yes = op.blocks[0]->ops.back()->operands;
    const auto& no = op.blocks[1]->ops.back()->operands;
    for (size_t k = 0; k < op.results.size(); ++k) {
      if (editor_.find(op.results[k]) != op.results[k]) continue;
      Op* select = editor_.make(OpCode::Select, function_.type_of(op.results[k]), {op.operands[0], editor_.find(yes[k]), editor_.find(no[k])}, op.line);
      if (append(select, out)) editor_.replace(op.results[k], select->result());
    }
    editor_.set_changed();
    return true;
  }

  // if c { x + k or exit } else { x }: x + (c ? k : 0) or exit. A counter under an unpredictable condition.
  bool conditional_add(Op& op, Ops& out) {
    if (op.results.size() != 1 || !only_yields(*op.blocks[1]) || op.blocks[0]->ops.size() != 2) return false;
    Op* add = op.blocks[0]->ops[0];
    const ValueId base = editor_.find(op.blocks[1]->ops.back()->operands[0]);
    // Not addo: its snapshot stands inside the arm, so it could be left there only when the arm would run.
    if (add->code != OpCode::Add || !is_int(add->type)) return false;
    if (editor_.find(op.blocks[0]->ops.back()->operands[0]) != add->result()) return false;
    if (add->operands[0] != base || !editor_.is_const(add->operands[1])) return false;
    Op* amount = editor_.make(OpCode::Select, add->type, {op.operands[0], add->operands[1], editor_.constant(add->type, 0)}, op.line);
    if (append(amount, out)) add->operands[1] = editor_.find(amount->result());
    out.push_back(add);
    editor_.replace(op.results[0], add->result());
    return true;
  }

  Function& function_;
  Editor editor_;
};

}  // namespace

bool simplify(Function& function) { return Simplifier(function).run(); }

}  // namespace hotloop::optimizer
