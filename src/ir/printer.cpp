// The printing direction of the IR's text form. Needs ir/text_form.h, ir/lexer.h (quote).
// Promises: never fails, also on a Function that breaks the IR's promises (messages show it); numbers are exact.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>

#include "ir/lexer.h"
#include "ir/text.h"
#include "ir/text_form.h"

namespace hotloop::ir {
namespace {

template <typename T>
std::string number_text(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

std::string hex_text(uint64_t value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, 16).ptr;
  return "0x" + std::string(buffer, end);
}

// Floats as their shortest exact decimal; the quiet NaN by name, other NaNs by their bits.
template <typename Float, typename Bits>
std::string float_text(Bits bits) {
  const Float value = std::bit_cast<Float>(bits);
  if (!std::isnan(value)) return number_text(value);
  return bits == std::bit_cast<Bits>(std::numeric_limits<Float>::quiet_NaN()) ? "nan" : hex_text(bits);
}

class Printer {
 public:
  std::string take() { return std::move(out_); }
  void skip_bodies() { skip_bodies_ = true; }

  // Layout
  void line() {
    if (!out_.empty()) out_ += '\n';
    out_.append(static_cast<size_t>(indent_) * 2, ' ');
    fresh_ = true;
  }
  void open() {
    token("{");
    ++indent_;
  }
  void close() {
    --indent_;
    if (skip_bodies_) {
      token("... }");
      return;
    }
    line();
    token("}");
  }
  void end() { out_ += '\n'; }
  bool enter() { return true; }
  void leave() {}

  // Tokens
  void word(std::string_view text) { token(text); }
  void punct(std::string_view text) {
    if (text == ")" || text == "]" || text == ",") fresh_ = true;
    token(text);
    fresh_ = text == "(" || text == "[";
  }
  void string(const std::string& text) { token(quote(text)); }
  void number(std::integral auto value) { token(number_text(value)); }
  bool optional(std::string_view text, bool present) {
    if (present) token(text);
    return present;
  }
  void flag(std::string_view text, bool present) { optional(text, present); }
  void result_use(ResultUse use) { optional("drop", use == ResultUse::kDrop); }
  bool optional_array_type(ArrayTypeId id) { return id != kNone; }
  void object(ObjectId id) { token("$" + id_text(id)); }
  void snapshot(SnapshotId id) { token("!" + id_text(id)); }
  void array_type(ArrayTypeId id) { token("@" + id_text(id)); }
  void py_kind(PyKind kind) { token(pykind_info(kind).text); }
  void stride(Stride stride) { token(stride == Stride::kItem ? "c" : stride == Stride::kZero ? "0" : "s"); }
  void slot_kind(SlotKind kind) {
    constexpr std::string_view kTexts[] = {"local", "cell", "global", "name", "stack", "seq_array", "seq_index", "object_cell", "attribute", "method_self"};
    token(kTexts[static_cast<size_t>(kind)]);
  }
  void helper(int64_t imm) {
    token(imm >= 0 && imm < kHelperCount ? helper_info(static_cast<HelperId>(imm)).text : std::string_view("none"));
  }
  void object_call(uint32_t id) {
    token(id < static_cast<uint32_t>(kObjectCallCount) ? object_call_info(static_cast<ObjectCallId>(id)).text : std::string_view("none"));
  }
  void reason(int64_t imm) {
    token(imm >= 0 && imm < kExitReasonCount ? exit_reason_name(static_cast<ExitReason>(imm)) : std::string_view("none"));
  }
  void kind_number(int64_t imm) { token(pykind_info(static_cast<PyKind>(imm)).text); }
  void one(int64_t) {}
  void bits(Type type, int64_t imm) { token(constant_text(type, imm)); }

  // Lists
  template <typename T, typename Each>
  void list(const std::vector<T>& items, Each&& each_item) {
    for (size_t k = 0; k < items.size(); ++k) {
      if (k > 0) punct(",");
      each_item(items[k]);
    }
  }
  template <typename T, typename Each>
  void until_close(const std::vector<T>& items, Each&& each_item) {
    for (const T& item : items) each_item(item);
  }
  template <typename T, typename Each>
  void each(std::string_view keyword, char sigil, const std::vector<T>& records, Each&& each_record) {
    for (size_t k = 0; k < records.size(); ++k) {
      line();
      word(keyword);
      if (sigil != '\0') token(sigil + number_text(k));
      each_record(records[k]);
    }
  }
  void parts(const std::vector<ValueId>& values) {
    for (ValueId v : values) value(v);
  }

