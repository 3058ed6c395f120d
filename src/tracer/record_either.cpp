// Variables of more than one possible form at a point: how they are made at joins, and how code that reads them is split. See recorder.h.
//
// Two arms that bring a variable in different forms (float here, np.float64 there) leave it as an Either: a flag and both values. Nothing is lost at
// exits, and a variable that is not read again costs no more than that. An instruction that consumes an Either is recorded once for each form, with
// everything that follows up to the next join.
#include <algorithm>
#include <utility>

#include "tracer/recorder.h"

namespace hotloop::tracer {

namespace {

constexpr int kMaxForms = 4;
constexpr int kMaxSplits = 3;  // nested

bool may_be_either(const Sym& s) { return !ir::is_iterator(s.kind) && !is_untouched(s); }

// The same number, but `like` says less about the object that it is.
bool same_but_object(const Sym& s, const Sym& like) {
  return s.kind == like.kind && !is_untouched(s) && !is_untouched(like) && !s.items && like.obj != ir::kNoValue && !like.sure;
}

int forms(const Sym& s) { return s.kind == PyKind::Either ? forms((*s.items)[0]) + forms((*s.items)[1]) : 1; }

// Can `s` stand in a slot of the form `like`?
bool fits(const Sym& s, const Sym& like) {
  if (same_shape(s, like) || same_but_object(s, like)) return true;
  return like.kind == PyKind::Either && (fits(s, (*like.items)[0]) || fits(s, (*like.items)[1]));
}

// Takes the flag's side in every Either with that flag.
void refine_sym(Sym& s, ValueId flag, bool side) {
  while (s.kind == PyKind::Either && s.v[0] == flag) {
    Sym chosen = (*s.items)[side ? 0 : 1];
    if (s.obj != ir::kNoValue && chosen.box != 0) {
      chosen.obj = s.obj;
      chosen.sure = s.sure;
    }
    s = std::move(chosen);
  }
  if (!s.items) return;
  bool touches = std::any_of(s.items->begin(), s.items->end(), [](const Sym& item) { return item.items || item.kind == PyKind::Either; });
  if (!touches) return;
  s.items = std::make_shared<std::vector<Sym>>(*s.items);
  for (Sym& item : *s.items) refine_sym(item, flag, side);
}

void refine(State& state, ValueId flag, bool side) {
  for (FrameVals& frame : state.frames) {
    for (Sym& s : frame.locals) refine_sym(s, flag, side);
    for (Sym& s : frame.stack) refine_sym(s, flag, side);
  }
  for (Sym& s : state.globals) refine_sym(s, flag, side);
}

// How many stack items an instruction looks into (moving them about is no look).
int looks_into(const HlInstr& in) {
  switch (in.op) {
    case HL_BINARY:
    case HL_COMPARE:
    case HL_IS:
    case HL_CONTAINS:
    case HL_SUBSCR: return 2;
    case HL_DELETE_SUBSCR: return 2;
    case HL_STORE_SUBSCR:
    case HL_BINARY_SLICE:
    case HL_CALL_FUNCTION_EX: return 3;
    case HL_BUILD_LIST: return in.arg;
    case HL_LIST_APPEND:
    case HL_UNARY_NEGATIVE:
    case HL_UNARY_POSITIVE:
    case HL_UNARY_INVERT:
    case HL_UNARY_NOT:
    case HL_TO_BOOL:
    case HL_GET_ITER:
    case HL_UNPACK_SEQUENCE:
    case HL_LOAD_ATTR:
    case HL_STORE_ATTR:
    case HL_POP_JUMP_IF_TRUE:
    case HL_POP_JUMP_IF_FALSE:
    case HL_POP_JUMP_IF_NONE:
    case HL_POP_JUMP_IF_NOT_NONE: return 1;
    case HL_CALL: return in.arg + 2;
    case HL_CALL_KW: return in.arg + 3;
    default: return 0;
  }
}

// The flag of an Either in a value, looking into tuples. kNoValue: none.
ValueId flag_in(const Sym& s) {
  if (s.kind == PyKind::Either) return s.v[0];
  if (s.kind != PyKind::Tuple) return ir::kNoValue;
  for (const Sym& item : *s.items) {
    ValueId flag = flag_in(item);
    if (flag != ir::kNoValue) return flag;
  }
  return ir::kNoValue;
}

}  // namespace

bool Recorder::fits_form(const Sym& s, const Sym& like) { return fits(s, like); }

// The form that both fit, if there may be one.
std::optional<Sym> Recorder::common_form(const Sym& a, const Sym& b) {
  if (fits(b, a)) return a;
  if (fits(a, b)) return b;
  if (becomes_u64(a, b) || becomes_u64(b, a)) {  // as_u64 makes the Int one before it is coerced
    Sym x = a, y = b;
    x.kind = y.kind = PyKind::IntU64;
    return common_form(x, y);
  }
  if (a.kind == b.kind && !a.items && !b.items && (a.obj != ir::kNoValue || b.obj != ir::kNoValue)) {  // both sure is the same shape
    Sym s = a.obj != ir::kNoValue ? a : b;
    s.sure = false;
    return s;
  }
  if (!may_be_either(a) || !may_be_either(b) || forms(a) + forms(b) > kMaxForms) return std::nullopt;
  Sym s;
  s.kind = PyKind::Either;
  s.items = std::make_shared<std::vector<Sym>>(std::vector<Sym>{a, b});
  return s;
}

// A value of this form that nobody will look at.
Sym Recorder::dummy_form(const Sym& like) {
  std::vector<ValueId> parts;
  collect_parts_types(like, &parts);
  return with_parts(like, parts, &boxes_);
}

void Recorder::collect_parts_types(const Sym& like, std::vector<ValueId>* out) {
  const ir::PyKindInfo& info = ir::pykind_info(like.kind);
  for (int k = 0; k < info.parts; ++k) out->push_back(dummy(info.part_type));
  if (like.obj != ir::kNoValue) out->push_back(dummy(ir::Type::Ptr));
  if (!like.items) return;
  for (const Sym& item : *like.items) collect_parts_types(item, out);
}

// `s` in the form `like`, which it fits; emits constants into the current block.
Sym Recorder::coerce(const Sym& s, const Sym& like) {
  if (same_shape(s, like)) return s;
  if (same_but_object(s, like)) {
    Sym out = s;
    if (out.obj == ir::kNoValue) out.obj = known_pointer(s);
    if (out.obj == ir::kNoValue) out.obj = dummy(ir::Type::Ptr);
    out.sure = false;
    return out;
  }
  bool first = fits(s, (*like.items)[0]);
  Sym out;
  out.kind = PyKind::Either;
  out.v[0] = builder_.const_i1(first);
  Sym a = first ? coerce(s, (*like.items)[0]) : dummy_form((*like.items)[0]);
  Sym b = first ? dummy_form((*like.items)[1]) : coerce(s, (*like.items)[1]);
  out.items = std::make_shared<std::vector<Sym>>(std::vector<Sym>{std::move(a), std::move(b)});
  return out;
}

namespace {

bool has_unbound(const Sym& s) {
  if (s.kind == PyKind::Unbound) return !is_untouched(s);
  return s.kind == PyKind::Either && (has_unbound((*s.items)[0]) || has_unbound((*s.items)[1]));
}

}  // namespace

// The flag of the first Either that the instruction would look into. Loading one that may be unbound is looking.
ValueId Recorder::flag_looked_into(State& state, const HlInstr& in) {
  bool loads = in.op == HL_LOAD_FAST || in.op == HL_LOAD_FAST_CHECK || in.op == HL_LOAD_FAST_LOAD_FAST || in.op == HL_DELETE_FAST;
  if (loads) {
    const Sym& s = state.top().locals[static_cast<size_t>(in.arg)];
    if (s.kind == PyKind::Either && has_unbound(s)) return s.v[0];
  }
  if (in.op == HL_LOAD_FAST_LOAD_FAST) {
    const Sym& s = state.top().locals[static_cast<size_t>(in.arg2)];
    if (s.kind == PyKind::Either && has_unbound(s)) return s.v[0];
  }
  if (in.op == HL_LOAD_DEREF) {
    normalise(state);
    const VarRef cell = cell_ref(state, in.arg);
    const Sym& s = at(state, cell);
    if (s.kind == PyKind::Either && has_unbound(s)) return s.v[0];
  }
  if (in.op == HL_LOAD_GLOBAL || in.op == HL_LOAD_NAME) {
    const FrameInfo& info = *state.top().info;
    PyObject* name = PyTuple_GET_ITEM(info.code->co_names, in.arg);
    for (PyObject* dict : {info.locals, info.globals}) {
      int k = dict == nullptr ? -1 : name_var(dict, name, false);
      if (k < 0 || static_cast<size_t>(k) >= state.globals.size()) continue;
      const Sym& s = state.globals[static_cast<size_t>(k)];
      if (s.kind == PyKind::Either && has_unbound(s)) return s.v[0];
    }
  }
  if (in.op == HL_LOAD_ATTR) {
    int k = attribute_looked_into(state, in);
    if (k >= 0 && static_cast<size_t>(k) < state.globals.size()) {
      const Sym& s = state.globals[static_cast<size_t>(k)];
      if (s.kind == PyKind::Either && has_unbound(s)) return s.v[0];
    }
  }
  int n = looks_into(in);
  int depth = static_cast<int>(state.top().stack.size());
  for (int k = 1; k <= n && k <= depth; ++k) {
    const Sym& s = state.top().stack[static_cast<size_t>(depth - k)];
    ValueId flag = flag_in(s);
    if (flag != ir::kNoValue) return flag;
  }
  return ir::kNoValue;
}

// Records the instruction, and what follows it, once for each side of the flag. Nothing: the state has been decided without.
Result<std::optional<Ways>> Recorder::split(State& state, ValueId flag, int block, int instr) {
  auto decided = constant(flag);
  if (decided) {
    refine(state, flag, *decided != 0);
    return std::optional<Ways>{};
  }
  if (splits_ >= kMaxSplits) {
    builder_.guard(builder_.unary(ir::OpCode::Not, ir::Type::I1, flag), ExitReason::TypeChange, before());
    refine(state, flag, false);
    return std::optional<Ways>{};
  }
  ir::Block* parent = builder_.block();
  ir::Op* op = builder_.if_(flag, {});
  ValueId mark = static_cast<ValueId>(function_->value_types.size());
  int frame = static_cast<int>(state.frames.size()) - 1;
  ++splits_;
  ++arms_;
  Ways sides[2];
  for (size_t k = 0; k < 2; ++k) {
    builder_.set_block(op->blocks[k]);
    State side = state;
    refine(side, flag, k == 0);
    auto ways = run_block(std::move(side), block, instr);
    if (!ways) {
      --splits_;
      --arms_;
      return ways.refusal();
    }
    sides[k] = std::move(*ways);
  }
  --splits_;
  --arms_;
  builder_.set_block(parent);
  auto merged = merge(op, mark, std::move(sides[0]), std::move(sides[1]), state, {frame, block});
  if (!merged) return merged.refusal();
  return std::optional<Ways>{std::move(*merged)};
}

// min(a, b) or max(a, b) of different kinds gives one of its operands.
Result<std::optional<Sym>> Recorder::mixed_extreme(PyObject* callable, const std::vector<Sym>& args) {
  if (args.size() != 2 || args[0].kind == args[1].kind) return std::optional<Sym>{};
  PyObject* builtins = infos_[0]->builtins;
  bool least = callable == PyDict_GetItemString(builtins, "min");
  if (!least && callable != PyDict_GetItemString(builtins, "max")) return std::optional<Sym>{};
  auto compared = compare(*this, least ? CompareOp::kLt : CompareOp::kGt, args[1], args[0]);
  if (!compared) return compared.refusal();
  auto second = truth(*this, *compared);
  if (!second) return second.refusal();
  Sym s;
  s.kind = PyKind::Either;
  s.v[0] = *second;
  s.items = std::make_shared<std::vector<Sym>>(std::vector<Sym>{args[1], args[0]});
  return std::optional<Sym>{std::move(s)};
}

}  // namespace hotloop::tracer
