// Live ranges over the structured tree, coalescing of values that are copies of each other, and register numbers.
//
// Needs analysis.h. Promises: see there. A backward walk opens a value's range at its last reader and closes it at its definition; an
// `if` arm's readers leave the other arm free; what a loop reads from outside lives through all of it. Then values that a yield, a loop
// entry or a two-operand instruction would copy are put together when their ranges are disjoint (innermost loops first: aggressive
// coalescing), and the resulting webs share register numbers inside one loop by first fit.
#include <algorithm>
#include <cassert>

#include "codegen/analysis.h"

namespace hotloop::codegen {
using namespace ir;

namespace {

struct Range {
  uint32_t from, to;
};

struct Candidate {
  ValueId a, b;
  int weight;
};

class Liveness {
 public:
  Liveness(const Function& function, const Features& features, Analysis* analysis)
      : f_(function), features_(features), a_(*analysis), ranges_(analysis->values.size()), live_(analysis->values.size(), false) {}

  void run() {
    open_stack_.emplace_back();
    walk(*f_.body, 0);
    for (ValueId param : f_.body->params) define(param, 0);
    for (auto& list : ranges_) std::reverse(list.begin(), list.end());
  }

  std::vector<std::vector<Range>>& ranges() { return ranges_; }
  std::vector<Candidate>& candidates() { return candidates_; }

 private:
  bool in_register(ValueId value) const { return a_.values[value].mode == Mode::kRegister; }

  void add_range(ValueId value, uint32_t from, uint32_t to) {
    auto& list = ranges_[value];
    if (!list.empty() && list.back().from <= to) list.back().from = std::min(list.back().from, from);
    else list.push_back({from, to});
  }

  void read(ValueId value, uint32_t to) {
    const ValueNote& note = a_.values[value];
    switch (note.mode) {
      case Mode::kRegister:
        if (!live_[value]) {
          live_[value] = true;
          add_range(value, block_from_, to);
          open_stack_.back().push_back(value);
        }
        break;
      case Mode::kFused:
      case Mode::kMemory:
      case Mode::kAtExit:
        for (ValueId operand : note.def->operands) read(operand, to);
        break;
      default: break;
    }
  }

  void define(ValueId value, uint32_t at) {
    if (!in_register(value)) return;
    if (live_[value]) {
      ranges_[value].back().from = at;
      live_[value] = false;
    } else {
      add_range(value, at, at + 1);  // written, never read
    }
  }

  // Values that the walk of `block` leaves alive at its start are returned: they live in the parent up to there.
  std::vector<ValueId> walk_inner(const Block& block, uint32_t from, const Op* loop) {
    uint32_t saved = block_from_;
    block_from_ = from;
    open_stack_.emplace_back();
    if (loop) open_loop_end(loop);
    walk(block, from);
    if (loop) {
      for (ValueId param : block.params) define(param, from);
    }
    std::vector<ValueId> alive;
    for (ValueId value : open_stack_.back()) {
      if (live_[value]) {
        live_[value] = false;
        alive.push_back(value);
      }
    }
    open_stack_.pop_back();
    block_from_ = saved;
    return alive;
  }

  void open_loop_end(const Op* loop) {
    uint32_t end = 2 * a_.note(loop).end;
    size_t first = loop->code == OpCode::For ? 1 : 0;
    const LoopNote& note = a_.loops[a_.loop_index.at(loop)];
    for (size_t k = first; k < loop->blocks[0]->params.size(); ++k) {
      ValueId param = loop->blocks[0]->params[k];
      if (in_register(param)) add_range(param, note.constant[k - first] ? block_from_ : end, end + 1);
    }
    if (first == 1) read(loop->blocks[0]->params[0], end + 1);
  }

  void walk(const Block& block, uint32_t from) {
    block_from_ = from;
    for (size_t k = block.ops.size(); k-- > 0;) visit(block.ops[k]);
  }

