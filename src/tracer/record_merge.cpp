// What comes out of an `if`: the ways of both arms, with one result column for each value that the arms bring differently.
// See recorder.h. A way that both arms have is joined variable by variable; a way of one arm only passes its values through columns, which it shares
// with the same variable of the other arm's ways, so that a loop's carried value leaves a body through one column whatever happened there.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "tracer/recorder.h"

namespace hotloop::tracer {

namespace {

struct Column {
  ir::Type type;
  ValueId a, b;  // kNoValue: free, no way of this arm needs it
  VarRef var;
  int part;
};

// The columns of one `if`.
class Columns {
 public:
  Columns(const ir::Function& function, const std::unordered_set<ValueId>& inputs, ValueId mark)
      : function_(function), inputs_(inputs), mark_(mark) {}

  std::vector<Column>& all() { return all_; }
  bool visible(ValueId v) const { return v < mark_ || inputs_.count(v) != 0; }

  // Index of the column that is `a` after arm a and `b` after arm b.
  int pair(ValueId a, ValueId b, const VarRef& var, int part) {
    for (size_t k = 0; k < all_.size(); ++k) {
      if (all_[k].a == a && all_[k].b == b) return static_cast<int>(k);
    }
    return add({function_.type_of(a), a, b, var, part});
  }
  // Of one arm only. -1: the value needs no column.
  int single(bool arm_a, ValueId v, const VarRef& var, int part) {
    ir::Type type = function_.type_of(v);
    for (size_t k = 0; k < all_.size() && !visible(v); ++k) {
      if ((arm_a ? all_[k].a : all_[k].b) == v) return static_cast<int>(k);
    }
    for (size_t k = 0; k < all_.size(); ++k) {
      ValueId& place = arm_a ? all_[k].a : all_[k].b;
      if (place != ir::kNoValue || !(all_[k].var == var) || all_[k].part != part || all_[k].type != type) continue;
      place = v;
      return static_cast<int>(k);
    }
    if (visible(v)) return -1;
    return add(arm_a ? Column{type, v, ir::kNoValue, var, part} : Column{type, ir::kNoValue, v, var, part});
  }

 private:
  int add(const Column& column) {
    all_.push_back(column);
    return static_cast<int>(all_.size()) - 1;
  }
  const ir::Function& function_;
  const std::unordered_set<ValueId>& inputs_;
  ValueId mark_;
  std::vector<Column> all_;
};

// A variable of a result whose parts are columns (or values as they are): completed when the columns have results.
struct Pending {
  size_t way;
  VarRef var;
  std::vector<ValueId> values;  // as they are where column is -1
  std::vector<int> columns;
  std::optional<std::pair<Sym, Sym>> arms;  // what each arm brings; none: one arm only, whose identity stays
};

// The identities that variables had in the two arms, numbered.
class Identities {
 public:
  uint32_t number(const Sym& a, const Sym& b) {
    if (a.box == 0 && a.input == ir::kNone && a.object == nullptr) return 0;
    if (b.box == 0 && b.input == ir::kNone && b.object == nullptr) return 0;
    auto [place, fresh] = all_.try_emplace(std::make_tuple(a.box, a.input, a.object, b.box, b.input, b.object), all_.size() + 1);
    (void)fresh;
    return static_cast<uint32_t>(place->second);
  }

