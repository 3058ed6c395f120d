// Random structured programs, by machine code and by the evaluator: nested ifs, loops and fors, guards with many live values, carried
// values that change places, booleans that steer the next `if`, arms that leave, loads and stores, spills, forced exits.
// The seed range is fixed, so that a failure is found again; HOTLOOP_FUZZ_SEEDS=FROM:TO runs another one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "codegen/x86.h"
#include "ir/builder.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "ir_run.h"

namespace hotloop {
namespace {
using namespace ir;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::unique_ptr<Function> make() {
    function_ = std::make_unique<Function>();
    Function& f = *function_;
    f.add_object(nullptr, "code");
    f.body = f.new_block();
    builder_ = std::make_unique<Builder>(f);
    builder_->set_block(f.body);
    add_input(PyKind::Int, Type::I64);
    add_input(PyKind::NpInt64, Type::I64);
    add_input(PyKind::NpInt32, Type::I32);
    add_input(PyKind::NpUint8, Type::U8);
    add_input(PyKind::Float, Type::F64);
    add_input(PyKind::NpFloat64, Type::F64);
    add_input(PyKind::NpFloat32, Type::F32);
    add_input(PyKind::NpBool, Type::I1);
    int_array_ = add_array(PyKind::NpInt64);
    float_array_ = add_array(PyKind::NpFloat64);
    budget_ = 20 + pick(120);
    body(0, 6 + pick(14));
    builder_->exit(ExitReason::Finished, snapshot());
    return std::move(function_);
  }

 private:
  using Scope = std::map<Type, std::vector<ValueId>>;

  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool chance(uint32_t percent) { return pick(100) < percent; }
  Builder& b() { return *builder_; }

  void add_input(PyKind kind, Type type) {
    Input input;
    input.slot = {SlotKind::kLocal, static_cast<uint32_t>(function_->inputs.size())};
    input.kind = kind;
    function_->inputs.push_back(input);
    ValueId value = function_->new_value(type);
    function_->body->params.push_back(value);
    scope_[type].push_back(value);
  }

  ValueId add_array(PyKind elem) {
    ArrayType type;
    type.elem = elem;
    type.strides = {Stride::kItem};
    type.writable = true;
    Input input;
    input.slot = {SlotKind::kLocal, static_cast<uint32_t>(function_->inputs.size())};
    input.kind = PyKind::Array;
    input.array_type = function_->intern_array_type(type);
    function_->inputs.push_back(input);
    ValueId value = function_->new_value(Type::Ptr);
    function_->body->params.push_back(value);
    return value;
  }

  ValueId any(Type type) {
    auto& values = scope_[type];
    if (values.empty() || chance(15)) return constant(type);
    // Recent values more often.
    size_t back = chance(60) ? pick(static_cast<uint32_t>(std::min<size_t>(values.size(), 4))) : pick(static_cast<uint32_t>(values.size()));
    return values[values.size() - 1 - back];
  }

  ValueId constant(Type type) {
    switch (type) {
      case Type::I1: return b().const_i1(chance(50));
      case Type::F64: return b().const_f64(kFloats[pick(std::size(kFloats))]);
      case Type::F32: return b().const_f32(static_cast<float>(kFloats[pick(std::size(kFloats))]));
      case Type::I32: return b().const_bits(type, static_cast<int32_t>(pick(200)) - 100);
      case Type::U8: return b().const_bits(type, pick(256));
      default: return b().const_i64(chance(20) ? static_cast<int64_t>(random_() * UINT64_C(0x9e3779b97f4a7c15)) : static_cast<int64_t>(pick(40)) - 20);
    }
  }

  Type some_type() {
    static constexpr Type kTypes[] = {Type::I64, Type::I64, Type::F64, Type::F64, Type::I32, Type::U8, Type::F32, Type::I1};
    return kTypes[pick(std::size(kTypes))];
  }

  static PyKind kind_of(Type type) {
    switch (type) {
      case Type::I1: return PyKind::NpBool;
      case Type::I32: return PyKind::NpInt32;
      case Type::U8: return PyKind::NpUint8;
      case Type::F32: return PyKind::NpFloat32;
      case Type::F64: return PyKind::Float;
      default: return PyKind::Int;
    }
  }

  SnapshotId snapshot() {
    if (last_snapshot_ != kNoSnapshot && chance(20)) return last_snapshot_;
    Snapshot snapshot;
    FrameState frame;
    frame.code = 0;
    uint32_t slots = pick(12);
    for (uint32_t k = 0; k < slots; ++k) {
      Type type = some_type();
      SlotValue slot;
      slot.slot = {SlotKind::kLocal, k};
      slot.value.kind = kind_of(type);
      slot.value.values = {any(type)};
      frame.slots.push_back(slot);
    }
    snapshot.frames.push_back(frame);
    function_->snapshots.push_back(snapshot);
    return last_snapshot_ = static_cast<SnapshotId>(function_->snapshots.size() - 1);
  }