  void visit(const Op* op) {
    const OpNote& note = a_.note(op);
    if (note.dead) return;
    uint32_t early = 2 * note.index;
    if (op->code == OpCode::Yield) {
      visit_yield(op, early);
      return;
    }
    if (op->code == OpCode::If) {
      visit_if(op, note);
      return;
    }
    if (op->has(kStructured)) {
      visit_loop(op, note);
      return;
    }
    ValueId result = op->result();
    if (result != kNoValue && !in_register(result) && a_.values[result].mode != Mode::kDead) return;
    if (result != kNoValue) define(result, early + 1);
    if (op->has(kExits) && op->snapshot != kNoSnapshot) {
      for (ValueId value : a_.snapshots[op->snapshot]) read(value, early + 2);
    }
    for (size_t j = 0; j < op->operands.size(); ++j) read(op->operands[j], reads_late(op, j) ? early + 2 : early + 1);
    if (result != kNoValue && in_register(result)) add_two_address_candidate(op, note);
  }

  void visit_yield(const Op* op, uint32_t early) {
    auto at = a_.yields.find(op);
    if (at == a_.yields.end()) return;
    const YieldPlan& plan = at->second;
    bool is_loop = plan.target->code != OpCode::If;
    auto write = [&](ValueId source, size_t k) {
      if (source == kNoValue) return;
      ValueId to = is_loop ? Analysis::carried_param(plan.target, k) : plan.target->results[k];
      if (in_register(to)) add_range(to, early + 1, early + 2);
      int depth = a_.depth_of(a_.note(op).loop);
      if (is_value(source) && in_register(source) && in_register(to)) candidates_.push_back({source, to, 8 * depth + 4});
    };
    for (size_t k = 0; k < plan.sources.size(); ++k) write(plan.sources[k], k);
    for (size_t k = 0; k < plan.leaving.size(); ++k) {
      if (plan.leaving[k] != plan.sources[k]) write(plan.leaving[k], k);
    }
    for (const auto* sources : {&plan.sources, &plan.leaving}) {
      for (ValueId source : *sources) {
        if (is_value(source)) read(source, early + 1);
      }
    }
    if (plan.has_value_condition()) read(plan.condition, early + 1);
  }

  void visit_if(const Op* op, const OpNote& note) {
    for (ValueId result : op->results) {
      define(result, 2 * note.end);  // an `if` that yields in its parent's place has results that nobody reads
    }
    std::vector<ValueId> alive;
    for (size_t j = op->blocks.size(); j-- > 0;) {
      auto more = walk_inner(*op->blocks[j], j == 0 ? 2 * note.index + 1 : first_position(*op->blocks[j]), nullptr);
      alive.insert(alive.end(), more.begin(), more.end());
    }
    for (ValueId value : alive) read(value, 2 * note.index + 2);
    if (!note.threaded) read(op->operands[0], 2 * note.index + 1);
  }

  uint32_t first_position(const Block& block) const { return 2 * a_.note(block.ops.front()).index; }

  void visit_loop(const Op* op, const OpNote& note) {
    uint32_t begin = 2 * note.index, end = 2 * note.end;
    for (size_t k = 0; k < op->results.size(); ++k) {
      define(op->results[k], end + 1);
      ValueId param = Analysis::carried_param(op, k);
      if (in_register(param) != in_register(op->results[k])) unify_modes(param, op->results[k], end);
    }
    const LoopNote& loop = a_.loops[a_.loop_index.at(op)];
    if (op->code == OpCode::For) {
      read(op->operands[1], end + 1);
      read(op->operands[2], end + 1);
    }
    for (ValueId value : loop.outer) {
      bool alive = in_register(value) || a_.values[value].mode == Mode::kAtExit;
      if (alive && a_.values[value].uses + a_.values[value].fused_uses > 0) read(value, end + 1);
    }
    for (ValueId value : walk_inner(*op->blocks[0], begin + 1, op)) read(value, end + 1);
    size_t first = Analysis::first_initial(op);
    int depth = a_.depth_of(note.loop);
    if (op->code == OpCode::For) read_initial(op->operands[0], op->blocks[0]->params[0], begin, depth);
    for (size_t k = 0; k < op->results.size(); ++k) {
      if (in_register(op->results[k])) read_initial(op->operands[first + k], Analysis::carried_param(op, k), begin, depth);
    }
  }

