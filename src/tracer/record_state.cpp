// See record_state.h.
#include "tracer/record_state.h"

namespace hotloop::tracer {

using ir::PyKind;

Sym& at(State& state, const VarRef& ref) {
  if (ref.where == VarRef::Where::kGlobal) return state.globals[static_cast<size_t>(ref.index)];
  FrameVals& frame = state.frames[static_cast<size_t>(ref.frame)];
  auto& vars = ref.where == VarRef::Where::kLocal ? frame.locals : frame.stack;
  return vars[static_cast<size_t>(ref.index)];
}

bool may_have_identity(const Sym& s) {
  if (s.kind == PyKind::Row || s.kind == PyKind::Tuple || s.kind == PyKind::Int128 || s.kind == PyKind::IntU128) return true;
  return (is_py_number(s.kind) || is_np_scalar(s.kind)) && s.kind != PyKind::Bool && s.kind != PyKind::NpBool;
}

Identity identity_of(const Sym& s) {
  if (is_untouched(s) || !may_have_identity(s)) return {};
  if (s.object != nullptr) {
    int overflow = 0;
    const long value = PyLong_CheckExact(s.object) ? PyLong_AsLongAndOverflow(s.object, &overflow) : 1000;
    if (overflow == 0 && value >= -5 && value <= 256) return {};  // there is one of each
    return {0, ir::kNone, s.object};
  }
  if (s.input != ir::kNone) return {0, s.input, nullptr};
  return {s.box, ir::kNone, nullptr};
}

const Sym& at(const State& state, const VarRef& ref) { return at(const_cast<State&>(state), ref); }

std::vector<VarRef> all_variables(const State& state, int frame) {
  std::vector<VarRef> all;
  for (int f = 0; f <= frame; ++f) {
    const FrameVals& vals = state.frames[static_cast<size_t>(f)];
    for (size_t k = 0; k < vals.locals.size(); ++k) all.push_back({VarRef::Where::kLocal, f, static_cast<int>(k)});
    for (size_t k = 0; k < vals.stack.size(); ++k) all.push_back({VarRef::Where::kStack, f, static_cast<int>(k)});
  }
  for (size_t k = 0; k < state.globals.size(); ++k) all.push_back({VarRef::Where::kGlobal, 0, static_cast<int>(k)});
  return all;
}

bool same_shape(const Sym& a, const Sym& b) {
  if (is_untouched(a) || is_untouched(b)) return is_untouched(a) && is_untouched(b);
  if (a.kind != b.kind || (a.obj == ir::kNoValue) != (b.obj == ir::kNoValue) || a.sure != b.sure) return false;
  switch (a.kind) {
    case PyKind::Const: return a.object == b.object;
    case PyKind::Array: return a.array_type == b.array_type;
    case PyKind::Tuple:
    case PyKind::SeqIter:
    case PyKind::Countdown:
    case PyKind::Enumerate:
    case PyKind::Zip:
    case PyKind::StrictZip:
    case PyKind::Map:
    case PyKind::Row:
    case PyKind::Method:
    case PyKind::Either:
      if (a.items->size() != b.items->size()) return false;
      for (size_t k = 0; k < a.items->size(); ++k) {
        if (!same_shape((*a.items)[k], (*b.items)[k])) return false;
      }
      return true;
    default: return true;
  }
}

bool same_sym(const Sym& a, const Sym& b) {
  if (!same_shape(a, b)) return false;
  if (a.object != b.object || a.input != b.input || a.box != b.box || a.obj != b.obj) return false;
  for (int k = 0; k < 3; ++k) {
    if (a.v[k] != b.v[k]) return false;
  }
  if (a.items && a.items != b.items) {
    for (size_t k = 0; k < a.items->size(); ++k) {
      if (!same_sym((*a.items)[k], (*b.items)[k])) return false;
    }
  }
  return true;
}

void collect_parts(const Sym& s, std::vector<ir::ValueId>* out) {
  if (is_untouched(s)) return;
  int n = ir::pykind_info(s.kind).parts;
  for (int k = 0; k < n; ++k) out->push_back(s.v[k]);
  if (s.obj != ir::kNoValue) out->push_back(s.obj);
  if (s.items) {
    for (const Sym& item : *s.items) collect_parts(item, out);
  }
}

namespace {

Sym rebuild(const Sym& s, const std::vector<ir::ValueId>& parts, size_t* at, uint32_t* next_box) {
  Sym out;
  out.kind = s.kind;
  out.array_type = s.array_type;
  int n = ir::pykind_info(s.kind).parts;
  for (int k = 0; k < n; ++k) out.v[k] = parts[(*at)++];
  if (s.obj != ir::kNoValue) out.obj = parts[(*at)++];
  out.sure = s.sure;
  out.sample = s.sample;
  if (s.kind == PyKind::Int128 || s.kind == PyKind::IntU128) out.range = s.range;  // of other ints it is a fact about this one value
  if (s.items) {
    out.items = std::make_shared<std::vector<Sym>>();
    for (const Sym& item : *s.items) out.items->push_back(rebuild(item, parts, at, next_box));
  }
  // Kinds without parts are what they are: None, NULL, known objects.
  bool by_value = n > 0 || s.items;
  if (!by_value) {
    out.object = s.object;
  } else if (!ir::is_iterator(s.kind)) {
    out.box = ++*next_box;
  }
  return out;
}

}  // namespace

Sym with_parts(const Sym& s, const std::vector<ir::ValueId>& parts, uint32_t* next_box) {
  size_t place = 0;
  return rebuild(s, parts, &place, next_box);
}

std::string kind_text(const Sym& s) {
  if (is_untouched(s)) return "unknown";
  return std::string(ir::pykind_info(s.kind).text);
}

}  // namespace hotloop::tracer