  // Ops
  void results(const std::vector<ValueId>& values) {
    if (values.empty()) return;
    value_list(values);
    punct("=");
  }
  void op_name(OpCode code, Type type) {
    std::string text(op_info(code).text);
    if (has_type_suffix(code)) text.append(".").append(type_info(type).text);
    token(text);
    first_item_ = true;
  }
  void item() {
    if (!first_item_) punct(",");
    first_item_ = false;
  }
  void end_items() {}
  void operands(const std::vector<ValueId>& values) {
    for (ValueId v : values) {
      item();
      value(v);
    }
  }
  void operand(const std::vector<ValueId>& values, size_t k) { value(k < values.size() ? values[k] : kNoValue); }
  void if_types(const Function& f, const Op& op) {
    if (op.results.empty()) return;
    punct("->");
    for (size_t k = 0; k < op.results.size(); ++k) {
      if (k > 0) punct(",");
      token(type_info(type_of(f, op.results[k])).text);
    }
  }
  void param(const Function&, const Op& op, size_t k, Type) { value(param_of(op, k)); }
  void carried(const Function& f, const Op& op, size_t first) {
    const size_t first_param = first != 0 ? 1 : 0;
    const size_t params = op.blocks.empty() ? 0 : op.blocks[0]->params.size();
    const size_t count = std::max(op.operands.size() > first ? op.operands.size() - first : 0, params > first_param ? params - first_param : 0);
    for (size_t k = 0; k < count; ++k) {
      if (k > 0) punct(",");
      const ValueId v = param_of(op, first_param + k);
      value(v);
      punct(":");
      token(type_info(type_of(f, v)).text);
      punct("=");
      operand(op.operands, first + k);
    }
  }
  void make_blocks(const Function&, const Op&) {}
  void define_results(const Function&, const Op&) {}
  void op_line(int32_t line) {
    if (line == line_) return;
    line_ = line;
    token("#" + number_text(line));
  }
  template <typename Each>
  void block_ops(const Function&, const Block& block, Each&& each_op) {
    if (skip_bodies_) return;
    for (const Op* op : block.ops) each_op(*op);
  }

  // Inputs
  void input_values(const Function& f, const Input& input) {
    std::vector<ValueId> values;
    for (uint32_t k = 0; k < input.parts(); ++k, ++next_param_) {
      values.push_back(next_param_ < f.body->params.size() ? f.body->params[next_param_] : kNoValue);
    }
    value_list(values);
  }
  void end_input(const Function&, const Input&) {}

 private:
  void token(std::string_view text) {
    if (!fresh_) out_ += ' ';
    fresh_ = false;
    out_ += text;
  }
  static std::string id_text(uint32_t id) { return id == kNone ? "none" : number_text(id); }
  void value(ValueId v) { token("%" + id_text(v)); }
  void value_list(const std::vector<ValueId>& values) {
    for (size_t k = 0; k < values.size(); ++k) {
      if (k > 0) punct(",");
      value(values[k]);
    }
  }
  static Type type_of(const Function& f, ValueId v) { return v < f.value_types.size() ? f.value_types[v] : Type::None; }
  static ValueId param_of(const Op& op, size_t k) {
    return !op.blocks.empty() && k < op.blocks[0]->params.size() ? op.blocks[0]->params[k] : kNoValue;
  }

  std::string out_;
  int indent_ = 0;
  bool fresh_ = true;  // no space before the next token
  bool first_item_ = true;
  bool skip_bodies_ = false;
  int32_t line_ = 0;
  size_t next_param_ = 0;
};

}  // namespace

std::string constant_text(Type type, int64_t imm) {
  switch (type) {
    case Type::I1: return imm == 0 ? "false" : imm == 1 ? "true" : number_text(imm);
    case Type::F32: return float_text<float>(static_cast<uint32_t>(imm));
    case Type::F64: return float_text<double>(static_cast<uint64_t>(imm));
    case Type::Ptr: return hex_text(static_cast<uint64_t>(imm));
    case Type::U64: return number_text(static_cast<uint64_t>(imm));
    default: return number_text(imm);
  }
}

std::string print(const Function& function) {
  Printer printer;
  text_form::function(printer, function);
  return printer.take();
}

std::string print(const Function& function, const Op& op) {
  Printer printer;
  printer.skip_bodies();
  text_form::op(printer, function, op);
  return printer.take();
}

}  // namespace hotloop::ir
