// One file of tests/ir/. Needs ir_file.h, ir/lexer.h. Promises: as in ir_file.h.
#include "ir_file.h"

#include <algorithm>
#include <sstream>

#include "ir/lexer.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "optimizer/pipeline.h"

namespace hotloop::test {
namespace {

constexpr std::string_view kOptimisedHeading = "; optimised:";

std::string after(const std::string& line, std::string_view prefix) {
  return line.starts_with(prefix) ? line.substr(prefix.size()) : std::string();
}

// Walks the tokens of one directive.
class Tokens {
 public:
  explicit Tokens(const std::string& text) : tokens_(ir::tokenize(text)) {}
  const ir::Token& peek() const { return tokens_[at_]; }
  ir::Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool eat(std::string_view text) {
    if (peek().text != text || at_end()) return false;
    take();
    return true;
  }
  bool at_end() const { return peek().kind == ir::TokenKind::kEnd || peek().kind == ir::TokenKind::kBad; }
  std::vector<int64_t> numbers() {  // [1, 2, 3]
    std::vector<int64_t> out;
    if (!eat("[")) return out;
    while (!at_end() && !eat("]")) {
      int64_t number = 0;
      if (ir::parse_constant(ir::Type::I64, take().text, &number)) out.push_back(number);
      eat(",");
    }
    return out;
  }

