// The parsing direction of the IR's text form. Needs ir/text_form.h, ir/lexer.h.
// Promises: the first error wins and names line and column; numeric value names are kept, others get numbers above them; what the text
// form can say but the IR forbids (types, dominance) is left to the verifier.
#include <algorithm>
#include <bit>
#include <charconv>
#include <concepts>
#include <limits>
#include <unordered_map>

#include "ir/lexer.h"
#include "ir/text.h"
#include "ir/text_form.h"

namespace hotloop::ir {
namespace {

constexpr ValueId kMaxValue = 10'000'000;  // a larger number in a text is a mistake, not a table to allocate
constexpr int kMaxDepth = 200;

template <typename T>
bool parse_number(std::string_view text, T* out, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out, base);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename Float>
bool parse_float(std::string_view text, Float* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename Float, typename Bits>
bool parse_float_bits(std::string_view text, int64_t* out) {
  Bits bits = 0;
  if (text == "nan") {
    bits = std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN());
  } else if (text.starts_with("0x")) {
    if (!parse_number(text.substr(2), &bits, 16)) return false;
  } else {
    Float value = 0;
    if (!parse_float(text, &value)) return false;
    bits = std::bit_cast<Bits>(value);
  }
  *out = static_cast<int64_t>(bits);
  return true;
}

class Parser {
 public:
  Parser(std::string_view text, Function& f) : tokens_(tokenize(text)), f_(f) {
    for (const Token& token : tokens_) {
      ValueId number = 0;
      if (token.kind == TokenKind::kValue && parse_number(token.text, &number) && number < kMaxValue) {
        next_value_ = std::max(next_value_, number + 1);
      }
    }
  }
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

  // Layout means nothing here.
  void line() {}
  void open() { punct("{"); }
  void close() { punct("}"); }
  void end() {
    if (peek().kind != TokenKind::kEnd) fail("expected the end of the text");
    f_.value_types.resize(std::max<size_t>(f_.value_types.size(), next_value_), Type::None);
  }
  bool enter() {
    if (++depth_ > kMaxDepth) fail("nested too deeply");
    return !failed();
  }
  void leave() { --depth_; }

  // Tokens
  void word(std::string_view text) {
    if (!eat(TokenKind::kWord, text)) fail("expected '" + std::string(text) + "'");
  }
  void punct(std::string_view text) {
    if (!eat(TokenKind::kPunct, text)) fail("expected '" + std::string(text) + "'");
  }
  void string(std::string& out) {
    if (peek().kind != TokenKind::kString) return fail("expected a string");
    out = take().text;
  }
  void number(std::integral auto& out) {
    if (peek().kind != TokenKind::kNumber) return fail("expected a number");
    if (!parse_number(peek().text, &out)) return fail("number out of range");
    take();
  }
  bool optional(std::string_view text, bool) { return eat(TokenKind::kWord, text); }
  void flag(std::string_view text, bool& out) { out = eat(TokenKind::kWord, text); }
  void result_use(ResultUse& out) { out = eat(TokenKind::kWord, "drop") ? ResultUse::kDrop : ResultUse::kPush; }
  bool optional_array_type(ArrayTypeId) { return peek().kind == TokenKind::kArray; }
  void object(ObjectId& out) { id(TokenKind::kObject, "an object ($n)", out); }
  void snapshot(SnapshotId& out) { id(TokenKind::kSnapshot, "a snapshot (!n)", out); }
  void array_type(ArrayTypeId& out) { id(TokenKind::kArray, "an array type (@n)", out); }
  void py_kind(PyKind& out) { named("a Python kind", [&](std::string_view text) { return pykind_from_text(text, &out); }); }
  void stride(Stride& out) {
    const std::string text = peek().text;
    if (text == "c") {
      out = Stride::kItem;
    } else if (text == "0") {
      out = Stride::kZero;
    } else if (text == "s") {
      out = Stride::kOther;
    } else {
      return fail("expected a stride: c, 0 or s");
    }
    take();
  }
  void slot_kind(SlotKind& out) {
    constexpr std::string_view kTexts[] = {"local", "cell", "global", "name", "stack", "seq_array", "seq_index", "object_cell", "attribute", "method_self"};
    named("a slot: local, cell, global, name or stack", [&](std::string_view text) {
      for (size_t k = 0; k < std::size(kTexts); ++k) {
        if (kTexts[k] != text) continue;
        out = static_cast<SlotKind>(k);
        return true;
      }
      return false;
    });
  }
  void helper(int64_t& imm) {
    HelperId found{};
    named("a helper's name", [&](std::string_view text) { return helper_from_text(text, &found); });
    imm = static_cast<int64_t>(found);
  }
  void object_call(uint32_t& id) {
    ObjectCallId found{};
    named("the name of a call on objects", [&](std::string_view text) { return object_call_from_text(text, &found); });
    id = static_cast<uint32_t>(found);
  }
  void reason(int64_t& imm) {
    ExitReason found{};
    named("an exit reason", [&](std::string_view text) { return exit_reason_from_name(text, &found); });
    imm = static_cast<int64_t>(found);
  }
  void kind_number(int64_t& imm) {
    PyKind found{};
    py_kind(found);
    imm = static_cast<int64_t>(found);
  }
  void one(int64_t& imm) { imm = 1; }
  void bits(Type type, int64_t& imm) {
    if (peek().kind != TokenKind::kNumber && peek().kind != TokenKind::kWord) return fail("expected a constant");
    if (!parse_constant(type, peek().text, &imm)) return fail("not a constant of type " + std::string(type_info(type).text));
    take();
  }

