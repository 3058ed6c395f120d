// Global value numbering over the dominator tree (blocks nest, so a scoped table does it): equal ops become one, loads of unchanged memory and
// of what was just stored become values, guards and checks that held before are dropped, a value that a guard pinned to a constant is that constant.
//
// Needs any verified function. Preserves effects and their order. Memory: one version for all arrays (views may overlap); a store starts a new
// one, except for elements of the same array that are provably others.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "optimizer/editor.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

constexpr size_t kMaxOperands = 6;

struct Key {
  OpCode code;
  Type type;
  uint32_t access;
  uint32_t memory;  // version for loads, else 0
  int64_t imm;
  uint8_t count;
  std::array<ValueId, kMaxOperands> operands;
  bool operator==(const Key&) const = default;
};

size_t hash_of(const Key& key) {
  uint64_t h = static_cast<uint64_t>(key.code) * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(key.type);
  auto mix = [&h](uint64_t v) { h = (h ^ v) * 0xFF51AFD7ED558CCDu, h ^= h >> 32; };
  mix(key.access);
  mix(key.memory);
  mix(static_cast<uint64_t>(key.imm));
  for (size_t k = 0; k < key.count; ++k) mix(key.operands[k]);
  return h;
}

// A hash table whose newest entries can be taken back.
class ScopedTable {
 public:
  ScopedTable() : heads_(1024, kNone) {}
  size_t mark() const { return entries_.size(); }
  void rollback(size_t mark) {
    while (entries_.size() > mark) {
      heads_[entries_.back().bucket] = entries_.back().next;
      entries_.pop_back();
    }
  }
  void insert(const Key& key, ValueId value) {
    const uint32_t bucket = static_cast<uint32_t>(hash_of(key) & (heads_.size() - 1));
    entries_.push_back(Entry{key, value, bucket, heads_[bucket]});
    heads_[bucket] = static_cast<uint32_t>(entries_.size() - 1);
  }
  // kNoValue: not there. Entries without a value (guards, checks) hold 0.
  ValueId find(const Key& key) const {
    for (uint32_t k = heads_[hash_of(key) & (heads_.size() - 1)]; k != kNone; k = entries_[k].next) {
      if (entries_[k].key == key) return entries_[k].value;
    }
    return kNoValue;
  }
  // Loads entered since `from`, newest first, at most `limit`: (key, value).
  template <typename Callback>
  void recent(uint32_t memory, size_t limit, Callback&& callback) {
    std::vector<std::pair<Key, ValueId>> found;
    for (size_t k = entries_.size(); k > 0 && limit > 0; --k) {
      if (entries_[k - 1].key.code != OpCode::ALoad) continue;
      --limit;
      if (entries_[k - 1].key.memory == memory) found.emplace_back(entries_[k - 1].key, entries_[k - 1].value);
    }
    for (auto& [key, value] : found) callback(key, value);
  }

 private:
  struct Entry {
    Key key;
    ValueId value;
    uint32_t bucket;
    uint32_t next;
  };
  std::vector<uint32_t> heads_;
  std::vector<Entry> entries_;
};

class ValueNumbering {
 public:
  explicit ValueNumbering(Function& function) : function_(function), editor_(function) {}

  bool run() {
    block(*function_.body);
    return editor_.finish();
  }

 private:
  struct Scope {
    size_t table;
    size_t pins;
  };
  Scope open() const { return {table_.mark(), pin_trail_.size()}; }
  void close(const Scope& scope) {
    table_.rollback(scope.table);
    while (pin_trail_.size() > scope.pins) {
      pins_.erase(pin_trail_.back());
      pin_trail_.pop_back();
    }
  }

  // What `v` is here: replaced values everywhere, pinned ones in this scope.
  ValueId current(ValueId v) {
    v = editor_.find(v);
    const auto pin = pins_.find(v);
    return pin == pins_.end() ? v : pin->second;
  }

  void pin(ValueId v, ValueId value) {
    if (editor_.is_const(v) || !pins_.try_emplace(v, value).second) return;
    pin_trail_.push_back(v);
  }

