// The IR's tables, numeric helpers and the promises of the verifier and the evaluator that text cannot express.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "ir/builder.h"
#include "ir/numeric.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "random_ir.h"

namespace hotloop::ir {
namespace {

TEST(IrTables, textsAreFoundAgain) {
  std::set<std::string_view> seen;
  for (int k = 0; k < kOpCount; ++k) {
    const auto code = static_cast<OpCode>(k);
    OpCode found{};
    EXPECT_TRUE(op_from_text(op_info(code).text, &found) && found == code) << op_info(code).text;
    EXPECT_TRUE(seen.insert(op_info(code).text).second) << op_info(code).text;
    EXPECT_EQ(op_info(code).text.find('.'), std::string_view::npos);
  }
  for (int k = 0; k < kHelperCount; ++k) {
    const auto id = static_cast<HelperId>(k);
    HelperId found{};
    EXPECT_TRUE(helper_from_text(helper_info(id).text, &found) && found == id) << helper_info(id).text;
    EXPECT_NE(helper_result_type(id), Type::None);
    for (int argument = 0; argument < helper_argument_count(id); ++argument) EXPECT_NE(helper_argument_type(id, argument), Type::None);
  }
  for (int k = 0; k < kExitReasonCount; ++k) {
    ExitReason found{};
    EXPECT_TRUE(exit_reason_from_name(exit_reason_name(static_cast<ExitReason>(k)), &found));
    EXPECT_EQ(found, static_cast<ExitReason>(k));
  }
}

TEST(IrTables, coreHelpersHaveAddresses) {
  const HelperTable table = core_helpers();
#define HL_OWNER_core true
#define HL_OWNER_numpy false
#define HL_OWNER_python false
#define HL_HELPER(name, text, sig, owner, doc) EXPECT_EQ(table.at(HelperId::name) != nullptr, HL_OWNER_##owner) << text;
#include "ir/helpers.def"
#undef HL_HELPER
}

// The compiler's own conversions, which round once.
TEST(IrNumeric, halvesAreRoundedOnce) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_f32(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(value, static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits))));
    EXPECT_EQ(f32_to_half(value), bits);
    EXPECT_EQ(f64_to_half(value), bits);
  }
  uint64_t state = 1;
  for (int k = 0; k < 200000; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int exponent = static_cast<int>(state >> 58) - 44;
    const double wide = std::ldexp(static_cast<double>((state >> 5) | 1), exponent - 55);
    for (double value : {wide, static_cast<double>(static_cast<float>(wide)), std::ldexp(std::round(std::ldexp(wide, 12 - exponent)), exponent - 12)}) {
      EXPECT_EQ(f64_to_half(value), std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << value;
      EXPECT_EQ(f32_to_half(static_cast<float>(value)), std::bit_cast<uint16_t>(static_cast<_Float16>(static_cast<float>(value)))) << value;
    }
  }
}

void expect_bits(double found, double expected) {
  EXPECT_EQ(std::bit_cast<uint64_t>(found), std::bit_cast<uint64_t>(expected)) << found << " for " << expected;
}

// Values of Python's divmod on floats.
TEST(IrNumeric, floorDivisionIsPythons) {
  const double inf = std::numeric_limits<double>::infinity();
  struct Row {
    double a, b, div, mod;
  };
  const Row rows[] = {{7.5, 2, 3, 1.5},      {-7.5, 2, -4, 0.5},   {7.5, -2, -4, -0.5}, {-7.5, -2, 3, -1.5}, {0.0, 3, 0.0, 0.0},  {-0.0, 3, -0.0, 0.0},
                      {0.0, -3, -0.0, -0.0}, {1, inf, 0.0, 1},     {-1, inf, -1, inf},  {1, -inf, -1, -inf}, {6, 3, 2, 0.0},      {-6, 3, -2, 0.0},
                      {6, -3, -2, -0.0},     {7.25, 0.5, 14, 0.25}};
  for (const Row& row : rows) {
    expect_bits(floordiv_f64(row.a, row.b), row.div);
    expect_bits(floormod_f64(row.a, row.b), row.mod);
  }
  EXPECT_EQ(floormod_f64(0.3, 0.1), 0.09999999999999998);
  EXPECT_TRUE(std::isnan(floordiv_f64(inf, 2)) && std::isnan(floormod_f64(inf, 2)));
  EXPECT_EQ(floordiv_f32(-7.5f, 2), -4.0f);
  EXPECT_EQ(floormod_f32(-7.5f, 2), 0.5f);
  EXPECT_TRUE(std::signbit(floormod_f32(6, -3)));
}

