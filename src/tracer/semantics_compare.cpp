// Unary operators, comparisons, truth and identity (SEMANTICS D1.7, D2.2, D3.7, D4).
// See semantics.h. A comparison with a NumPy scalar gives np.bool, one of Python numbers gives bool.
#include "tracer/semantics_binary.h"
#include "tracer/semantics_text.h"
#include "tracer/semantics_wide.h"

namespace hotloop::tracer {

namespace {

OpCode compare_code(CompareOp op) {
  switch (op) {
    case CompareOp::kLt: return OpCode::Lt;
    case CompareOp::kLe: return OpCode::Le;
    case CompareOp::kEq: return OpCode::Eq;
    case CompareOp::kNe: return OpCode::Ne;
    case CompareOp::kGt: return OpCode::Gt;
    case CompareOp::kGe: return OpCode::Ge;
  }
  return OpCode::Eq;
}

ValueId compare_as(Emit& e, CompareOp op, const Sym& a, const Sym& b, Type type) {
  return e.b().binary(compare_code(op), type, to_type(e, a, type), to_type(e, b, type));
}

ValueId compare_mixed(Emit& e, CompareOp op, const Sym& a, const Sym& b);

// Python compares int with float exactly: as doubles where the int is an exact double, else leave.
ValueId compare_python(Emit& e, CompareOp op, const Sym& a, const Sym& b) {
  if (is_py_int_like(a.kind) && is_py_int_like(b.kind)) return compare_as(e, op, a, b, Type::I64);
  if (a.kind == PyKind::IntU64 && b.kind == PyKind::IntU64) return compare_as(e, op, a, b, Type::U64);
  if (is_any_int(a.kind) && is_any_int(b.kind)) return compare_mixed(e, op, a, b);
  guard_exact_double(e, a);
  guard_exact_double(e, b);
  return compare_as(e, op, a, b, Type::F64);
}

// A signed value (i64) against an unsigned one (u64): exact.
ValueId compare_mixed(Emit& e, CompareOp op, const Sym& a, const Sym& b) {
  ir::Builder& ir = e.b();
  bool signed_first = part_type(a.kind) != Type::U64;
  ValueId s = to_i64(e, signed_first ? a : b);
  ValueId negative = ir.binary(OpCode::Lt, Type::I64, s, ir.const_i64(0));
  ValueId wrapped = ir.conv(Type::U64, s);
  ValueId plain = signed_first ? ir.binary(compare_code(op), Type::U64, wrapped, b.v[0]) : ir.binary(compare_code(op), Type::U64, a.v[0], wrapped);
  bool below = op == CompareOp::kLt || op == CompareOp::kLe, equal = op == CompareOp::kEq;
  bool when_negative = op == CompareOp::kNe || (!equal && below == signed_first);
  if (when_negative) return ir.binary(OpCode::Or, Type::I1, negative, plain);
  return ir.binary(OpCode::And, Type::I1, ir.unary(OpCode::Not, Type::I1, negative), plain);
}

// Comparisons that involve a NumPy scalar: integers exactly, everything else in the promoted type (weak Python numbers are converted to it).
Result<ValueId> compare_numpy(Emit& e, CompareOp op, const Sym& a, const Sym& b) {
  bool int_a = is_np_int(a.kind) || is_any_int(a.kind) || a.kind == PyKind::NpBool;
  bool int_b = is_np_int(b.kind) || is_any_int(b.kind) || b.kind == PyKind::NpBool;
  if (int_a && int_b) {
    bool wide_a = part_type(a.kind) == Type::U64, wide_b = part_type(b.kind) == Type::U64;
    if (wide_a != wide_b) {
      const Sym& other = wide_a ? b : a;
      if (is_unsigned(part_type(other.kind)) || part_type(other.kind) == Type::I1) return compare_as(e, op, a, b, Type::U64);
      return compare_mixed(e, op, a, b);
    }
    return compare_as(e, op, a, b, wide_a ? Type::U64 : Type::I64);
  }
  PyKind kind = promote(a.kind, b.kind);
  if (kind == PyKind::Unbound) return unsupported(e, "comparison", a, b);
  ValueId x = to_kind(e, a, kind);
  return e.b().binary(compare_code(op), part_type(kind), x, to_kind(e, b, kind));
}

// -a: MIN of a signed type and non-zero unsigned values leave (beyond 64 bits, or a warning).
Result<Sym> negative(Emit& e, const Sym& a) {
  ir::Builder& ir = e.b();
  if (is_complex_number(a.kind)) {
    Type part = part_type(a.kind);
    return make_sym(e, a.kind, ir.unary(OpCode::Neg, part, a.v[0]), ir.unary(OpCode::Neg, part, a.v[1]));
  }
  if (a.kind == PyKind::NpBool) return unsupported(e, "unary -", a);
  if (a.kind == PyKind::IntU64) return negative(e, plain_int(e, a));
  PyKind kind = a.kind == PyKind::Bool ? PyKind::Int : a.kind;
  Type type = part_type(kind);
  ValueId x = to_type(e, a, type);
  if (is_float(type)) return make_sym(e, kind, ir.unary(OpCode::Neg, type, x));
  return make_sym(e, kind, ir.checked(OpCode::NegO, type, {x}, e.before()));
}

}  // namespace

Result<Sym> unary(Emit& e, UnaryOp op, const Sym& a) {
  ir::Builder& ir = e.b();
  if (op == UnaryOp::kNot) {
    auto t = truth(e, a);
    if (!t) return t.refusal();
    return make_bool(e, ir.unary(OpCode::Not, Type::I1, *t));
  }
  if (!is_number(a.kind)) return unsupported(e, "unary operator", a);
  if (op == UnaryOp::kNegative) return negative(e, a);
  if (op == UnaryOp::kPositive) {
    if (a.kind == PyKind::NpBool) return unsupported(e, "unary +", a);
    if (a.kind == PyKind::Bool) return make_sym(e, PyKind::Int, to_i64(e, a));
    if (is_np_scalar(a.kind)) return make_sym(e, a.kind, a.v[0], a.v[1]);
    return a;  // int, float and complex of exact type return themselves
  }
  if (a.kind == PyKind::NpBool) return make_sym(e, a.kind, ir.unary(OpCode::Not, Type::I1, a.v[0]));
  if (is_np_int(a.kind)) return make_sym(e, a.kind, ir.unary(OpCode::Not, part_type(a.kind), a.v[0]));
  if (a.kind == PyKind::IntU64) return unary(e, op, plain_int(e, a));
  if (a.kind == PyKind::Int) return make_sym(e, PyKind::Int, ir.unary(OpCode::Not, Type::I64, to_i64(e, a)));  // ~bool is deprecated: it warns
  return unsupported(e, "unary ~", a);
}

Result<Sym> compare(Emit& e, CompareOp op, const Sym& a, const Sym& b) {
  if (is_number(a.kind) && is_number(b.kind) && (is_complex_number(a.kind) || is_complex_number(b.kind))) return complex_compare(e, op, a, b);
  if (is_py_number(a.kind) && is_py_number(b.kind)) return make_bool(e, compare_python(e, op, a, b));
  if (is_real_number(a.kind) && is_real_number(b.kind)) {
    auto r = compare_numpy(e, op, a, b);
    if (!r) return r.refusal();
    return make_sym(e, PyKind::NpBool, *r);
  }
  if (compares_as_text(a, b)) return compare_text(e, op, a, b);
  if (a.kind == PyKind::Const && b.kind == PyKind::Const && PyUnicode_CheckExact(a.object) && PyUnicode_CheckExact(b.object) &&
      (op == CompareOp::kEq || op == CompareOp::kNe)) {
    bool equal = PyUnicode_Compare(a.object, b.object) == 0;
    return known(e, equal == (op == CompareOp::kEq) ? Py_True : Py_False);
  }
  return unsupported(e, "comparison", a, b);
}

Result<Sym> identity(Emit& e, const Sym& a, const Sym& b, bool negate) {
  auto answer = [&](bool same) { return known(e, same != negate ? Py_True : Py_False); };
  auto singleton = [](const Sym& s) { return s.kind == PyKind::None_ || s.kind == PyKind::Const; };
  if (a.kind == PyKind::None_ || b.kind == PyKind::None_) {
    const Sym& other = a.kind == PyKind::None_ ? b : a;
    if (other.kind == PyKind::None_) return answer(true);
    if (other.kind == PyKind::Object) return e.refuse(RefusalReason::kUnsupportedType, "is None of an unknown object");
    return answer(false);
  }
  if (singleton(a) && singleton(b)) return answer(a.object == b.object);
  if (a.kind == PyKind::Bool && b.kind == PyKind::Bool) {
    return make_bool(e, e.b().binary(negate ? OpCode::Xor : OpCode::Eq, Type::I1, a.v[0], b.v[0]));
  }
  bool bool_a = a.kind == PyKind::Bool, bool_b = b.kind == PyKind::Bool;
  if ((bool_a || bool_b) && a.kind != PyKind::Object && b.kind != PyKind::Object) return answer(false);
  return unsupported(e, "is", a, b);
}

Result<ValueId> truth(Emit& e, const Sym& a) {
  ir::Builder& ir = e.b();
  if (a.kind == PyKind::Bool || a.kind == PyKind::NpBool) return a.v[0];
  if (a.kind == PyKind::None_) return ir.const_i1(false);
  if (is_complex_number(a.kind)) {
    Type part = part_type(a.kind);
    ValueId zero = ir.const_bits(part, 0);
    return ir.binary(OpCode::Or, Type::I1, ir.binary(OpCode::Ne, part, a.v[0], zero), ir.binary(OpCode::Ne, part, a.v[1], zero));
  }
  if (is_real_number(a.kind)) {
    Type type = part_type(a.kind);
    return ir.binary(OpCode::Ne, type, a.v[0], ir.const_bits(type, 0));
  }
  if (is_sequence_object(a.kind)) return ir.binary(OpCode::Ne, Type::I64, object_length(e, a), ir.const_i64(0));
  if (a.kind == PyKind::Tuple) return ir.const_i1(!a.items->empty());
  if (a.kind == PyKind::Char) return ir.const_i1(true);
  if (a.kind == PyKind::Str || a.kind == PyKind::Bytes) {
    auto length = sequence_length(e, a);
    if (!length) return length;
    return ir.binary(OpCode::Ne, Type::I64, *length, ir.const_i64(0));
  }
  if (a.kind == PyKind::Const) {
    if (PyUnicode_CheckExact(a.object)) return ir.const_i1(PyUnicode_GET_LENGTH(a.object) != 0);
    if (PyFunction_Check(a.object) || PyCFunction_Check(a.object) || PyModule_CheckExact(a.object)) return ir.const_i1(true);
  }
  return unsupported(e, "truth", a);
}

}  // namespace hotloop::tracer