  // A carried value whose parameter or result alone is read still needs the other one as its place.
  void unify_modes(ValueId param, ValueId result, uint32_t end) {
    if (!in_register(param)) {
      a_.values[param].mode = Mode::kRegister;
    } else {
      a_.values[result].mode = Mode::kRegister;
      add_range(result, end + 1, end + 2);
    }
  }

  void read_initial(ValueId initial, ValueId param, uint32_t begin, int depth) {
    read(initial, begin + 1);
    if (in_register(initial) && in_register(param)) candidates_.push_back({initial, param, 8 * depth + 3});
  }

  // Operands that the emitted code may read after it has begun to write the result.
  bool reads_late(const Op* op, size_t j) const {
    if (op->result() == kNoValue || is_float(a_type(op->result())) != is_float(a_type(op->operands[j]))) {
      return op->code == OpCode::Select && is_late_select(op);
    }
    // Without AVX a float instruction's result is its first operand; the second one must be another register.
    if (j == 1 && is_float(op->type) && !features_.avx) return true;
    switch (op->code) {
      case OpCode::Add: case OpCode::Mul: case OpCode::Div: case OpCode::And: case OpCode::Or: case OpCode::Xor: case OpCode::Not:
      case OpCode::Neg: case OpCode::Sqrt: case OpCode::Floor: case OpCode::Ceil: case OpCode::Trunc: case OpCode::Rint:
      case OpCode::Call: case OpCode::Conv: case OpCode::PtrAdd: case OpCode::Load: case OpCode::ArrData:
        return false;
      case OpCode::Sub: return j == 1 && !is_float(op->type);
      case OpCode::Abs: return !is_float(op->type);
      case OpCode::AddO: return false;
      case OpCode::SubO: case OpCode::Bound: case OpCode::Shl: case OpCode::Shr: return j == 1;
      case OpCode::MulO: return is_unsigned(op->type);
      case OpCode::Select: return is_late_select(op);
      default: return true;
    }
  }

  // An integer select on one flag may overwrite either value (cmov one way or the other); its condition is read first.
  bool is_late_select(const Op* op) const {
    if (is_float(op->type)) return true;
    const ValueNote& condition = a_.values[op->operands[0]];
    if (condition.mode == Mode::kFused) {
      const Op* def = condition.def;
      bool one_flag = def->code != OpCode::Eq && def->code != OpCode::Ne && def->code != OpCode::Conv;
      bool compare = def->code != OpCode::And && def->code != OpCode::Or && def->code != OpCode::Not;
      if (!compare || (!one_flag && is_float(a_type(def->operands[0])))) return true;
    }
    return false;
  }

  void add_two_address_candidate(const Op* op, const OpNote& note) {
    size_t from;
    switch (op->code) {
      case OpCode::Add: case OpCode::Sub: case OpCode::Mul:
      case OpCode::Div:
        if (is_float(op->type) && features_.avx) return;
        from = 0;
        break;
      case OpCode::And: case OpCode::Or: case OpCode::Xor: case OpCode::Not: case OpCode::AddO: case OpCode::SubO: case OpCode::MulO:
      case OpCode::Bound: case OpCode::PtrAdd: case OpCode::Shl: case OpCode::Shr:
        from = 0;
        break;
      case OpCode::Neg:
        if (is_float(op->type) && features_.avx) return;
        from = 0;
        break;
      case OpCode::Select: from = 2; break;
      default: return;
    }
    int weight = 8 * a_.depth_of(note.loop) + 2;
    if (in_register(op->operands[from])) candidates_.push_back({op->operands[from], op->result(), weight});
    if (op->code == OpCode::Select && in_register(op->operands[1])) candidates_.push_back({op->operands[1], op->result(), weight});
  }

