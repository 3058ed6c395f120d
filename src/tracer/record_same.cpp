// Which numbers may be one object, where only the run can tell (T29). See recorder.h.
//
// A State says of two identities that they are one object if a flag is set (State::same). What is not there is apart, or both have a
// pointer (Sym::obj), which tells by itself. A join of two arms makes such a flag where the arms differ; a loop where its back edges differ from what was
// before it, or from each other. Known objects and what came in have a part in this like variables, so that a variable that is assigned on some
// trips only, or in a loop that made no trip, still is the object that it was.
//
// Of a loop it is assumed at first that its back edges bring nothing as one object; what they bring otherwise is learned (`always`, `varying`) and
// the loop built again. Only what varies is carried: all else follows from whether it is the first trip.
#include <algorithm>

#include "tracer/recorder.h"

namespace hotloop::tracer {

namespace {

using ir::OpCode;
using ir::Type;

bool has_pointer(const Sym& s) { return s.obj != ir::kNoValue; }

void visit_leaves(const VarRef& var, const Sym& s, int* number, const std::function<void(const LeafRef&, const Sym&)>& visit) {
  if (ir::is_iterator(s.kind)) return;
  visit({var, (*number)++, {}}, s);
  if (!s.items || s.kind == PyKind::Row) return;
  for (const Sym& item : *s.items) visit_leaves(var, item, number, visit);
}

bool has_leaf(const std::vector<std::pair<LeafRef, LeafRef>>& all, const LeafRef& a, const LeafRef& b) {
  return std::any_of(all.begin(), all.end(), [&](const auto& p) { return (p.first == a && p.second == b) || (p.first == b && p.second == a); });
}

}  // namespace

std::vector<Recorder::Leaf> Recorder::leaves_of(const State& state, const VarRef& ref) {
  std::vector<Leaf> leaves;
  int number = 0;
  visit_leaves(ref, at(state, ref), &number, [&](const LeafRef& leaf, const Sym& s) { leaves.push_back({leaf, &s}); });
  return leaves;
}

std::vector<Recorder::Leaf> Recorder::leaves_of(const State& state, int frame) {
  std::vector<Leaf> all;
  for (const VarRef& ref : all_variables(state, frame)) {
    for (const Leaf& leaf : leaves_of(state, ref)) all.push_back(leaf);
  }
  return all;
}

// Are these two one object in the state? A pointer that is known to be there, or that of a known object, tells by itself.
Recorder::Same Recorder::same_in(const State& state, const Sym* a, const Identity& ia, const Identity& ib) {
  if (!ia.any() || !ib.any()) return {};
  if (ia == ib) {
    const bool told = a != nullptr && has_pointer(*a) && (a->sure || ia.is_known());
    return {!told, ir::kNoValue};
  }
  for (const SameIf& one : state.same) {
    if ((one.a == ia && one.b == ib) || (one.a == ib && one.b == ia)) return {true, one.flag};
  }
  return {};
}

// As a value in the current block.
ValueId Recorder::value_of(const Same& same) { return same.flag != ir::kNoValue ? same.flag : builder_.const_i1(same.may); }

// ------------------------------------------------------------------------------------------------------------------- joins

// The nodes of a join: pairs of identities in its arms, each with the place of one value that has it.
std::vector<Recorder::SameNode> Recorder::nodes_of(const Way& a, const Way& b) {
  std::vector<SameNode> nodes;
  auto add = [&](const SameNode& node) {
    if (!node.a.any() && !node.b.any()) return;
    const bool known = std::any_of(nodes.begin(), nodes.end(), [&](const SameNode& n) { return n.a == node.a && n.b == node.b; });
    if (!known) nodes.push_back(node);
  };
  auto add_known = [&](const Identity& id) {
    if (id.is_known()) add({{VarRef{}, -1, id}, id, id, nullptr, nullptr});
  };
  for (const VarRef& ref : all_variables(a.state, a.place.frame)) {
    const std::vector<Leaf> in_a = leaves_of(a.state, ref), in_b = leaves_of(b.state, ref);
    if (in_a.size() != in_b.size()) continue;
    for (size_t k = 0; k < in_a.size(); ++k) {
      const Identity ia = identity_of(*in_a[k].sym), ib = identity_of(*in_b[k].sym);
      if (ia == ib && ia.is_known()) continue;  // stands for itself, below
      add({in_a[k].ref, ia, ib, in_a[k].sym, in_b[k].sym});
      add_known(ia);
      add_known(ib);
    }
  }
  for (const State* state : {&a.state, &b.state}) {
    for (const SameIf& one : state->same) {
      add_known(one.a);
      add_known(one.b);
    }
  }
  return nodes;
}

// Which flags the join of two ways to one place needs. `column` makes a result of its arms' values.
void Recorder::join_same(const Way& a, const Way& b, ir::Op* op, const std::function<int(ValueId, ValueId)>& column, std::vector<PendingSame>* out) {
  const std::vector<SameNode> nodes = nodes_of(a, b);
  ValueId constants[2][2] = {{ir::kNoValue, ir::kNoValue}, {ir::kNoValue, ir::kNoValue}};
  auto in_arm = [&](size_t arm, const Same& same) {
    if (same.flag != ir::kNoValue) return same.flag;
    ValueId& constant = constants[arm][same.may ? 1 : 0];
    builder_.set_block(op->blocks[arm]);
    if (constant == ir::kNoValue) constant = builder_.const_i1(same.may);
    return constant;
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const SameNode& p = nodes[i];
      const SameNode& q = nodes[j];
      if (p.ref.number < 0 && q.ref.number < 0) continue;
      if (p.a == p.b && q.a == q.b && a.state.same.empty() && b.state.same.empty()) continue;
      const SameNode& leaf = p.ref.number >= 0 ? p : q;
      const Same in_a = same_in(a.state, leaf.in_a, p.a, q.a), in_b = same_in(b.state, leaf.in_b, p.b, q.b);
      if (!in_a.may && !in_b.may) continue;
      const ValueId va = in_arm(0, in_a), vb = in_arm(1, in_b);
      out->push_back({p.ref, q.ref, column(va, vb), va});
    }
  }
}