 private:
  std::map<std::tuple<uint32_t, uint32_t, PyObject*, uint32_t, uint32_t, PyObject*>, size_t> all_;
};

Way* find_way(Ways& ways, const Place& place) {
  for (Way& way : ways) {
    if (way.place == place) return &way;
  }
  return nullptr;
}

// The identities of a result of both arms, its forms and items included. What is one object in both arms stays that object: another name of the
// value, which it may have got on its way out of an inner `if`, makes no other of it. `box_of`: the box of what was one object in either arm.
void join_identities(Sym& out, const Sym& a, const Sym& b, const std::function<uint32_t(const Sym&, const Sym&, uint32_t)>& box_of) {
  if (ir::is_iterator(out.kind)) return;
  const Identity both = identity_of(a);
  if (both.any() && both == identity_of(b)) {
    out.object = a.object;
    out.input = a.input;
    if (a.box == b.box) out.box = a.box;
  } else if (out.box != 0) {
    out.box = box_of(a, b, out.box);
  }
  if (!out.items || out.kind == PyKind::Row || !a.items || !b.items || a.items->size() != b.items->size()) return;
  for (size_t k = 0; k < out.items->size(); ++k) join_identities((*out.items)[k], (*a.items)[k], (*b.items)[k], box_of);
}

// The parts of `s` replaced, identity kept.
void replace_parts(Sym& s, const std::vector<ValueId>& parts, size_t* at) {
  int n = ir::pykind_info(s.kind).parts;
  for (int k = 0; k < n; ++k) s.v[k] = parts[(*at)++];
  if (s.obj != ir::kNoValue) s.obj = parts[(*at)++];
  if (!s.items) return;
  s.items = std::make_shared<std::vector<Sym>>(*s.items);
  for (Sym& item : *s.items) replace_parts(item, parts, at);
}

}  // namespace

void Recorder::normalise(State& state) {
  while (state.globals.size() < name_vars_.size()) state.globals.push_back(name_vars_[state.globals.size()].initial);
}

ValueId Recorder::dummy(ir::Type type) { return builder_.const_bits(type, 0); }

// In the current block: is control on the way to `place`?
ValueId Recorder::flag_value(const Ways& ways, const Place& place) {
  for (size_t k = 0; k < ways.size(); ++k) {
    if (!(ways[k].place == place)) continue;
    if (ways.size() == 1) return builder_.const_i1(true);
    if (ways[k].flag != ir::kNoValue) return ways[k].flag;
    return builder_.unary(ir::OpCode::Not, ir::Type::I1, ways[1 - k].flag);
  }
  return builder_.const_i1(false);
}

// Leaves when the flag is set. Not a guard: the snapshot is right only then, and guards may be made to fail at any time by tests.
void Recorder::exit_if(ValueId flag, ExitReason reason, ir::SnapshotId snapshot) {
  ir::Block* parent = builder_.block();
  ir::Op* op = builder_.if_(flag, {});
  builder_.set_block(op->blocks[0]);
  builder_.exit(reason, snapshot);
  builder_.set_block(op->blocks[1]);
  builder_.yield({});
  builder_.set_block(parent);
}

// Turns one way into an exit, in the current block.
void Recorder::leave_way(Ways* ways, size_t k, ExitReason reason) {
  ir::SnapshotId snapshot = snapshot_at_place((*ways)[k].state, (*ways)[k].place);
  if (ways->size() == 1) {
    builder_.exit(reason, snapshot);
    ways->clear();
    return;
  }
  ValueId flag = flag_value(*ways, (*ways)[k].place);
  exit_if(flag, reason, snapshot);
  ways->erase(ways->begin() + static_cast<std::ptrdiff_t>(k));
  if (ways->size() == 1) (*ways)[0].flag = ir::kNoValue;
}

// The first variable that two ways to one place bring in different forms.
bool Recorder::mismatch(Way& a, Way& b, VarRef* which) {
  normalise(a.state);
  normalise(b.state);
  for (const VarRef& ref : all_variables(a.state, a.place.frame)) {
    Sym& sa = at(a.state, ref);
    Sym& sb = at(b.state, ref);
    if (same_sym(sa, sb)) continue;
    sa = resolve(ref, sa);
    sb = resolve(ref, sb);
    if (same_shape(sa, sb)) continue;
    *which = ref;
    return true;
  }
  return false;
}

// Makes an Int of one way an IntU64, in the current block; where it is negative the way leaves.
void Recorder::make_u64(Ways& ways, size_t k, const VarRef& ref) {
  Way& way = ways[k];
  Sym& s = at(way.state, ref);
  ValueId bad = builder_.binary(ir::OpCode::Lt, ir::Type::I64, s.v[0], builder_.const_i64(0));
  if (ways.size() > 1) bad = builder_.binary(ir::OpCode::And, ir::Type::I1, bad, flag_value(ways, way.place));
  exit_if(bad, ExitReason::TypeChange, snapshot_at_place(way.state, way.place));
  s.kind = PyKind::IntU64;
  s.v[0] = builder_.conv(ir::Type::U64, s.v[0]);
}

// Where two arms bring a variable to one place in different forms, it becomes an Either; where that cannot be, the arm leaves that
// differs from the head of the enclosing loop.
void Recorder::settle_mismatches(ir::Op* op, Ways* a, Ways* b) {
  for (size_t k = 0; k < a->size();) {
    Way* other = find_way(*b, (*a)[k].place);
    VarRef ref;
    if (other == nullptr || !mismatch((*a)[k], *other, &ref)) {
      ++k;
      continue;
    }
    Sym& sa = at((*a)[k].state, ref);
    Sym& sb = at(other->state, ref);
    auto form = common_form(sa, sb);
    if (form) {
      builder_.set_block(op->blocks[0]);
      if (becomes_u64(sa, *form)) make_u64(*a, k, ref);
      sa = coerce(sa, *form);
      builder_.set_block(op->blocks[1]);
      if (becomes_u64(sb, *form)) make_u64(*b, static_cast<size_t>(other - b->data()), ref);
      sb = coerce(sb, *form);
      continue;
    }
    bool a_leaves = false;
    if (!loops_.empty() && loops_.back()->head != nullptr && ref.where != VarRef::Where::kStack) {
      State head = *loops_.back()->head;
      normalise(head);
      if (ref.where == VarRef::Where::kGlobal || static_cast<size_t>(ref.frame) < head.frames.size()) {
        a_leaves = same_shape(at(head, ref), sb);
      }
    }
    builder_.set_block(op->blocks[a_leaves ? 0 : 1]);
    if (a_leaves) {
      leave_way(a, k, ExitReason::TypeChange);
    } else {
      leave_way(b, static_cast<size_t>(other - b->data()), ExitReason::TypeChange);
    }
  }
}

Result<Ways> Recorder::merge(ir::Op* op, ValueId mark, Ways a, Ways b, const State& fallback, const Place& fallback_place) {
  ir::Block* parent = builder_.block();
  settle_mismatches(op, &a, &b);
  builder_.set_block(parent);
  if (a.empty() && b.empty()) {
    if (left_out_ && !may_be_rare()) return *left_out_;  // no side goes on: nothing would be gained
    builder_.exit(ExitReason::Path, snapshot_at_place(fallback, fallback_place));  // never reached
    return Ways{};
  }
  Columns columns(*function_, input_values_, mark);
  Ways out;
  std::vector<Pending> pending;
  std::vector<std::pair<size_t, PendingSame>> pending_same;
  auto note = [&](size_t way, const VarRef& ref, const Sym& s, const std::vector<int>& indices, const Sym* other) {
    Pending p{way, ref, {}, indices, std::nullopt};
    if (other != nullptr) p.arms.emplace(s, *other);
    collect_parts(s, &p.values);
    pending.push_back(std::move(p));
  };
  // Ways of both arms first: their columns are fixed on both sides.
  for (Way& way : a) {
    Way* other = find_way(b, way.place);
    if (other == nullptr) continue;
    for (const VarRef& ref : all_variables(way.state, way.place.frame)) {
      const Sym& sa = at(way.state, ref);
      const Sym& sb = at(other->state, ref);
      if (same_sym(sa, sb)) {
        std::vector<ValueId> parts;
        collect_parts(sa, &parts);
        if (std::all_of(parts.begin(), parts.end(), [&](ValueId v) { return columns.visible(v); })) continue;
      }
      std::vector<ValueId> pa, pb;
      collect_parts(sa, &pa);
      collect_parts(sb, &pb);
      std::vector<int> indices;
      for (size_t k = 0; k < pa.size(); ++k) {
        bool as_is = pa[k] == pb[k] && columns.visible(pa[k]);
        indices.push_back(as_is ? -1 : columns.pair(pa[k], pb[k], ref, static_cast<int>(k)));
      }
      note(out.size(), ref, sa, indices, &sb);
    }
    std::vector<PendingSame> same;
    join_same(way, *other, op, [&](ValueId x, ValueId y) { return x == y && columns.visible(x) ? -1 : columns.pair(x, y, VarRef{}, -2); }, &same);
    for (const PendingSame& one : same) pending_same.emplace_back(out.size(), one);
    builder_.set_block(parent);
    out.push_back(way);
    out.back().state.same.clear();
  }
  struct Renamed {
    size_t way, number;
    int column;
  };
  std::vector<Renamed> renamed;
  auto one_sided = [&](Ways& ways, Ways& others, bool arm_a) {
    for (Way& way : ways) {
      if (find_way(others, way.place) != nullptr) continue;
      for (const VarRef& ref : all_variables(way.state, way.place.frame)) {
        const Sym& s = at(way.state, ref);
        std::vector<ValueId> parts;
        collect_parts(s, &parts);
        std::vector<int> indices;
        bool any = false;
        for (size_t k = 0; k < parts.size(); ++k) {
          indices.push_back(columns.single(arm_a, parts[k], ref, static_cast<int>(k)));
          any |= indices.back() >= 0;
        }
        if (any) note(out.size(), ref, s, indices, nullptr);
      }
      out.push_back(way);
      State& state = out.back().state;
      prune_same(state);
      for (size_t k = 0; k < state.same.size(); ++k) {
        const int column = columns.single(arm_a, state.same[k].flag, VarRef{}, -2);
        if (column >= 0) renamed.push_back({out.size() - 1, k, column});
      }
    }
  };
  one_sided(a, b, true);
  one_sided(b, a, false);

  // Flags: which way it is.
  size_t n = out.size();
  std::vector<int> flag_columns;
  std::vector<std::pair<ValueId, ValueId>> flag_pairs;
  for (size_t k = 0; n > 1 && k < (n == 2 ? 1 : n); ++k) {
    ValueId fa = ir::kNoValue, fb = ir::kNoValue;
    if (!a.empty()) {
      builder_.set_block(op->blocks[0]);
      fa = flag_value(a, out[k].place);
    }
    if (!b.empty()) {
      builder_.set_block(op->blocks[1]);
      fb = flag_value(b, out[k].place);
    }
    flag_columns.push_back(static_cast<int>(columns.all().size()));
    columns.all().push_back({ir::Type::I1, fa, fb, VarRef{}, -1});
  }
  auto end_arm = [&](size_t arm, bool ended) {
    if (ended) return;
    builder_.set_block(op->blocks[arm]);
    std::vector<ValueId> values;
    for (Column& column : columns.all()) {
      ValueId v = arm == 0 ? column.a : column.b;
      values.push_back(v == ir::kNoValue ? dummy(column.type) : v);
    }
    builder_.yield(values);
  };
  end_arm(0, a.empty());
  end_arm(1, b.empty());
  for (const Column& column : columns.all()) op->results.push_back(function_->new_value(column.type));
  std::map<size_t, Identities> identities;                // by way
  std::map<std::pair<size_t, uint32_t>, uint32_t> boxes;  // by way and identity
  for (const Pending& p : pending) {
    std::vector<ValueId> parts = p.values;
    for (size_t k = 0; k < parts.size(); ++k) {
      if (p.columns[k] >= 0) parts[k] = op->results[static_cast<size_t>(p.columns[k])];
    }
    Sym& s = at(out[p.way].state, p.var);
    if (p.arms) {
      s = with_parts(s, parts, &boxes_);
      join_identities(s, p.arms->first, p.arms->second, [&](const Sym& in_a, const Sym& in_b, uint32_t fresh) {
        const uint32_t number = identities[p.way].number(in_a, in_b);
        return number != 0 ? boxes.try_emplace({p.way, number}, fresh).first->second : fresh;
      });
    } else {
      size_t place = 0;
      replace_parts(s, parts, &place);
    }
  }
  for (const auto& [way, one] : pending_same) {
    State& state = out[way].state;
    const ValueId flag = one.column < 0 ? one.flag : op->results[static_cast<size_t>(one.column)];
    set_same(state, identity_at(state, one.a), identity_at(state, one.b), flag);
  }
  for (const Renamed& one : renamed) out[one.way].state.same[one.number].flag = op->results[static_cast<size_t>(one.column)];
  for (size_t k = 0; k < n; ++k) {
    out[k].flag = k < flag_columns.size() ? op->results[static_cast<size_t>(flag_columns[k])] : ir::kNoValue;
  }
  builder_.set_block(parent);
  return out;
}

}  // namespace hotloop::tracer
