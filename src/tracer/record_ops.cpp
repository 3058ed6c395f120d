// One instruction at a time: locals, stack, operators, containers. Names are in record_names.cpp, calls in record_call.cpp. See recorder.h.
#include <utility>

#include "tracer/recorder.h"
#include "tracer/semantics_text.h"

namespace hotloop::tracer {

Sym Recorder::pop(State& state) {
  VarRef ref{VarRef::Where::kStack, static_cast<int>(state.frames.size()) - 1, static_cast<int>(state.top().stack.size()) - 1};
  Sym s = fetch(state, ref);
  state.top().stack.pop_back();
  return s;
}

// Item from the top, 1 = the top.
Sym Recorder::peek(State& state, int from_top) {
  VarRef ref{VarRef::Where::kStack, static_cast<int>(state.frames.size()) - 1, static_cast<int>(state.top().stack.size()) - from_top};
  return fetch(state, ref);
}

void Recorder::pop_push(State& state, int n, Sym s) {
  auto& stack = state.top().stack;
  stack.resize(stack.size() - static_cast<size_t>(n));
  stack.push_back(std::move(s));
}

// Is this a way that not every trip takes? What cannot be compiled there becomes an exit; entry and exit counts show whether it was worth it.
bool Recorder::may_be_rare() const { return splits_ > 0 || arms_ > 0; }

base::Refusal Recorder::not_compiled(const HlInstr& in) {
  base::RefusalReason reason = RefusalReason::kUnsupportedOpcode;
  if (in.op == HL_YIELD_VALUE || in.op == HL_SEND || in.op == HL_GET_AWAITABLE) reason = RefusalReason::kYieldInLoop;
  if (in.op == HL_BEFORE_WITH || in.op == HL_PUSH_EXC_INFO) reason = RefusalReason::kTryInLoop;
  return refuse(reason, in.name);
}

// What cannot be compiled leaves where it may be rare, and refuses where every trip meets it.
Result<Recorder::Step> Recorder::unsupported(const HlInstr& in) {
  base::Refusal refusal = not_compiled(in);
  if (!may_be_rare()) return refusal;
  left_out_ = refusal;
  return leave_here(ExitReason::Unsupported);
}

Result<Recorder::Step> Recorder::leave_here(ExitReason reason) {
  builder_.exit(reason, before());
  return Step::kEnded;
}

Result<Recorder::Step> Recorder::step(State& state, const HlInstr& in) {
  Result<Step> done = Step::kNext;
  switch (in.op) {
    case HL_NOP:
    case HL_RESUME: return Step::kNext;
    case HL_COPY_FREE_VARS:
      if (state.frames.size() > 1) return Step::kNext;  // the prologue of an inlined function: bind_closure has done it
      return unsupported(in);
    case HL_LOAD_FAST:
    case HL_LOAD_FAST_CHECK:
    case HL_LOAD_FAST_AND_CLEAR:
    case HL_LOAD_FAST_LOAD_FAST:
    case HL_STORE_FAST:
    case HL_STORE_FAST_LOAD_FAST:
    case HL_STORE_FAST_STORE_FAST:
    case HL_DELETE_FAST: done = step_local(state, in); break;
    case HL_LOAD_CONST:
    case HL_POP_TOP:
    case HL_PUSH_NULL:
    case HL_COPY:
    case HL_SWAP:
    case HL_END_FOR: done = step_stack(state, in); break;
    case HL_LOAD_GLOBAL:
    case HL_STORE_GLOBAL:
    case HL_LOAD_NAME:
    case HL_STORE_NAME:
    case HL_LOAD_DEREF:
    case HL_STORE_DEREF: done = step_name(state, in); break;
    case HL_LOAD_ATTR: done = load_attribute(state, in); break;
    case HL_STORE_ATTR: done = store_attribute(state, in); break;
    case HL_CALL:
    case HL_CALL_KW:
    case HL_CALL_FUNCTION_EX: done = step_call(state, in); break;
    case HL_BUILD_TUPLE:
    case HL_UNPACK_SEQUENCE:
    case HL_SUBSCR:
    case HL_STORE_SUBSCR:
    case HL_CONTAINS:
    case HL_BUILD_LIST:
    case HL_LIST_APPEND:
    case HL_DELETE_SUBSCR:
    case HL_BINARY_SLICE:
    case HL_GET_ITER: done = step_container(state, in); break;
    case HL_BINARY:
    case HL_UNARY_NEGATIVE:
    case HL_UNARY_POSITIVE:
    case HL_UNARY_INVERT:
    case HL_UNARY_NOT:
    case HL_TO_BOOL:
    case HL_COMPARE:
    case HL_IS: done = step_operator(state, in); break;
    default:
      if (auto ran = run_here(state, in, not_compiled(in))) return *ran;
      return unsupported(in);
  }
  if (done || abandoned_ != nullptr || wants_restart_) return done;
  if (auto ran = run_here(state, in, done.refusal())) return *ran;
  // An operation that is not compiled, on a way that may be rare. Recursion is left where the region's own frame calls: a callee that is
  // materialised runs in a C call of its own, and such calls must not pile up.
  const bool piles_up = done.refusal().reason == RefusalReason::kRecursion && state.frames.size() > 1;
  if (may_be_rare() && !piles_up) {
    left_out_ = done.refusal();
    return leave_here(ExitReason::Unsupported);
  }
  return done;
}

Result<Sym> Recorder::load_local(State& state, const HlInstr&, int index) {
  Sym s = fetch(state, {VarRef::Where::kLocal, static_cast<int>(state.frames.size()) - 1, index});
  return s;
}

Result<Recorder::Step> Recorder::step_local(State& state, const HlInstr& in) {
  auto& locals = state.top().locals;
  auto set = [&](int index, Sym s) { locals[static_cast<size_t>(index)] = std::move(s); };
  switch (in.op) {
    case HL_LOAD_FAST:
    case HL_LOAD_FAST_CHECK:
    case HL_LOAD_FAST_LOAD_FAST: {
      auto s = load_local(state, in, in.arg);
      if (!s) return s.refusal();
      if (s->kind == PyKind::Unbound) return leave_here(ExitReason::Unsupported);  // the interpreter raises
      if (in.op == HL_LOAD_FAST_LOAD_FAST) {
        auto second = load_local(state, in, in.arg2);
        if (!second) return second.refusal();
        if (second->kind == PyKind::Unbound) return leave_here(ExitReason::Unsupported);
        push(state, *s);
        push(state, *second);
        return Step::kNext;
      }
      push(state, *s);
      return Step::kNext;
    }
    case HL_LOAD_FAST_AND_CLEAR: {
      auto s = load_local(state, in, in.arg);
      if (!s) return s.refusal();
      push(state, *s);
      set(in.arg, Sym{});
      return Step::kNext;
    }
    case HL_STORE_FAST: set(in.arg, pop(state)); return Step::kNext;
    case HL_STORE_FAST_LOAD_FAST: {
      set(in.arg, pop(state));
      auto s = load_local(state, in, in.arg2);
      if (!s) return s.refusal();
      push(state, *s);
      return Step::kNext;
    }
    case HL_STORE_FAST_STORE_FAST:
      set(in.arg, pop(state));
      set(in.arg2, pop(state));
      return Step::kNext;
    default: {  // DELETE_FAST
      auto s = load_local(state, in, in.arg);
      if (!s) return s.refusal();
      if (s->kind == PyKind::Unbound) return leave_here(ExitReason::Unsupported);
      set(in.arg, Sym{});
      return Step::kNext;
    }
  }
}

Result<Recorder::Step> Recorder::step_stack(State& state, const HlInstr& in) {
  auto& stack = state.top().stack;
  switch (in.op) {
    case HL_LOAD_CONST: push(state, known(*this, PyTuple_GET_ITEM(state.top().info->code->co_consts, in.arg))); return Step::kNext;
    case HL_POP_TOP:
      // An iterator that a loop leaves behind: its going may run Python code.
      if (is_dropped_iterator(state)) return refuse(RefusalReason::kUnsupportedIterator, "left by break");
      stack.pop_back();
      return Step::kNext;
    case HL_PUSH_NULL: push(state, Sym{}); return Step::kNext;
    case HL_COPY: push(state, peek(state, in.arg)); return Step::kNext;
    case HL_SWAP: {
      Sym top = peek(state, 1), other = peek(state, in.arg);
      stack[stack.size() - 1] = std::move(other);
      stack[stack.size() - static_cast<size_t>(in.arg)] = std::move(top);
      return Step::kNext;
    }
    default:  // END_FOR
      for (int k = 0; k < in.arg; ++k) stack.pop_back();
      return Step::kNext;
  }
}

Result<Recorder::Step> Recorder::step_operator(State& state, const HlInstr& in) {
  Sym top = peek(state, 1);
  auto as_bool = [&](const Sym& s) -> Result<Sym> {
    if (s.kind == PyKind::Bool) return s;
    auto v = truth(*this, s);
    if (!v) return v.refusal();
    int known_to_be = known_truth(s, *v);
    if (known_to_be >= 0) return known(*this, known_to_be == 1 ? Py_True : Py_False);
    Sym out;
    out.kind = PyKind::Bool;
    out.v[0] = *v;
    out.box = new_box();
    return out;
  };
  Result<Sym> r = Sym{};
  int taken = 1;
  switch (in.op) {
    case HL_BINARY:
      if (auto done = object_operator(state, in)) return std::move(*done);
      r = binary_operation(state, static_cast<BinaryOp>(in.arg), peek(state, 2), top);
      taken = 2;
      break;
    case HL_COMPARE:
      r = compare(*this, static_cast<CompareOp>(in.arg), peek(state, 2), top);
      if (r && in.arg2 == 1) r = as_bool(*r);
      taken = 2;
      break;
    case HL_IS:
      r = identity(*this, peek(state, 2), top, in.arg2 == 1);
      taken = 2;
      break;
    case HL_UNARY_NEGATIVE: r = unary_operation(state, UnaryOp::kNegative, top); break;
    case HL_UNARY_POSITIVE: r = unary(*this, UnaryOp::kPositive, top); break;
    case HL_UNARY_INVERT: r = unary_operation(state, UnaryOp::kInvert, top); break;
    case HL_UNARY_NOT: r = unary(*this, UnaryOp::kNot, top); break;
    default: r = as_bool(top); break;  // TO_BOOL
  }
  if (!r) return r.refusal();
  pop_push(state, taken, *r);
  return Step::kNext;
}

Result<Recorder::Step> Recorder::step_container(State& state, const HlInstr& in) {
  switch (in.op) {
    case HL_BUILD_TUPLE: {
      Sym tuple;
      tuple.kind = PyKind::Tuple;
      tuple.box = new_box();
      tuple.items = std::make_shared<std::vector<Sym>>();
      for (int k = in.arg; k >= 1; --k) tuple.items->push_back(peek(state, k));
      pop_push(state, in.arg, tuple);
      return Step::kNext;
    }
    case HL_UNPACK_SEQUENCE: {
      Sym s = peek(state, 1);
      if (is_sequence_object(s.kind)) {
        ValueId fits = builder_.binary(ir::OpCode::Eq, ir::Type::I64, object_length(*this, s), builder_.const_i64(in.arg));
        builder_.guard(fits, ExitReason::TypeChange, before());
        std::vector<Sym> items;
        for (int k = 0; k < in.arg; ++k) {
          auto item = sequence_item(*this, s, builder_.const_i64(k), sample_item(s, k));
          if (!item) return item.refusal();
          items.push_back(*item);
        }
        pop(state);
        for (size_t k = items.size(); k-- > 0;) push(state, items[k]);
        return Step::kNext;
      }
      if (s.kind == PyKind::Array || s.kind == PyKind::Row) return unpack_elements(state, in, s);
      if (s.kind != PyKind::Tuple) return refuse(RefusalReason::kUnsupportedType, "unpacking of " + kind_text(s));
      if (s.items->size() != static_cast<size_t>(in.arg)) return leave_here(ExitReason::Unsupported);
      pop(state);
      for (size_t k = s.items->size(); k-- > 0;) push(state, (*s.items)[k]);
      return Step::kNext;
    }
    case HL_BINARY_SLICE: return slice(state, in);
    case HL_BUILD_LIST: return build_list(state, in);
    case HL_LIST_APPEND: return append_item(state, in);
    case HL_DELETE_SUBSCR: return delete_item(state, in);
    case HL_SUBSCR: {
      if (object_type(peek(state, 2)) == &PyDict_Type) return load_key(state, in);
      auto r = subscript(*this, indexable(state, peek(state, 2), peek(state, 1)), peek(state, 1));
      if (!r) return r.refusal();
      pop_push(state, 2, *r);
      return Step::kNext;
    }
    case HL_STORE_SUBSCR: {
      if (peek(state, 2).kind == PyKind::List) return store_item(state, in);
      if (object_type(peek(state, 2)) == &PyDict_Type) return store_key(state, in);
      auto done = store_subscript(*this, peek(state, 2), peek(state, 1), peek(state, 3));
      if (!done) return done.refusal();
      auto& stack = state.top().stack;
      stack.resize(stack.size() - 3);
      return Step::kNext;
    }
    case HL_CONTAINS: return contains(state, in);
    default: return get_iter(state);
  }
}

// x in (a, b, c): the items are compared in turn, none of which has an effect.
Result<Recorder::Step> Recorder::contains(State& state, const HlInstr& in) {
  Sym container = peek(state, 1), x = peek(state, 2);
  if (container.kind != PyKind::Tuple) {
    if (auto done = contains_key(state, in)) return std::move(*done);
    auto found = contains_known(*this, container, x);
    if (!found) return found.refusal();
    Sym s = *found;
    if (in.arg2 == 1) s.v[0] = builder_.unary(ir::OpCode::Not, ir::Type::I1, s.v[0]);
    pop_push(state, 2, s);
    return Step::kNext;
  }
  ValueId any = builder_.const_i1(false);
  for (const Sym& item : *container.items) {
    bool numbers = (is_py_number(item.kind) || is_np_scalar(item.kind)) && (is_py_number(x.kind) || is_np_scalar(x.kind));
    // The very same object is found even if it is not equal to itself (NaN): only exact integers and bools have no such case.
    bool integral = item.kind == PyKind::Int || item.kind == PyKind::Bool || x.kind == PyKind::Int || x.kind == PyKind::Bool;
    bool texts = item.kind == PyKind::Char && x.kind == PyKind::Char;
    if (!texts && (!numbers || !integral)) return refuse(RefusalReason::kUnsupportedType, kind_text(x) + " in a tuple with " + kind_text(item));
    auto equal = compare(*this, CompareOp::kEq, item, x);
    if (!equal) return equal.refusal();
    auto flag = truth(*this, *equal);
    if (!flag) return flag.refusal();
    any = builder_.binary(ir::OpCode::Or, ir::Type::I1, any, *flag);
  }
  if (in.arg2 == 1) any = builder_.unary(ir::OpCode::Not, ir::Type::I1, any);
  Sym out;
  out.kind = PyKind::Bool;
  out.v[0] = any;
  out.box = new_box();
  pop_push(state, 2, out);
  return Step::kNext;
}

}  // namespace hotloop::tracer
