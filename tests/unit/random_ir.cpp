// Seeded random IR. Needs random_ir.h, ir/builder.h. Promises: as there.
#include "random_ir.h"

#include <bit>
#include <cmath>
#include <limits>

#include "ir/builder.h"
#include "random_snapshot.h"

namespace hotloop::test {
namespace {

using ir::OpCode;
using ir::Type;
using ir::ValueId;

const std::vector<Type> kInts = {Type::I64, Type::I64, Type::I64, Type::I64, Type::I8, Type::I16, Type::I32, Type::U8, Type::U16, Type::U32, Type::U64};
const std::vector<Type> kFloats = {Type::F64, Type::F64, Type::F32};
const std::vector<Type> kScalars = {Type::I1, Type::I64, Type::I64, Type::F64, Type::F64, Type::F32, Type::I8, Type::I16,
                                    Type::I32, Type::U8, Type::U16, Type::U32, Type::U64};

class Generator {
 public:
  Generator(uint64_t seed, const RandomOptions& options)
      : random_(seed), options_(options), f_(*(case_.function = std::make_unique<ir::Function>())), b_(f_) {}

  RandomCase run() {
    f_.name = "random";
    f_.add_object(nullptr, "code");
    f_.add_object(nullptr, "inlined function");
    f_.add_object(nullptr, "inlined code");
    f_.add_object(nullptr, "a constant");
    f_.entry_stack_depth = static_cast<uint32_t>(random_.below(3));
    f_.body = f_.new_block();
    b_.set_block(f_.body);
    make_arrays();
    make_inputs();
    budget_ = options_.ops;
    while (budget_ > 0) statement();
    finish();
    for (int k = 0; k < options_.runs; ++k) make_run();
    return std::move(case_);
  }

 private:
  void make_arrays();
  void add_input(ir::PyKind kind, ir::ArrayTypeId array_type);
  void make_inputs();
  void make_run();
  void finish();

  // Values
  void see(ValueId v) { visible_.push_back(v); }
  ValueId constant(Type type) { return b_.const_bits(type, random_cell(random_, type)); }
  ValueId value(Type type);
  ValueId small_int(int mask) { return b_.binary(OpCode::And, Type::I64, value(Type::I64), b_.const_i64(mask)); }
  ValueId likely() ;
  ir::SnapshotId snapshot() { return random_snapshot(random_, f_, visible_); }

  // Statements
  void statement();
  void arithmetic();
  void float_only();
  void divide();
  void checked();
  void bits();
  void comparison();
  void conversion();
  void helper_call();
  void leave_check();
  void array_op();
  void raw_memory(size_t array);
  ValueId element_index(size_t array, int axis, ValueId pointer);
  void if_statement();
  void for_statement();
  void array_bounds(ValueId* lo, ValueId* hi, ValueId* step);
  void for_loop(ValueId lo, ValueId hi, ValueId step);
  void loop_statement();
  bool block_end(ir::Block* block, const std::vector<Type>& types, ValueId cont, int exit_percent);
  std::vector<Type> some_types(int most);
  std::vector<ValueId> values(const std::vector<Type>& types);
  void fill_block(int most);

