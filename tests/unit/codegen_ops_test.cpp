// Every op of the table, on every type it has and on the values where its answer changes, by machine code and by the evaluator.
// Each op is compiled four ways: operands in registers, first operand constant, second operand constant, and as part of a loop body
// under register pressure; with AVX encodings and with SSE2 alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "codegen/x86.h"
#include "ir/builder.h"
#include "ir/evaluator.h"
#include "ir/text.h"
#include "ir/verifier.h"

namespace hotloop {
namespace {
using namespace ir;

PyKind kind_of(Type type) {
  switch (type) {
    case Type::I1: return PyKind::NpBool;
    case Type::I8: return PyKind::NpInt8;
    case Type::I16: return PyKind::NpInt16;
    case Type::I32: return PyKind::NpInt32;
    case Type::I64: return PyKind::NpInt64;
    case Type::U8: return PyKind::NpUint8;
    case Type::U16: return PyKind::NpUint16;
    case Type::U32: return PyKind::NpUint32;
    case Type::U64: return PyKind::NpUint64;
    case Type::F32: return PyKind::NpFloat32;
    default: return PyKind::NpFloat64;
  }
}

constexpr Type kInts[] = {Type::I8, Type::I16, Type::I32, Type::I64, Type::U8, Type::U16, Type::U32, Type::U64};
constexpr Type kFloats[] = {Type::F32, Type::F64};
constexpr Type kAll[] = {Type::I1, Type::I8, Type::I16, Type::I32, Type::I64, Type::U8, Type::U16, Type::U32, Type::U64, Type::F32, Type::F64};

int64_t cell(Type type, int64_t value) {
  switch (type) {
    case Type::I1: return value & 1;
    case Type::I8: return static_cast<int8_t>(value);
    case Type::I16: return static_cast<int16_t>(value);
    case Type::I32: return static_cast<int32_t>(value);
    case Type::U8: return static_cast<uint8_t>(value);
    case Type::U16: return static_cast<uint16_t>(value);
    case Type::U32: return static_cast<uint32_t>(value);
    default: return value;
  }
}

int64_t float_cell(Type type, double value) {
  if (type == Type::F64) return std::bit_cast<int64_t>(value);
  return static_cast<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(value)));
}

std::vector<int64_t> values_of(Type type) {
  std::vector<int64_t> values;
  auto add = [&](int64_t value) {
    for (int64_t old : values) {
      if (old == value) return;
    }
    values.push_back(value);
  };
  if (is_float(type)) {
    const double inf = std::numeric_limits<double>::infinity();
    for (double v : {0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 100.0, 1e30, -1e30, 1e-40, 4503599627370497.5, inf, -inf}) add(float_cell(type, v));
    add(float_cell(type, std::numeric_limits<double>::quiet_NaN()));
    if (type == Type::F64) {
      for (double v : {1e308, -1e308, 5e-324, 0.1, 9.2e18, 1.0e19}) add(float_cell(type, v));
    }
    return values;
  }
  for (int64_t v : {0, 1, 2, 3, 5, 7, 8, 16, -1, -2, -3, -7, -8, 100}) add(cell(type, v));
  if (type == Type::I1) return {0, 1};
  int bits = 8 * type_size(type);
  for (int64_t v : {-1, 0, 1}) {
    add(cell(type, static_cast<int64_t>((UINT64_C(1) << (bits - 1)) + static_cast<uint64_t>(v))));
    add(cell(type, static_cast<int64_t>((UINT64_C(1) << (bits / 2)) + static_cast<uint64_t>(v))));
  }
  if (bits == 64) {
    for (int64_t v : {INT64_C(0x123456789abcdef0), INT64_C(0x7fffffff), INT64_C(0x80000000), INT64_C(0xffffffff), INT64_C(0x20000000000001)}) add(v);
  }
  return values;
}