Identity Recorder::identity_at(const State& state, const LeafRef& ref) {
  if (ref.number < 0) return ref.known;
  const std::vector<Leaf> leaves = leaves_of(state, ref.var);
  return static_cast<size_t>(ref.number) < leaves.size() ? identity_of(*leaves[static_cast<size_t>(ref.number)].sym) : Identity{};
}

void Recorder::set_same(State& state, const Identity& a, const Identity& b, ValueId flag) {
  if (!a.any() || !b.any() || a == b || (a.is_known() && b.is_known())) return;
  if (!same_in(state, nullptr, a, b).may) state.same.push_back({a, b, flag});
}

// Forgets what is said of values that are nowhere any more.
void Recorder::prune_same(State& state) {
  if (state.same.empty()) return;
  std::set<uint32_t> held;
  for (const Leaf& leaf : leaves_of(state, static_cast<int>(state.frames.size()) - 1)) {
    if (leaf.sym->box != 0) held.insert(leaf.sym->box);
  }
  std::erase_if(state.same, [&](const SameIf& one) {
    return (one.a.box != 0 && held.count(one.a.box) == 0) || (one.b.box != 0 && held.count(one.b.box) == 0);
  });
}

// ------------------------------------------------------------------------------------------------------------------- loops

// Before the op of a loop is made: what must be said at its head.
Result<void> Recorder::plan_same(const State& before, LoopContext& loop) {
  struct Here {
    Leaf leaf;
    Identity id;
    bool carried;
  };
  std::vector<Here> all;
  std::vector<Identity> known;
  auto add_known = [&](const Identity& id) {
    if (id.is_known() && std::find(known.begin(), known.end(), id) == known.end()) known.push_back(id);
  };
  for (const Leaf& leaf : leaves_of(before, loop.frame)) {
    const bool carried = std::find(loop.carried.begin(), loop.carried.end(), leaf.ref.var) != loop.carried.end();
    const Identity id = identity_of(*leaf.sym);
    if (!carried && (!id.any() || id.is_known())) continue;
    if (carried && !may_have_identity(*leaf.sym)) continue;
    all.push_back({leaf, id, carried});
    if (carried) add_known(id);
  }
  for (const auto* list : {&loop.always, &loop.varying}) {
    for (const LeafPair& pair : *list) {
      add_known(pair.first.known);
      add_known(pair.second.known);
    }
  }
  for (const SameIf& one : before.same) {
    add_known(one.a);
    add_known(one.b);
  }
  auto plan = [&](const Here& a, const LeafRef& b, const Identity& ib, bool both_known) {
    HeadSame pair{a.leaf.ref, b, HeadSame::kFirstOnly, {}, 0};
    if (has_leaf(loop.varying, a.leaf.ref, b)) {
      pair.how = HeadSame::kVaries;
      pair.column = loop.flags++;
    } else if (has_leaf(loop.always, a.leaf.ref, b)) {
      pair.how = HeadSame::kThenAlways;
    }
    if (!both_known) pair.before = same_in(before, a.leaf.sym, a.id, ib);
    if (pair.how == HeadSame::kFirstOnly && !pair.before.may) return;
    loop.needs_first |= pair.how != HeadSame::kVaries;
    loop.same.push_back(pair);
  };
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].carried) continue;
    for (const Identity& id : known) plan(all[i], {VarRef{}, -1, id}, id, false);
    for (size_t j = 0; j < all.size(); ++j) {
      if (j == i || (all[j].carried && j < i)) continue;
      plan(all[i], all[j].leaf.ref, all[j].id, all[i].id == all[j].id && all[i].id.is_known());
    }
  }
  if (loop.flags > kMaxCarriedFlags) return refuse(RefusalReason::kTooLarge, "too many variables that are copies of each other at times");
  return {};
}