  Random random_;
  RandomOptions options_;
  RandomCase case_;
  ir::Function& f_;
  ir::Builder b_;
  std::vector<ValueId> visible_;
  struct ArrayUse {
    ir::ArrayTypeId type;
    ValueId pointer;
    int axes;
  };
  std::vector<ArrayUse> array_uses_;
  std::vector<ValueId> loop_variables_;
  int budget_ = 0;
  int depth_ = 0;
};

void Generator::make_arrays() {
  static const std::vector<ir::PyKind> kElems = {ir::PyKind::NpFloat64, ir::PyKind::NpFloat64, ir::PyKind::NpInt64, ir::PyKind::NpFloat32, ir::PyKind::NpBool,
                                                 ir::PyKind::NpInt8,    ir::PyKind::NpInt16,   ir::PyKind::NpInt32, ir::PyKind::NpUint8,   ir::PyKind::NpUint16,
                                                 ir::PyKind::NpUint32,  ir::PyKind::NpUint64,  ir::PyKind::NpFloat16, ir::PyKind::NpComplex64, ir::PyKind::NpComplex128};
  const int count = random_.below(4);
  for (int k = 0; k < count; ++k) {
    const bool like_first = k > 0 && random_.chance(50);  // so that the same array can come in twice
    const ir::PyKind elem = like_first ? case_.arrays[0]->elem() : random_.pick(kElems);
    std::vector<int64_t> dims;
    if (like_first) dims.assign(case_.arrays[0]->array_type(true).strides.size(), 4);
    for (int axis = like_first ? 0 : 1 + random_.below(random_.chance(30) ? 3 : 1); axis > 0; --axis) dims.push_back(random_.chance(20) ? 1 : 3 + random_.below(3));
    std::vector<int64_t> strides = c_strides(elem, dims);
    if (random_.chance(like_first ? 10 : 30)) {  // every second element, backwards, or the same element again
      const size_t axis = static_cast<size_t>(random_.below(static_cast<int>(dims.size())));
      const int how = random_.below(3);
      strides[axis] = how == 0 ? strides[axis] * 2 : how == 1 ? -strides[axis] : 0;
      if (how == 0) {
        for (size_t outer = 0; outer < axis; ++outer) strides[outer] *= 2;
      }
    }
    auto& array = *case_.arrays.emplace_back(std::make_unique<TestArray>("a" + std::to_string(k), elem, dims, strides));
    for (int64_t item = 0; item < array.item_count(); ++item) array.set_item(item, random_cell(random_, array.type()));
  }
}

void Generator::add_input(ir::PyKind kind, ir::ArrayTypeId array_type) {
  ir::Input input;
  input.slot.index = static_cast<uint32_t>(f_.inputs.size());
  input.kind = kind;
  input.array_type = array_type;
  for (uint32_t k = 0; k < input.parts(); ++k) {
    f_.body->params.push_back(f_.new_value(ir::pykind_info(kind).part_type));
    if (kind != ir::PyKind::Array) see(f_.body->params.back());
  }
  f_.inputs.push_back(input);
}

void Generator::make_inputs() {
  for (const auto& array : case_.arrays) {
    const ir::ArrayTypeId type = f_.intern_array_type(array->array_type(true));
    add_input(ir::PyKind::Array, type);
    array_uses_.push_back({type, f_.body->params.back(), static_cast<int>(f_.array_types[type].strides.size())});
  }
  static const std::vector<ir::PyKind> kKinds = {
      ir::PyKind::Int,     ir::PyKind::Int,     ir::PyKind::Float,   ir::PyKind::Float,   ir::PyKind::Bool,     ir::PyKind::Complex,
      ir::PyKind::NpInt8,  ir::PyKind::NpInt16, ir::PyKind::NpInt32, ir::PyKind::NpUint8, ir::PyKind::NpUint16, ir::PyKind::NpUint32,
      ir::PyKind::NpUint64, ir::PyKind::NpFloat32, ir::PyKind::NpFloat64, ir::PyKind::RangeIter, ir::PyKind::None_};
  const int count = 2 + random_.below(6);
  for (int k = 0; k < count; ++k) add_input(random_.pick(kKinds), ir::kNone);
}

void Generator::make_run() {
  RunInputs run;
  size_t next_array = 0;
  for (ValueId v : f_.body->params) {
    const Type type = f_.type_of(v);
    if (type != Type::Ptr) {
      run.in.push_back(random_cell(random_, type));
      continue;
    }
    TestArray* array = case_.arrays[next_array++].get();
    for (const auto& other : case_.arrays) {  // sometimes one array under two names
      if (other->array_type(true) == array->array_type(true) && random_.chance(25)) array = other.get();
    }
    run.in.push_back(array->address());
  }
  for (const auto& array : case_.arrays) run.arrays.push_back(array.get());
  if (random_.chance(25)) run.force_countdown = 1 + random_.below(random_.chance(50) ? 8 : 60);
  run.breaker = random_.chance(10);
  case_.runs.push_back(std::move(run));
}

// The last exit shows everything that is visible.
void Generator::finish() {
  const ir::SnapshotId last = snapshot();
  ir::FrameState& frame = f_.snapshots[last].frames[0];
  uint32_t slot = 1000;
  for (ValueId v : visible_) {
    ir::SlotValue entry;
    entry.slot.index = slot++;
    if (value_of_type(f_, v, &entry.value)) frame.slots.push_back(entry);
  }
  b_.exit(ir::ExitReason::Finished, last);
}

ValueId Generator::value(Type type) {
  if (random_.chance(12)) return constant(type);
  // The youngest of a few candidates: chains of dependent ops are longer than pure chance would make them.
  ValueId best = ir::kNoValue;
  for (int tries = 0; tries < 12 && !visible_.empty(); ++tries) {
    const ValueId v = random_.pick(visible_);
    if (f_.type_of(v) == type && (best == ir::kNoValue || v > best)) best = v;
    if (best != ir::kNoValue && random_.chance(40)) break;
  }
  return best != ir::kNoValue ? best : constant(type);
}

// A condition that is true most of the time.
ValueId Generator::likely() {
  const Type type = random_.pick(kScalars);
  if (type == Type::I1) return b_.binary(OpCode::Or, Type::I1, value(Type::I1), value(Type::I1));
  return b_.binary(OpCode::Ne, type, value(type), constant(type));
}

void Generator::statement() {
  --budget_;
  const int dice = random_.below(100);
  if (dice < 16) arithmetic();
  else if (dice < 22) float_only();
  else if (dice < 27) divide();
  else if (dice < 37) checked();
  else if (dice < 44) bits();
  else if (dice < 53) comparison();
  else if (dice < 61) conversion();
  else if (dice < 64) helper_call();
  else if (dice < 70) leave_check();
  else if (dice < 84) array_op();
  else if (depth_ >= options_.depth) arithmetic();
  else if (dice < 89) if_statement();
  else if (dice < 96) for_statement();
  else loop_statement();
}

void Generator::arithmetic() {
  const Type type = random_.chance(50) ? random_.pick(kFloats) : random_.pick(kInts);
  static const std::vector<OpCode> kBinary = {OpCode::Add, OpCode::Add, OpCode::Sub, OpCode::Mul};
  if (random_.chance(15)) return see(b_.unary(random_.chance(50) ? OpCode::Neg : OpCode::Abs, type, value(type)));
  if ((type == Type::I64 || type == Type::U64) && random_.chance(20)) return see(b_.binary(OpCode::MulHi, type, value(type), value(type)));
  see(b_.binary(random_.pick(kBinary), type, value(type), value(type)));
}

void Generator::float_only() {
  static const std::vector<OpCode> kUnary = {OpCode::Sqrt, OpCode::Floor, OpCode::Ceil, OpCode::Trunc, OpCode::Rint};
  const Type type = random_.pick(kFloats);
  const int dice = random_.below(4);
  if (dice == 0) return see(b_.binary(OpCode::Div, type, value(type), value(type)));
  if (dice == 1) return see(b_.binary(OpCode::Copysign, type, value(type), value(type)));
  if (dice == 2) return see(b_.unary(random_.pick(kUnary), type, value(type)));
  const ValueId x = value(type);
  const ValueId y = value(type);
  static const std::vector<OpCode> kOps = {OpCode::Add, OpCode::Mul, OpCode::Div};
  const ValueId result = b_.binary(random_.pick(kOps), type, x, y);
  if (random_.chance(70)) {
    b_.fcheck(type, result, {x, y}, snapshot());
  } else {
    const ValueId root = b_.unary(OpCode::Sqrt, type, x);
    b_.fcheck(type, root, {x}, snapshot());
    see(root);
  }
  see(result);
}

// floordiv and floormod with a divisor made safe by a guard or by a select.
void Generator::divide() {
  const Type type = random_.chance(30) ? random_.pick(kFloats) : random_.pick(kInts);
  const ValueId a = value(type);
  ValueId b = value(type);
  const ValueId zero = b_.const_bits(type, 0);  // +0.0 for floats
  ValueId good = b_.binary(OpCode::Ne, type, b, zero);
  if (ir::is_signed(type)) good = b_.binary(OpCode::And, Type::I1, good, b_.binary(OpCode::Ne, type, b, b_.const_bits(type, -1)));
  if (random_.chance(30)) {
    b_.guard(good, ir::ExitReason::ZeroDivide, snapshot());
  } else {
    const int64_t three = type == Type::F64 ? std::bit_cast<int64_t>(-2.5) : type == Type::F32 ? std::bit_cast<uint32_t>(-2.5f) : 3;
    b = b_.select(type, good, b, b_.const_bits(type, three));
  }
  see(b_.binary(random_.chance(50) ? OpCode::FloorDiv : OpCode::FloorMod, type, a, b));
}

void Generator::checked() {
  static const std::vector<OpCode> kBinary = {OpCode::AddO, OpCode::AddO, OpCode::SubO, OpCode::MulO};
  const Type type = random_.chance(70) ? Type::I64 : random_.pick(kInts);
  const int dice = random_.below(10);
  if (dice == 0) return see(b_.checked(OpCode::NegO, type, {value(type)}, snapshot()));
  if (dice == 1) {
    const ValueId mask = b_.const_bits(type, ir::type_size(type) * 8 - 1);
    const ValueId count = b_.binary(OpCode::And, type, value(type), mask);
    return see(b_.checked(OpCode::ShlO, type, {value(type), count}, snapshot()));
  }
  see(b_.checked(random_.pick(kBinary), type, {value(type), value(type)}, snapshot()));
}

void Generator::bits() {
  static const std::vector<OpCode> kBinary = {OpCode::And, OpCode::Or, OpCode::Xor};
  const Type type = random_.chance(30) ? Type::I1 : random_.pick(kInts);
  const int dice = random_.below(10);
  if (dice < 2) return see(b_.unary(OpCode::Not, type, value(type)));
  if (dice < 6 || type == Type::I1) return see(b_.binary(random_.pick(kBinary), type, value(type), value(type)));
  const int width = ir::type_size(type) * 8;
  const ValueId count = random_.chance(40) ? b_.const_bits(type, random_.below(width))
                                           : b_.binary(OpCode::And, type, value(type), b_.const_bits(type, width - 1));
  see(b_.binary(random_.chance(50) ? OpCode::Shl : OpCode::Shr, type, value(type), count));
}

void Generator::comparison() {
  static const std::vector<OpCode> kCompare = {OpCode::Eq, OpCode::Ne, OpCode::Lt, OpCode::Le, OpCode::Gt, OpCode::Ge};
  const Type type = random_.pick(kScalars);
  const int dice = random_.below(10);
  if (dice == 0 && array_uses_.size() > 1) {
    const ValueId a = random_.pick(array_uses_).pointer;
    return see(b_.binary(random_.chance(50) ? OpCode::Eq : OpCode::Ne, Type::Ptr, a, random_.pick(array_uses_).pointer));
  }
  const Type float_type = random_.pick(kFloats);
  if (dice < 2) return see(b_.unary(OpCode::IsFinite, float_type, value(float_type)));
  if (dice < 4) return see(b_.select(type, value(Type::I1), value(type), value(type)));
  see(b_.binary(random_.pick(kCompare), type, value(type), value(type)));
}

// The first float past the integer type's range, and its lowest value, in the float type.
int64_t float_bits(Type type, double v) {
  return type == Type::F64 ? std::bit_cast<int64_t>(v) : static_cast<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(v)));
}

