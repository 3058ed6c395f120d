// Machine code of unusual shape: very large functions (and how long they take to compile), many values alive at one exit, carried values
// that change places, functions beyond the limits; and what the listing and the memory promise.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "codegen/x86.h"
#include "ir/builder.h"
#include "ir/evaluator.h"
#include "ir/text.h"
#include "ir/verifier.h"

namespace hotloop {
namespace {
using namespace ir;

struct Program {
  Function function;
  Builder b{function};
  std::vector<ExitInfo> exits;

  Program() {
    function.add_object(nullptr, "code");
    function.body = function.new_block();
    b.set_block(function.body);
  }
  ValueId input(PyKind kind) {
    Input input;
    input.slot = {SlotKind::kLocal, static_cast<uint32_t>(function.inputs.size())};
    input.kind = kind;
    function.inputs.push_back(input);
    ValueId value = function.new_value(pykind_info(kind).part_type);
    function.body->params.push_back(value);
    return value;
  }
  SnapshotId snapshot(const std::vector<ValueId>& values) {
    Snapshot snapshot;
    FrameState frame;
    frame.code = 0;
    for (ValueId value : values) {
      SlotValue slot;
      slot.slot = {SlotKind::kLocal, static_cast<uint32_t>(frame.slots.size())};
      slot.value.kind = is_float(function.type_of(value)) ? PyKind::Float : PyKind::Int;
      slot.value.values = {value};
      frame.slots.push_back(slot);
    }
    snapshot.frames.push_back(frame);
    function.snapshots.push_back(snapshot);
    return static_cast<SnapshotId>(function.snapshots.size() - 1);
  }

