// Ints beyond 64 bits that live within straight code only, and variables that hold ints of 0 .. 2^64 - 1. See semantics_wide.h, recorder.h.
//
// Whether a sum or product is made wide is a matter of profit, not of exactness: it is where a mask, a shift to the right or a remainder is ahead that
// brings it back. Before any other instruction looks at a wide int, and at the end of each block, it must fit a word, or native code leaves.
#include <algorithm>

#include "tracer/recorder.h"
#include "tracer/semantics_wide.h"

namespace hotloop::tracer {

using ir::OpCode;
using ir::Type;

namespace {

// Remainders by less than this are taken of products that fit 64 bits: (m - 1)^2 < 2^63.
constexpr int64_t kSmallModulus = 3037000499;

// Follows one value through the instructions ahead: which stack items, from where it is pushed, and which variables depend on it.
struct Trail {
  std::vector<bool> stack{true};
  std::vector<int> locals;
  const HlInstr* pushed = nullptr;  // the load right before, if there was one

  bool pop() {
    if (stack.empty()) return false;
    const bool on = stack.back();
    stack.pop_back();
    return on;
  }
  bool holds(int local) const { return std::find(locals.begin(), locals.end(), local) != locals.end(); }
  void store(int local) {
    std::erase(locals, local);
    if (pop()) locals.push_back(local);
  }
  bool drop(int n) {  // false: the value is among them
    bool free = true;
    for (int k = 0; k < n; ++k) free &= !pop();
    return free;
  }
};

}  // namespace

// Could the modulus that `in` loads be large? Its value now is a hint.
bool Recorder::modulus_may_be_large(const State& state, const HlInstr* in) const {
  PyObject* value = nullptr;
  if (in == nullptr) return false;
  if (in->op == HL_LOAD_CONST) value = PyTuple_GET_ITEM(state.top().info->code->co_consts, in->arg);
  if (in->op == HL_LOAD_FAST || in->op == HL_LOAD_FAST_CHECK) {
    const Sym& s = state.top().locals[static_cast<size_t>(in->arg)];
    value = s.object != nullptr ? s.object : s.sample;
    if (is_untouched(s) && state.frames.size() == 1) value = hl_local_get(request_.frame, in->arg);
  }
  if (in->op == HL_LOAD_GLOBAL || in->op == HL_LOAD_NAME) {
    PyObject* name = PyTuple_GET_ITEM(state.top().info->code->co_names, in->arg);
    value = PyDict_GetItemWithError(state.top().info->globals, name);
  }
  PyErr_Clear();
  if (value == nullptr || !PyLong_CheckExact(value)) return false;
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow > 0 || v > kSmallModulus;
}

// Is there something ahead in this block that brings the result of the current instruction back to a word?
bool Recorder::wide_ahead(const State& state) const {
  const auto& instrs = state.top().info->part->map().instrs();
  Trail trail;
  for (int k = current_instr_ + 1; k <= current_last_; ++k) {
    const HlInstr& in = instrs[static_cast<size_t>(k)];
    const HlInstr* pushed = trail.pushed;
    trail.pushed = nullptr;
    switch (in.op) {
      case HL_NOP: break;
      case HL_LOAD_FAST_LOAD_FAST: trail.stack.push_back(trail.holds(in.arg)); trail.stack.push_back(trail.holds(in.arg2)); break;
      case HL_LOAD_FAST:
      case HL_LOAD_FAST_CHECK: trail.stack.push_back(trail.holds(in.arg)); trail.pushed = &in; break;
      case HL_LOAD_GLOBAL:
        if (in.arg2 == 1) trail.stack.push_back(false);
        [[fallthrough]];
      case HL_LOAD_CONST:
      case HL_LOAD_NAME:
      case HL_LOAD_DEREF:
      case HL_PUSH_NULL: trail.stack.push_back(false); trail.pushed = &in; break;
      case HL_STORE_FAST: trail.store(in.arg); break;
      case HL_STORE_FAST_STORE_FAST: trail.store(in.arg); trail.store(in.arg2); break;
      case HL_STORE_FAST_LOAD_FAST: trail.store(in.arg); trail.stack.push_back(trail.holds(in.arg2)); break;
      case HL_BINARY: {
        const bool right = trail.pop(), left = trail.pop();
        switch (static_cast<BinaryOp>(in.arg)) {
          case BinaryOp::kAnd:
          case BinaryOp::kRshift:
            if (left || right) return true;
            break;
          case BinaryOp::kRemainder:
            if (left && !right) return modulus_may_be_large(state, pushed);
            break;
          case BinaryOp::kAdd:
          case BinaryOp::kSubtract:
          case BinaryOp::kMultiply:
          case BinaryOp::kLshift:
          case BinaryOp::kOr:
          case BinaryOp::kXor: break;
          default:
            if (left || right) return false;
        }
        trail.stack.push_back(left || right);
        break;
      }
      case HL_UNARY_INVERT:
      case HL_UNARY_NEGATIVE: break;
      case HL_LOAD_ATTR:
        if (trail.stack.empty() || trail.stack.back()) return false;
        if (in.arg2 != 0) trail.stack.push_back(false);
        break;
      case HL_SUBSCR:
        if (!trail.drop(2)) return false;
        trail.stack.push_back(false);
        break;
      case HL_CALL:
        if (!trail.drop(in.arg + 2)) return false;
        trail.stack.push_back(false);
        break;
      default: return false;
    }
  }
  return false;
}

// a OP b where ints take part.
Result<Sym> Recorder::binary_operation(State& state, BinaryOp op, const Sym& a, const Sym& b) {
  const bool ints = is_any_int(a.kind) && is_any_int(b.kind) && !(a.kind == PyKind::Bool && b.kind == PyKind::Bool);
  const bool may_grow = op == BinaryOp::kAdd || op == BinaryOp::kSubtract || op == BinaryOp::kMultiply || op == BinaryOp::kLshift;
  const bool any_wide = is_wide_int(a.kind) || is_wide_int(b.kind);
  if (ints && (any_wide || (may_grow && wide_ahead(state)))) {
    auto r = wide_binary(*this, op, a, b);
    if (r) return may_grow && is_wide_int(r->kind) && !wide_ahead(state) ? narrow_int(*this, *r) : *r;
  } else if (any_wide && op == BinaryOp::kRemainder) {
    auto r = wide_binary(*this, op, a, b);
    if (r) return *r;
  }
  return binary(*this, op, narrow_int(*this, a), narrow_int(*this, b));
}

// ~a is -1 - a, -a is 0 - a.
Result<Sym> Recorder::unary_operation(State& state, UnaryOp op, const Sym& a) {
  if ((a.kind == PyKind::IntU64 || is_wide_int(a.kind)) && wide_ahead(state)) {
    auto r = wide_binary(*this, BinaryOp::kSubtract, known_small(op == UnaryOp::kInvert ? -1 : 0), a);
    if (r) return *r;
  }
  return unary(*this, op, plain_int(*this, a));
}

Sym Recorder::known_small(long value) {
  PyObject* number = PyLong_FromLong(value);  // a cached one
  Sym s = known(*this, number);
  Py_DECREF(number);
  return s;
}

namespace {

bool holds_wide(const Sym& s) {
  if (is_untouched(s)) return false;
  return is_wide_int(s.kind) || (s.items && std::any_of(s.items->begin(), s.items->end(), holds_wide));
}

void narrow_in(Emit& e, Sym& s) {
  if (!holds_wide(s)) return;
  if (is_wide_int(s.kind)) {
    s = narrow_int(e, s);
    return;
  }
  s.items = std::make_shared<std::vector<Sym>>(*s.items);
  for (Sym& item : *s.items) narrow_in(e, item);
}

}  // namespace

void Recorder::narrow_all(State& state) {
  for (FrameVals& frame : state.frames) {
    for (Sym& s : frame.locals) narrow_in(*this, s);
    for (Sym& s : frame.stack) narrow_in(*this, s);
  }
  for (Sym& s : state.globals) narrow_in(*this, s);
}

// Makes words of the wide ints that `in` would look at; of all of them where it is not known to leave the others alone.
void Recorder::narrow_for(State& state, const HlInstr& in, bool last) {
  auto any = [](const std::vector<Sym>& vars) { return std::any_of(vars.begin(), vars.end(), holds_wide); };
  if (!any(state.top().stack) && !any(state.top().locals)) return;
  int operands = -1;  // all
  switch (in.op) {
    case HL_NOP:
    case HL_LOAD_FAST:
    case HL_LOAD_FAST_CHECK:
    case HL_LOAD_FAST_LOAD_FAST:
    case HL_LOAD_CONST:
    case HL_LOAD_GLOBAL:
    case HL_LOAD_NAME:
    case HL_LOAD_DEREF:
    case HL_PUSH_NULL:
    case HL_STORE_FAST:
    case HL_STORE_FAST_LOAD_FAST:
    case HL_STORE_FAST_STORE_FAST:
    case HL_POP_TOP:
    case HL_COPY:
    case HL_SWAP:
    case HL_BINARY:
    case HL_UNARY_INVERT:
    case HL_UNARY_NEGATIVE: operands = 0; break;
    case HL_LOAD_ATTR: operands = 1; break;
    case HL_SUBSCR:
    case HL_COMPARE: operands = 2; break;
    case HL_CALL: {
      const size_t depth = state.top().stack.size(), below = static_cast<size_t>(in.arg) + 2;
      if (depth < below) break;
      const Sym& first = state.top().stack[depth - below];
      const Sym& second = state.top().stack[depth - below + 1];
      for (const Sym* s : {&first, &second}) {
        if (s->object != nullptr && is_known_callable(s->object)) operands = in.arg + 2;
      }
      break;
    }
    default: break;
  }
  if (last && (in.target >= 0 || in.op == HL_RETURN_VALUE)) operands = -1;
  if (operands < 0) return narrow_all(state);
  auto& stack = state.top().stack;
  for (int k = 1; k <= operands && static_cast<size_t>(k) <= stack.size(); ++k) narrow_in(*this, stack[stack.size() - static_cast<size_t>(k)]);
}

// ----------------------------------------------------------------------------------------------- variables

// An Int as IntU64; leaves through `snapshot` where it is negative.
Sym Recorder::as_u64(const Sym& s, ir::SnapshotId snapshot) {
  auto number = known_int(s);
  if (!number || *number < 0) {
    builder_.guard(builder_.binary(OpCode::Ge, Type::I64, s.v[0], builder_.const_i64(0)), ExitReason::TypeChange, snapshot);
  }
  Sym out = s;
  out.kind = PyKind::IntU64;
  out.v[0] = builder_.conv(Type::U64, s.v[0]);
  return out;
}

bool Recorder::becomes_u64(const Sym& s, const Sym& like) {
  return s.kind == PyKind::Int && like.kind == PyKind::IntU64 && !is_untouched(s) && !is_untouched(like);
}

// A variable that came in as an Int and is an IntU64 later: record anew, taking it for one. False: it is not one now, or did not come in.
bool Recorder::want_u64_input(const Sym& s) {
  if (s.kind != PyKind::Int || s.input == ir::kNone || is_untouched(s)) return false;
  const ir::Slot& slot = function_->inputs[s.input].slot;
  if (s.sample == nullptr || !PyLong_CheckExact(s.sample)) return false;
  int overflow = 0;
  if (PyLong_AsLongLongAndOverflow(s.sample, &overflow) < 0 && overflow <= 0) return false;
  if (!u64_slots_.insert({static_cast<int>(slot.kind), slot.index}).second) return false;
  wants_restart_ = true;
  return true;
}

}  // namespace hotloop::tracer
