// The guard band of squares in comparisons: where x ** 2 (libm's pow) only takes part in a sum that is compared, x * x decides unless the sum is so near
// the other operand that the difference between the two could matter; only then pow is called. The result is exactly that of pow.
//
// Needs: checks eliminated. Preserves every exit and its snapshot: the guards on pow's operands and results stand with it on the slow side, and what
// they ask for is true on the fast one.
//
// Why it is exact. Let p = pow(x, 2) and q = x * x, with q in [2^-1021, 2^1023) or x == 0. q is within half an ulp of the square, and pow within one ulp
// (glibc's manual, "Known Maximum Errors in Math Functions": 1 ulp for pow on x86-64; sysdeps/ieee754/dbl-64/e_pow.c itself says 0.54 ulp; musl has the
// same code), so p = q (1 + e) with |e| < 2^-51. The proof asks for |e| <= 2^-40 only: a libm that is wrong by a thousand ulp would do. pow(0, 2) is 0.
// The sums s of the p and t of the q, added in the same order, have terms that are normal or zero and not negative, so with up to a thousand of them
// s = t (1 + e'), |e'| <= 2^-40 + 2 * 1000 * 2^-53 < 2^-39. If the exact |t - c| > t * 2^-39, then s and t lie on the same side of c.
// Computed is |t - c| > (t + t) * 2^-39, twice the width: rounding t - c (relatively at most 2^-53) and the product (exact but for subnormal
// ones, there relatively at most 2^-15) does not use that up. NaN, infinite or overflowing values make the test false.
#include <algorithm>
#include <bit>
#include <unordered_set>

#include "optimizer/editor.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

constexpr size_t kMaxTerms = 8;
constexpr auto kReads = static_cast<uint16_t>(kReadsHeader | kReadsArray | kReadsObject | kReadsShape);

bool is_ordered_compare(OpCode code) { return code == OpCode::Lt || code == OpCode::Le || code == OpCode::Gt || code == OpCode::Ge; }

class GuardBand {
 public:
  explicit GuardBand(Function& function) : function_(function), editor_(function) {}

  bool run() {
    bool any = false;
    for_each_op(*function_.body, [&](Op& op, Block&) { any = any || is_square(&op); });
    if (!any) return false;
    uses_.assign(function_.value_types.size(), 0);
    for_each_op(*function_.body, [&](Op& op, Block&) {
      for (ValueId v : used_by(op)) ++uses_[v];
    });
    block(*function_.body);
    return editor_.finish();
  }

 private:
  struct Sum {
    std::vector<const Op*> squares;       // in the order of the tree's leaves
    std::unordered_set<const Op*> members;  // what goes to the slow side
  };

  bool is_square(const Op* op) const {
    return op != nullptr && op->code == OpCode::Call && static_cast<HelperId>(op->imm) == HelperId::PowF64 &&
           editor_.const_bits(op->operands[1]) == std::bit_cast<int64_t>(2.0);
  }

  std::vector<ValueId> used_by(const Op& op) const {
    std::vector<ValueId> used = op.operands;
    if (op.snapshot == kNoSnapshot) return used;
    const std::vector<ValueId> kept = snapshot_values(function_.snapshots[op.snapshot]);
    used.insert(used.end(), kept.begin(), kept.end());
    return used;
  }

  void block(Block& b) {
    for (size_t k = 0; k < b.ops.size(); ++k) {
      Op* op = b.ops[k];
      for (Block* inner : op->blocks) block(*inner);
      if (!is_ordered_compare(op->code) || op->type != Type::F64) continue;
      for (size_t side = 0; side < 2; ++side) {
        Sum sum;
        if (!collect(op->operands[side], sum) || sum.squares.empty() || !gather(b, k, editor_.find(op->operands[1 - side]), sum)) continue;
        k = rewrite(b, k, side, sum);
        break;
      }
    }
  }

