// Algebraic identities. Needs optimizer/identities.h. Promises: as there.
#include "optimizer/identities.h"

#include <bit>
#include <cmath>
#include <utility>

namespace hotloop::optimizer {

using namespace ir;

OpCode inverse_compare(OpCode code, Type type) {
  switch (code) {
    case OpCode::Eq: return OpCode::Ne;
    case OpCode::Ne: return OpCode::Eq;
    default: break;
  }
  if (is_float(type)) return OpCode::Const;
  switch (code) {
    case OpCode::Lt: return OpCode::Ge;
    case OpCode::Le: return OpCode::Gt;
    case OpCode::Gt: return OpCode::Le;
    case OpCode::Ge: return OpCode::Lt;
    default: return OpCode::Const;
  }
}

namespace {

struct Context {
  Editor& e;
  Op& op;
  std::vector<Op*>& out;
  ValueId a() const { return op.operands[0]; }
  ValueId b() const { return op.operands[1]; }
  bool is(ValueId v, int64_t bits) const {
    const auto c = e.const_bits(v);
    return c && *c == bits;
  }
  ValueId make(OpCode code, Type type, std::initializer_list<ValueId> operands) {
    Op* made = e.make(code, type, operands, op.line);
    out.push_back(made);
    return made->result();
  }
  ValueId constant(int64_t bits) { return e.constant(op.type, bits); }
};

int64_t all_ones(Type type) { return normalize_bits(type, -1); }

// log2 of a positive power of two, or -1.
int power_of_two(std::optional<int64_t> bits) {
  if (!bits || *bits <= 0 || (*bits & (*bits - 1)) != 0) return -1;
  return std::countr_zero(static_cast<uint64_t>(*bits));
}

ValueId integer_division(Context& c) {
  const auto divisor = c.e.const_bits(c.b());
  const int shift = power_of_two(divisor);
  if (shift < 0) return kNoValue;
  if (c.op.code == OpCode::FloorDiv) {  // floor: exactly what an arithmetic shift does
    return shift == 0 ? c.a() : c.make(OpCode::Shr, c.op.type, {c.a(), c.constant(shift)});
  }
  return shift == 0 ? c.constant(0) : c.make(OpCode::And, c.op.type, {c.a(), c.constant(*divisor - 1)});
}

// x + c1 + c2 where both additions wrap.
ValueId add_chain(Context& c) {
  const auto right = c.e.const_bits(c.b());
  const Op* inner = c.e.def(c.a());
  if (!right || inner == nullptr || (inner->code != OpCode::Add && inner->code != OpCode::Sub) || inner->type != c.op.type) return kNoValue;
  const auto left = c.e.const_bits(inner->operands[1]);
  if (!left) return kNoValue;
  const uint64_t r = c.op.code == OpCode::Add ? static_cast<uint64_t>(*right) : 0 - static_cast<uint64_t>(*right);
  const uint64_t l = inner->code == OpCode::Add ? static_cast<uint64_t>(*left) : 0 - static_cast<uint64_t>(*left);
  const int64_t sum = normalize_bits(c.op.type, static_cast<int64_t>(l + r));
  return sum == 0 ? inner->operands[0] : c.make(OpCode::Add, c.op.type, {inner->operands[0], c.constant(sum)});
}

ValueId integer_identity(Context& c) {
  switch (c.op.code) {
    case OpCode::Add: case OpCode::AddO:
      if (c.is(c.b(), 0)) return c.a();
      return c.op.code == OpCode::Add ? add_chain(c) : kNoValue;
    case OpCode::Sub: case OpCode::SubO:
      if (c.is(c.b(), 0)) return c.a();
      if (c.a() == c.b()) return c.constant(0);
      return c.op.code == OpCode::Sub ? add_chain(c) : kNoValue;
    case OpCode::Mul: case OpCode::MulO:
      if (c.is(c.b(), 1)) return c.a();
      if (c.is(c.b(), 0)) return c.b();
      return kNoValue;
    case OpCode::FloorDiv: case OpCode::FloorMod: return integer_division(c);
    case OpCode::And:
      if (c.a() == c.b() || c.is(c.b(), all_ones(c.op.type))) return c.a();
      return c.is(c.b(), 0) ? c.b() : kNoValue;
    case OpCode::Or:
      if (c.a() == c.b() || c.is(c.b(), 0)) return c.a();
      return c.is(c.b(), all_ones(c.op.type)) ? c.b() : kNoValue;
    case OpCode::Xor:
      if (c.is(c.b(), 0)) return c.a();
      return c.a() == c.b() ? c.constant(0) : kNoValue;
    case OpCode::Shl: case OpCode::Shr: case OpCode::ShlO: return c.is(c.b(), 0) ? c.a() : kNoValue;
    case OpCode::Eq: case OpCode::Le: case OpCode::Ge: return c.a() == c.b() ? c.e.const_i1(true) : kNoValue;
    case OpCode::Ne: case OpCode::Lt: case OpCode::Gt: return c.a() == c.b() ? c.e.const_i1(false) : kNoValue;
    case OpCode::Neg: case OpCode::Not: {
      const Op* inner = c.e.def(c.a());
      return inner != nullptr && inner->code == c.op.code ? inner->operands[0] : kNoValue;
    }
    default: return kNoValue;
  }
}

double float_of(Type type, int64_t bits) {
  return type == Type::F64 ? std::bit_cast<double>(bits) : std::bit_cast<float>(static_cast<uint32_t>(bits));
}
int64_t bits_of(Type type, double v) {
  return type == Type::F64 ? std::bit_cast<int64_t>(v) : static_cast<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(v)));
}