// The flags of the carried pairs before the loop.
void Recorder::initial_same(const LoopContext& loop, std::vector<ValueId>* initial) {
  for (const HeadSame& pair : loop.same) {
    if (pair.how == HeadSame::kVaries) initial->push_back(value_of(pair.before));
  }
}

// What holds in `state`, at the head of the loop (`first`: it is the first trip) or behind it (`first`: it has made none). `flags`: the carried ones.
void Recorder::apply_same(State& state, const LoopContext& loop, ValueId first, const ValueId* flags) {
  prune_same(state);
  ValueId later = ir::kNoValue;
  auto not_first = [&] {
    if (later == ir::kNoValue) later = builder_.unary(OpCode::Not, Type::I1, first);
    return later;
  };
  for (const HeadSame& pair : loop.same) {
    ValueId flag = ir::kNoValue;
    const bool sometimes = pair.before.flag != ir::kNoValue;
    if (pair.how == HeadSame::kVaries) {
      flag = flags[pair.column];
    } else if (pair.how == HeadSame::kFirstOnly) {
      flag = sometimes ? builder_.binary(OpCode::And, Type::I1, first, pair.before.flag) : first;
    } else if (sometimes) {
      flag = builder_.binary(OpCode::Or, Type::I1, not_first(), pair.before.flag);
    } else {
      flag = pair.before.may ? builder_.const_i1(true) : not_first();
    }
    set_same(state, identity_at(state, pair.a), identity_at(state, pair.b), flag);
  }
}

// At a back edge, the values in the forms of the head: is what it brings as one object what was assumed?
void Recorder::compare_same(const State& state, LoopContext& loop) {
  struct Here {
    LeafRef ref;
    const Sym* sym;
    Identity head, id;
    bool carried;
  };
  std::vector<Here> all;
  std::vector<Identity> known;
  auto add_known = [&](const Identity& id) {
    if (id.is_known() && std::find(known.begin(), known.end(), id) == known.end()) known.push_back(id);
  };
  for (const VarRef& ref : all_variables(*loop.head, loop.frame)) {
    const std::vector<Leaf> head = leaves_of(*loop.head, ref), came = leaves_of(state, ref);
    if (head.size() != came.size()) continue;
    const bool carried = std::find(loop.carried.begin(), loop.carried.end(), ref) != loop.carried.end();
    for (size_t k = 0; k < head.size(); ++k) {
      const Identity id = identity_of(*came[k].sym);
      if (!carried && (!id.any() || id.is_known())) continue;
      all.push_back({came[k].ref, came[k].sym, identity_of(*head[k].sym), id, carried});
      if (carried) add_known(id);
    }
  }
  for (const SameIf& one : state.same) {
    add_known(one.a);
    add_known(one.b);
  }
  for (const LeafPair& pair : loop.always) {
    add_known(pair.first.known);
    add_known(pair.second.known);
  }
  auto learn = [&](std::vector<LeafPair>& list, const LeafRef& a, const LeafRef& b) {
    if (!has_leaf(list, a, b)) list.emplace_back(a, b);
  };
  auto compare = [&](const Here& a, const LeafRef& b, const Identity& ib, bool both_known) {
    if (has_leaf(loop.varying, a.ref, b)) return;
    const Same same = both_known ? Same{} : same_in(state, a.sym, a.id, ib);
    const bool yes = same.may && same.flag == ir::kNoValue;
    if (has_leaf(loop.always, a.ref, b)) {
      if (!yes) learn(loop.found_varying, a.ref, b);
    } else if (yes) {
      learn(loop.found_always, a.ref, b);
    } else if (same.may) {
      learn(loop.found_varying, a.ref, b);
    }
  };
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].carried || !all[i].head.any()) continue;
    for (const Identity& id : known) compare(all[i], {VarRef{}, -1, id}, id, false);
    for (size_t j = 0; j < all.size(); ++j) {
      if (j == i || (all[j].carried && j < i) || all[j].head == all[i].head || !all[j].head.any()) continue;
      compare(all[i], all[j].ref, all[j].id, all[i].id == all[j].id && all[i].id.is_known());
    }
  }
}