  void put(Type type, ValueId value) { scope_[type].push_back(value); }

  ValueId condition() {
    if (chance(25) && !scope_[Type::I1].empty()) return any(Type::I1);
    if (chance(10)) {  // any byte of the integers' memory: 0 or not 0
      ValueId operands[] = {b().arr_data(int_array_), index()};
      Op* op = b().append(OpCode::Load, Type::I1, operands);
      op->access = 8;
      return op->result();
    }
    if (chance(15)) {
      ValueId finite = b().unary(OpCode::IsFinite, Type::F64, any(Type::F64));
      return chance(50) ? finite : b().unary(OpCode::Not, Type::I1, finite);
    }
    static constexpr OpCode kCompares[] = {OpCode::Eq, OpCode::Ne, OpCode::Lt, OpCode::Le, OpCode::Gt, OpCode::Ge};
    Type type = some_type();
    if (type == Type::I1) return b().unary(OpCode::Not, type, any(type));
    ValueId value = b().binary(kCompares[pick(6)], type, any(type), any(type));
    if (chance(20)) value = b().binary(chance(50) ? OpCode::And : OpCode::Or, Type::I1, value, any(Type::I1));
    if (chance(50)) put(Type::I1, value);
    return value;
  }

  ValueId index() { return b().binary(OpCode::And, Type::I64, any(Type::I64), b().const_i64(7)); }

  void simple_op() {
    switch (pick(16)) {
      case 0: case 1: {
        static constexpr OpCode kOps[] = {OpCode::Add, OpCode::Sub, OpCode::Mul, OpCode::And, OpCode::Or, OpCode::Xor};
        static constexpr Type kTypes[] = {Type::I64, Type::I64, Type::I32, Type::U8};
        Type type = kTypes[pick(4)];
        put(type, b().binary(kOps[pick(6)], type, any(type), any(type)));
        break;
      }
      case 2: case 3: case 4: {
        static constexpr OpCode kOps[] = {OpCode::Add, OpCode::Sub, OpCode::Mul, OpCode::Div};
        Type type = chance(80) ? Type::F64 : Type::F32;
        put(type, b().binary(kOps[pick(4)], type, any(type), any(type)));
        break;
      }
      case 5: {
        static constexpr OpCode kOps[] = {OpCode::Neg, OpCode::Abs, OpCode::Sqrt, OpCode::Floor, OpCode::Trunc};
        put(Type::F64, b().unary(kOps[pick(5)], Type::F64, any(Type::F64)));
        break;
      }
      case 6: put(Type::I1, condition()); break;
      case 7: {
        Type type = some_type();
        put(type, b().select(type, condition(), any(type), any(type)));
        break;
      }
      case 8: {
        static constexpr std::pair<Type, Type> kPairs[] = {{Type::I64, Type::F64}, {Type::I64, Type::I32}, {Type::I32, Type::I64}, {Type::U8, Type::I64},
                                                           {Type::I64, Type::U8}, {Type::I1, Type::I64}, {Type::F32, Type::F64}, {Type::F64, Type::F32},
                                                           {Type::I1, Type::F64}, {Type::I64, Type::I1}, {Type::F64, Type::I1}};
        auto [from, to] = kPairs[pick(std::size(kPairs))];
        put(to, b().conv(to, any(from)));
        break;
      }
      case 9: case 10: {
        static constexpr OpCode kOps[] = {OpCode::AddO, OpCode::SubO, OpCode::MulO};
        Type type = chance(70) ? Type::I64 : chance(50) ? Type::I32 : Type::U8;
        // Small operands, so that most do not leave.
        ValueId left = any(type);
        if (chance(80)) left = b().binary(OpCode::And, type, left, b().const_bits(type, 15));
        put(type, b().checked(kOps[pick(3)], type, {left, b().const_bits(type, pick(4))}, snapshot()));
        break;
      }
      case 11: {
        ValueId guarded = b().binary(OpCode::Ne, Type::I64, any(Type::I64), b().const_i64(static_cast<int64_t>(pick(40)) - 20));
        b().guard(guarded, ExitReason::Path, snapshot());
        break;
      }
      case 12: put(Type::F64, load()); break;
      case 13: store(); break;
      case 14: {
        ValueId result = any(Type::F64);
        b().fcheck(Type::F64, result, {any(Type::F64), any(Type::F64)}, snapshot());
        break;
      }
      default: {
        ValueId i = b().binary(OpCode::Sub, Type::I64, index(), b().const_i64(4));
        put(Type::I64, b().checked(OpCode::Bound, Type::I64, {i, b().const_i64(8)}, snapshot()));
        break;
      }
    }
  }