  // Lists
  template <typename T, typename Each>
  void list(std::vector<T>& items, Each&& each_item) {
    if (is_punct(")") || is_punct("]")) return;
    do {
      items.emplace_back();
      each_item(items.back());
    } while (!failed() && eat(TokenKind::kPunct, ","));
  }
  template <typename T, typename Each>
  void until_close(std::vector<T>& items, Each&& each_item) {
    while (!failed() && !is_punct("}")) {
      items.emplace_back();
      each_item(items.back());
    }
  }
  template <typename T, typename Each>
  void each(std::string_view keyword, char sigil, std::vector<T>& records, Each&& each_record) {
    while (!failed() && eat(TokenKind::kWord, keyword)) {
      const std::string expected = std::to_string(records.size());
      const TokenKind kind = sigil == '@' ? TokenKind::kArray : sigil == '$' ? TokenKind::kObject : TokenKind::kSnapshot;
      if (sigil != '\0' && !eat(kind, expected)) return fail("expected " + std::string(1, sigil) + expected);
      records.emplace_back();
      each_record(records.back());
    }
  }
  void parts(std::vector<ValueId>& values) {
    while (peek().kind == TokenKind::kValue) values.push_back(value());
  }

  // Ops
  void results(std::vector<ValueId>& values) {
    result_token_ = at_;
    if (peek().kind != TokenKind::kValue) return;
    value_list(values);
    punct("=");
  }
  void op_name(OpCode& code, Type& type) {
    first_item_ = true;
    if_types_.clear();
    if (peek().kind != TokenKind::kWord) return fail("expected an operation");
    const std::string text = peek().text;
    const size_t dot = text.rfind('.');
    const std::string_view name = std::string_view(text).substr(0, dot);
    if (!op_from_text(name, &code)) return fail("unknown operation '" + std::string(name) + "'");
    if (has_type_suffix(code) != (dot != std::string::npos)) {
      return fail(has_type_suffix(code) ? "'" + text + "' needs a type, as in " + text + ".f64" : "'" + std::string(name) + "' takes no type");
    }
    type = letter_type(op_info(code).result, Type::None);
    if (dot != std::string::npos && !type_from_text(std::string_view(text).substr(dot + 1), &type)) return fail("unknown type");
    take();
  }
  void item() {
    if (!first_item_) punct(",");
    first_item_ = false;
  }
  void end_items() {
    if (is_punct(",")) fail("too many operands");
  }
  void operands(std::vector<ValueId>& values) {
    while (!failed()) {
      const bool here = first_item_ ? peek().kind == TokenKind::kValue : is_punct(",") && peek(1).kind == TokenKind::kValue;
      if (!here) return;
      item();
      values.push_back(value());
    }
  }
  void operand(std::vector<ValueId>& values, size_t) { values.push_back(value()); }
  void if_types(Function&, Op&) {
    if (!eat(TokenKind::kPunct, "->")) return;
    do if_types_.push_back(type());
    while (!failed() && eat(TokenKind::kPunct, ","));
  }
  void make_blocks(Function& f, Op& op) {
    const size_t count = op.code == OpCode::If ? 2 : op.code == OpCode::For || op.code == OpCode::Loop ? 1 : 0;
    for (size_t k = 0; k < count; ++k) op.blocks.push_back(f.new_block());
  }
  void param(Function&, Op& op, size_t, Type type) { define(op.blocks[0]->params.emplace_back(value()), type); }
  void carried(Function&, Op& op, size_t) {
    if (is_punct(")")) return;
    do {
      const ValueId v = op.blocks[0]->params.emplace_back(value());
      punct(":");
      define(v, type());
      punct("=");
      op.operands.push_back(value());
    } while (!failed() && eat(TokenKind::kPunct, ","));
  }
  void define_results(Function& f, Op& op) {
    if (failed()) return;
    std::vector<Type> types;
    const char letter = op_info(op.code).result;
    if (op.code == OpCode::If) {
      types = if_types_;
    } else if (letter == '*') {
      const std::vector<ValueId>& params = op.blocks[0]->params;
      for (size_t k = op.code == OpCode::For ? 1 : 0; k < params.size(); ++k) types.push_back(f.value_types[params[k]]);
    } else if (letter != '-') {
      types.push_back(letter_type(letter, op.type));
    }
    if (types.size() != op.results.size()) {
      at_ = result_token_;
      return fail("the operation has " + std::to_string(types.size()) + " results, not " + std::to_string(op.results.size()));
    }
    for (size_t k = 0; k < types.size(); ++k) define(op.results[k], types[k]);
  }
  void op_line(int32_t& line) {
    if (peek().kind == TokenKind::kLine) {
      if (!parse_number(peek().text, &line_)) return fail("not a line number");
      take();
    }
    line = line_;
  }
  template <typename Each>
  void block_ops(Function& f, Block& block, Each&& each_op) {
    while (!failed() && !is_punct("}")) {
      Op* op = f.new_op(OpCode::Const, Type::None);
      each_op(*op);
      block.ops.push_back(op);
    }
  }