TEST(IrFunction, exitsAreNumberedInPreorderAndValuesByFirstUse) {
  std::string error;
  const auto f = parse(R"(region "f"
object $0 "code"
input %0 local 0 int
input %1 local 1 bool
snapshot !0 { frame code $0 resume 1 depth 0 { local 0 = int %0 local 1 = tuple (bool %1, int %0) local 2 = bool %1 } }
body {
  if %1 {
    guard %1, Domain, !0
    yield
  } else {
    exit Path, !0
  }
  %2 = bound %0, %0, !0
  exit Finished, !0
})", &error);
  ASSERT_NE(f, nullptr) << error;
  EXPECT_EQ(verify(*f), "");
  const std::vector<ExitInfo> exits = enumerate_exits(*f);
  ASSERT_EQ(exits.size(), 4u);
  EXPECT_EQ(exits[0].reason, ExitReason::Domain);
  EXPECT_EQ(exits[1].reason, ExitReason::Path);
  EXPECT_EQ(exits[2].reason, ExitReason::Bounds);
  EXPECT_EQ(exits[3].reason, ExitReason::Finished);
  for (uint32_t k = 0; k < exits.size(); ++k) EXPECT_EQ(exits[k].op->exit_id, k);
  EXPECT_EQ(snapshot_values(f->snapshots[0]), (std::vector<ValueId>{0, 1}));
}

TEST(IrFunction, arrayTypesAndObjectsAreInterned) {
  Function f;
  int object = 0;
  EXPECT_EQ(f.add_object(&object, "a"), f.add_object(&object, "again"));
  EXPECT_NE(f.add_object(nullptr, "b"), f.add_object(nullptr, "b"));
  const ArrayType a{PyKind::NpInt8, {Stride::kItem}, false};
  ArrayType b = a;
  b.writable = true;
  EXPECT_EQ(f.intern_array_type(a), f.intern_array_type(a));
  EXPECT_NE(f.intern_array_type(a), f.intern_array_type(b));
}

std::unique_ptr<Function> empty_function() {
  auto f = std::make_unique<Function>();
  f->body = f->new_block();
  f->add_object(nullptr, "code");
  f->snapshots.resize(1);
  f->snapshots[0].frames.resize(1);
  f->snapshots[0].frames[0].code = 0;
  return f;
}

// V1: text always gives a tree.
TEST(IrVerifier, blocksFormATree) {
  auto f = empty_function();
  Builder b(*f);
  b.set_block(f->body);
  Op* op = b.if_(b.const_i1(true), {});
  b.exit(ExitReason::Finished, 0);
  b.set_block(op->blocks[0]);
  b.yield({});
  op->blocks[1] = op->blocks[0];
  EXPECT_NE(verify(*f).find("a block stands in two places"), std::string::npos) << verify(*f);
}
TEST(IrVerifier, anOpStandsInOnePlace) {
  auto f = empty_function();
  Builder b(*f);
  b.set_block(f->body);
  b.guard(b.const_i1(true), ExitReason::Domain, 0);
  f->body->ops.push_back(f->body->ops[1]);
  b.exit(ExitReason::Finished, 0);
  EXPECT_NE(verify(*f).find("the op stands in two places"), std::string::npos) << verify(*f);
}
TEST(IrVerifier, blocksAreThere) {
  auto f = empty_function();
  Builder b(*f);
  b.set_block(f->body);
  b.if_(b.const_i1(true), {})->blocks.clear();
  b.exit(ExitReason::Finished, 0);
  EXPECT_NE(verify(*f).find("needs 2 blocks"), std::string::npos) << verify(*f);
}
// V7, V12: what the parser refuses already.
TEST(IrVerifier, reasonsAndParameters) {
  auto f = empty_function();
  Builder b(*f);
  b.set_block(f->body);
  b.exit(ExitReason::Finished, 0);
  f->body->ops[0]->imm = 99;
  EXPECT_NE(verify(*f).find("there is no such exit reason"), std::string::npos) << verify(*f);
  f->body->ops[0]->imm = 0;
  EXPECT_EQ(verify(*f), "");
  f->body->params.push_back(f->new_value(Type::I64));
  EXPECT_NE(verify(*f).find("more parameters than the inputs have parts"), std::string::npos) << verify(*f);
}