  ValueId load() {
    ValueId at[] = {index()};
    if (chance(50)) {
      ValueId value = b().aload(function_->inputs[8].array_type, int_array_, at);
      put(Type::I64, value);
    }
    if (chance(50)) return b().aload(function_->inputs[9].array_type, float_array_, at);
    ValueId operands[] = {b().arr_data(float_array_), at[0]};
    Op* op = b().append(OpCode::Load, Type::F64, operands);
    op->access = 8;
    // Often multiplied at once: a memory operand.
    return chance(50) ? b().binary(OpCode::Mul, Type::F64, any(Type::F64), op->result()) : op->result();
  }

  void store() {
    ValueId at[] = {index()};
    if (chance(50)) {
      b().astore(function_->inputs[8].array_type, int_array_, any(Type::I64), at);
    } else if (chance(50)) {
      b().astore(function_->inputs[9].array_type, float_array_, any(Type::F64), at);
    } else {
      ValueId operands[] = {b().arr_data(float_array_), at[0], any(Type::F64)};
      Op* op = b().append(OpCode::Store, Type::F64, operands);
      op->access = 8;
    }
  }

  std::vector<Type> some_types(uint32_t most) {
    std::vector<Type> types(pick(most + 1));
    for (Type& type : types) type = some_type();
    return types;
  }

  void arm(Block* block, const std::vector<Type>& types, int depth, uint32_t ops, bool may_exit) {
    b().set_block(block);
    Scope saved = scope_;
    body(depth + 1, ops);
    if (may_exit && chance(12)) {
      b().exit(ExitReason::Left, snapshot());
    } else {
      std::vector<ValueId> values;
      for (Type type : types) values.push_back(type == Type::I1 && chance(60) ? b().const_i1(chance(50)) : any(type));
      b().yield(values);
    }
    scope_ = saved;
    last_snapshot_ = kNoSnapshot;
  }

  Op* make_if(ValueId condition, const std::vector<Type>& types, int depth, bool may_exit) {
    Block* parent = b().block();
    Op* op = b().if_(condition, types);
    bool one = chance(50);
    arm(op->blocks[0], types, depth, pick(5), may_exit && one);
    arm(op->blocks[1], types, depth, pick(5), may_exit && !one);
    b().set_block(parent);
    for (size_t k = 0; k < types.size(); ++k) put(types[k], op->results[k]);
    return op;
  }

  // Yields of a loop body: the carried values in any order, changed or not; whether to go on.
  void loop_yield(const std::vector<Type>& types, ValueId may_go_on, int depth, bool counted) {
    std::vector<ValueId> carried;
    if (!counted && chance(40)) {  // a flag out of an `if` that picks the old or the new values and ends the loop
      std::vector<Type> all = types;
      all.insert(all.begin(), Type::I1);
      Op* op = make_if(condition(), all, depth, true);
      for (Block* block : op->blocks) {
        Op* last = block->ops.back();
        if (last->code != OpCode::Yield || chance(15)) continue;
        b().set_block(block);
        block->ops.pop_back();
        last->operands[0] = b().const_i1(chance(50));
        block->ops.push_back(last);
      }
      b().set_block(body_block_);
      for (size_t k = 0; k < types.size(); ++k) {
        ValueId old = any(types[k]);
        carried.push_back(chance(70) ? b().select(types[k], op->results[0], old, op->results[k + 1]) : op->results[k + 1]);
        if (chance(20)) carried.back() = b().select(types[k], op->results[0], carried.back(), any(types[k]));
      }
      carried.insert(carried.begin(), chance(60) ? b().unary(OpCode::Not, Type::I1, op->results[0]) : op->results[0]);
      b().yield(carried);
      return;
    }
    if (chance(40)) {  // through a last `if`, often with a constant answer in its arms
      std::vector<Type> all = types;
      all.insert(all.begin(), Type::I1);
      ValueId ask = chance(50) ? condition() : may_go_on;
      Op* op = make_if(ask, all, depth, true);
      ValueId go_on = op->results[0];
      if (chance(30)) {
        go_on = b().binary(OpCode::And, Type::I1, go_on, may_go_on);
      } else {
        // The arms decide; the bound on trips must still hold.
        for (Block* block : op->blocks) {
          Op* last = block->ops.back();
          if (last->code != OpCode::Yield) continue;
          b().set_block(block);
          block->ops.pop_back();
          ValueId limited = chance(50) ? b().const_i1(false) : may_go_on;
          last->operands[0] = limited;
          block->ops.push_back(last);
        }
        b().set_block(body_block_);
      }
      carried.push_back(go_on);
      for (size_t k = 0; k < types.size(); ++k) carried.push_back(chance(85) ? op->results[k + 1] : any(types[k]));
    } else {
      carried.push_back(chance(70) ? may_go_on : b().binary(OpCode::And, Type::I1, may_go_on, condition()));
      for (Type type : types) carried.push_back(any(type));
    }
    b().yield(carried);
  }