// x / 2^k is x * 2^-k: both round the same real number once.
ValueId float_division(Context& c, double divisor) {
  int exponent = 0;
  if (!std::isfinite(divisor) || std::fabs(std::frexp(divisor, &exponent)) != 0.5) return kNoValue;
  const int limit = c.op.type == Type::F64 ? 1000 : 120;
  if (exponent > limit || exponent < -limit) return kNoValue;
  return c.make(OpCode::Mul, c.op.type, {c.a(), c.constant(bits_of(c.op.type, 1.0 / divisor))});
}

bool is_turned_product(const Context& c) {
  const Op* left = c.e.def(c.a());
  const Op* right = c.e.def(c.b());
  return left != nullptr && right != nullptr && left != right && left->code == OpCode::Mul && right->code == OpCode::Mul &&
         c.e.find(left->operands[0]) == c.e.find(right->operands[1]) && c.e.find(left->operands[1]) == c.e.find(right->operands[0]);
}

ValueId float_identity(Context& c) {
  std::optional<double> right;
  if (c.op.operands.size() > 1) {
    if (const auto bits = c.e.const_bits(c.b())) right = float_of(c.op.type, *bits);
  }
  switch (c.op.code) {
    case OpCode::Add:
      if (right && *right == 0 && std::signbit(*right)) return c.a();
      // x*y + y*x, the imaginary part of a square: both products are NaN or none is, and then the first one's bits are the sum's.
      return is_turned_product(c) ? c.make(OpCode::Add, c.op.type, {c.a(), c.a()}) : kNoValue;
    case OpCode::Sub: return right && *right == 0 && !std::signbit(*right) ? c.a() : kNoValue;
    case OpCode::Mul: return right && *right == 1 ? c.a() : kNoValue;
    case OpCode::Div:
      if (right && *right == 1) return c.a();
      return right ? float_division(c, *right) : kNoValue;
    case OpCode::Neg: {
      const Op* inner = c.e.def(c.a());
      return inner != nullptr && inner->code == OpCode::Neg ? inner->operands[0] : kNoValue;
    }
    case OpCode::Abs: {
      const Op* inner = c.e.def(c.a());
      if (inner == nullptr) return kNoValue;
      if (inner->code == OpCode::Abs) return c.a();
      return inner->code == OpCode::Neg ? c.make(OpCode::Abs, c.op.type, {inner->operands[0]}) : kNoValue;
    }
    case OpCode::Lt: case OpCode::Gt: return c.a() == c.b() ? c.e.const_i1(false) : kNoValue;
    default: return kNoValue;
  }
}

ValueId logical_not(Context& c, ValueId v) { return c.make(OpCode::Not, Type::I1, {v}); }

ValueId boolean_identity(Context& c) {
  switch (c.op.code) {
    case OpCode::And:
      if (c.a() == c.b() || c.is(c.b(), 1)) return c.a();
      return c.is(c.b(), 0) ? c.b() : kNoValue;
    case OpCode::Or:
      if (c.a() == c.b() || c.is(c.b(), 0)) return c.a();
      return c.is(c.b(), 1) ? c.b() : kNoValue;
    case OpCode::Xor: case OpCode::Ne:
      if (c.a() == c.b()) return c.e.const_i1(false);
      if (c.is(c.b(), 0)) return c.a();
      return c.is(c.b(), 1) ? logical_not(c, c.a()) : kNoValue;
    case OpCode::Eq:
      if (c.a() == c.b()) return c.e.const_i1(true);
      if (c.is(c.b(), 1)) return c.a();
      return c.is(c.b(), 0) ? logical_not(c, c.a()) : kNoValue;
    case OpCode::Not: {
      const Op* inner = c.e.def(c.a());
      if (inner == nullptr) return kNoValue;
      if (inner->code == OpCode::Not) return inner->operands[0];
      if (!is_compare(inner->code)) return kNoValue;
      const OpCode inverse = inverse_compare(inner->code, inner->type);
      return inverse == OpCode::Const ? kNoValue : c.make(inverse, inner->type, {inner->operands[0], inner->operands[1]});
    }
    default: return kNoValue;
  }
}