// Whatever is done to a text, the parser answers.
TEST(IrText, brokenTextsAreRefusedOrParsed) {
  test::Random random(7);
  int refused = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::string text = print(*test::random_case(seed, {.ops = 25}).function);
    for (int k = 1 + random.below(3); k > 0; --k) {
      const size_t at = random.next() % text.size();
      switch (random.below(4)) {
        case 0: text[at] = static_cast<char>(random.next()); break;
        case 1: text.erase(at, 1 + random.next() % 20); break;
        case 2: text.insert(at, text.substr(random.next() % text.size(), random.next() % 20)); break;
        default: text.resize(at + 1); break;
      }
      if (text.empty()) text = " ";
    }
    std::string error;
    const std::unique_ptr<Function> f = parse(text, &error);
    if (f == nullptr) {
      ++refused;
      EXPECT_EQ(error.rfind("line ", 0), 0u) << error;
      continue;
    }
    verify(*f);  // says something or nothing, but ends
    EXPECT_FALSE(print(*f).empty());
  }
  EXPECT_GT(refused, 100);
}

// The evaluator is the oracle: it does not go on where machine code would be undefined.
void evaluate_text(const std::string& body, std::vector<int64_t> in) {
  std::string error;
  const auto f = parse("region \"f\" object $0 \"code\" input %0 local 0 int input %1 local 1 int input %2 local 2 float\n"
                       "snapshot !0 { frame code $0 resume 1 depth 0 { } } body { " + body + " exit Finished, !0 }", &error);
  ASSERT_NE(f, nullptr) << error;
  ASSERT_EQ(verify(*f), "");
  enumerate_exits(*f);
  int64_t out = 0;
  Activation activation;
  activation.in = in.data();
  activation.out = &out;
  evaluate(*f, core_helpers(), &activation);
}
TEST(IrEvaluatorDeathTest, requirementsAreChecked) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  evaluate_text("%3 = floordiv.i64 %0, %1", {kMin, 1, 0});
  EXPECT_DEATH(evaluate_text("%3 = floordiv.i64 %0, %1", {1, 0, 0}), "floordiv.i64 %0, %1: division by zero");
  EXPECT_DEATH(evaluate_text("%3 = floordiv.i64 %0, %1", {kMin, -1, 0}), "quotient out of range");
  EXPECT_DEATH(evaluate_text("%3 = shl.i64 %0, %1", {1, 64, 0}), "shift count out of range");
  EXPECT_DEATH(evaluate_text("%3 = conv.i32 %2", {0, 0, std::bit_cast<int64_t>(2147483648.0)}), "out of the integer's range");
  evaluate_text("%3 = conv.i32 %2", {0, 0, std::bit_cast<int64_t>(2147483647.9)});
  EXPECT_DEATH(evaluate_text("%3 = call.f64 np_exp, %2", {0, 0, 0}), "the helper is not available");
  EXPECT_DEATH(evaluate_text("%3 = const.i1 true for %4 = %0 to %1 step %0 { yield %3 }", {0, 1, 0}), "the step is zero");
}

}  // namespace
}  // namespace hotloop::ir