  void make_loop(int depth, uint32_t ops) {
    Block* parent = b().block();
    std::vector<Type> types = some_types(4);
    std::vector<ValueId> initial;
    for (Type type : types) initial.push_back(any(type));
    types.push_back(Type::I64);
    initial.push_back(b().const_i64(0));
    Op* op = b().loop_(initial, kNoSnapshot);
    b().set_block(op->blocks[0]);
    Scope saved = scope_;
    for (size_t k = 0; k + 1 < types.size(); ++k) put(types[k], op->blocks[0]->params[k]);
    last_snapshot_ = kNoSnapshot;
    if (chance(50)) b().poll(snapshot());
    body(depth + 1, ops);
    ValueId next = b().binary(OpCode::Add, Type::I64, op->blocks[0]->params.back(), b().const_i64(1));
    ValueId more = b().binary(OpCode::Lt, Type::I64, next, b().const_i64(1 + pick(5)));
    types.pop_back();
    counter_ = next;
    finish_loop_body(op, types, more, depth, true);
    scope_ = saved;
    last_snapshot_ = kNoSnapshot;
    b().set_block(parent);
    for (size_t k = 0; k < types.size(); ++k) put(types[k], op->results[k]);
  }

  void finish_loop_body(Op* op, const std::vector<Type>& types, ValueId more, int depth, bool counted) {
    Block* saved_block = body_block_;
    body_block_ = op->blocks[0];
    ValueId next = counter_;
    loop_yield(types, more, depth, counted);
    if (counted) op->blocks[0]->ops.back()->operands.push_back(next);
    body_block_ = saved_block;
  }

  void make_for(int depth, uint32_t ops) {
    Block* parent = b().block();
    std::vector<Type> types = some_types(4);
    std::vector<ValueId> initial;
    for (Type type : types) initial.push_back(any(type));
    ValueId lo = chance(40) ? b().const_i64(pick(3)) : b().binary(OpCode::And, Type::I64, any(Type::I64), b().const_i64(7));
    ValueId hi = chance(40) ? b().const_i64(pick(7)) : b().binary(OpCode::And, Type::I64, any(Type::I64), b().const_i64(7));
    if (chance(10)) {  // near the ends of the type
      lo = b().const_i64(INT64_MAX - 5 - static_cast<int64_t>(pick(4)));
      hi = b().const_i64(INT64_MAX - static_cast<int64_t>(pick(3)));
    } else if (chance(5)) {
      lo = b().const_i64(INT64_MIN + 5);
      hi = b().const_i64(INT64_MIN + static_cast<int64_t>(pick(3)));
    }
    static constexpr int64_t kSteps[] = {1, 1, 1, -1, 2, 3, -2, 7};
    ValueId step = b().const_i64(kSteps[pick(8)]);
    if (chance(20)) {
      ValueId any_step = b().binary(OpCode::And, Type::I64, any(Type::I64), b().const_i64(3));
      step = b().binary(OpCode::Sub, Type::I64, any_step, b().const_i64(4));
      if (chance(50)) step = b().unary(OpCode::Neg, Type::I64, step);
    }
    Op* op = b().for_(lo, hi, step, initial, kNoSnapshot);
    b().set_block(op->blocks[0]);
    Scope saved = scope_;
    for (size_t k = 0; k < types.size(); ++k) put(types[k], op->blocks[0]->params[k + 1]);
    put(Type::I64, op->blocks[0]->params[0]);
    if (chance(60)) put(Type::I64, b().binary(chance(70) ? OpCode::Add : OpCode::Sub, Type::I64, op->blocks[0]->params[0], step));
    last_snapshot_ = kNoSnapshot;
    if (chance(50)) b().poll(snapshot());
    body(depth + 1, ops);
    ValueId more = chance(60) ? b().const_i1(true) : condition();
    finish_loop_body(op, types, more, depth, false);
    scope_ = saved;
    last_snapshot_ = kNoSnapshot;
    b().set_block(parent);
    for (size_t k = 0; k < types.size(); ++k) put(types[k], op->results[k]);
  }