void Generator::conversion() {
  const Type to = random_.pick(kScalars);
  const Type from = random_.pick(kScalars);
  if (from == to) return;
  ValueId x = value(from);
  if (ir::is_float(from) && ir::is_int(to)) {
    const int bits = ir::type_size(to) * 8 - (ir::is_signed(to) ? 1 : 0);
    const ValueId low = b_.const_bits(from, float_bits(from, ir::is_signed(to) ? -std::ldexp(1.0, bits) : 0.0));
    const ValueId past = b_.const_bits(from, float_bits(from, std::ldexp(1.0, bits)));
    const ValueId fits = b_.binary(OpCode::And, Type::I1, b_.binary(OpCode::Ge, from, x, low), b_.binary(OpCode::Lt, from, x, past));
    if (random_.chance(40)) {
      b_.guard(fits, ir::ExitReason::Domain, snapshot());
    } else {
      x = b_.select(from, fits, x, b_.const_bits(from, float_bits(from, 2.75)));
    }
  }
  see(b_.conv(to, x));
}

void Generator::helper_call() {
  if (random_.chance(20)) {  // halves
    const ValueId x = value(Type::F32);
    const int how = random_.below(3);
    return see(how == 0 ? b_.unary(OpCode::RoundHalf, Type::F32, x) : how == 1 ? b_.unary(OpCode::ToHalf, Type::U16, x) : b_.unary(OpCode::FromHalf, Type::F32, value(Type::U16)));
  }
  const auto helper = static_cast<ir::HelperId>(random_.below(ir::kHelperCount));
  if (ir::core_helpers().at(helper) == nullptr) return;
  const bool divides = helper == ir::HelperId::FloorDivF64 || helper == ir::HelperId::FloorModF64 || helper == ir::HelperId::FloorDivF32 ||
                       helper == ir::HelperId::FloorModF32;
  std::vector<ValueId> arguments;
  for (int k = 0; k < ir::helper_argument_count(helper); ++k) arguments.push_back(value(ir::helper_argument_type(helper, k)));
  if (divides) {
    const Type type = ir::helper_argument_type(helper, 1);
    const ValueId good = b_.binary(OpCode::Ne, type, arguments[1], b_.const_bits(type, 0));
    arguments[1] = b_.select(type, good, arguments[1], b_.const_bits(type, float_bits(type, 0.75)));
  }
  ir::Op* call = b_.append(OpCode::Call, ir::helper_result_type(helper), arguments);
  call->imm = static_cast<int64_t>(helper);
  see(call->result());
}