  // The tree of additions over squares.
  bool collect(ValueId v, Sum& sum) {
    const Op* op = editor_.def(editor_.find(v));
    if (op == nullptr || sum.squares.size() > kMaxTerms || !sum.members.insert(op).second) return false;
    if (is_square(op)) {
      sum.squares.push_back(op);
      return true;
    }
    return op->code == OpCode::Add && op->type == Type::F64 && collect(op->operands[0], sum) && collect(op->operands[1], sum);
  }

  // Whether the guard asks for nothing but what holds on the fast side: x finite, pow finite, pow normal or x zero.
  bool is_settled(ValueId condition, const Sum& sum) {
    const Op* op = editor_.def(editor_.find(condition));
    if (op == nullptr) return false;
    auto is_operand = [&](ValueId v) { return std::any_of(sum.squares.begin(), sum.squares.end(), [&](const Op* s) { return editor_.find(s->operands[0]) == v; }); };
    auto is_result = [&](ValueId v) { return std::any_of(sum.squares.begin(), sum.squares.end(), [&](const Op* s) { return s->result() == v; }); };
    if (op->code == OpCode::IsFinite) return is_operand(editor_.find(op->operands[0])) || is_result(editor_.find(op->operands[0]));
    if (op->code != OpCode::Or) return false;
    const Op* normal = editor_.def(editor_.find(op->operands[0]));
    const Op* zero = editor_.def(editor_.find(op->operands[1]));
    if (normal == nullptr || zero == nullptr || normal->code != OpCode::Ge || zero->code != OpCode::Eq) return false;
    if (normal->type != Type::F64 || editor_.const_bits(normal->operands[1]) != std::bit_cast<int64_t>(0x1p-1022)) return false;
    if (zero->type != Type::F64 || editor_.const_bits(zero->operands[1]) != 0) return false;
    const Op* size = editor_.def(editor_.find(normal->operands[0]));
    if (size != nullptr && size->code == OpCode::Abs) size = editor_.def(editor_.find(size->operands[0]));
    return is_square(size) && is_result(size->result()) && editor_.find(size->operands[0]) == editor_.find(zero->operands[0]);
  }

  // What the fast side needs as well.
  bool is_wanted(ValueId v, const Sum& sum, ValueId other) {
    return v == other || std::any_of(sum.squares.begin(), sum.squares.end(), [&](const Op* s) { return editor_.find(s->operands[0]) == v; });
  }

  // The members: the tree, the guards of its squares and what only they need. All of it lies between the last other effect or exit and the compare.
  bool gather(const Block& b, size_t compare, ValueId other, Sum& sum) {
    size_t found = 0, wanted = sum.members.size();
    size_t begin = compare;
    while (begin > 0) {
      const Op* op = b.ops[begin - 1];
      if (sum.members.count(op) != 0) ++found;
      else if (op->code == OpCode::Guard ? !is_settled(op->operands[0], sum) : (op_info(op->code).effects & ~kReads) != 0) break;
      --begin;
    }
    if (found != wanted) return false;
    std::vector<uint32_t> inside(uses_.size(), 0);  // uses by members
    auto add = [&](const Op& op) {
      for (ValueId v : used_by(op)) {
        if (v < inside.size()) ++inside[v];
      }
    };
    add(*b.ops[compare]);
    for (size_t k = compare; k-- > begin;) {
      const Op* op = b.ops[k];
      const bool only_inside = op->result() != kNoValue && !is_wanted(op->result(), sum, other) && op->code != OpCode::Const && op->result() < inside.size() && uses_[op->result()] > 0 &&
                               inside[op->result()] == uses_[op->result()];
      if (sum.members.count(op) != 0 && !only_inside) return false;  // a square that is wanted elsewhere
      if (op->code != OpCode::Guard && !only_inside) continue;
      sum.members.insert(op);
      add(*op);
    }
    return true;
  }

