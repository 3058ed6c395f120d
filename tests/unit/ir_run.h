// Runs IR in the tests: arrays as compiled code sees them, one call for every back end, results that can be compared.
// Needs ir/, codegen/x86.h. Promises: the same inputs give every back end the same start; results hold canonical cells.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/evaluator.h"
#include "ir/ir.h"

namespace hotloop::test {

// The fields of numpy.ndarray that compiled code reads, at their offsets (ir/activation.h).
struct ArrayObject {
  int64_t head[2] = {0, 0};
  char* data = nullptr;
  int32_t ndim = 0;
  int32_t padding = 0;
  const int64_t* dims = nullptr;
  const int64_t* strides = nullptr;
};
static_assert(offsetof(ArrayObject, data) == ir::kArrayDataOffset && offsetof(ArrayObject, ndim) == ir::kArrayNdimOffset);
static_assert(offsetof(ArrayObject, dims) == ir::kArrayDimsOffset && offsetof(ArrayObject, strides) == ir::kArrayStridesOffset);

// An array with its memory; guard bytes on both sides show stray stores. Not copied: compiled code holds its address.
class TestArray {
 public:
  TestArray(std::string name, ir::PyKind elem, std::vector<int64_t> dims, std::vector<int64_t> strides);
  TestArray(const TestArray&) = delete;

  const std::string& name() const { return name_; }
  ir::PyKind elem() const { return elem_; }
  ir::Type type() const { return ir::element_type(elem_); }
  int64_t item_count() const;              // of parts: two for each complex element
  void set_item(int64_t k, int64_t cell);  // k in C order, parts innermost
  int64_t item(int64_t k) const;
  int64_t address() const { return reinterpret_cast<int64_t>(&object_); }
  std::vector<char>& bytes() { return bytes_; }
  ir::ArrayType array_type(bool writable) const;

 private:
  char* element(int64_t k) const;

  std::string name_;
  ir::PyKind elem_;
  std::vector<int64_t> dims_;
  std::vector<int64_t> strides_;
  std::vector<char> bytes_;
  ArrayObject object_;
};
std::vector<int64_t> c_strides(ir::PyKind elem, const std::vector<int64_t>& dims);

struct RunResult {
  uint32_t exit_id = ir::kNone;
  ir::ExitReason reason{};
  ir::SnapshotId snapshot = ir::kNoSnapshot;
  bool forced = false;
  // What the snapshot's parts hold, in order, one by one (snapshot_values() has each value once; passes may merge values).
  struct Part {
    ir::ValueId value;
    ir::Type type;
    int64_t cell;
  };
  std::vector<Part> parts;
  std::vector<std::vector<char>> memory;   // of every array
};

struct RunInputs {
  std::vector<int64_t> in;
  std::vector<TestArray*> arrays;
  int64_t force_countdown = INT64_MAX;
  bool breaker = false;
};

using Entry = std::function<uint32_t(ir::Activation*)>;

// Runs `entry` on the inputs and puts the arrays back as they were. `exits` is enumerate_exits() of the function behind `entry`.
RunResult run(const ir::Function& function, const std::vector<ir::ExitInfo>& exits, const Entry& entry, const RunInputs& inputs);

Entry evaluator_entry(const ir::Function& function);

// The x86 back end; empty with *error set when it refuses.
Entry x86_entry(const ir::Function& function, bool baseline, std::string* error);

int64_t canonical(ir::Type type, int64_t cell);

// All states that a run of the function, neither forced nor interrupted, comes by: a correct optimised function leaves in one of them.
// (A check that moved up leaves earlier than the function as it was; the interpreter then does what that would have done.)
class States : public ir::SnapshotObserver {
 public:
  States(ir::Function& function, const RunInputs& inputs);
  bool contain(const RunResult& result) const;
  void passes(ir::SnapshotId snapshot, const int64_t* cells) override;

 private:
  static uint64_t key(const RunResult& result);

  const ir::Function& function_;
  const RunInputs& inputs_;
  std::unordered_set<uint64_t> keys_;
};

// Empty when equal, else the first difference.
std::string difference(const RunResult& a, const RunResult& b, bool exact_nans);

}  // namespace hotloop::test