  void assume(ValueId condition, bool truth) {
    condition = editor_.find(condition);
    if (editor_.is_const(condition)) return;
    pin(condition, editor_.const_i1(truth));
    const Op* op = editor_.def(condition);
    if (op == nullptr) return;
    if (op->code == OpCode::Not) assume(op->operands[0], !truth);
    const bool both = (truth && op->code == OpCode::And) || (!truth && op->code == OpCode::Or);
    if (both && op->type == Type::I1) {
      assume(op->operands[0], truth);
      assume(op->operands[1], truth);
    }
    if (op->code == (truth ? OpCode::Eq : OpCode::Ne) && is_int(op->type)) {
      const ValueId left = editor_.find(op->operands[0]);
      const ValueId right = editor_.find(op->operands[1]);
      if (editor_.is_const(right)) pin(left, right);
    }
  }

  void block(Block& b) {
    size_t out = 0;
    for (size_t k = 0; k < b.ops.size(); ++k) {
      Op* op = b.ops[k];
      for (ValueId& v : op->operands) {
        const ValueId now = current(v);
        if (now != v) editor_.set_changed();
        v = now;
      }
      if (visit(*op)) b.ops[out++] = op;
    }
    if (out != b.ops.size()) editor_.set_changed();
    b.ops.resize(out);
  }

  // False: the op goes.
  bool visit(Op& op) {
    if (op.has(kStructured)) {
      structured(op);
      return true;
    }
    if (op.has(kWritesArray)) store(op);
    if (op.has(kWritesObject)) objects_ = ++versions_;
    if (op.has(kWritesShape)) shapes_ = ++versions_;
    if ((op_info(op.code).effects & kStays) != 0) return true;
    switch (op.code) {
      case OpCode::Const:
      case OpCode::Poll:
      case OpCode::Exit:
      case OpCode::Yield: return true;
      case OpCode::Guard: {
        const auto known = editor_.const_bits(op.operands[0]);
        if (known && *known != 0) return false;
        assume(op.operands[0], true);
        return true;
      }
      default: return number(op);
    }
  }

  static bool commutes(const Op& op) {
    if (is_float(op.type)) return false;
    switch (op.code) {
      case OpCode::Add: case OpCode::Mul: case OpCode::AddO: case OpCode::MulO:
      case OpCode::And: case OpCode::Or: case OpCode::Xor: case OpCode::Eq: case OpCode::Ne: return true;
      default: return false;
    }
  }

  bool make_key(const Op& op, Key* key) const {
    if (op.operands.size() > kMaxOperands) return false;
    *key = Key{};
    key->code = op.code;
    key->type = op.type;
    key->access = op.access;
    key->imm = op.has(kExits) ? 0 : op.imm;  // the reason of an exit
    key->memory = op.has(kReadsArray) ? memory_ : op.has(kReadsObject) ? objects_ : op.has(kReadsShape) ? shapes_ : 0;
    key->count = static_cast<uint8_t>(op.operands.size());
    key->operands.fill(0);
    std::copy(op.operands.begin(), op.operands.end(), key->operands.begin());
    // Integers: a + b is b + a. Floats keep their order: which of two NaNs survives depends on it.
    if (commutes(op) && key->operands[0] > key->operands[1]) std::swap(key->operands[0], key->operands[1]);
    return true;
  }

  bool number(Op& op) {
    Key key;
    if (!make_key(op, &key)) return true;
    const ValueId seen = table_.find(key);
    if (seen != kNoValue) {
      if (!op.results.empty()) editor_.replace(op.result(), seen);
      return false;
    }
    table_.insert(key, op.results.empty() ? 0 : op.result());
    plain_form(op, key);
    return true;
  }

  // A checked operation that went through has the value of the plain one.
  void plain_form(const Op& op, Key key) {
    switch (op.code) {
      case OpCode::AddO: key.code = OpCode::Add; break;
      case OpCode::SubO: key.code = OpCode::Sub; break;
      case OpCode::MulO: key.code = OpCode::Mul; break;
      case OpCode::NegO: key.code = OpCode::Neg; break;
      case OpCode::ShlO: key.code = OpCode::Shl; break;
      default: return;
    }
    table_.insert(key, op.result());
  }