  Type a_type(ValueId value) const { return f_.type_of(value); }

  const Function& f_;
  const Features& features_;
  Analysis& a_;
  std::vector<std::vector<Range>> ranges_;  // descending while walking
  std::vector<bool> live_;
  std::vector<std::vector<ValueId>> open_stack_;
  uint32_t block_from_ = 0;
  std::vector<Candidate> candidates_;
};

// Values that live in one place.
class Webs {
 public:
  Webs(std::vector<std::vector<Range>> ranges) : ranges_(std::move(ranges)), parent_(ranges_.size()) {
    for (size_t k = 0; k < parent_.size(); ++k) parent_[k] = static_cast<ValueId>(k);
  }
  ValueId find(ValueId value) {
    while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
    return value;
  }
  const std::vector<Range>& ranges(ValueId root) const { return ranges_[root]; }

  void join(ValueId a, ValueId b, bool force) {
    a = find(a), b = find(b);
    if (a == b || (!force && overlap(ranges_[a], ranges_[b]))) return;
    std::vector<Range> both(ranges_[a].size() + ranges_[b].size());
    std::merge(ranges_[a].begin(), ranges_[a].end(), ranges_[b].begin(), ranges_[b].end(), both.begin(),
               [](const Range& x, const Range& y) { return x.from < y.from; });
    size_t kept = 0;
    for (const Range& range : both) {
      if (kept > 0 && both[kept - 1].to >= range.from) both[kept - 1].to = std::max(both[kept - 1].to, range.to);
      else both[kept++] = range;
    }
    both.resize(kept);
    ranges_[a] = std::move(both);
    ranges_[b].clear();
    parent_[b] = a;
  }

 private:
  static bool overlap(const std::vector<Range>& a, const std::vector<Range>& b) {
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i].to <= b[j].from) ++i;
      else if (b[j].to <= a[i].from) ++j;
      else return true;
    }
    return false;
  }

  std::vector<std::vector<Range>> ranges_;
  std::vector<ValueId> parent_;
};

// First fit of webs into numbers; only webs of the same class and of the same loop share one, so that a short-lived value of an inner
// loop never ties its fate to one of the outer code (unless there are too many).
class Packer {
 public:
  Packer(const Function& function, Webs* webs, Analysis* analysis) : f_(function), webs_(*webs), a_(*analysis) {}

  void run() {
    collect();
    if (numbers_needed(true) > kManyRegisters) grouped_ = false;
    a_.registers.clear();
    numbers_needed(grouped_);
    for (ValueId value = 0; value < a_.values.size(); ++value) {
      if (a_.values[value].mode == Mode::kRegister) a_.values[value].reg = number_[webs_.find(value)];
    }
  }

 private:
  static constexpr size_t kManyRegisters = 160;
  struct Web {
    ValueId root;
    uint32_t from, to;
    int32_t loop;
    bool is_float;
  };

  void collect() {
    std::unordered_map<ValueId, size_t> index;
    for (ValueId value = 0; value < a_.values.size(); ++value) {
      if (a_.values[value].mode != Mode::kRegister) continue;
      ValueId root = webs_.find(value);
      auto [at, fresh] = index.emplace(root, list_.size());
      if (fresh) {
        const auto& ranges = webs_.ranges(root);
        Web web{root, 0, 0, a_.values[value].loop, is_float(f_.type_of(value))};
        if (!ranges.empty()) web.from = ranges.front().from, web.to = ranges.back().to;
        list_.push_back(web);
      } else if (a_.depth_of(a_.values[value].loop) > a_.depth_of(list_[at->second].loop)) {
        list_[at->second].loop = a_.values[value].loop;
      }
    }
    std::sort(list_.begin(), list_.end(), [](const Web& x, const Web& y) { return x.from < y.from; });
  }

