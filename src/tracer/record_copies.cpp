// Identity of carried variables (T29). See recorder.h.
//
// Where every back edge brings two variables as one object (`y = x` in the loop), they are one object at the head and behind the loop too, if they
// were one before it.
// It is assumed of a pair that some back edge brought as one object; the loop is built again with that, and without when another back edge
// contradicts. Before the loop they must be one object: known, or in the region's outermost loop guarded at entry. All else is in record_same.cpp.
#include <algorithm>

#include "tracer/recorder.h"

namespace hotloop::tracer {

namespace {

// Are they one object? Kinds that are their own object (None, known functions, array pointers) need no word about it.
bool one_object(const Sym& a, const Sym& b) {
  if (a.kind != b.kind || is_untouched(a) || is_untouched(b)) return false;
  if (a.box != b.box || a.input != b.input || a.object != b.object) return false;
  // Without any of these nothing is known but of kinds that have one object.
  return a.box != 0 || a.input != ir::kNone || a.object != nullptr || (ir::pykind_info(a.kind).parts == 0 && !a.items);
}

bool is_number(const Sym& s) {
  return !is_untouched(s) && (is_py_number(s.kind) || is_np_scalar(s.kind)) && s.kind != PyKind::Bool && s.kind != PyKind::NpBool;
}

// Numbers and rows are made anew each time; bools are always the same two objects.
bool has_identity(const Sym& s) {
  return s.kind == PyKind::Row || is_number(s);
}

// The very same form among those that the value may have; null: there is none.
const Sym* form_like(const Sym& s, const Sym& like) {
  if (s.kind != PyKind::Either) return same_shape(s, like) ? &s : nullptr;
  const Sym* first = form_like((*s.items)[0], like);
  return first != nullptr ? first : form_like((*s.items)[1], like);
}

// One object has one form: what it is made of has the same identities too. Of two that may have several forms those that are alike are meant.
void share_boxes(Sym& second, const Sym& first) {
  if (second.box != 0) second.box = first.box;
  if (!second.items) return;
  const bool several = second.kind == PyKind::Either;
  if (!several && (second.kind != first.kind || !first.items || second.items->size() != first.items->size())) return;
  second.items = std::make_shared<std::vector<Sym>>(*second.items);
  for (size_t k = 0; k < second.items->size(); ++k) {
    Sym& item = (*second.items)[k];
    const Sym* other = several ? item.kind == PyKind::Either ? &first : form_like(first, item) : &(*first.items)[k];
    if (other != nullptr) share_boxes(item, *other);
  }
}

bool has_pair(const std::vector<std::pair<VarRef, VarRef>>& all, const std::pair<VarRef, VarRef>& pair) {
  return std::find(all.begin(), all.end(), pair) != all.end();
}

}  // namespace

// At a back edge, before the values take the forms of the head.
void Recorder::compare_copies(const State& state, LoopContext& loop) {
  if (loop.frame != 0) return;  // what an inlined function leaves behind is its result
  for (const VarPair& pair : loop.copies) {
    if (!one_object(at(state, pair.first), at(state, pair.second))) loop.parted.push_back(pair);
  }
  for (size_t a = 0; a < loop.carried.size(); ++a) {
    const Sym& first = at(state, loop.carried[a]);
    if (!has_identity(first)) continue;
    for (size_t b = a + 1; b < loop.carried.size(); ++b) {
      VarPair pair{loop.carried[a], loop.carried[b]};
      if (!one_object(first, at(state, pair.second)) || one_object(at(*loop.head, pair.first), at(*loop.head, pair.second))) continue;
      if (!has_pair(loop.found, pair)) loop.found.push_back(pair);
      break;  // the next of this identity pairs with that one
    }
  }
}

// What the variable is before the loop, when it was given a form of several there.
Sym Recorder::chosen_form(Sym s) const {
  while (s.kind == PyKind::Either) {
    auto flag = constant(s.v[0]);
    if (!flag) break;
    s = Sym((*s.items)[*flag != 0 ? 0 : 1]);
  }
  return s;
}

// After the loop was built: whether it must be built again because of copies that were found in it.
bool Recorder::learn_copies(State& before, const LoopContext& loop, Copies* copies) {
  bool again = false;
  bool outermost = loop.frame == 0 && loop.header == infos_[0]->part->entry();
  normalise(before);
  // What came in may have been given another form meanwhile, for which there is no guard.
  for (const VarPair& pair : loop.copies) {
    const Sym a = chosen_form(fetch(before, pair.first)), b = chosen_form(fetch(before, pair.second));
    if (one_object(a, b) || (outermost && a.kind == b.kind && a.input != ir::kNone && b.input != ir::kNone)) continue;
    copies->give_up(pair);
    again = true;
  }
  for (const VarPair& pair : loop.found) {
    if (has_pair(copies->given_up, pair) || has_pair(copies->assumed, pair)) continue;
    const Sym a = chosen_form(fetch(before, pair.first)), b = chosen_form(fetch(before, pair.second));
    bool same = one_object(a, b);
    if (!same && outermost && a.kind == b.kind && a.input != ir::kNone && b.input != ir::kNone) {
      PyObject* one = object_now(pair.first);
      same = one != nullptr && one == object_now(pair.second);
    }
    if (same) {
      copies->assumed.push_back(pair);
      again = true;
    } else {
      copies->given_up.push_back(pair);
    }
  }
  auto learn = [&](const std::vector<LeafPair>& found, std::vector<LeafPair>& list) {
    for (const LeafPair& pair : found) {
      if (std::find(list.begin(), list.end(), pair) != list.end()) continue;
      list.push_back(pair);
      again = true;
    }
  };
  learn(loop.found_always, copies->always);
  learn(loop.found_varying, copies->varying);
  return again;
}

// What the slot of a variable of the entry frame holds now; borrowed.
PyObject* Recorder::object_now(const VarRef& ref) {
  if (ref.where == VarRef::Where::kGlobal) {
    const NameVar& var = name_vars_[static_cast<size_t>(ref.index)];
    if (var.dict == nullptr) return var.value;
    PyObject* value = PyDict_GetItemWithError(var.dict, var.name);
    if (value == nullptr) PyErr_Clear();
    return value;
  }
  if (ref.where == VarRef::Where::kStack) return hl_stack_peek(request_.frame, ref.index);
  PyObject* value = hl_local_get(request_.frame, ref.index);
  int kind = hl_local_kind(request_.code, ref.index);
  return kind == HL_LOCAL_CELL || kind == HL_LOCAL_FREE ? (value == nullptr ? nullptr : hl_cell_get(value)) : value;
}

// What the loop relies on is checked when the region is entered.
void Recorder::guard_copies(State& before, const LoopContext& loop) {
  normalise(before);
  for (const VarPair& pair : loop.copies) {
    uint32_t a = chosen_form(fetch(before, pair.first)).input, b = chosen_form(fetch(before, pair.second)).input;
    if (a == b || a == ir::kNone || b == ir::kNone) continue;
    function_->inputs[std::max(a, b)].same_as = std::min(a, b);
  }
}

void Recorder::join_copies(State& state, const LoopContext& loop) {
  for (const VarPair& pair : loop.copies) {
    share_boxes(at(state, pair.second), at(state, pair.first));
  }
}

}  // namespace hotloop::tracer