double as_double(Type type, int64_t bits) {
  if (type == Type::F64) return std::bit_cast<double>(bits);
  if (type == Type::F32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return type == Type::U64 ? static_cast<double>(static_cast<uint64_t>(bits)) : static_cast<double>(bits);
}

// Whether ops.def allows the op on these operands.
bool allowed(OpCode code, Type type, const std::vector<int64_t>& operands) {
  switch (code) {
    case OpCode::FloorDiv:
    case OpCode::FloorMod:
      if (is_float(type)) return as_double(type, operands[1]) != 0;
      if (operands[1] == 0) return false;
      if (code == OpCode::FloorMod || !is_signed(type) || operands[1] != -1) return true;
      return operands[0] != cell(type, static_cast<int64_t>(UINT64_C(1) << (8 * type_size(type) - 1)));
    case OpCode::Shl:
    case OpCode::Shr:
    case OpCode::ShlO:
      return static_cast<uint64_t>(operands[1]) < static_cast<uint64_t>(8 * type_size(type));
    default: return true;
  }
}

bool same_value(Type type, int64_t a, int64_t b) {
  if (type == Type::F64 && std::isnan(as_double(type, a)) && std::isnan(as_double(type, b))) return true;
  if (type == Type::F32) return static_cast<uint32_t>(a) == static_cast<uint32_t>(b) || (std::isnan(as_double(type, a)) && std::isnan(as_double(type, b)));
  return a == b;
}

constexpr int64_t kUntouched = 0x5a5a5a5a5a5a5a5a;

struct Outcome {
  uint32_t exit_id;
  uint32_t forced;
  std::vector<int64_t> out;
};

template <typename Entry>
Outcome run(const Function& function, const std::vector<ExitInfo>& exits, Entry&& entry, const std::vector<int64_t>& in, int64_t countdown = INT64_MAX) {
  std::vector<int64_t> out(64, kUntouched);
  uint8_t breaker = 0;
  Activation activation;
  activation.in = in.data();
  activation.out = out.data();
  activation.breaker = &breaker;
  activation.force_countdown = countdown;
  Outcome outcome;
  outcome.exit_id = entry(&activation);
  outcome.forced = activation.forced;
  if (outcome.exit_id < exits.size()) out.resize(snapshot_values(function.snapshots[exits[outcome.exit_id].snapshot]).size());
  outcome.out = out;
  return outcome;
}

// One op under test: its operand types, how often constants replace them, and the code around it.
struct Case {
  OpCode code;
  Type type;
  std::vector<Type> operand_types;
};

// Shape 0: plain. 1: in a loop body with many live values, the result carried.
struct Subject {
  std::unique_ptr<Function> function = std::make_unique<Function>();
  std::vector<ExitInfo> exits;
  std::vector<Type> out_types;
};

void add_input(Function& function, Type type, uint32_t slot) {
  Input input;
  input.slot = {SlotKind::kLocal, slot};
  input.kind = kind_of(type);
  function.inputs.push_back(input);
  function.body->params.push_back(function.new_value(type));
}

SnapshotId add_snapshot(Function& function, const std::vector<ValueId>& values) {
  Snapshot snapshot;
  FrameState frame;
  frame.code = 0;
  for (size_t k = 0; k < values.size(); ++k) {
    SlotValue slot;
    slot.slot = {SlotKind::kLocal, static_cast<uint32_t>(k)};
    slot.value.kind = kind_of(function.type_of(values[k]));
    slot.value.values = {values[k]};
    frame.slots.push_back(slot);
  }
  snapshot.frames.push_back(frame);
  function.snapshots.push_back(snapshot);
  return static_cast<SnapshotId>(function.snapshots.size() - 1);
}

ValueId to_i64(Builder& b, ValueId value) { return b.function().type_of(value) == Type::I64 ? value : b.conv(Type::I64, value); }

Subject build(const Case& c, const std::vector<int64_t>& constants, const std::vector<bool>& constant, int shape) {
  Subject subject;
  Function& f = *subject.function;
  f.add_object(nullptr, "code");
  f.body = f.new_block();
  Builder b(f);
  b.set_block(f.body);
  for (size_t k = 0; k < c.operand_types.size(); ++k) add_input(f, c.operand_types[k], static_cast<uint32_t>(k));
  std::vector<ValueId> operands;
  for (size_t k = 0; k < c.operand_types.size(); ++k) {
    operands.push_back(constant[k] ? b.const_bits(c.operand_types[k], constants[k]) : f.body->params[k]);
  }
  SnapshotId before = add_snapshot(f, f.body->params);
  auto emit = [&]() -> ValueId {
    if (has_effect(c.code, kExits)) {
      Op* op = b.append(c.code, c.type, operands);
      op->snapshot = before;
      if (c.code == OpCode::FCheck || c.code == OpCode::Guard) op->imm = static_cast<int64_t>(ExitReason::FpWarning);
      return op->result();
    }
    return b.append(c.code, c.type, operands)->result();
  };
  std::vector<ValueId> results;
  if (shape == 0) {
    ValueId result = emit();
    if (result != kNoValue) results.push_back(result);
    // Used once more, as a condition, so that comparisons are both fused and not.
    if (result != kNoValue && f.type_of(result) == Type::I1) {
      Type i64[] = {Type::I64};
      Op* branch = b.if_(result, i64);
      b.set_block(branch->blocks[0]);
      ValueId yes[] = {b.const_i64(1)};
      b.yield(yes);
      b.set_block(branch->blocks[1]);
      ValueId no[] = {b.const_i64(2)};
      b.yield(no);
      b.set_block(f.body);
      results.push_back(branch->result());
    }
  } else {
    // Many values alive around the op: twelve integers and twelve floats made before it and read after it.
    std::vector<ValueId> alive;
    ValueId seed = b.const_i64(3);
    for (int k = 0; k < 12; ++k) {
      ValueId first = c.operand_types.empty() || is_float(c.operand_types[0]) || c.operand_types[0] == Type::Ptr ? seed : to_i64(b, f.body->params[0]);
      alive.push_back(b.binary(OpCode::Xor, Type::I64, first, b.const_i64(k * 1000003)));
      alive.push_back(b.conv(Type::F64, alive.back()));
    }
    ValueId initial[] = {b.const_i64(0)};
    Op* loop = b.for_(b.const_i64(0), b.const_i64(3), b.const_i64(1), initial, kNoSnapshot);
    b.set_block(loop->blocks[0]);
    ValueId sum = loop->blocks[0]->params[1];
    ValueId result = emit();
    if (result != kNoValue) {
      Type type = f.type_of(result);
      if (type == Type::I1) {
        sum = b.select(Type::I64, result, b.binary(OpCode::Add, Type::I64, sum, b.const_i64(5)), sum);
      } else if (is_float(type)) {
        ValueId is_small = b.binary(OpCode::Lt, type, result, b.const_bits(type, float_cell(type, 1.0)));
        sum = b.binary(OpCode::Add, Type::I64, sum, b.conv(Type::I64, is_small));
      } else {
        sum = b.binary(OpCode::Add, Type::I64, sum, to_i64(b, result));
      }
    }
    for (ValueId value : alive) {
      if (f.type_of(value) == Type::I64) sum = b.binary(OpCode::Xor, Type::I64, sum, value);
    }
    ValueId yielded[] = {b.const_i1(true), sum};
    b.yield(yielded);
    b.set_block(f.body);
    results.push_back(loop->result());
    for (ValueId value : alive) results.push_back(value);
  }
  for (ValueId result : results) subject.out_types.push_back(f.type_of(result));
  for (ValueId param : f.body->params) {
    if (results.size() < 40) results.push_back(param);
  }
  b.exit(ExitReason::Finished, add_snapshot(f, results));
  subject.exits = enumerate_exits(f);
  return subject;
}

class OpsTest : public ::testing::TestWithParam<bool> {
 protected:
  void check(const Case& c, const std::vector<std::vector<int64_t>>& tuples) {
    size_t n = c.operand_types.size();
    for (int shape = 0; shape < 2; ++shape) {
      compare(c, {}, std::vector<bool>(n, false), shape, tuples);
    }
    for (size_t k = 0; k < n; ++k) {
      std::vector<bool> constant(n, false);
      constant[k] = true;
      std::vector<int64_t> seen;
      for (const auto& tuple : tuples) {
        if (std::find(seen.begin(), seen.end(), tuple[k]) != seen.end()) continue;
        seen.push_back(tuple[k]);
        std::vector<std::vector<int64_t>> matching;
        for (const auto& other : tuples) {
          if (other[k] == tuple[k]) matching.push_back(other);
        }
        compare(c, tuple, constant, 0, matching);
      }
    }
  }

  void compare(const Case& c, const std::vector<int64_t>& constants, const std::vector<bool>& constant, int shape,
               const std::vector<std::vector<int64_t>>& tuples) {
    Subject subject = build(c, constants, constant, shape);
    ASSERT_EQ(verify(*subject.function), "") << print(*subject.function);
    codegen::CodegenOptions options;
    options.isa = GetParam() ? codegen::Isa::kSse2 : codegen::Isa::kNative;
    options.validate = true;
    auto code = codegen::compile(*subject.function, helpers_, options);
    ASSERT_TRUE(code.ok()) << code.refusal().message() << print(*subject.function);
    for (const auto& tuple : tuples) {
      Outcome expected = run(*subject.function, subject.exits, [&](Activation* a) { return evaluate(*subject.function, helpers_, a); }, tuple);
      Outcome got = run(*subject.function, subject.exits, (*code)->entry(), tuple);
      ASSERT_EQ(expected.exit_id, got.exit_id) << describe(subject, tuple);
      auto values = snapshot_values(subject.function->snapshots[subject.exits[got.exit_id].snapshot]);
      for (size_t k = 0; k < values.size(); ++k) {
        ASSERT_TRUE(same_value(subject.function->type_of(values[k]), expected.out[k], got.out[k]))
            << std::hex << expected.out[k] << " expected, got " << got.out[k] << " at " << k << "\n" << describe(subject, tuple);
      }
      ++checked_;
    }
  }

  std::string describe(const Subject& subject, const std::vector<int64_t>& tuple) {
    std::string text = print(*subject.function) + "\ninputs:";
    for (int64_t value : tuple) text += " " + std::to_string(value);
    codegen::CodegenOptions options;
    options.isa = GetParam() ? codegen::Isa::kSse2 : codegen::Isa::kNative;
    options.want_asm = true;
    auto code = codegen::compile(*subject.function, helpers_, options);
    return text + "\n" + (code.ok() ? (*code)->listing() : code.refusal().message());
  }

  std::vector<std::vector<int64_t>> pairs(OpCode code, Type type) {
    std::vector<std::vector<int64_t>> tuples;
    for (int64_t a : values_of(type)) {
      for (int64_t b : values_of(type)) {
        if (allowed(code, type, {a, b})) tuples.push_back({a, b});
      }
    }
    if (code == OpCode::Shl || code == OpCode::Shr || code == OpCode::ShlO) {
      for (int64_t a : values_of(type)) tuples.push_back({a, 8 * type_size(type) - 1});
    }
    return tuples;
  }
  std::vector<std::vector<int64_t>> singles(Type type) {
    std::vector<std::vector<int64_t>> tuples;
    for (int64_t a : values_of(type)) tuples.push_back({a});
    return tuples;
  }
  void binary(OpCode code, Type type) { check({code, type, {type, type}}, pairs(code, type)); }
  void unary(OpCode code, Type type) { check({code, type, {type}}, singles(type)); }

  HelperTable helpers_ = core_helpers();
  size_t checked_ = 0;
};

TEST_P(OpsTest, IntegerArithmetic) {
  for (Type type : kInts) {
    for (OpCode code : {OpCode::Add, OpCode::Sub, OpCode::Mul, OpCode::And, OpCode::Or, OpCode::Xor, OpCode::Shl, OpCode::Shr}) binary(code, type);
    for (OpCode code : {OpCode::Neg, OpCode::Abs, OpCode::Not}) unary(code, type);
  }
  for (OpCode code : {OpCode::And, OpCode::Or, OpCode::Xor}) binary(code, Type::I1);
  unary(OpCode::Not, Type::I1);
}

TEST_P(OpsTest, IntegerDivision) {
  for (Type type : kInts) {
    for (OpCode code : {OpCode::FloorDiv, OpCode::FloorMod}) binary(code, type);
  }
}

TEST_P(OpsTest, CheckedArithmetic) {
  for (Type type : kInts) {
    for (OpCode code : {OpCode::AddO, OpCode::SubO, OpCode::MulO, OpCode::ShlO}) binary(code, type);
    unary(OpCode::NegO, type);
  }
  for (Type type : {Type::I64, Type::U64}) binary(OpCode::MulHi, type);
}

TEST_P(OpsTest, Comparisons) {
  for (Type type : kAll) {
    for (OpCode code : {OpCode::Eq, OpCode::Ne, OpCode::Lt, OpCode::Le, OpCode::Gt, OpCode::Ge}) binary(code, type);
  }
  for (Type type : kFloats) unary(OpCode::IsFinite, type);
}

TEST_P(OpsTest, FloatArithmetic) {
  for (Type type : kFloats) {
    for (OpCode code : {OpCode::Add, OpCode::Sub, OpCode::Mul, OpCode::Div, OpCode::Copysign, OpCode::FloorDiv, OpCode::FloorMod}) binary(code, type);
    for (OpCode code : {OpCode::Neg, OpCode::Abs, OpCode::Sqrt, OpCode::Floor, OpCode::Ceil, OpCode::Trunc, OpCode::Rint}) unary(code, type);
  }
}

TEST_P(OpsTest, FloatCheck) {
  for (Type type : kFloats) {
    check({OpCode::FCheck, type, {type, type}}, pairs(OpCode::FCheck, type));
    std::vector<std::vector<int64_t>> triples;
    for (int64_t r : values_of(type)) {
      for (const auto& pair : pairs(OpCode::FCheck, type)) triples.push_back({r, pair[0], pair[1]});
    }
    check({OpCode::FCheck, type, {type, type, type}}, triples);
  }
}

TEST_P(OpsTest, Bound) {
  std::vector<std::vector<int64_t>> tuples;
  for (int64_t n : {INT64_C(0), INT64_C(1), INT64_C(2), INT64_C(100), INT64_C(0x7fffffffffffffff)}) {
    for (int64_t i : values_of(Type::I64)) tuples.push_back({i, n});
    if (n >= 200) continue;
    for (int64_t i : {n - 1, n, n + 1, -n, -n - 1, -n + 1}) tuples.push_back({i, n});
  }
  check({OpCode::Bound, Type::I64, {Type::I64, Type::I64}}, tuples);
}

TEST_P(OpsTest, Select) {
  for (Type type : kAll) {
    std::vector<std::vector<int64_t>> tuples;
    for (const auto& pair : pairs(OpCode::Select, type)) {
      tuples.push_back({0, pair[0], pair[1]});
      tuples.push_back({1, pair[0], pair[1]});
    }
    check({OpCode::Select, type, {Type::I1, type, type}}, tuples);
  }
}

TEST_P(OpsTest, Conversions) {
  for (Type from : kAll) {
    for (Type to : kAll) {
      if (from == to) continue;
      std::vector<std::vector<int64_t>> tuples;
      for (int64_t value : values_of(from)) {
        if (is_float(from) && is_int(to)) {
          double whole = std::trunc(as_double(from, value));
          int digits = 8 * type_size(to) - (is_signed(to) ? 1 : 0);
          if (!(whole >= (is_signed(to) ? -std::ldexp(1.0, digits) : 0.0) && whole < std::ldexp(1.0, digits))) continue;
        }
        tuples.push_back({value});
      }
      if (from == Type::U64) {
        for (uint64_t v : {UINT64_C(0x8000000000000400), UINT64_C(0x8000000000000401), UINT64_C(0x8000000000000c00), UINT64_C(0xfffffffffffffbff),
                           UINT64_C(0x8000008000000000), UINT64_C(0x8000008000000001)}) {
          tuples.push_back({static_cast<int64_t>(v)});
        }
      }
      check({OpCode::Conv, to, {from}}, tuples);
    }
  }
}

TEST_P(OpsTest, Halves) {
  std::vector<std::vector<int64_t>> halves, floats;
  for (int64_t bits = 0; bits < 0x10000; bits += bits < 0x800 ? 0x7D : 0x3FF) halves.push_back({bits});
  for (int64_t bits : {0x3FF, 0x400, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x8000, 0x8001, 0xFBFF, 0xFC00, 0xFDFF, 0xFFFF}) halves.push_back({bits});
  for (double v : {0.0, -0.0, 1.0, 0.1, 2049.0, 2051.0, 65504.0, 65519.0, 65520.0, -65520.0, 1e30, 6e-8, 2.9e-8, 3e-8, 6.1e-5, 1e-40, 1e-9}) {
    floats.push_back({float_cell(Type::F32, v)});
  }
  for (int64_t value : values_of(Type::F32)) floats.push_back({value});
  check({OpCode::FromHalf, Type::F32, {Type::U16}}, halves);
  check({OpCode::ToHalf, Type::U16, {Type::F32}}, floats);
  check({OpCode::RoundHalf, Type::F32, {Type::F32}}, floats);
}

TEST_P(OpsTest, Guard) {
  check({OpCode::Guard, Type::None, {Type::I1}}, {{0}, {1}});
}

TEST_P(OpsTest, HelperCalls) {
  for (int k = 0; k < kHelperCount; ++k) {
    auto id = static_cast<HelperId>(k);
    if (!helpers_.at(id)) continue;
    for (int shape = 0; shape < 2; ++shape) {
      Function f;
      f.add_object(nullptr, "code");
      f.body = f.new_block();
      for (int j = 0; j < helper_argument_count(id); ++j) add_input(f, helper_argument_type(id, j), static_cast<uint32_t>(j));
      Builder b(f);
      b.set_block(f.body);
      Op* call = b.append(OpCode::Call, helper_result_type(id), f.body->params);
      call->imm = k;
      b.exit(ExitReason::Finished, add_snapshot(f, {call->result(), f.body->params[0]}));
      auto exits = enumerate_exits(f);
      codegen::CodegenOptions options;
      options.isa = GetParam() ? codegen::Isa::kSse2 : codegen::Isa::kNative;
      auto code = codegen::compile(f, helpers_, options);
      ASSERT_TRUE(code.ok()) << code.refusal().message();
      Type type = helper_argument_type(id, 0);
      for (int64_t x : values_of(type)) {
        for (int64_t y : values_of(type)) {
          std::vector<int64_t> in = {x, y, x, y};
          if ((helper_info(id).text.find("floor") == 0) && as_double(type, y) == 0) continue;
          Outcome expected = run(f, exits, [&](Activation* a) { return evaluate(f, helpers_, a); }, in);
          Outcome got = run(f, exits, (*code)->entry(), in);
          for (size_t j = 0; j < expected.out.size(); ++j) ASSERT_TRUE(same_value(f.type_of(call->result()), expected.out[j], got.out[j])) << helper_info(id).text;
        }
      }
    }
  }
}

TEST(CodegenTest, MissingHelperIsRefused) {
  Function f;
  f.add_object(nullptr, "code");
  f.body = f.new_block();
  add_input(f, Type::F64, 0);
  Builder b(f);
  b.set_block(f.body);
  ValueId result = b.call(HelperId::MathSin, {f.body->params[0]});
  b.exit(ExitReason::Finished, add_snapshot(f, {result}));
  enumerate_exits(f);
  HelperTable none;
  auto code = codegen::compile(f, none, {});
  ASSERT_FALSE(code.ok());
  EXPECT_NE(code.refusal().message().find("m_sin"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Isa, OpsTest, ::testing::Values(false, true), [](const auto& info) { return info.param ? "Sse2" : "Native"; });

}  // namespace
}  // namespace hotloop