 private:
  std::vector<ir::Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

IrFile::IrFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  std::istringstream stream(text_);
  for (std::string line; std::getline(stream, line);) lines_.push_back(line);
}

std::string IrFile::read_directives() {
  for (size_t k = 0; k < lines_.size(); ++k) {
    const std::string& line = lines_[k];
    std::string bad;
    if (std::string rest = after(line, "; test: "); !rest.empty()) {
      const size_t space = rest.find(' ');
      mode_ = rest.substr(0, space);
      if (space != std::string::npos) argument_ = rest.substr(space + 1);
      if (argument_.starts_with('"')) argument_ = Tokens(argument_).take().text;
    } else if (rest = after(line, "; array "); !rest.empty()) {
      bad = read_array(rest);
    } else if (rest = after(line, "; run "); !rest.empty()) {
      bad = read_run(rest, k);
    } else if (line.starts_with("; =>") || line.starts_with("; optimised =>")) {
      if (runs_.empty()) return "an expectation without a run";
      const bool optimised = line.starts_with("; optimised");
      (optimised ? runs_.back().optimised_line : runs_.back().expected_line) = k;
      (optimised ? runs_.back().optimised : runs_.back().expected) = line.substr(line.find("=>") + 3 <= line.size() ? line.find("=>") + 3 : line.size());
    }
    if (!bad.empty()) return "line " + std::to_string(k + 1) + ": " + bad;
  }
  return mode_.empty() ? "no `; test:` line" : std::string();
}

std::string IrFile::read_array(const std::string& text) {
  Tokens tokens(text);
  const std::string name = tokens.take().text;
  ir::PyKind elem{};
  if (!ir::pykind_from_text(tokens.take().text, &elem)) return "unknown element kind";
  std::vector<int64_t> dims = tokens.numbers();
  std::vector<int64_t> strides = c_strides(elem, dims);
  if (tokens.eat("strides")) strides = tokens.numbers();
  if (strides.size() != dims.size()) return "one stride per axis";
  auto& array = *arrays_.emplace_back(std::make_unique<TestArray>(name, elem, dims, strides));
  if (!tokens.eat("=")) return {};
  for (int64_t k = 0; !tokens.at_end(); ++k) {
    int64_t cell = 0;
    if (k >= array.item_count() || !ir::parse_constant(array.type(), tokens.take().text, &cell)) return "bad items";
    array.set_item(k, cell);
  }
  return {};
}

std::string IrFile::read_run(const std::string& text, size_t line) {
  Tokens tokens(text);
  Run run;
  run.line = line;
  if (tokens.eat("force") && !ir::parse_constant(ir::Type::I64, tokens.take().text, &run.force)) return "force needs a number";
  run.breaker = tokens.eat("breaker");
  if (!tokens.eat("(")) return "expected (";
  while (!tokens.at_end() && !tokens.eat(")")) {
    const ir::Token token = tokens.take();
    run.inputs.push_back((token.kind == ir::TokenKind::kObject ? "$" : "") + token.text);
    tokens.eat(",");
  }
  runs_.push_back(std::move(run));
  return {};
}

std::string IrFile::inputs_of(const Run& run, RunInputs* out) const {
  const std::vector<ir::ValueId>& params = function_->body->params;
  if (params.size() != run.inputs.size()) return "the region takes " + std::to_string(params.size()) + " inputs";
  for (size_t k = 0; k < params.size(); ++k) {
    const std::string& text = run.inputs[k];
    int64_t cell = 0;
    if (text.starts_with('$')) {
      for (const auto& array : arrays_) {
        if (array->name() == text.substr(1)) cell = array->address();
      }
      if (cell == 0) return "unknown array " + text;
    } else if (!ir::parse_constant(function_->type_of(params[k]), text, &cell)) {
      return "bad input " + text;
    }
    out->in.push_back(cell);
  }
  for (const auto& array : arrays_) out->arrays.push_back(array.get());
  out->force_countdown = run.force;
  out->breaker = run.breaker;
  return {};
}

std::string IrFile::result_text(const RunResult& result) const {
  if (result.snapshot == ir::kNoSnapshot) return "no exit";
  std::string text = std::string(ir::exit_reason_name(result.reason)) + " !" + std::to_string(result.snapshot);
  if (result.forced) text += " forced";
  text += " (";
  for (const RunResult::Part& part : result.parts) {
    if (!text.ends_with('(')) text += ", ";
    std::string item = ir::constant_text(part.type, part.cell);
    for (const auto& array : arrays_) {
      if (part.type == ir::Type::Ptr && part.cell == array->address()) item = "$" + array->name();
    }
    text += item;
  }
  text += ")";
  for (size_t k = 0; k < arrays_.size(); ++k) {
    if (arrays_[k]->bytes() == result.memory[k]) continue;
    std::vector<char> before = arrays_[k]->bytes();
    std::copy(result.memory[k].begin(), result.memory[k].end(), arrays_[k]->bytes().begin());
    text += " " + arrays_[k]->name() + "=[";
    for (int64_t item = 0; item < arrays_[k]->item_count(); ++item) {
      text += (item > 0 ? " " : "") + ir::constant_text(arrays_[k]->type(), arrays_[k]->item(item));
    }
    text += "]";
    std::copy(before.begin(), before.end(), arrays_[k]->bytes().begin());
  }
  return text;
}

std::string IrFile::optimise(ir::Function& function, bool hoist, bool lower) const {
  optimizer::PipelineOptions options;
  options.verify = true;
  options.hoist_guards = hoist;
  options.lower_addresses = lower;
  const base::Result<bool> done = optimizer::optimize(function, options);
  return done ? std::string() : "optimize: " + done.refusal().message();
}

std::string IrFile::check_run(Run& run, bool optimised) {
  ir::Function& function = optimised ? *optimised_function_ : *function_;
  const std::vector<ir::ExitInfo> exits = ir::enumerate_exits(function);
  RunInputs inputs;
  if (std::string bad = inputs_of(run, &inputs); !bad.empty()) return bad;
  if (optimised && run.force != INT64_MAX) return {};  // the optimised function counts other exits
  const RunResult oracle = test::run(function, exits, evaluator_entry(function), inputs);
  const std::string found = result_text(oracle);
  (optimised ? run.found_optimised : run.found) = found;
  const std::string& expected = optimised && run.optimised_line != SIZE_MAX ? run.optimised : run.expected;
  if (found != expected) return std::string(optimised ? "optimised: " : "") + "expected " + expected + "\n  found " + found;
  for (bool baseline : {true, false}) {
    std::string error;
    const Entry entry = x86_entry(function, baseline, &error);
    if (!error.empty()) return "x86: " + error;
    if (!entry) continue;
    const RunResult native = test::run(function, exits, entry, inputs);
    const std::string differs = difference(oracle, native, true);
    if (!differs.empty()) return std::string(optimised ? "optimised " : "") + "x86" + (baseline ? " (sse2)" : "") + ": " + differs;
  }
  return {};
}

std::string IrFile::check_runs() {
  if (runs_.empty()) return "no `; run` line";
  optimised_function_ = ir::parse(text_, nullptr);
  if (std::string bad = optimise(*optimised_function_, true, true); !bad.empty()) return bad;
  std::string first;
  for (Run& run : runs_) {
    for (bool optimised : {false, true}) {
      const std::string bad = check_run(run, optimised);
      if (first.empty() && !bad.empty()) first = "line " + std::to_string(run.line + 1) + ": " + bad;
    }
  }
  return first;
}

std::string IrFile::check_optimised() {
  const bool hoist = argument_.find("no-hoist") == std::string::npos;
  const bool lower = argument_.find("lower") != std::string::npos;
  if (std::string bad = optimise(*function_, hoist, lower); !bad.empty()) return bad;
  found_optimised_text_ = ir::print(*function_);
  std::string expected;
  bool inside = false;
  for (const std::string& line : lines_) {
    if (inside) expected += (line.size() > 2 ? line.substr(2) : std::string()) + "\n";
    inside = inside || line == kOptimisedHeading;
  }
  if (expected == found_optimised_text_) return {};
  return "expected\n" + expected + "found\n" + found_optimised_text_;
}

std::string IrFile::check_text() {
  const std::string printed = ir::print(*function_);
  std::string error;
  const std::unique_ptr<ir::Function> again = ir::parse(printed, &error);
  if (again == nullptr) return "the printed form does not parse: " + error + "\n" + printed;
  if (ir::print(*again) != printed) return "the printed form prints differently:\n" + printed + "and\n" + ir::print(*again);
  if (mode_ != "roundtrip") return {};
  std::string without_comments;
  for (const std::string& line : lines_) {
    if (!line.starts_with(";")) without_comments += line + "\n";
  }
  return printed == without_comments ? std::string() : "prints as\n" + printed;
}

std::string IrFile::check_error(const std::string& found) const {
  if (!argument_.empty() && found.find(argument_) != std::string::npos) return {};
  return "expected \"" + argument_ + "\", found \"" + found + "\"";
}

std::string IrFile::check() {
  if (std::string bad = read_directives(); !bad.empty()) return bad;
  std::string error;
  function_ = ir::parse(text_, &error);
  if (mode_ == "parse-error") return function_ == nullptr ? check_error(error) : "parses";
  if (function_ == nullptr) return error;
  if (std::string bad = check_text(); !bad.empty()) return bad;
  const std::string broken = ir::verify(*function_);
  if (mode_ == "verify-error") return check_error(broken);
  if (!broken.empty()) return "verifier: " + broken;
  if (mode_ == "roundtrip") return {};
  if (mode_ == "run") return check_runs();
  if (mode_ == "optimize") return check_optimised();
  return "unknown test '" + mode_ + "'";
}

std::string IrFile::blessed() const {
  std::string out;
  for (size_t k = 0; k < lines_.size(); ++k) {
    bool is_expectation = false;
    for (const Run& run : runs_) is_expectation = is_expectation || k == run.expected_line || k == run.optimised_line;
    if (!is_expectation) out += lines_[k] + "\n";
    if (mode_ == "optimize" && lines_[k] == kOptimisedHeading) break;
    for (const Run& run : runs_) {
      if (k != run.line) continue;
      out += "; => " + run.found + "\n";
      if (!run.found_optimised.empty() && run.found_optimised != run.found) out += "; optimised => " + run.found_optimised + "\n";
    }
  }
  if (mode_ != "optimize" || found_optimised_text_.empty()) return out;
  if (out.find(kOptimisedHeading) == std::string::npos) out += std::string(kOptimisedHeading) + "\n";
  std::istringstream stream(found_optimised_text_);
  for (std::string line; std::getline(stream, line);) out += "; " + line + "\n";
  return out;
}

}  // namespace hotloop::test