void Generator::leave_check() {
  static const std::vector<ir::ExitReason> kReasons = {ir::ExitReason::Path, ir::ExitReason::TypeChange, ir::ExitReason::Domain, ir::ExitReason::ZeroDivide};
  b_.guard(random_.chance(85) ? likely() : value(Type::I1), random_.pick(kReasons), snapshot());
}

// An index that is in range: checked by bound, or by arithmetic (the arrays have no empty axis).
ValueId Generator::element_index(size_t array, int axis, ValueId pointer) {
  (void)array;
  const ValueId n = b_.arr_dim(pointer, axis);
  if (!loop_variables_.empty() && random_.chance(60)) {
    const ValueId i = random_.pick(loop_variables_);
    const int64_t offset = random_.chance(60) ? 0 : random_.below(5) - 2;
    const ValueId sum = offset == 0 ? i : random_.chance(50) ? b_.binary(OpCode::Add, Type::I64, i, b_.const_i64(offset))
                                                             : b_.checked(OpCode::AddO, Type::I64, {i, b_.const_i64(offset)}, snapshot());
    return b_.checked(OpCode::Bound, Type::I64, {sum, n}, snapshot());
  }
  if (random_.chance(60)) {
    const ValueId i = random_.chance(80) ? small_int(random_.chance(60) ? 1 : 3) : value(Type::I64);
    return b_.checked(OpCode::Bound, Type::I64, {i, n}, snapshot());
  }
  return b_.binary(OpCode::FloorMod, Type::I64, value(Type::I64), n);
}

