// Iterators: how they are made, how a counted loop walks over them, what they give at each trip. See recorder.h.
//
// An iterator is a Sym with the parts of the interpreter's own (iterators.def). Those that count - ranges, sequences by index, enumerate and zip of
// them - need no object: each position is a function of the one variable that the loop op counts. A loop's iterator is only ever on the stack; one
// that a variable holds too could be advanced elsewhere and is refused.
#include <algorithm>
#include <utility>

#include "ir/iter_path.h"
#include "tracer/iterator_parts.h"
#include "tracer/recorder.h"
#include "tracer/semantics_common.h"
#include "tracer/semantics_text.h"

namespace hotloop::tracer {

using ir::OpCode;
using ir::Type;

namespace {

bool holds_iterator(const Sym& s) {
  if (is_untouched(s)) return false;
  if (ir::is_iterator(s.kind)) return true;
  return s.items && std::any_of(s.items->begin(), s.items->end(), holds_iterator);
}

// What else to write, for iterators that are not compiled.
struct Advice {
  const char* type;
  const char* text;
};
constexpr Advice kAdvice[] = {
    {"map", "with at most 3 iterators, a plain function, and not within enumerate or zip; or call the function in the body of the loop"},
    {"filter", "test in the body of the loop"},
    {"generator", "write what it yields into the body of the loop"},
    {"itertools.accumulate", "add up in the body of the loop"},
    {"memory_iterator", "walk over bytes(data) or numpy.asarray(data)"},
    {"str_iterator", "only ASCII text is compiled here: walk over numpy.frombuffer(text.encode('utf-32-le'), numpy.uint32)"},
    {"numpy.flatiter", "walk over a.ravel()"},
    {"numpy.nditer", "use nested loops over indices"},
    {"zip", "with at most 12 iterators, with strict=True at most 6"},
};

}  // namespace

std::string with_advice(const char* type) {
  std::string text = type;
  for (const Advice& advice : kAdvice) {
    if (text == advice.type) return text + ": " + advice.text;
  }
  return text;
}

// Is the loop at whose header FOR_ITER is one that counts, on an iterator that native code walks over itself?
bool Recorder::is_counted(const State& state, const HlInstr& in) const {
  return in.op == HL_FOR_ITER && !state.top().stack.empty() && !is_untouched(state.top().stack.back()) && ir::is_iterator(state.top().stack.back().kind);
}

// The constant behind a value, wherever in the region it stands.
std::optional<int64_t> Recorder::known_number(ValueId v) {
  auto near = constant(v);
  if (near) return near;
  auto [place, fresh] = known_numbers_.try_emplace(v);
  std::optional<int64_t>& found = place->second;
  if (!fresh) return found;
  ir::for_each_op(*region_, [&](const ir::Op& op, const ir::Block&) {
    if (op.code == OpCode::Const && op.result() == v) found = op.imm;
  });
  return found;
}

bool Recorder::same_number(ValueId a, ValueId b) {
  if (a == b) return true;
  auto x = known_number(a), y = known_number(b);
  return x && y && *x == *y;
}

// ----------------------------------------------------------------------------------------------- walking

// The positions of an iterator: where each one is, by how much it moves at a trip, where it ends.
Result<void> Recorder::collect_positions(const Sym& iterator, std::vector<Position>* out, Course* course) {
  switch (iterator.kind) {
    case PyKind::RangeIter: out->push_back({iterator.v[0], iterator.v[2], iterator.v[1], iterator.input == ir::kNone, false}); return {};
    case PyKind::SeqIter:
    case PyKind::Countdown: {
      const Sym& sequence = (*iterator.items)[0];
      const ValueId at = (*iterator.items)[1].v[0];
      bool up = iterator.kind == PyKind::SeqIter;
      ValueId step = builder_.const_i64(up ? 1 : -1);
      ValueId end = step;  // -1
      if (up || sequence.kind == PyKind::List) {
        auto length = length_of(sequence);
        if (!length) return length.refusal();
        if (sequence.kind == PyKind::List) course->lists.push_back({sequence, *length, at, step});
        if (up) end = *length;
      }
      out->push_back({at, step, end, false, false});
      return {};
    }
    case PyKind::Enumerate: {
      auto inner = collect_positions((*iterator.items)[0], out, course);
      if (!inner) return inner;
      out->push_back({iterator.v[0], builder_.const_i64(1), ir::kNoValue, false, true});
      return {};
    }
    case PyKind::Zip:
    case PyKind::StrictZip:
    case PyKind::Map:
      for (size_t k = iterator.kind == PyKind::Map ? 1 : 0; k < iterator.items->size(); ++k) {
        auto inner = collect_positions((*iterator.items)[k], out, course);
        if (!inner) return inner;
      }
      return {};
    default: return refuse(RefusalReason::kUnsupportedIterator, kind_text(iterator));
  }
}

// How many trips are left; not below 0 when `clamp` is set.
ValueId Recorder::trips_left(const Position& p, bool clamp, ir::SnapshotId before) {
  auto step = known_number(p.step);
  ValueId n;
  if (step && *step == 1) {
    auto at = known_number(p.at);
    n = at && *at == 0 ? p.end : builder_.checked(OpCode::SubO, Type::I64, {p.end, p.at}, before);
  } else if (step && *step == -1) {
    n = builder_.checked(OpCode::SubO, Type::I64, {p.at, p.end}, before);
  } else {
    // Rounded up: -(-(end - at) // step). The step is not 0; both negations leave where they do not fit.
    ValueId span = builder_.checked(OpCode::SubO, Type::I64, {p.end, p.at}, before);
    ValueId rounded = builder_.binary(OpCode::FloorDiv, Type::I64, builder_.checked(OpCode::NegO, Type::I64, {span}, before), p.step);
    n = builder_.checked(OpCode::NegO, Type::I64, {rounded}, before);
  }
  if (!clamp) return n;
  ValueId zero = builder_.const_i64(0);
  return builder_.select(Type::I64, builder_.binary(OpCode::Gt, Type::I64, n, zero), n, zero);
}

// A strict zip raises unless all of its iterators end together: whether they do, for all such zips in the iterator. kNoValue: there are none.
Result<ValueId> Recorder::end_together(const Sym& iterator, ir::SnapshotId before) {
  ValueId together = ir::kNoValue, first = ir::kNoValue;
  if (!ir::is_iterator(iterator.kind) || !iterator.items) return together;
  auto also = [&](ValueId flag) {
    if (flag == ir::kNoValue) return;
    together = together == ir::kNoValue ? flag : builder_.binary(OpCode::And, Type::I1, together, flag);
  };
  for (const Sym& item : *iterator.items) {
    auto inner = end_together(item, before);
    if (!inner) return inner;
    also(*inner);
    if (iterator.kind != PyKind::StrictZip) continue;
    std::vector<Position> positions;
    Course lists;
    auto found = collect_positions(item, &positions, &lists);
    if (!found) return found.refusal();
    ValueId trips = ir::kNoValue;
    for (const Position& p : positions) {
      if (p.endless) continue;
      ValueId left = trips_left(p, true, before);
      trips = trips == ir::kNoValue ? left : builder_.select(Type::I64, builder_.binary(OpCode::Lt, Type::I64, left, trips), left, trips);
    }
    also(first == ir::kNoValue ? first : builder_.binary(OpCode::Eq, Type::I64, first, trips));
    if (first == ir::kNoValue) first = trips;
  }
  return together;
}

// The loop op counts the first position that moves by 1; the others follow from it. A position that is alone is counted as it is.
Result<Recorder::Course> Recorder::course(const State& state, ir::SnapshotId before) {
  const Sym& iterator = state.top().stack.back();
  auto held = not_in_variables(state);
  if (!held) return held.refusal();
  std::vector<Position> positions;
  Course c;
  auto found = collect_positions(iterator, &positions, &c);
  if (!found) return found.refusal();
  auto together = end_together(iterator, before);
  if (!together) return together.refusal();
  c.together = *together;
  for (const Position& p : positions) {
    auto step = known_number(p.step);
    // at + step may pass the end by less than step: that must fit too.
    if (p.may_pass && !(step && (*step == 1 || *step == -1))) builder_.checked(OpCode::AddO, Type::I64, {p.end, p.step}, before);
  }
  if (positions.size() == 1) {
    c.lo = positions[0].at;
    c.hi = positions[0].end;
    c.step = positions[0].step;
    return c;
  }
  auto unit = [&](const Position& p) {
    auto step = known_number(p.step);
    return step && *step == 1;
  };
  auto lead = std::find_if(positions.begin(), positions.end(), [&](const Position& p) { return !p.endless && unit(p); });
  if (lead == positions.end()) lead = std::find_if(positions.begin(), positions.end(), unit);
  c.lo = lead == positions.end() ? builder_.const_i64(0) : lead->at;
  c.step = builder_.const_i64(1);
  auto least = [&](ValueId a, ValueId b) { return a == ir::kNoValue ? b : builder_.select(Type::I64, builder_.binary(OpCode::Lt, Type::I64, b, a), b, a); };
  ValueId trips = ir::kNoValue;
  for (const Position& p : positions) {
    if (p.endless) continue;
    if (unit(p) && same_number(p.at, c.lo)) {
      c.hi = c.hi == p.end ? c.hi : least(c.hi, p.end);
    } else {
      trips = least(trips, trips_left(p, true, before));
    }
  }
  if (trips != ir::kNoValue) {
    if (c.hi != ir::kNoValue) trips = least(trips_left({c.lo, c.step, c.hi, false, false}, true, before), trips);
    auto lo = known_number(c.lo);
    c.hi = lo && *lo == 0 ? trips : builder_.checked(OpCode::AddO, Type::I64, {c.lo, trips}, before);
  }
  ValueId all = ir::kNoValue;
  for (const Position& p : positions) {
    if (!p.endless || same_number(p.at, c.lo)) continue;
    if (all == ir::kNoValue) all = trips_left({c.lo, c.step, c.hi, false, false}, true, before);
    builder_.checked(OpCode::AddO, Type::I64, {p.at, all}, before);  // numbers of an enumerate beyond 64 bits
  }
  return c;
}

// A position when the loop op counts `i`.
ValueId Recorder::position_at(const Course& c, ValueId at, ValueId step, ValueId i) {
  if (same_number(at, c.lo) && same_number(step, c.step)) return i;
  auto zero = [&](ValueId v) {
    auto number = known_number(v);
    return number && *number == 0;
  };
  ValueId trip = zero(c.lo) ? i : builder_.binary(OpCode::Sub, Type::I64, i, c.lo);
  auto by = known_number(step);
  if (by && *by == -1) return builder_.binary(OpCode::Sub, Type::I64, at, trip);
  ValueId moved = by && *by == 1 ? trip : builder_.binary(OpCode::Mul, Type::I64, trip, step);
  return zero(at) ? moved : builder_.binary(OpCode::Add, Type::I64, at, moved);
}

// The iterator as it is when the loop op counts `i` and the trip has not begun.
Sym Recorder::iterator_at(const Sym& iterator, const Course& c, ValueId i) {
  Sym s;
  s.kind = iterator.kind;
  switch (iterator.kind) {
    case PyKind::RangeIter:
      s.v[0] = position_at(c, iterator.v[0], iterator.v[2], i);
      s.v[1] = iterator.v[1];
      s.v[2] = iterator.v[2];
      return s;
    case PyKind::SeqIter:
    case PyKind::Countdown: {
      ValueId step = builder_.const_i64(iterator.kind == PyKind::SeqIter ? 1 : -1);
      return compound(s.kind, {(*iterator.items)[0], int_part(position_at(c, (*iterator.items)[1].v[0], step, i))});
    }
    default: break;
  }
  std::vector<Sym> items;
  for (const Sym& item : *iterator.items) items.push_back(ir::is_iterator(item.kind) ? iterator_at(item, c, i) : item);
  s = compound(iterator.kind, std::move(items));
  if (s.kind == PyKind::Enumerate) s.v[0] = position_at(c, iterator.v[0], builder_.const_i64(1), i);
  return s;
}

Result<Sym> Recorder::element_at(const Sym& iterator, const Course& c, ValueId i) {
  Sym s;
  switch (iterator.kind) {
    case PyKind::RangeIter: return make_sym(*this, PyKind::Int, position_at(c, iterator.v[0], iterator.v[2], i));
    case PyKind::SeqIter:
    case PyKind::Countdown: {
      ValueId step = builder_.const_i64(iterator.kind == PyKind::SeqIter ? 1 : -1);
      return item_at(*this, (*iterator.items)[0], position_at(c, (*iterator.items)[1].v[0], step, i));
    }
    default: break;
  }
  std::vector<Sym> items;
  if (iterator.kind == PyKind::Map) return mapped_element(iterator, c, i);
  if (iterator.kind == PyKind::Enumerate) items.push_back(make_sym(*this, PyKind::Int, position_at(c, iterator.v[0], builder_.const_i64(1), i)));
  for (const Sym& item : *iterator.items) {
    auto element = element_at(item, c, i);
    if (!element) return element;
    items.push_back(*element);
  }
  s = compound(PyKind::Tuple, std::move(items));
  s.box = new_box();
  return s;
}

Result<std::vector<Sym>> Recorder::map_arguments(const Sym& iterator, const Course& c, ValueId i) {
  std::vector<Sym> args;
  for (size_t k = 1; k < iterator.items->size(); ++k) {
    auto element = element_at((*iterator.items)[k], c, i);
    if (!element) return element.refusal();
    args.push_back(*element);
  }
  return args;
}

// What a map object gives whose function has a model.
Result<Sym> Recorder::mapped_element(const Sym& iterator, const Course& c, ValueId i) {
  const Sym& function = (*iterator.items)[0];
  if (function.object == nullptr || !is_known_callable(function.object)) return refuse(RefusalReason::kUnsupportedIterator, with_advice("map"));
  auto args = map_arguments(iterator, c, i);
  if (!args) return args.refusal();
  return call_known(*this, function.object, *args, nullptr);
}

// Pushes what the iterator gives when the loop op counts `i`. The plain function of a map object is inlined: FOR_ITER calls it.
Result<Recorder::Step> Recorder::push_element(State& state, const HlInstr& in, const Sym& iterator, const Course& c, ValueId i) {
  auto callee = iterator.kind == PyKind::Map ? plain_callee((*iterator.items)[0]) : std::nullopt;
  if (callee) {
    auto args = map_arguments(iterator, c, i);
    if (!args) return args.refusal();
    return inline_call(state, in, *callee, *args, nullptr, 0);
  }
  auto element = element_at(iterator, c, i);
  if (!element) return element.refusal();
  state.top().stack.push_back(*element);
  return Step::kNext;
}

// Lists may become shorter or longer while a loop walks over them. Before the trip that counts `i`: leaves where one has run out early.
void Recorder::guard_lists(const Course& c, ValueId i, ir::SnapshotId before) {
  for (const WalkedList& walked : c.lists) {
    auto length = sequence_length(*this, walked.list);
    if (!length) continue;
    builder_.guard(builder_.binary(OpCode::Lt, Type::I64, position_at(c, walked.at, walked.step, i), *length), ExitReason::Bounds, before);
  }
}

// After the last trip: leaves before the iterator is asked again if a list has another length than before the loop, or if a strict zip raises. `out`: control left the loop
// by other ways when this is true (kNoValue: there are none).
void Recorder::leave_if_grown(const LoopContext& loop, const State& state, ValueId out, int unit) {
  const Course& c = *loop.course;
  auto step = known_number(c.step);
  ValueId end = c.hi;
  if (step && *step == 1) end = builder_.select(Type::I64, builder_.binary(OpCode::Lt, Type::I64, c.hi, c.lo), c.lo, c.hi);
  State again = state;
  again.top().stack.back() = iterator_at(state.top().stack.back(), c, end);
  ValueId same = c.together != ir::kNoValue ? c.together : builder_.const_i1(true);
  for (const WalkedList& walked : c.lists) {
    auto length = sequence_length(*this, walked.list);
    if (!length) continue;
    same = builder_.binary(OpCode::And, Type::I1, same, builder_.binary(OpCode::Eq, Type::I64, *length, walked.length));
  }
  ir::SnapshotId snapshot = snapshot_at(again, unit);
  if (out == ir::kNoValue) {
    builder_.guard(same, ExitReason::Bounds, snapshot);
  } else {
    exit_if(builder_.unary(OpCode::Not, Type::I1, builder_.binary(OpCode::Or, Type::I1, same, out)), ExitReason::Bounds, snapshot);
  }
}

Result<ValueId> Recorder::length_of(const Sym& sequence) {
  auto length = sequence_length(*this, sequence);
  if (!length) return refuse(RefusalReason::kUnsupportedIterator, kind_text(sequence));
  return length;
}

// A variable that holds an iterator shares it with the loop that walks over it, or may.
Result<void> Recorder::not_in_variables(const State& state) {
  auto any = [](const std::vector<Sym>& vars) { return std::any_of(vars.begin(), vars.end(), holds_iterator); };
  bool held = any(state.globals);
  for (const FrameVals& frame : state.frames) held = held || any(frame.locals);
  if (held) return refuse(RefusalReason::kSharedIterator, kind_text(state.top().stack.back()));
  return {};
}

// ----------------------------------------------------------------------------------------------- making

// A tuple of known items is walked over as the object that it is; an object that was a str, as a str.
Sym Recorder::as_object_sequence(const Sym& s) {
  if (auto text = as_text(*this, s)) return *text;
  if (s.kind != PyKind::Tuple || s.object == nullptr) return s;
  Sym object_sequence;
  object_sequence.kind = PyKind::TupleObject;
  object_sequence.object = object_sequence.sample = s.object;
  object_sequence.v[0] = builder_.object(object(s.object));
  return object_sequence;
}

// iter(s)
Result<Sym> Recorder::iterator_of(const Sym& s) {
  if (ir::is_iterator(s.kind)) return s;  // its own iterator
  if (s.kind == PyKind::Range) {
    Sym it;
    it.kind = PyKind::RangeIter;
    for (int k = 0; k < 3; ++k) it.v[k] = s.v[k];
    return it;
  }
  Sym sequence = as_object_sequence(s);
  if (sequence_length(*this, sequence)) return compound(PyKind::SeqIter, {sequence, int_part(builder_.const_i64(0))});
  return refuse(RefusalReason::kUnsupportedIterator, kind_text(s));
}

Result<Recorder::Step> Recorder::get_iter(State& state) {
  auto it = iterator_of(peek(state, 1));
  if (!it) return it.refusal();
  pop_push(state, 1, *it);
  return Step::kNext;
}

bool Recorder::makes_iterator(PyObject* callable) {
  for (PyTypeObject* type : {&PyEnum_Type, &PyZip_Type, &PyReversed_Type, &PyMap_Type, &PyFilter_Type}) {
    if (callable == reinterpret_cast<PyObject*>(type)) return true;
  }
  return false;
}

Result<Sym> Recorder::make_iterator(PyObject* callable, const std::vector<Sym>& args, PyObject* names) {
  auto type = reinterpret_cast<PyTypeObject*>(callable);
  size_t keywords = names == nullptr ? 0 : static_cast<size_t>(PyTuple_GET_SIZE(names));
  auto wrong = [&](const char* what) { return refuse(RefusalReason::kUnsupportedArguments, std::string(type->tp_name) + what); };
  auto keyword = [&](const char* name) {
    return keywords == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), name) == 0;
  };
  if (type == &PyEnum_Type) {
    if (args.empty() || args.size() > 2 || (keywords != 0 && !(args.size() == 2 && keyword("start")))) return wrong("");
    return make_enumerate(args);
  }
  if (type == &PyZip_Type) {
    size_t count = args.size() - keywords;
    const bool strict = keywords == 1 && args.back().object == Py_True;
    if (count == 0 || count > (strict ? ir::kMaxStrict : ir::kMaxZip) || keywords > 1) return wrong("");
    if (keywords == 1 && (!keyword("strict") || (!strict && args.back().object != Py_False))) return wrong(" with strict");
    std::vector<Sym> inner;
    for (size_t k = 0; k < count; ++k) {
      auto it = iterator_of(args[k]);
      if (!it) return it;
      inner.push_back(*it);
    }
    return compound(strict ? PyKind::StrictZip : PyKind::Zip, std::move(inner));
  }
  if (type == &PyMap_Type) {
    if (keywords != 0 || args.size() < 2 || args.size() > ir::kMaxMap + 1) return wrong("");
    if (!plain_callee(args[0]) && (args[0].object == nullptr || !is_known_callable(args[0].object))) {
      return refuse(RefusalReason::kUnsupportedIterator, with_advice("map"));
    }
    std::vector<Sym> parts{args[0]};
    for (size_t k = 1; k < args.size(); ++k) {
      auto it = iterator_of(args[k]);
      if (!it) return it;
      parts.push_back(*it);
    }
    return compound(PyKind::Map, std::move(parts));
  }
  if (type == &PyReversed_Type) {
    if (args.size() != 1 || keywords != 0) return wrong("");
    return make_reversed(args[0]);
  }
  return refuse(RefusalReason::kUnsupportedIterator, with_advice(type->tp_name));
}

