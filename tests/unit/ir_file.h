// One file of tests/ir/: its directives (comment lines that start with `; test:` and so on), its IR, and what it expects.
// Needs ir_run.h. Promises: check() says what differs from the expectations; blessed() is the file's text with the expectations made true.
//
//   ; test: roundtrip                          the text prints as it stands here (every test but a parse error checks this of its own print)
//   ; test: parse-error "line 3:5: expected"   the parser's message contains this
//   ; test: verify-error "is defined twice"    the verifier's message contains this
//   ; test: run                                every `; run` line gives the `; =>` line behind it, in every back end, optimised or not
//   ; test: optimize [no-hoist] [lower]        the optimised function is the text behind `; optimised:`
//   ; array a np.float64 [2, 3] strides [8, 16] = 1 2 3 4 5 6
//   ; run force 2 breaker (5, 2.5, $a)
//   ; => Finished !0 forced (7, 2.5) a=[1 2 3]
//   ; optimised => Hoisted !1 (7)              where the optimised function leaves elsewhere
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir_run.h"

namespace hotloop::test {

class IrFile {
 public:
  IrFile(std::string name, std::string text);
  std::string check();  // empty: passed
  std::string blessed() const;

 private:
  struct Run {
    size_t line = 0;  // of `; run`, into lines_
    std::vector<std::string> inputs;
    int64_t force = INT64_MAX;
    bool breaker = false;
    size_t expected_line = SIZE_MAX;
    std::string expected;
    size_t optimised_line = SIZE_MAX;
    std::string optimised;
    std::string found;            // the evaluator's
    std::string found_optimised;  // likewise
  };

  std::string read_directives();
  std::string read_array(const std::string& text);
  std::string read_run(const std::string& text, size_t line);
  std::string check_text();
  std::string check_error(const std::string& found) const;
  std::string check_runs();
  std::string check_run(Run& run, bool optimised);
  std::string check_optimised();
  std::string inputs_of(const Run& run, RunInputs* out) const;
  std::string result_text(const RunResult& result) const;
  std::string optimise(ir::Function& function, bool hoist, bool lower) const;

  std::string name_;
  std::vector<std::string> lines_;
  std::string text_;
  std::string mode_;
  std::string argument_;
  std::vector<std::unique_ptr<TestArray>> arrays_;
  std::vector<Run> runs_;
  std::unique_ptr<ir::Function> function_;
  std::unique_ptr<ir::Function> optimised_function_;
  std::string found_optimised_text_;
};

}  // namespace hotloop::test