void Generator::array_op() {
  if (array_uses_.empty()) return arithmetic();
  const size_t which = static_cast<size_t>(random_.below(static_cast<int>(array_uses_.size())));
  const ArrayUse& use = array_uses_[which];
  if (options_.addresses && random_.chance(50)) return raw_memory(which);
  if (random_.chance(10)) return see(random_.chance(50) ? b_.arr_dim(use.pointer, 0) : b_.arr_stride(use.pointer, use.axes - 1));
  ValueId pointer = use.pointer;
  for (const ArrayUse& other : array_uses_) {  // sometimes one of two arrays
    if (other.type == use.type && other.pointer != pointer && random_.chance(30)) pointer = b_.select(Type::Ptr, value(Type::I1), pointer, other.pointer);
  }
  std::vector<ValueId> indices;
  for (int axis = 0; axis < use.axes; ++axis) indices.push_back(element_index(which, axis, pointer));
  const ir::PyKind elem = f_.array_types[use.type].elem;
  const int part = random_.below(ir::pykind_info(elem).parts);
  if (random_.chance(55)) return see(b_.aload(use.type, pointer, indices, part));
  b_.astore(use.type, pointer, value(ir::element_type(elem)), indices, part);
}

// What address lowering makes: the element's address from the data pointer, for the first axis with an index, zero in the others.
void Generator::raw_memory(size_t which) {
  const ArrayUse& use = array_uses_[which];
  const Type type = ir::element_type(f_.array_types[use.type].elem);
  const int size = ir::element_size(f_.array_types[use.type].elem);
  const ValueId i = element_index(which, 0, use.pointer);
  const ValueId data = b_.arr_data(use.pointer);
  std::vector<ValueId> operands;
  ir::Op* op = nullptr;
  const bool is_store = random_.chance(40);
  const bool scaled = f_.array_types[use.type].strides[0] == ir::Stride::kItem && size <= 8;
  const int64_t displacement = random_.chance(30) ? 1 + random_.below(40) : 0;
  if (scaled) {
    const ValueId moved = b_.binary(OpCode::PtrAdd, Type::Ptr, data, b_.const_i64(-displacement));
    operands = {displacement != 0 ? moved : data, i};
  } else {
    const ValueId offset = b_.binary(OpCode::Mul, Type::I64, i, b_.arr_stride(use.pointer, 0));
    operands = {b_.binary(OpCode::PtrAdd, Type::Ptr, data, offset), b_.const_i64(-displacement)};
  }
  if (is_store) operands.push_back(value(type));
  op = b_.append(is_store ? OpCode::Store : OpCode::Load, type, operands);
  op->access = scaled ? static_cast<uint32_t>(size) : 1;
  op->imm = displacement;
  if (!is_store) see(op->result());
}

