// See semantics_text.h.
#include "tracer/semantics_text.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include "tracer/models.h"
#include "tracer/semantics_wide.h"

namespace hotloop::tracer {

namespace {

constexpr size_t kMaxMembers = 64;

bool ascii(PyObject* object) { return PyUnicode_CheckExact(object) && PyUnicode_IS_COMPACT_ASCII(object); }

// The bits of a str's state that say that it is compact and ASCII.
uint32_t ascii_state() {
  PyASCIIObject object{};
  object.state.compact = 1;
  object.state.ascii = 1;
  uint32_t bits = 0;
  std::memcpy(&bits, &object.state, sizeof bits);
  return bits;
}

bool known_text(const Sym& s) { return s.object != nullptr && (PyUnicode_CheckExact(s.object) || PyBytes_CheckExact(s.object)); }

// Where the characters are: width bytes each from `offset` of the object on.
struct Layout {
  ValueId pointer;
  int64_t offset;
  Type width;
  bool bytes;
  Py_ssize_t length;  // -1: read from the object
};

Result<Layout> layout_of(Emit& e, const Sym& s) {
  if (s.kind == PyKind::Str) return Layout{s.v[0], sizeof(PyASCIIObject), Type::U8, false, -1};
  if (s.kind == PyKind::Bytes && s.object == nullptr) return Layout{s.v[0], offsetof(PyBytesObject, ob_sval), Type::U8, true, -1};
  if (s.input != ir::kNone) return e.want_text(s);
  e.object(s.object);  // kept alive by the region
  ValueId pointer = e.b().const_bits(Type::Ptr, reinterpret_cast<int64_t>(s.object));
  if (PyBytes_CheckExact(s.object)) return Layout{pointer, offsetof(PyBytesObject, ob_sval), Type::U8, true, PyBytes_GET_SIZE(s.object)};
  if (!PyUnicode_IS_COMPACT(s.object)) return unsupported(e, "items", s);
  int64_t offset = PyUnicode_IS_ASCII(s.object) ? sizeof(PyASCIIObject) : sizeof(PyCompactUnicodeObject);
  Type width = PyUnicode_KIND(s.object) == PyUnicode_1BYTE_KIND ? Type::U8 : PyUnicode_KIND(s.object) == PyUnicode_2BYTE_KIND ? Type::U16 : Type::U32;
  return Layout{pointer, offset, width, false, PyUnicode_GET_LENGTH(s.object)};
}

ValueId load(Emit& e, Type type, ValueId pointer, ValueId index, int64_t offset) {
  ValueId operands[] = {pointer, index};
  ir::Op* op = e.b().append(OpCode::Load, type, operands);
  op->imm = offset;
  op->access = static_cast<uint32_t>(ir::type_size(type));
  return op->result();
}

Result<ValueId> equals_member(Emit& e, const Sym& x, PyObject* member, bool* possible) {
  *possible = true;
  if (x.kind == PyKind::Char && PyUnicode_CheckExact(member) && PyUnicode_GET_LENGTH(member) == 1) {
    return e.b().binary(OpCode::Eq, Type::I64, x.v[0], e.b().const_i64(PyUnicode_READ_CHAR(member, 0)));
  }
  if (x.kind == PyKind::Int && PyLong_CheckExact(member)) {
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(member, &overflow);
    if (overflow == 0) return e.b().binary(OpCode::Eq, Type::I64, x.v[0], e.b().const_i64(value));
  } else if (!(x.kind == PyKind::Char && PyUnicode_CheckExact(member)) && !(x.kind == PyKind::Char && PyLong_CheckExact(member))) {
    return e.refuse(RefusalReason::kUnsupportedType, std::string(ir::pykind_info(x.kind).text) + " in a set of " + Py_TYPE(member)->tp_name);
  }
  *possible = false;
  return e.b().const_i1(false);
}

}  // namespace

// An object that was an ASCII str, or bytes, while recording, as one from here on.
std::optional<Sym> as_text(Emit& e, const Sym& s) {
  if (s.kind != PyKind::Object || s.sample == nullptr || s.input != ir::kNone) return std::nullopt;
  ir::Builder& ir = e.b();
  Sym text;
  if (PyBytes_CheckExact(s.sample)) {
    text.kind = PyKind::Bytes;
    text.v[0] = ir.as_type(s.v[0], e.object(reinterpret_cast<PyObject*>(&PyBytes_Type)), e.before());
    return text;
  }
  if (!ascii(s.sample)) return std::nullopt;
  text.kind = PyKind::Str;
  text.v[0] = ir.as_type(s.v[0], e.object(reinterpret_cast<PyObject*>(&PyUnicode_Type)), e.before());
  ValueId mask = ir.const_bits(Type::U32, ascii_state());
  ValueId state = load(e, Type::U32, text.v[0], ir.const_i64(0), offsetof(PyASCIIObject, state));
  ir.guard(ir.binary(OpCode::Eq, Type::U32, ir.binary(OpCode::And, Type::U32, state, mask), mask), ExitReason::TypeChange, e.before());
  return text;
}

bool is_text(const Sym& s) { return s.kind == PyKind::Str || s.kind == PyKind::Bytes || s.kind == PyKind::Char || (s.kind == PyKind::Const && known_text(s)); }

Result<ValueId> text_length(Emit& e, const Sym& text) {
  if (text.kind == PyKind::Char) return e.b().const_i64(1);
  if ((text.kind == PyKind::Str || text.kind == PyKind::Bytes) && text.v[1] != ir::kNoValue) return text.v[1];  // as it came in
  auto layout = layout_of(e, text);
  if (!layout) return layout.refusal();
  if (layout->length >= 0) return e.b().const_i64(layout->length);
  int64_t offset = layout->bytes ? static_cast<int64_t>(offsetof(PyVarObject, ob_size)) : static_cast<int64_t>(offsetof(PyASCIIObject, length));
  return load(e, Type::I64, layout->pointer, e.b().const_i64(0), offset);
}

Result<Sym> text_item(Emit& e, const Sym& text, ValueId position) {
  if (text.kind == PyKind::Char) return make_sym(e, PyKind::Char, text.v[0]);
  auto layout = layout_of(e, text);
  if (!layout) return layout.refusal();
  ValueId item = load(e, layout->width, layout->pointer, position, layout->offset);
  return ranged(make_sym(e, layout->bytes ? PyKind::Int : PyKind::Char, e.b().conv(Type::I64, item)), 255);
}

Result<Sym> text_subscript(Emit& e, const Sym& text, const Sym& index) {
  if (index.kind != PyKind::Int && index.kind != PyKind::IntU64 && !is_np_int(index.kind)) {
    return e.refuse(RefusalReason::kUnsupportedIndex, "index of type " + std::string(ir::pykind_info(index.kind).text));
  }
  auto length = text_length(e, text);
  if (!length) return length.refusal();
  ValueId i = e.b().checked(OpCode::Bound, Type::I64, {int_value(e, index), *length}, e.before());
  return text_item(e, text, i);
}

bool compares_as_text(const Sym& a, const Sym& b) {
  auto text = [](const Sym& s) { return s.kind == PyKind::Char || s.kind == PyKind::Str || (s.object != nullptr && PyUnicode_CheckExact(s.object)); };
  return text(a) && text(b) && (a.kind != PyKind::Const || b.kind != PyKind::Const);
}

Result<Sym> compare_text(Emit& e, CompareOp op, const Sym& a, const Sym& b) {
  if (a.kind == PyKind::Char && b.kind == PyKind::Char) {
    constexpr OpCode kCodes[] = {OpCode::Lt, OpCode::Le, OpCode::Eq, OpCode::Ne, OpCode::Gt, OpCode::Ge};
    return make_bool(e, e.b().binary(kCodes[static_cast<int>(op)], Type::I64, a.v[0], b.v[0]));
  }
  const Sym& known_one = a.object != nullptr ? a : b;
  const Sym& other = a.object != nullptr ? b : a;
  bool equality = op == CompareOp::kEq || op == CompareOp::kNe;
  if (!equality || known_one.object == nullptr) return unsupported(e, "comparison", a, b);
  Py_ssize_t length = PyUnicode_GET_LENGTH(known_one.object);
  if (other.kind == PyKind::Char && length != 1) return known(e, op == CompareOp::kNe ? Py_True : Py_False);
  if (other.kind == PyKind::Str && length == 0) {
    auto n = text_length(e, other);
    if (!n) return n.refusal();
    return make_bool(e, e.b().binary(op == CompareOp::kEq ? OpCode::Eq : OpCode::Ne, Type::I64, *n, e.b().const_i64(0)));
  }
  return unsupported(e, "comparison", a, b);
}

Result<Sym> contains_known(Emit& e, const Sym& container, const Sym& x) {
  auto no = [&] { return e.refuse(RefusalReason::kUnsupportedType, std::string(ir::pykind_info(x.kind).text) + " in " + std::string(ir::pykind_info(container.kind).text)); };
  if (container.object == nullptr) return no();
  PyObject* members = nullptr;  // as a fast sequence: tuple or list
  if (PyUnicode_CheckExact(container.object) && x.kind != PyKind::Char) return no();
  if (PyUnicode_CheckExact(container.object) || PyFrozenSet_CheckExact(container.object)) members = PySequence_List(container.object);
  if (members == nullptr) {
    PyErr_Clear();
    return no();
  }
  ValueId any = e.b().const_i1(false);
  size_t count = 0;
  std::optional<base::Refusal> refusal;
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(members) && !refusal; ++k) {
    bool possible = false;
    auto equal = equals_member(e, x, PyList_GET_ITEM(members, k), &possible);
    if (!equal) {
      refusal = equal.refusal();
    } else if (possible && ++count <= kMaxMembers) {
      any = e.b().binary(OpCode::Or, Type::I1, any, *equal);
    }
  }
  Py_DECREF(members);
  if (refusal) return *refusal;
  if (count > kMaxMembers) return no();
  return make_bool(e, any);
}

Result<Sym> model_ord(Emit& e, const ModelCall& call) {
  if (call.args[0].kind != PyKind::Char) return unsupported(e, "ord()", call.args[0]);
  return ranged(make_sym(e, PyKind::Int, call.args[0].v[0]), 0x10FFFF);
}

Result<Sym> model_chr(Emit& e, const ModelCall& call) {
  const Sym& a = call.args[0];
  if (!is_py_int_like(a.kind) && !is_np_int(a.kind)) return unsupported(e, "chr()", a);
  ValueId v = int_value(e, a);
  guard_i64_range(e, v, 0, 0x10FFFF, ExitReason::Domain);
  return make_sym(e, PyKind::Char, v);
}

}  // namespace hotloop::tracer