  struct Outcome {
    uint32_t exit_id = 0;
    std::vector<int64_t> out;
    bool operator==(const Outcome&) const = default;
  };
  template <typename Entry>
  Outcome run(Entry&& entry, const std::vector<int64_t>& in) {
    Outcome outcome;
    outcome.out.assign(function.value_types.size() + 1, 0);
    uint8_t breaker = 0;
    Activation activation;
    activation.in = in.data();
    activation.out = outcome.out.data();
    activation.breaker = &breaker;
    outcome.exit_id = entry(&activation);
    return outcome;
  }
  void check(const std::vector<int64_t>& in, const codegen::CodegenOptions& options = {}) {
    ASSERT_EQ(verify(function), "");
    exits = enumerate_exits(function);
    HelperTable helpers = core_helpers();
    auto code = codegen::compile(function, helpers, options);
    ASSERT_TRUE(code.ok()) << code.refusal().message();
    Outcome expected = run([&](Activation* a) { return evaluate(function, helpers, a); }, in);
    EXPECT_EQ(expected, run((*code)->entry(), in));
  }
};

// A loop over `ops` operations with a guard every eight of them, twelve values in each snapshot.
void make_large(Program* p, int ops) {
  Builder& b = p->b;
  std::vector<ValueId> values = {p->input(PyKind::Int), p->input(PyKind::Int)};
  std::vector<ValueId> floats = {p->input(PyKind::Float)};
  std::vector<ValueId> initial = {values[0], floats[0]};
  Op* loop = b.for_(b.const_i64(0), b.const_i64(3), b.const_i64(1), initial, kNoSnapshot);
  b.set_block(loop->blocks[0]);
  values.push_back(loop->blocks[0]->params[1]);
  floats.push_back(loop->blocks[0]->params[2]);
  auto recent = [](const std::vector<ValueId>& from, size_t back) { return from[from.size() - 1 - back % std::min<size_t>(from.size(), 9)]; };
  for (int k = 0; k < ops; ++k) {
    auto seed = static_cast<size_t>(k);
    if (k % 8 == 7) {
      std::vector<ValueId> live;
      for (size_t j = 0; j < 6; ++j) live.push_back(recent(values, seed + j)), live.push_back(recent(floats, seed + j));
      b.guard(b.binary(OpCode::Ne, Type::I64, recent(values, seed), b.const_i64(-12345)), ExitReason::Path, p->snapshot(live));
    } else if (k % 3 == 0) {
      floats.push_back(b.binary(k % 2 ? OpCode::Add : OpCode::Mul, Type::F64, recent(floats, seed), recent(floats, seed / 5)));
    } else {
      values.push_back(b.binary(k % 2 ? OpCode::Add : OpCode::Xor, Type::I64, recent(values, seed), recent(values, seed / 3)));
    }
  }
  std::vector<ValueId> yielded = {b.const_i1(true), values.back(), floats.back()};
  b.yield(yielded);
  b.set_block(p->function.body);
  b.exit(ExitReason::Finished, p->snapshot({loop->results[0], loop->results[1]}));
}

TEST(CodegenLimits, LargeFunctions) {
  for (int ops : {100, 1000, 5000, 20000}) {
    Program p;
    make_large(&p, ops);
    p.exits = enumerate_exits(p.function);
    auto start = std::chrono::steady_clock::now();
    auto code = codegen::compile(p.function, core_helpers(), {});
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ASSERT_TRUE(code.ok()) << code.refusal().message();
    std::printf("%d operations: %.2f ms, %zu bytes\n", ops, seconds * 1e3, (*code)->size());
    EXPECT_LT(seconds, 0.02 + 200e-6 * ops) << "far slower than linear";
    p.check({5, 7, 0x3ff8000000000000});
  }
}

TEST(CodegenLimits, TooLargeIsRefused) {
  Program p;
  make_large(&p, 60000);
  enumerate_exits(p.function);
  auto code = codegen::compile(p.function, core_helpers(), {});
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.refusal().reason, base::RefusalReason::kTooLarge);
}

TEST(CodegenLimits, ManyValuesAtOneExit) {
  Program p;
  ValueId x = p.input(PyKind::Int), y = p.input(PyKind::Float);
  std::vector<ValueId> alive;
  for (int k = 0; k < 100; ++k) {
    alive.push_back(p.b.binary(OpCode::Add, Type::I64, x, p.b.const_i64(k * 1000)));
    alive.push_back(p.b.binary(OpCode::Add, Type::F64, y, p.b.const_f64(k)));
  }
  SnapshotId all = p.snapshot(alive);
  p.b.guard(p.b.binary(OpCode::Lt, Type::I64, x, p.b.const_i64(10)), ExitReason::Path, all);
  p.b.guard(p.b.binary(OpCode::Gt, Type::F64, y, p.b.const_f64(0)), ExitReason::Domain, all);
  p.b.exit(ExitReason::Finished, p.snapshot(alive));
  for (int64_t v : {5, 50}) {
    p.check({v, 0x3ff8000000000000});
    p.check({v, static_cast<int64_t>(0xbff8000000000000)});
  }
}

// a, b, c, d = b, c, a, d in a loop: cycles of three and, among floats, of two.
TEST(CodegenLimits, CarriedValuesChangePlaces) {
  Program p;
  std::vector<ValueId> initial;
  for (int k = 0; k < 4; ++k) initial.push_back(p.input(PyKind::Int));
  for (int k = 0; k < 3; ++k) initial.push_back(p.input(PyKind::Float));
  ValueId trips = p.input(PyKind::Int);
  Op* loop = p.b.for_(p.b.const_i64(0), trips, p.b.const_i64(1), initial, kNoSnapshot);
  p.b.set_block(loop->blocks[0]);
  const auto& in = loop->blocks[0]->params;
  std::vector<ValueId> yielded = {p.b.const_i1(true), in[2], in[3], in[1], in[4], in[6], in[5], in[5]};
  p.b.yield(yielded);
  p.b.set_block(p.function.body);
  p.b.exit(ExitReason::Finished, p.snapshot(loop->results));
  for (int64_t n : {0, 1, 2, 3, 4, 5, 12}) p.check({1, 2, 3, 4, 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000, n});
}

TEST(CodegenLimits, LastIndexIsSetBehindTheLoop) {
  for (int64_t step : {INT64_C(1), INT64_C(-1), INT64_C(3), INT64_C(-4), INT64_C(0x7fffffffffff)}) {
    Program p;
    ValueId lo = p.input(PyKind::Int), hi = p.input(PyKind::Int), before = p.input(PyKind::Int), stop = p.input(PyKind::Int);
    ValueId initial[] = {before};
    Op* loop = p.b.for_(lo, hi, p.b.const_i64(step), initial, kNoSnapshot);
    p.b.set_block(loop->blocks[0]);
    ValueId i = loop->blocks[0]->params[0];
    ValueId yielded[] = {p.b.binary(OpCode::Ne, Type::I64, i, stop), i};
    p.b.yield(yielded);
    p.b.set_block(p.function.body);
    p.b.exit(ExitReason::Finished, p.snapshot({loop->result()}));
    for (int64_t a : {INT64_C(0), INT64_C(10), INT64_MIN, INT64_MAX - 20, INT64_MAX}) {
      for (int64_t d : {INT64_C(-20), INT64_C(-1), INT64_C(0), INT64_C(1), INT64_C(17)}) {
        int64_t b = 0;
        if (__builtin_add_overflow(a, d, &b)) continue;
        p.check({a, b, -99, a + (d > 3 ? 3 : 0)});
        p.check({a, b, -99, -5});
      }
    }
  }
}

TEST(CodegenLimits, ListingNamesTheOps) {
  Program p;
  ValueId x = p.input(PyKind::Float);
  p.b.exit(ExitReason::Finished, p.snapshot({p.b.binary(OpCode::Mul, Type::F64, x, x)}));
  enumerate_exits(p.function);
  codegen::CodegenOptions options;
  options.want_asm = true;
  auto code = codegen::compile(p.function, core_helpers(), options);
  ASSERT_TRUE(code.ok());
  EXPECT_NE((*code)->listing().find("mul.f64"), std::string::npos) << (*code)->listing();
  EXPECT_NE((*code)->listing().find("mulsd"), std::string::npos) << (*code)->listing();
}

// No page of code is writable, and none stays mapped when the object is gone.
TEST(CodegenLimits, CodeMemoryIsNotWritable) {
  Program p;
  ValueId x = p.input(PyKind::Float);
  p.b.exit(ExitReason::Finished, p.snapshot({x}));
  enumerate_exits(p.function);
  auto code = codegen::compile(p.function, core_helpers(), {});
  ASSERT_TRUE(code.ok());
  auto mapping_of = [](const void* address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long from = 0, to = 0;
      char mode[8] = "";
      if (std::sscanf(line.c_str(), "%lx-%lx %7s", &from, &to, mode) != 3) continue;
      auto at = reinterpret_cast<unsigned long>(address);
      if (at >= from && at < to) return std::string(mode);
    }
    return std::string();
  };
  const void* entry = reinterpret_cast<const void*>((*code)->entry());
  EXPECT_EQ(mapping_of(entry), "r-xp");
  code.value().reset();
  EXPECT_NE(mapping_of(entry), "r-xp");
}

}  // namespace
}  // namespace hotloop