std::vector<Type> Generator::some_types(int most) {
  std::vector<Type> types;
  for (int k = random_.below(most + 1); k > 0; --k) types.push_back(random_.pick(kScalars));
  return types;
}

std::vector<ValueId> Generator::values(const std::vector<Type>& types) {
  std::vector<ValueId> out;
  for (Type type : types) out.push_back(value(type));
  return out;
}

void Generator::fill_block(int most) {
  for (int k = 1 + random_.below(most); k > 0 && budget_ > 0; --k) statement();
}

// Ends the current block: yield [cont,] values, or sometimes exit.
bool Generator::block_end(ir::Block* block, const std::vector<Type>& types, ValueId cont, int exit_percent) {
  (void)block;
  if (random_.chance(exit_percent)) {
    b_.exit(random_.chance(50) ? ir::ExitReason::Path : ir::ExitReason::Left, snapshot());
    return false;
  }
  std::vector<ValueId> out = values(types);
  if (cont != ir::kNoValue) out.insert(out.begin(), cont);
  b_.yield(out);
  return true;
}

void Generator::if_statement() {
  const std::vector<Type> types = some_types(3);
  ir::Block* parent = b_.block();
  ir::Op* op = b_.if_(random_.chance(80) ? value(Type::I1) : likely(), types);
  const size_t scope = visible_.size();
  ++depth_;
  for (ir::Block* block : op->blocks) {
    b_.set_block(block);
    fill_block(8);
    block_end(block, types, ir::kNoValue, 8);
    visible_.resize(scope);
  }
  --depth_;
  b_.set_block(parent);
  for (ValueId v : op->results) see(v);
}