  ValueId place(std::vector<Op*>& out, OpCode code, Type type, std::initializer_list<ValueId> operands, int32_t line) {
    Op* op = editor_.make(code, type, operands, line);
    out.push_back(op);
    return op->result();
  }

  // The same sum with products instead of pow.
  ValueId products(std::vector<Op*>& out, ValueId v, ValueId* usual) {
    const Op* op = editor_.def(editor_.find(v));
    if (op->code == OpCode::Add) {
      const ValueId left = products(out, op->operands[0], usual);
      const ValueId right = products(out, op->operands[1], usual);
      return place(out, OpCode::Add, Type::F64, {left, right}, op->line);
    }
    const ValueId x = editor_.find(op->operands[0]);
    const ValueId product = place(out, OpCode::Mul, Type::F64, {x, x}, op->line);
    const ValueId large = place(out, OpCode::Ge, Type::F64, {product, editor_.constant(Type::F64, std::bit_cast<int64_t>(0x1p-1021))}, op->line);
    const ValueId zero = place(out, OpCode::Eq, Type::F64, {x, editor_.constant(Type::F64, 0)}, op->line);
    const ValueId fine = place(out, OpCode::Or, Type::I1, {large, zero}, op->line);
    *usual = *usual == kNoValue ? fine : place(out, OpCode::And, Type::I1, {*usual, fine}, op->line);
    return product;
  }

  // Gives the place of the `if` that stands for the compare.
  size_t rewrite(Block& b, size_t at, size_t side, const Sum& sum) {
    Op* compare = b.ops[at];
    const int32_t line = compare->line;
    const ValueId other = editor_.find(compare->operands[1 - side]);
    std::vector<Op*> before;
    ValueId usual = kNoValue;
    const ValueId total = products(before, compare->operands[side], &usual);
    const ValueId difference = place(before, OpCode::Sub, Type::F64, {total, other}, line);
    const ValueId distance = place(before, OpCode::Abs, Type::F64, {difference}, line);
    const ValueId twice = place(before, OpCode::Add, Type::F64, {total, total}, line);
    const ValueId band = place(before, OpCode::Mul, Type::F64, {twice, editor_.constant(Type::F64, std::bit_cast<int64_t>(0x1p-39))}, line);
    const ValueId apart = place(before, OpCode::Gt, Type::F64, {distance, band}, line);
    Op* choice = editor_.make(OpCode::If, Type::None, {place(before, OpCode::And, Type::I1, {apart, usual}, line)}, line);
    const ValueId result = editor_.make_result(*choice, Type::I1);
    auto compared = [&](ValueId sum_value) {
      return editor_.make(compare->code, Type::F64, {side == 0 ? sum_value : other, side == 0 ? other : sum_value}, line);
    };
    auto finish_block = [&](Block* block, Op* last) {
      block->ops.push_back(last);
      block->ops.push_back(editor_.make(OpCode::Yield, Type::None, {last->result()}, line));
      choice->blocks.push_back(block);
    };
    Block* slow = function_.new_block();
    std::vector<Op*> ops;
    for (size_t k = 0; k < at; ++k) (sum.members.count(b.ops[k]) != 0 ? slow->ops : ops).push_back(b.ops[k]);
    finish_block(function_.new_block(), compared(total));
    finish_block(slow, compared(editor_.find(compare->operands[side])));
    editor_.replace(compare->result(), result);
    ops.insert(ops.end(), before.begin(), before.end());
    const size_t place_of_if = ops.size();
    ops.push_back(choice);
    ops.insert(ops.end(), b.ops.begin() + static_cast<std::ptrdiff_t>(at) + 1, b.ops.end());
    b.ops = std::move(ops);
    return place_of_if;
  }

  Function& function_;
  Editor editor_;
  std::vector<uint32_t> uses_;  // by value, snapshots included
};

}  // namespace

bool compare_squares(Function& function) { return GuardBand(function).run(); }

}  // namespace hotloop::optimizer
