// Address lowering: aload and astore become load and store at data + sum of index * stride. The sum is made by loop depth, outermost first, so
// that licm hoists its invariant parts; the deepest index is the scaled one, constants go to the displacement.
//
// Needs all analyses of subscripts done (they read aload and astore). Preserves memory effects one to one; address arithmetic wraps modulo
// 2^64, which is exact because the element lies inside its array. Run gvn and licm afterwards.
#include <algorithm>

#include "optimizer/editor.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

class AddressLowering {
 public:
  explicit AddressLowering(Function& function) : function_(function), editor_(function), depth_(function.value_types.size(), 0) {}

  bool run() {
    block(*function_.body, 0);
    return editor_.finish();
  }

 private:
  using Ops = std::vector<Op*>;
  // One summand of the address: v * scale bytes.
  struct Part {
    ValueId v;
    int64_t scale;
    uint32_t depth;
  };

  void block(Block& b, uint32_t depth) {
    const Ops old = std::move(b.ops);
    b.ops.clear();
    b.ops.reserve(old.size() * 2);
    for (Op* op : old) {
      if (op->code == OpCode::ALoad || op->code == OpCode::AStore) lower(*op, b.ops, depth);
      for (ValueId v : op->results) set_depth(v, depth);
      b.ops.push_back(op);
      for (Block* inner : op->blocks) {
        const uint32_t inside = depth + (is_loop(*op) ? 1 : 0);
        for (ValueId v : inner->params) set_depth(v, inside);
        block(*inner, inside);
      }
    }
  }

  void set_depth(ValueId v, uint32_t depth) {
    if (v >= depth_.size()) depth_.resize(v + 1, 0);
    depth_[v] = depth;
  }

  ValueId make(Ops& out, OpCode code, Type type, std::initializer_list<ValueId> operands, uint32_t depth, int64_t imm = 0) {
    Op* op = editor_.make(code, type, operands, line_);
    op->imm = imm;
    out.push_back(op);
    set_depth(op->result(), depth);
    return op->result();
  }

  // index = sum of terms + constant, modulo 2^64.
  void split(ValueId index, std::vector<ValueId>& terms, uint64_t& constant, int depth) {
    const Op* op = editor_.def(index);
    if (op != nullptr && op->code == OpCode::Const) {
      constant += static_cast<uint64_t>(op->imm);
      return;
    }
    const bool plus = op != nullptr && (op->code == OpCode::Add || op->code == OpCode::AddO);
    const bool minus = op != nullptr && (op->code == OpCode::Sub || op->code == OpCode::SubO) && editor_.is_const(op->operands[1]);
    if (depth == 0 || op == nullptr || op->type != Type::I64 || (!plus && !minus)) {
      terms.push_back(index);
      return;
    }
    split(op->operands[0], terms, constant, depth - 1);
    if (minus) constant -= static_cast<uint64_t>(*editor_.const_bits(op->operands[1]));
    else split(op->operands[1], terms, constant, depth - 1);
  }

  // Terms of one depth are added up first: they stay together wherever they are hoisted to.
  void add_parts(Ops& out, std::vector<ValueId> terms, int64_t scale, std::vector<Part>& parts) {
    std::stable_sort(terms.begin(), terms.end(), [&](ValueId a, ValueId b) { return depth_[a] < depth_[b]; });
    for (size_t k = 0; k < terms.size();) {
      ValueId sum = terms[k];
      const uint32_t depth = depth_[sum];
      for (++k; k < terms.size() && depth_[terms[k]] == depth; ++k) sum = make(out, OpCode::Add, Type::I64, {sum, terms[k]}, depth);
      parts.push_back(Part{sum, scale, depth});
    }
  }

  void lower(Op& op, Ops& out, uint32_t depth) {
    (void)depth;
    line_ = op.line;
    const bool stores = op.code == OpCode::AStore;
    const ValueId array = op.operands[0];
    const ArrayType& type = function_.array_types[op.access];
    const int64_t item = element_size(type.elem);
    const size_t first = stores ? 2 : 1;
    std::vector<Part> parts;
    uint64_t displacement = static_cast<uint64_t>(op.imm * type_size(op.type));  // of the part
    for (size_t axis = 0; axis < type.strides.size(); ++axis) {
      if (type.strides[axis] == Stride::kZero) continue;
      std::vector<ValueId> terms;
      uint64_t constant = 0;
      split(op.operands[first + axis], terms, constant, 4);
      if (type.strides[axis] == Stride::kItem) {
        displacement += constant * static_cast<uint64_t>(item);
        add_parts(out, terms, item, parts);
        continue;
      }
      const ValueId stride = make(out, OpCode::ArrStride, Type::None, {array}, 0, static_cast<int64_t>(axis));
      std::vector<Part> indices;
      add_parts(out, terms, 1, indices);
      for (const Part& part : indices) {
        parts.push_back(Part{make(out, OpCode::Mul, Type::I64, {part.v, stride}, part.depth), 1, part.depth});
      }
      if (constant != 0) {
        parts.push_back(Part{make(out, OpCode::Mul, Type::I64, {stride, editor_.const_i64(static_cast<int64_t>(constant))}, 0), 1, 0});
      }
    }
    const ValueId data = make(out, OpCode::ArrData, Type::None, {array}, 0);
    finish(op, out, data, std::move(parts), static_cast<int64_t>(displacement));
  }

  void finish(Op& op, Ops& out, ValueId base, std::vector<Part> parts, int64_t displacement) {
    // The deepest part, a scaled one if possible, is the index of the addressing mode; the others make the base.
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return a.depth != b.depth ? a.depth < b.depth : a.scale < b.scale;
    });
    Part index{editor_.const_i64(0), 1, 0};
    if (!parts.empty()) {
      index = parts.back();
      parts.pop_back();
    }
    if (index.scale > 8) {  // complex128: the addressing mode scales by 8, the index is doubled
      index.v = make(out, OpCode::Shl, Type::I64, {index.v, editor_.const_i64(1)}, index.depth);
      index.scale = 8;
    }
    for (const Part& part : parts) {
      const ValueId bytes = part.scale == 1 ? part.v : make(out, OpCode::Mul, Type::I64, {part.v, editor_.const_i64(part.scale)}, part.depth);
      base = make(out, OpCode::PtrAdd, Type::None, {base, bytes}, part.depth);
    }
    if (displacement < INT32_MIN || displacement > INT32_MAX) {
      base = make(out, OpCode::PtrAdd, Type::None, {base, editor_.const_i64(displacement)}, depth_[base]);
      displacement = 0;
    }
    const bool stores = op.code == OpCode::AStore;
    const ValueId value = stores ? op.operands[1] : kNoValue;
    op.code = stores ? OpCode::Store : OpCode::Load;
    op.operands = {base, index.v};
    if (stores) op.operands.push_back(value);
    op.access = static_cast<uint32_t>(index.scale);
    op.imm = displacement;
    editor_.set_changed();
  }

  Function& function_;
  Editor editor_;
  std::vector<uint32_t> depth_;  // by value: loops around its definition
  int32_t line_ = 0;
};

}  // namespace

bool lower_addresses(Function& function) { return AddressLowering(function).run(); }

}  // namespace hotloop::optimizer