// eq / ne of a converted i1 with 0 or 1.
ValueId compare_of_flag(Context& c) {
  if (c.op.code != OpCode::Eq && c.op.code != OpCode::Ne) return kNoValue;
  const Op* inner = c.e.def(c.a());
  if (inner == nullptr || inner->code != OpCode::Conv || c.e.function().type_of(inner->operands[0]) != Type::I1) return kNoValue;
  const bool zero = c.is(c.b(), 0);
  if (!zero && !c.is(c.b(), 1)) return kNoValue;
  const bool same = zero == (c.op.code == OpCode::Ne);
  return same ? inner->operands[0] : logical_not(c, inner->operands[0]);
}

bool widens(Type from, Type to) {
  if (from == Type::I1) return is_int(to);
  if (!is_int(from) || !is_int(to) || type_size(to) <= type_size(from)) return false;
  return is_unsigned(from) || is_signed(to);
}

ValueId conv_identity(Context& c) {
  Function& f = c.e.function();
  const Type to = c.op.type;
  const Type from = f.type_of(c.a());
  if (from == to) return c.a();
  const Op* inner = c.e.def(c.a());
  if (inner == nullptr || inner->code != OpCode::Conv) return kNoValue;
  const ValueId source = inner->operands[0];
  const Type origin = f.type_of(source);
  if (origin == Type::F32 && from == Type::F64 && to == Type::F32) return source;
  if (to == Type::I1) {
    if (widens(origin, from)) return origin == Type::I1 ? source : c.make(OpCode::Conv, Type::I1, {source});
    return kNoValue;
  }
  if (widens(origin, from)) {
    if (to == origin) return source;
    if (is_int(to) || is_float(to)) return c.make(OpCode::Conv, to, {source});  // the same mathematical value goes in
  }
  return kNoValue;
}

ValueId select_identity(Context& c) {
  const ValueId yes = c.op.operands[1];
  const ValueId no = c.op.operands[2];
  if (yes == no) return yes;
  const Op* condition = c.e.def(c.a());
  if (condition != nullptr && condition->code == OpCode::Not) {
    return c.make(OpCode::Select, c.op.type, {condition->operands[0], no, yes});
  }
  if (c.op.type == Type::I1) {
    if (c.is(yes, 1)) return c.is(no, 0) ? c.a() : c.make(OpCode::Or, Type::I1, {c.a(), no});
    if (c.is(no, 0)) return c.make(OpCode::And, Type::I1, {c.a(), yes});
    if (c.is(yes, 0) && c.is(no, 1)) return logical_not(c, c.a());
  }
  if (is_int(c.op.type) && c.is(yes, 1) && c.is(no, 0)) return c.make(OpCode::Conv, c.op.type, {c.a()});
  return kNoValue;
}

bool commutes(OpCode code) {
  switch (code) {
    case OpCode::Add: case OpCode::Mul: case OpCode::AddO: case OpCode::MulO:
    case OpCode::And: case OpCode::Or: case OpCode::Xor: case OpCode::Eq: case OpCode::Ne: return true;
    default: return false;
  }
}

// The compare with its operands swapped.
OpCode mirrored(OpCode code) {
  switch (code) {
    case OpCode::Lt: return OpCode::Gt;
    case OpCode::Le: return OpCode::Ge;
    case OpCode::Gt: return OpCode::Lt;
    case OpCode::Ge: return OpCode::Le;
    default: return code;
  }
}

bool is_nan_const(const Editor& e, ValueId v) {
  const auto bits = e.const_bits(v);
  const Type type = e.function().type_of(v);
  return bits && is_float(type) && std::isnan(float_of(type, *bits));
}

}  // namespace

ValueId identity(Editor& editor, Op& op, std::vector<Op*>& out) {
  Context c{editor, op, out};
  // Constants stand on the right. For floats too, but NaN: of two NaNs the first one survives.
  if (op.operands.size() == 2 && editor.is_const(op.operands[0]) && !editor.is_const(op.operands[1]) && !is_nan_const(editor, op.operands[0]) &&
      (commutes(op.code) || is_compare(op.code))) {
    std::swap(op.operands[0], op.operands[1]);
    op.code = mirrored(op.code);
    editor.set_changed();
  }
  if (op.code == OpCode::Conv) return conv_identity(c);
  if (op.code == OpCode::Select) return select_identity(c);
  if (op.operands.empty() || op.operands.size() > 2) return kNoValue;
  if (op.type == Type::I1) return boolean_identity(c);
  if (is_int(op.type)) {
    const ValueId flag = compare_of_flag(c);
    return flag != kNoValue ? flag : integer_identity(c);
  }
  return is_float(op.type) ? float_identity(c) : kNoValue;
}

}  // namespace hotloop::optimizer