// At the end of the body: the flags of the carried pairs.
void Recorder::yield_same(const State* state, const LoopContext& loop, std::vector<ValueId>* values) {
  for (const HeadSame& pair : loop.same) {
    if (pair.how != HeadSame::kVaries) continue;
    Same same;
    if (state != nullptr) {
      const Identity a = identity_at(*state, pair.a), b = identity_at(*state, pair.b);
      if (!(a == b && a.is_known() && pair.b.number >= 0)) same = same_in(*state, sym_at(*state, pair.a), a, b);
    }
    values->push_back(value_of(same));
  }
}

const Sym* Recorder::sym_at(const State& state, const LeafRef& ref) {
  if (ref.number < 0) return nullptr;
  const std::vector<Leaf> leaves = leaves_of(state, ref.var);
  return static_cast<size_t>(ref.number) < leaves.size() ? leaves[static_cast<size_t>(ref.number)].sym : nullptr;
}

// --------------------------------------------------------------------------------------------------------------- elsewhere

// What the value may be besides itself, in the order in which it is asked: known objects first, then older values.
std::vector<SameIf> Recorder::others_of(const State& state, const Sym& s) {
  std::vector<SameIf> others;
  if (s.box == 0) return others;
  for (const SameIf& one : state.same) {
    if (one.a.box == s.box) others.push_back({one.a, one.b, one.flag});
    if (one.b.box == s.box) others.push_back({one.b, one.a, one.flag});
  }
  std::erase_if(others, [&](const SameIf& one) { return one.b.box > s.box; });
  std::sort(others.begin(), others.end(), [](const SameIf& x, const SameIf& y) { return x.b.box < y.b.box; });
  return others;
}

// A number of this identity in the state. Null: none.
const Sym* Recorder::holder_of(const State& state, const Identity& id) {
  for (const Leaf& leaf : leaves_of(state, static_cast<int>(state.frames.size()) - 1)) {
    if (identity_of(*leaf.sym) == id) return leaf.sym;
  }
  return nullptr;
}

bool Recorder::is_known_at_times(const State& state, const Sym& s) {
  const std::vector<SameIf> others = others_of(state, s);
  return std::any_of(others.begin(), others.end(), [](const SameIf& one) { return one.b.is_known(); });
}

// The pointer of the known object that the value may be; it goes before the pointer that it has, null where it has none.
ValueId Recorder::pointer_of(const State& state, const Sym& s) {
  ValueId pointer = s.obj;
  for (const SameIf& one : others_of(state, s)) {
    if (!one.b.is_known()) continue;
    Sym known;
    known.object = one.b.object;
    known.input = one.b.input;
    known.kind = s.kind;
    const ValueId object = known_pointer(known);
    if (object == ir::kNoValue) continue;
    pointer = builder_.select(Type::Ptr, one.flag, object, pointer != ir::kNoValue ? pointer : dummy(Type::Ptr));
  }
  return pointer;
}

void Recorder::note_choice(const Sym& chosen, ValueId flag, const Sym& a, const Sym& b) {
  if (chosen.box == 0 || !may_have_identity(chosen)) return;
  State& state = const_cast<State&>(*current_);  // of the instruction in progress
  std::vector<Identity> ids;
  auto add = [&](const Identity& id) {
    if (id.any() && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  };
  for (const Leaf& leaf : leaves_of(state, static_cast<int>(state.frames.size()) - 1)) add(identity_of(*leaf.sym));
  for (const SameIf& one : std::vector<SameIf>(state.same)) {
    add(one.a);
    add(one.b);
  }
  add(identity_of(a));
  add(identity_of(b));
  for (const Identity& id : ids) {
    const Same x = same_in(state, has_pointer(chosen) ? &a : nullptr, identity_of(a), id);
    const Same y = same_in(state, has_pointer(chosen) ? &b : nullptr, identity_of(b), id);
    if (!x.may && !y.may) continue;
    set_same(state, identity_of(chosen), id, builder_.select(Type::I1, flag, value_of(x), value_of(y)));
  }
}

}  // namespace hotloop::tracer