Result<Sym> Recorder::make_enumerate(const std::vector<Sym>& args) {
  auto inner = iterator_of(args[0]);
  if (!inner) return inner;
  Sym s = compound(PyKind::Enumerate, {*inner});
  if (args.size() == 1) {
    s.v[0] = builder_.const_i64(0);
  } else {
    if (!is_py_int_like(args[1].kind) && !is_np_int(args[1].kind)) return refuse(RefusalReason::kUnsupportedArguments, "enumerate from " + kind_text(args[1]));
    s.v[0] = int_value(*this, args[1]);
  }
  return s;
}

Result<Sym> Recorder::make_reversed(const Sym& s) {
  if (s.kind == PyKind::Range) {
    // The last value comes first: start + (length - 1) * step, down to the one before start.
    ValueId length = trips_left({s.v[0], s.v[2], s.v[1], false, false}, true, before());
    ValueId one = builder_.const_i64(1);
    Sym it;
    it.kind = PyKind::RangeIter;
    it.v[1] = builder_.checked(OpCode::SubO, Type::I64, {s.v[0], s.v[2]}, before());
    auto step = known_number(s.v[2]);
    ValueId span = builder_.binary(OpCode::Sub, Type::I64, length, one);
    if (!step || *step != 1) span = builder_.binary(OpCode::Mul, Type::I64, span, s.v[2]);
    it.v[0] = builder_.binary(OpCode::Add, Type::I64, s.v[0], span);
    it.v[2] = step && *step != INT64_MIN ? builder_.const_i64(-*step) : builder_.checked(OpCode::NegO, Type::I64, {s.v[2]}, before());
    return it;
  }
  Sym sequence = as_object_sequence(s);
  auto length = sequence_length(*this, sequence);
  if (!length) return refuse(RefusalReason::kUnsupportedIterator, "reversed " + kind_text(s));
  return compound(PyKind::Countdown, {sequence, int_part(builder_.binary(OpCode::Sub, Type::I64, *length, builder_.const_i64(1)))});
}

}  // namespace hotloop::tracer