  // Inputs: the values come first in the text, their types are known after the kind.
  void input_values(Function&, Input&) {
    input_values_.clear();
    if (peek().kind == TokenKind::kValue) value_list(input_values_);
  }
  void end_input(Function& f, Input& input) {
    if (failed()) return;
    if (input_values_.size() != input.parts()) return fail("the input needs " + std::to_string(input.parts()) + " values");
    for (ValueId v : input_values_) {
      f.body->params.push_back(v);
      define(v, pykind_info(input.kind).part_type);
    }
  }

 private:
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is_punct(std::string_view text) const { return peek().kind == TokenKind::kPunct && peek().text == text; }
  bool eat(TokenKind kind, std::string_view text) {
    if (failed() || peek().kind != kind || peek().text != text) return false;
    take();
    return true;
  }
  void fail(const std::string& what) {
    if (failed()) return;
    const Token& token = peek();
    error_ = "line " + std::to_string(token.line) + ":" + std::to_string(token.column) + ": " +
             (token.kind == TokenKind::kBad ? token.text : what);
    at_ = tokens_.size() - 1;
  }

  void id(TokenKind kind, const char* what, uint32_t& out) {
    if (peek().kind != kind) return fail(std::string("expected ") + what);
    out = kNone;
    if (peek().text != "none" && !parse_number(peek().text, &out)) return fail(std::string("expected ") + what);
    take();
  }
  template <typename Find>
  void named(const char* what, Find&& find) {
    if (failed()) return;
    if (peek().kind != TokenKind::kWord || !find(peek().text)) return fail(std::string("expected ") + what);
    take();
  }
  Type type() {
    Type found = Type::None;
    named("a type", [&](std::string_view text) { return type_from_text(text, &found); });
    return found;
  }
  ValueId value() {
    if (peek().kind != TokenKind::kValue) {
      fail("expected a value (%name)");
      return 0;
    }
    const std::string text = peek().text;
    ValueId number = 0;
    if (text.find_first_not_of("0123456789") == std::string::npos) {
      if (!parse_number(text, &number) || number >= kMaxValue) fail("value number too large");
    } else if (text == "none") {
      number = kNoValue;
    } else {
      const auto [entry, is_new] = names_.try_emplace(text, next_value_);
      if (is_new) ++next_value_;
      number = entry->second;
    }
    if (!failed()) take();
    return number;
  }
  void value_list(std::vector<ValueId>& values) {
    do values.push_back(value());
    while (!failed() && eat(TokenKind::kPunct, ","));
  }
  void define(ValueId v, Type type) {
    if (failed() || v == kNoValue) return;
    if (v >= f_.value_types.size()) f_.value_types.resize(v + 1, Type::None);
    f_.value_types[v] = type;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Function& f_;
  std::string error_;
  int depth_ = 0;
  int32_t line_ = 0;
  ValueId next_value_ = 0;
  std::unordered_map<std::string, ValueId> names_;
  bool first_item_ = true;
  size_t result_token_ = 0;
  std::vector<Type> if_types_;
  std::vector<ValueId> input_values_;
};

}  // namespace

bool parse_constant(Type type, std::string_view text, int64_t* out) {
  uint64_t bits = 0;
  switch (type) {
    case Type::I1:
      *out = text == "true" ? 1 : 0;
      return text == "true" || text == "false" || parse_number(text, out);
    case Type::F32: return parse_float_bits<float, uint32_t>(text, out);
    case Type::F64: return parse_float_bits<double, uint64_t>(text, out);
    case Type::Ptr:
      if (!text.starts_with("0x") || !parse_number(text.substr(2), &bits, 16)) return false;
      *out = static_cast<int64_t>(bits);
      return true;
    case Type::U64:
      if (!parse_number(text, &bits)) return false;
      *out = static_cast<int64_t>(bits);
      return true;
    default: return parse_number(text, out);
  }
}

std::unique_ptr<Function> parse(std::string_view text, std::string* error) {
  auto function = std::make_unique<Function>();
  function->body = function->new_block();
  Parser parser(text, *function);
  text_form::function(parser, *function);
  if (!parser.failed()) return function;
  if (error != nullptr) *error = parser.error();
  return nullptr;
}

}  // namespace hotloop::ir