// The loops of real programs: over an axis, or all but its ends, or backwards.
void Generator::array_bounds(ValueId* lo, ValueId* hi, ValueId* step) {
  const ArrayUse& use = random_.pick(array_uses_);
  const ValueId n = b_.arr_dim(use.pointer, random_.below(use.axes));
  const ValueId inner = random_.chance(50) ? n : b_.binary(OpCode::Sub, Type::I64, n, b_.const_i64(random_.below(3)));
  const bool up = random_.chance(75);
  *lo = up ? (random_.chance(60) || loop_variables_.empty() ? b_.const_i64(random_.below(3)) : b_.binary(OpCode::And, Type::I64, random_.pick(loop_variables_), b_.const_i64(7)))
           : b_.binary(OpCode::Sub, Type::I64, inner, b_.const_i64(1));
  *hi = up ? inner : b_.const_i64(random_.chance(70) ? -1 : 0);
  *step = b_.const_i64((up ? 1 : -1) * (random_.chance(85) ? 1 : 2));
}

void Generator::for_statement() {
  if (!array_uses_.empty() && random_.chance(50)) {
    ValueId lo, hi, step;
    array_bounds(&lo, &hi, &step);
    return for_loop(lo, hi, step);
  }
  // Few trips whatever lo is: hi lies a small distance behind it in the direction of step, and where that wraps there is no trip at all. With
  // step and distance of unrelated signs lo must be far from the ends.
  const bool unrelated = random_.chance(15);
  const ValueId lo = unrelated || random_.chance(50) ? small_int(3) : value(Type::I64);
  const int64_t width = random_.chance(80) ? 1 + random_.below(3) : int64_t{1} << (60 + random_.below(2));
  const int64_t sign = random_.chance(70) ? 1 : -1;
  ValueId step = b_.const_i64(sign * width);
  ValueId distance = b_.const_i64(width > 4 ? sign * std::numeric_limits<int64_t>::max() : sign * random_.below(12));
  if (unrelated) {
    step = b_.select(Type::I64, value(Type::I1), b_.const_i64(1), b_.const_i64(-2));
    distance = b_.select(Type::I64, value(Type::I1), b_.const_i64(4), b_.const_i64(-5));
  }
  const ValueId hi = !unrelated && width > 4 && random_.chance(50) ? b_.const_i64(sign > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min())
                                                     : b_.binary(OpCode::Add, Type::I64, lo, distance);
  for_loop(lo, hi, step);
}

void Generator::for_loop(ValueId lo, ValueId hi, ValueId step) {
  const std::vector<Type> types = some_types(4);
  ir::Block* parent = b_.block();
  const ir::SnapshotId before = random_.chance(60) ? snapshot() : ir::kNoSnapshot;
  ir::Op* op = b_.for_(lo, hi, step, values(types), before);
  const size_t scope = visible_.size();
  ++depth_;
  b_.set_block(op->blocks[0]);
  for (ValueId v : op->blocks[0]->params) see(v);
  if (random_.chance(50)) b_.poll(snapshot());
  loop_variables_.push_back(op->blocks[0]->params[0]);
  if (!array_uses_.empty() && random_.chance(60)) {
    for (int k = 1 + random_.below(4); k > 0; --k) array_op();
  }
  fill_block(12);
  loop_variables_.pop_back();
  block_end(op->blocks[0], types, random_.chance(70) ? b_.const_i1(true) : likely(), 3);
  visible_.resize(scope);
  --depth_;
  b_.set_block(parent);
  for (ValueId v : op->results) see(v);
}