  void body(int depth, uint32_t ops) {
    for (uint32_t k = 0; k < ops && budget_ > 0; ++k) {
      --budget_;
      uint32_t what = pick(100);
      if (depth < 4 && what < 8) {
        make_if(condition(), some_types(3), depth, true);
      } else if (depth < 4 && what < 14) {  // a boolean out of one `if` steers the next
        std::vector<Type> types = some_types(2);
        types.push_back(Type::I1);
        Op* first = make_if(condition(), types, depth, true);
        make_if(first->results.back(), some_types(3), depth, true);
      } else if (depth < 3 && what < 20) {
        make_loop(depth, 2 + pick(8));
      } else if (depth < 3 && what < 28) {
        make_for(depth, 2 + pick(8));
      } else {
        simple_op();
      }
    }
  }

  static constexpr double kFloats[] = {0.0, -0.0, 1.0, 0.5, -1.5, 3.25, 1e10, 1e300};

  std::mt19937 random_;
  std::unique_ptr<Function> function_;
  std::unique_ptr<Builder> builder_;
  Scope scope_;
  ValueId int_array_ = kNoValue, float_array_ = kNoValue, counter_ = kNoValue;
  Block* body_block_ = nullptr;
  SnapshotId last_snapshot_ = kNoSnapshot;
  uint32_t budget_ = 0;
};

void check_seed(uint32_t seed, bool baseline, bool force) {
  std::unique_ptr<Function> function = Generator(seed).make();
  std::string broken = verify(*function);
  ASSERT_EQ(broken, "") << "seed " << seed << "\n" << print(*function);
  auto exits = enumerate_exits(*function);
  codegen::CodegenOptions options;
  options.isa = baseline ? codegen::Isa::kSse2 : codegen::Isa::kNative;
  options.force_exits = force;
  options.validate = true;
  auto code = codegen::compile(*function, core_helpers(), options);
  if (!code) {
    options.want_asm = true;
    auto again = codegen::compile(*function, core_helpers(), options);
    FAIL() << "seed " << seed << " " << code.refusal().message() << print(*function) << again.refusal().message();
  }
  test::TestArray ints("a", PyKind::NpInt64, {8}, {8}), floats("b", PyKind::NpFloat64, {8}, {8});
  std::mt19937 random(seed);
  for (int round = 0; round < 6; ++round) {
    for (int k = 0; k < 8; ++k) {
      ints.set_item(k, static_cast<int64_t>(random() % 50) - 25);
      floats.set_item(k, std::bit_cast<int64_t>(static_cast<double>(random() % 1000) / 7 - 50));
    }
    test::RunInputs inputs;
    inputs.arrays = {&ints, &floats};
    auto number = [&] { return static_cast<double>(random() % 1000) / 8 - 60; };
    inputs.in = {static_cast<int64_t>(random() % 30) - 15, round == 5 ? INT64_MAX : static_cast<int64_t>(random() % 2000) - 1000,
                 static_cast<int64_t>(random() % 100) - 50, static_cast<int64_t>(random() % 256), std::bit_cast<int64_t>(number()),
                 std::bit_cast<int64_t>(round == 4 ? std::numeric_limits<double>::quiet_NaN() : number()),
                 std::bit_cast<int32_t>(static_cast<float>(number())), static_cast<int64_t>(random() % 2), ints.address(), floats.address()};
    if (force) inputs.force_countdown = 1 + random() % 30;
    inputs.breaker = round == 3 && seed % 4 == 0;
    auto expected = test::run(*function, exits, test::evaluator_entry(*function), inputs);
    auto got = test::run(*function, exits, (*code)->entry(), inputs);
    std::string wrong = test::difference(expected, got, true);
    ASSERT_EQ(wrong, "") << "seed " << seed << " round " << round << (baseline ? " sse2" : "") << (force ? " forced" : "") << "\n" << print(*function);
  }
}

TEST(CodegenFuzz, RandomPrograms) {
  uint32_t from = 1, to = 400;
  if (const char* range = std::getenv("HOTLOOP_FUZZ_SEEDS")) {
    char* end = nullptr;
    from = static_cast<uint32_t>(std::strtoul(range, &end, 10));
    to = *end == ':' ? static_cast<uint32_t>(std::strtoul(end + 1, nullptr, 10)) : from;
  }
  for (uint32_t seed = from; seed <= to; ++seed) {
    check_seed(seed, false, false);
    check_seed(seed, false, true);
    if (seed % 3 == 0) check_seed(seed, true, seed % 2 == 0);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hotloop