  // Base and constant offset (modulo 2^64) of an index.
  std::pair<ValueId, uint64_t> offset_form(ValueId v) {
    uint64_t offset = 0;
    for (int depth = 0; depth < 4; ++depth) {
      const Op* op = editor_.def(v);
      if (op == nullptr || op->type != Type::I64) break;
      if (op->code == OpCode::Const) return {kNoValue, offset + static_cast<uint64_t>(op->imm)};
      const bool plus = op->code == OpCode::Add || op->code == OpCode::AddO;
      if (!plus && op->code != OpCode::Sub && op->code != OpCode::SubO) break;
      const auto c = editor_.const_bits(op->operands[1]);
      if (!c) break;
      offset += plus ? static_cast<uint64_t>(*c) : 0 - static_cast<uint64_t>(*c);
      v = editor_.find(op->operands[0]);
    }
    return {v, offset};
  }

  // Elements of the same array that differ in one axis of stride itemsize by a constant, all other indices being equal.
  bool other_element(const Key& load, const Op& store) {
    if (load.access != store.access || load.operands[0] != store.operands[0]) return false;
    const ArrayType& type = function_.array_types[store.access];
    bool differs = false;
    for (size_t axis = 0; axis < type.strides.size(); ++axis) {
      const ValueId a = load.operands[1 + axis];
      const ValueId b = store.operands[2 + axis];
      if (a == b) continue;
      const auto [base_a, offset_a] = offset_form(a);
      const auto [base_b, offset_b] = offset_form(b);
      if (differs || base_a != base_b || offset_a == offset_b || type.strides[axis] != Stride::kItem) return false;
      differs = true;
    }
    return differs || load.imm != store.imm;  // or it is the other part of the same element
  }

  void store(Op& op) {
    const uint32_t before = memory_;
    memory_ = ++versions_;
    if (op.code != OpCode::AStore) return;
    if (op.operands.size() > kMaxOperands) return;
    table_.recent(before, 16, [&](Key key, ValueId value) {
      if (!other_element(key, op)) return;
      key.memory = memory_;
      table_.insert(key, value);
    });
    Key key{};
    key.code = OpCode::ALoad;
    key.type = op.type;
    key.access = op.access;
    key.imm = op.imm;
    key.memory = memory_;
    key.count = static_cast<uint8_t>(op.operands.size() - 1);
    key.operands.fill(0);
    key.operands[0] = op.operands[0];
    std::copy(op.operands.begin() + 2, op.operands.end(), key.operands.begin() + 1);
    table_.insert(key, op.operands[1]);
  }

  void structured(Op& op) {
    constexpr Effects kEffects[] = {kWritesArray, kWritesObject, kWritesShape};
    uint32_t* const memories[] = {&memory_, &objects_, &shapes_};
    uint32_t before[3];
    bool writes[3];
    for (size_t m = 0; m < 3; ++m) {
      before[m] = *memories[m];
      writes[m] = std::any_of(op.blocks.begin(), op.blocks.end(), [&](Block* inner) { return has_effect_inside(*inner, kEffects[m]); });
    }
    auto next_version = [&](bool needed) {
      for (size_t m = 0; m < 3; ++m) *memories[m] = writes[m] && needed ? ++versions_ : before[m];
    };
    for (size_t k = 0; k < op.blocks.size(); ++k) {
      const Scope scope = open();
      next_version(is_loop(op));
      if (op.code == OpCode::If) assume(op.operands[0], k == 0);
      block(*op.blocks[k]);
      close(scope);
    }
    next_version(true);
    if (op.code != OpCode::If) return;
    // A side that always leaves: after the if, the other one was taken.
    if (ends_in_exit(*op.blocks[0]) && !ends_in_exit(*op.blocks[1])) assume(op.operands[0], false);
    if (ends_in_exit(*op.blocks[1]) && !ends_in_exit(*op.blocks[0])) assume(op.operands[0], true);
  }

  Function& function_;
  Editor editor_;
  ScopedTable table_;
  std::unordered_map<ValueId, ValueId> pins_;
  std::vector<ValueId> pin_trail_;
  uint32_t memory_ = 0;   // versions of arrays, of list items, of list lengths
  uint32_t objects_ = 0;
  uint32_t shapes_ = 0;
  uint32_t versions_ = 0;
};

}  // namespace

bool number_values(Function& function) { return ValueNumbering(function).run(); }

}  // namespace hotloop::optimizer