void Generator::loop_statement() {
  std::vector<Type> types = some_types(4);
  ir::Block* parent = b_.block();
  const ir::SnapshotId before = random_.chance(60) ? snapshot() : ir::kNoSnapshot;
  std::vector<ValueId> initial = values(types);
  types.push_back(Type::I64);  // counts the trips
  initial.push_back(b_.const_i64(0));
  ir::Op* op = b_.loop_(initial, before);
  const size_t scope = visible_.size();
  ++depth_;
  b_.set_block(op->blocks[0]);
  const std::vector<ValueId>& params = op->blocks[0]->params;
  const ValueId counter = params.back();
  for (ValueId v : params) see(v);
  if (random_.chance(50)) b_.poll(snapshot());
  fill_block(12);
  const ValueId next = b_.binary(OpCode::Add, Type::I64, counter, b_.const_i64(1));
  const ValueId more = b_.binary(OpCode::Lt, Type::I64, next, b_.const_i64(1 + random_.below(6)));
  const ValueId cont = random_.chance(50) ? more : b_.binary(OpCode::And, Type::I1, more, likely());
  if (random_.chance(3)) {
    b_.exit(ir::ExitReason::Left, snapshot());
  } else {
    std::vector<ValueId> out = {cont};
    for (size_t k = 0; k + 1 < types.size(); ++k) out.push_back(value(types[k]));
    out.push_back(next);
    b_.yield(out);
  }
  visible_.resize(scope);
  --depth_;
  b_.set_block(parent);
  for (ValueId v : op->results) see(v);
}

int64_t random_float_cell(Random& random, Type type) {
  static const std::vector<double> kCorners = {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 1e300, -1e300, 1e-300, 3.4e38, 1e-40, 9007199254740993.0,
                                               9223372036854775808.0, -9223372036854775808.0, 4294967296.0, 127.5, -128.5,
                                               std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                                               std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::denorm_min(),
                                               std::numeric_limits<double>::min(), std::numeric_limits<double>::max()};
  const int dice = random.below(100);
  if (dice < 45) return float_bits(type, static_cast<double>(random.below(41) - 20) / 4);
  if (dice < 75) return float_bits(type, random.pick(kCorners));
  if (dice < 95) return float_bits(type, std::ldexp(static_cast<double>(random.next() >> 11), random.below(80) - 90));
  const uint64_t bits = random.next();
  return type == Type::F64 ? static_cast<int64_t>(bits) : static_cast<int64_t>(static_cast<uint32_t>(bits));  // NaNs with payloads, denormals
}

}  // namespace

int64_t random_cell(Random& random, Type type) {
  if (type == Type::I1) return random.below(2);
  if (ir::is_float(type)) return random_float_cell(random, type);
  static const std::vector<int64_t> kCorners = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min() + 1,
                                                int64_t{1} << 31, int64_t{1} << 32, (int64_t{1} << 53) + 1, -(int64_t{1} << 31), 127, 128, 255, 256, 32767, 32768,
                                                65535, 65536, -128, -129, (int64_t{1} << 32) - 1, (int64_t{1} << 31) - 1};
  const int dice = random.below(100);
  if (dice < 65) return canonical(type, random.below(21) - (ir::is_signed(type) ? 8 : 0));
  if (dice < 90) return canonical(type, random.pick(kCorners));
  return canonical(type, static_cast<int64_t>(random.next()));
}

RandomCase random_case(uint64_t seed, const RandomOptions& options) { return Generator(seed, options).run(); }

}  // namespace hotloop::test
