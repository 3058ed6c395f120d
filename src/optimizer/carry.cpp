// Stores carried into the next trip: a load of the element that the trip before stored takes the value from there, as a carried value, instead of
// going through memory (R[k, j] += ... and A[i, j - 1] in a recurrence: the store-to-load delay leaves the critical path). The store stays.
//
// Needs the final run of check elimination (equal loads are one). Preserves memory and every exit. Only where the loop has one store, at the
// top level of its body; the first trip's value is loaded in front of the loop, if there is a trip, where its index is proved to be inside.
#include "optimizer/checks.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

size_t count_stores(const Block& block) {
  size_t count = 0;
  for (const Op* op : block.ops) {
    if (op->has(kWritesArray)) ++count;
    for (const Block* inner : op->blocks) count += count_stores(*inner);
  }
  return count;
}

// index = base + constant, exactly or modulo 2^64.
Term split(Editor& editor, ValueId index) {
  Term t{editor.find(index), 0};
  const Op* op = editor.def(t.v);
  if (op == nullptr || op->type != Type::I64) return t;
  const bool plus = op->code == OpCode::Add || op->code == OpCode::AddO;
  if (!plus && op->code != OpCode::Sub && op->code != OpCode::SubO) return t;
  const auto c = editor.const_bits(editor.find(op->operands[1]));
  if (!c) return t;
  return Term{editor.find(op->operands[0]), plus ? static_cast<Wide>(*c) : -static_cast<Wide>(*c)};
}

}  // namespace

void CheckElimination::carry_stores(Op& loop, Ops& out) {
  Block& body = *loop.blocks[0];
  if (ends_in_exit(body)) return;
  size_t store_at = body.ops.size();
  for (size_t k = 0; k < body.ops.size(); ++k) {
    if (body.ops[k]->code == OpCode::AStore) store_at = k;
  }
  if (store_at == body.ops.size() || count_stores(body) != 1) return;
  for (size_t k = 0; k < store_at; ++k) {
    if (body.ops[k]->code != OpCode::ALoad || !carry_store(loop, *body.ops[store_at], k, out)) continue;
    body.ops.erase(body.ops.begin() + static_cast<std::ptrdiff_t>(k));
    --k;
    --store_at;
    editor_.set_changed();
  }
}

// The indices of the load in the first trip, when from the second trip on it reads what the trip before stored.
bool CheckElimination::first_index(const Op& loop, const Op& store, const Op& load, std::vector<Term>* indices) {
  if (load.access != store.access || load.imm != store.imm || editor_.find(load.operands[0]) != editor_.find(store.operands[0])) return false;
  for (size_t axis = 0; axis + 1 < load.operands.size(); ++axis) {
    const ValueId at_load = editor_.find(load.operands[1 + axis]);
    const ValueId at_store = editor_.find(store.operands[2 + axis]);
    if (at_load == at_store && depth_of(at_load) <= here()) {
      indices->push_back(Term{at_load, 0});
      continue;
    }
    if (loop.code != OpCode::For) return false;
    const ValueId index = loop.blocks[0]->params[0];
    const auto step = editor_.const_bits(editor_.find(loop.operands[2]));
    const Term l = split(editor_, at_load);
    const Term s = split(editor_, at_store);
    if (!step || l.v != index || s.v != index || l.c != s.c - *step) return false;
    indices->push_back(Term{editor_.find(loop.operands[0]), l.c});
  }
  return true;
}

bool CheckElimination::carry_store(Op& loop, const Op& store, size_t load_at, Ops& out) {
  const Op& load = *loop.blocks[0]->ops[load_at];
  std::vector<Term> indices;
  if (!first_index(loop, store, load, &indices)) return false;
  const Facts::Mark mark = facts_.mark();
  facts_.enter_loop(loop);
  bool inside = true;
  for (size_t axis = 0; axis < indices.size() && inside; ++axis) {
    const auto dim = dims_.find({editor_.find(load.operands[0]), static_cast<int64_t>(axis)});
    inside = dim != dims_.end() && facts_.prove_le(Term{kNoValue, 0}, indices[axis]) &&
             facts_.prove_le(Term{indices[axis].v, indices[axis].c + 1}, Term{editor_.find(dim->second), 0});
  }
  facts_.rollback(mark);
  if (!inside) return false;
  const ValueId initial = first_value(loop, load, indices, out);
  const Type type = function_.type_of(load.result());
  loop.operands.push_back(initial);
  const ValueId param = editor_.make_param(loop, *loop.blocks[0], type);
  set_depth(param, here() + 1);
  loop.blocks[0]->ops.back()->operands.push_back(editor_.find(store.operands[1]));
  set_depth(editor_.make_result(loop, type), here());
  editor_.replace(load.result(), param);
  return true;
}

// The element that the first trip loads; when the loop may make no trip, only loaded if it does.
ValueId CheckElimination::first_value(const Op& loop, const Op& load, const std::vector<Term>& indices, Ops& out) {
  Ops ops;
  std::vector<ValueId> operands{editor_.find(load.operands[0])};
  for (const Term& t : indices) {
    operands.push_back(t.c == 0 ? t.v : place(ops, OpCode::Add, Type::I64, {t.v, editor_.const_i64(static_cast<int64_t>(t.c))}, load.line));
  }
  Op* first = editor_.make(OpCode::ALoad, load.type, operands, load.line);
  first->access = load.access;
  first->imm = load.imm;
  ops.push_back(first);
  set_depth(first->result(), here());
  if (loop.code == OpCode::Loop) {
    out.insert(out.end(), ops.begin(), ops.end());
    return first->result();
  }
  const ValueId lo = editor_.find(loop.operands[0]);
  const ValueId hi = editor_.find(loop.operands[1]);
  const bool up = facts_.range(editor_.find(loop.operands[2])).lo >= 1;
  const ValueId runs = place(out, up ? OpCode::Lt : OpCode::Gt, Type::I64, {lo, hi}, load.line);
  const Type type = function_.type_of(load.result());
  Op* choice = editor_.make(OpCode::If, Type::None, {runs}, load.line);
  const ValueId result = editor_.make_result(*choice, type);
  for (int side = 0; side < 2; ++side) {
    Block* block = function_.new_block();
    if (side == 0) block->ops = ops;
    block->ops.push_back(editor_.make(OpCode::Yield, Type::None, {side == 0 ? first->result() : editor_.constant(type, 0)}, load.line));
    choice->blocks.push_back(block);
  }
  set_depth(result, here());
  out.push_back(choice);
  return result;
}

}  // namespace hotloop::optimizer