  size_t numbers_needed(bool grouped) {
    struct Place {
      uint32_t number, free_from;
    };
    std::unordered_map<int64_t, std::vector<Place>> groups;
    a_.registers.clear();
    for (const Web& web : list_) {
      int64_t key = (grouped ? (web.loop + 1) * 2 : 0) + (web.is_float ? 1 : 0);
      auto& places = groups[key];
      auto at = std::find_if(places.begin(), places.end(), [&](const Place& place) { return place.free_from <= web.from; });
      if (at == places.end()) {
        places.push_back({static_cast<uint32_t>(a_.registers.size()), 0});
        a_.registers.push_back({web.is_float});
        at = places.end() - 1;
      }
      at->free_from = std::max(web.to, web.from + 1);
      number_[web.root] = at->number;
    }
    return a_.registers.size();
  }

  const Function& f_;
  Webs& webs_;
  Analysis& a_;
  std::vector<Web> list_;
  std::unordered_map<ValueId, uint32_t> number_;
  bool grouped_ = true;
};

}  // namespace

namespace {

// How deep in loops each register is in use: a hint for what to keep out of memory.
class DepthFinder {
 public:
  explicit DepthFinder(Analysis* analysis) : a_(*analysis) {}

  void visit(const Op& op) {
    const OpNote& note = a_.note(&op);
    if (note.dead) return;
    int depth = a_.depth_of(note.loop);
    if (op.code == OpCode::Yield) {
      auto at = a_.yields.find(&op);
      if (at == a_.yields.end()) return;
      const YieldPlan& plan = at->second;
      for (ValueId source : plan.sources) {
        if (is_value(source)) use(source, depth);
      }
      for (ValueId source : plan.leaving) {
        if (is_value(source)) use(source, depth - 1);
      }
      if (plan.has_value_condition()) use(plan.condition, depth);
      return;
    }
    if (op.code == OpCode::For || op.code == OpCode::Loop) {
      for (ValueId param : op.blocks[0]->params) use(param, depth + 1);
      for (size_t k = 0; k < op.operands.size(); ++k) use(op.operands[k], op.code == OpCode::For && (k == 1 || k == 2) ? depth + 1 : depth);
      return;
    }
    if (op.code == OpCode::If && note.threaded) return;
    ValueId result = op.result();
    bool elsewhere = result != kNoValue && op.blocks.empty() && a_.values[result].mode != Mode::kRegister && a_.values[result].mode != Mode::kDead;
    if (elsewhere) return;  // its readers count
    for (ValueId operand : op.operands) use(operand, depth);
    for (ValueId each : op.results) use(each, depth);
  }

 private:
  void use(ValueId value, int depth) {
    const ValueNote& note = a_.values[value];
    if (note.mode == Mode::kRegister) {
      RegisterNote& reg = a_.registers[note.reg];
      reg.depth = std::max(reg.depth, depth);
    } else if (note.mode == Mode::kFused || note.mode == Mode::kMemory) {
      for (ValueId operand : note.def->operands) use(operand, depth);
    }
  }

  Analysis& a_;
};

}  // namespace

void assign_registers(const Function& function, const Features& features, Analysis* analysis) {
  Liveness liveness(function, features, analysis);
  liveness.run();
  Webs webs(std::move(liveness.ranges()));
  for (const LoopNote& loop : analysis->loops) {
    for (size_t k = 0; k < loop.op->results.size(); ++k) {
      ValueId param = Analysis::carried_param(loop.op, k);
      if (analysis->values[param].mode == Mode::kRegister) webs.join(param, loop.op->results[k], true);
    }
  }
  auto& candidates = liveness.candidates();
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) { return x.weight > y.weight; });
  for (const Candidate& candidate : candidates) webs.join(candidate.a, candidate.b, false);
  Packer(function, &webs, analysis).run();
  DepthFinder depths(analysis);
  for_each_op(*function.body, [&](const Op& op, const Block&) { depths.visit(op); });
}

}  // namespace hotloop::codegen
