// Runs IR in the tests. Needs ir_run.h. Promises: as there.
#include "ir_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "codegen/x86.h"
#include "ir/text.h"

namespace hotloop::test {
namespace {

constexpr int64_t kMargin = 64;
constexpr char kMarginByte = 0x5a;

bool same_cell(ir::Type type, int64_t a, int64_t b, bool exact_nans) {
  a = canonical(type, a);
  b = canonical(type, b);
  if (a == b) return true;
  if (exact_nans) return false;
  if (type == ir::Type::F64) return std::isnan(std::bit_cast<double>(a)) && std::isnan(std::bit_cast<double>(b));
  if (type == ir::Type::F32) {
    return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(a))) && std::isnan(std::bit_cast<float>(static_cast<uint32_t>(b)));
  }
  return false;
}

void collect_parts(const ir::SnapValue& value, std::vector<ir::ValueId>* parts) {
  parts->insert(parts->end(), value.values.begin(), value.values.end());
  for (const ir::SnapValue& child : value.children) collect_parts(child, parts);
}

}  // namespace

std::vector<int64_t> c_strides(ir::PyKind elem, const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = ir::element_size(elem);
  for (size_t k = dims.size(); k-- > 0;) {
    strides[k] = stride;
    stride *= dims[k];
  }
  return strides;
}

TestArray::TestArray(std::string name, ir::PyKind elem, std::vector<int64_t> dims, std::vector<int64_t> strides)
    : name_(std::move(name)), elem_(elem), dims_(std::move(dims)), strides_(std::move(strides)) {
  int64_t low = 0;
  int64_t high = ir::element_size(elem_);
  for (size_t k = 0; k < dims_.size(); ++k) {
    const int64_t reach = (dims_[k] > 0 ? dims_[k] - 1 : 0) * strides_[k];
    (reach < 0 ? low : high) += reach;
  }
  bytes_.assign(static_cast<size_t>(high - low + 2 * kMargin), kMarginByte);
  object_.data = bytes_.data() + kMargin - low;
  object_.ndim = static_cast<int32_t>(dims_.size());
  object_.dims = dims_.data();
  object_.strides = strides_.data();
  for (int64_t k = 0; k < item_count(); ++k) set_item(k, 0);
}

int64_t TestArray::item_count() const {
  int64_t count = ir::pykind_info(elem_).parts;
  for (int64_t dim : dims_) count *= dim;
  return count;
}

char* TestArray::element(int64_t k) const {
  const int64_t parts = ir::pykind_info(elem_).parts;
  char* address = object_.data + k % parts * ir::type_size(type());
  k /= parts;
  for (size_t axis = dims_.size(); axis-- > 0;) {
    address += k % dims_[axis] * strides_[axis];
    k /= dims_[axis];
  }
  return address;
}

void TestArray::set_item(int64_t k, int64_t cell) { std::memcpy(element(k), &cell, static_cast<size_t>(ir::type_size(type()))); }

int64_t TestArray::item(int64_t k) const {
  int64_t cell = 0;
  std::memcpy(&cell, element(k), static_cast<size_t>(ir::type_size(type())));
  return canonical(type(), cell);
}

ir::ArrayType TestArray::array_type(bool writable) const {
  ir::ArrayType type;
  type.elem = elem_;
  type.writable = writable;
  for (int64_t stride : strides_) {
    type.strides.push_back(stride == ir::element_size(elem_) ? ir::Stride::kItem : stride == 0 ? ir::Stride::kZero : ir::Stride::kOther);
  }
  return type;
}

int64_t canonical(ir::Type type, int64_t cell) {
  switch (type) {
    case ir::Type::I1: return cell;  // anything but 0 and 1 is a defect and must show
    case ir::Type::I8: return static_cast<int8_t>(cell);
    case ir::Type::I16: return static_cast<int16_t>(cell);
    case ir::Type::I32: return static_cast<int32_t>(cell);
    case ir::Type::U8: return static_cast<uint8_t>(cell);
    case ir::Type::U16: return static_cast<uint16_t>(cell);
    case ir::Type::U32:
    case ir::Type::F32: return static_cast<uint32_t>(cell);
    default: return cell;
  }
}

namespace {

template <typename CellOf>
void fill_parts(const ir::Function& function, ir::SnapshotId id, CellOf&& cell_of, RunResult* result) {
  std::vector<ir::ValueId> parts;
  for (const ir::FrameState& frame : function.snapshots[id].frames) {
    for (const ir::SlotValue& slot : frame.slots) collect_parts(slot.value, &parts);
  }
  result->snapshot = id;
  for (ir::ValueId v : parts) {
    const ir::Type type = function.type_of(v);
    // Integers and i1 must arrive extended to the whole cell; only a float32 leaves its upper half open.
    result->parts.push_back({v, type, type == ir::Type::F32 ? canonical(type, cell_of(v)) : cell_of(v)});
  }
}

class Restore {
 public:
  explicit Restore(const RunInputs& inputs) : inputs_(inputs) {
    for (TestArray* array : inputs.arrays) saved_.push_back(array->bytes());
  }
  ~Restore() {  // in place: compiled code and the array object hold the buffer's address
    for (size_t k = 0; k < saved_.size(); ++k) std::copy(saved_[k].begin(), saved_[k].end(), inputs_.arrays[k]->bytes().begin());
  }

 private:
  const RunInputs& inputs_;
  std::vector<std::vector<char>> saved_;
};

}  // namespace

RunResult run(const ir::Function& function, const std::vector<ir::ExitInfo>& exits, const Entry& entry, const RunInputs& inputs) {
  constexpr int64_t kUntouched = 0x5a5a5a5a5a5a5a5a;
  const Restore restore(inputs);
  std::vector<int64_t> out(function.value_types.size() + 1, kUntouched);
  const uint8_t breaker = inputs.breaker ? 1 : 0;
  ir::Activation activation;
  activation.in = inputs.in.data();
  activation.out = out.data();
  activation.breaker = &breaker;
  activation.force_countdown = inputs.force_countdown;

  RunResult result;
  result.exit_id = entry(&activation);
  result.forced = activation.forced != 0;
  if (result.exit_id < exits.size()) {
    const ir::ExitInfo& exit = exits[result.exit_id];
    result.reason = exit.reason;
    const std::vector<ir::ValueId> values = ir::snapshot_values(function.snapshots[exit.snapshot]);
    auto cell_of = [&](ir::ValueId v) { return out[static_cast<size_t>(std::find(values.begin(), values.end(), v) - values.begin())]; };
    fill_parts(function, exit.snapshot, cell_of, &result);
  }
  for (TestArray* array : inputs.arrays) result.memory.push_back(array->bytes());
  return result;
}

States::States(ir::Function& function, const RunInputs& inputs) : function_(function), inputs_(inputs) {
  ir::enumerate_exits(function);
  const Restore restore(inputs);
  std::vector<int64_t> out(function.value_types.size() + 1);
  ir::Activation activation;
  activation.in = inputs.in.data();
  activation.out = out.data();
  ir::evaluate(function, ir::core_helpers(), &activation, this);
}

void States::passes(ir::SnapshotId snapshot, const int64_t* cells) {
  RunResult state;
  fill_parts(function_, snapshot, [cells](ir::ValueId v) { return cells[v]; }, &state);
  for (TestArray* array : inputs_.arrays) state.memory.push_back(array->bytes());
  keys_.insert(key(state));
}

bool States::contain(const RunResult& result) const { return keys_.contains(key(result)); }

// FNV-1a over the snapshot, the parts and the memory.
uint64_t States::key(const RunResult& state) {
  uint64_t hash = 0xcbf29ce484222325u;
  auto add = [&hash](uint64_t word) {
    for (int k = 0; k < 8; ++k) hash = (hash ^ (word >> (8 * k) & 0xff)) * 0x100000001b3u;
  };
  add(state.snapshot);
  for (const RunResult::Part& part : state.parts) add(static_cast<uint64_t>(part.cell));
  for (const std::vector<char>& bytes : state.memory) {
    for (char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  return hash;
}

Entry evaluator_entry(const ir::Function& function) {
  return [&function, helpers = ir::core_helpers()](ir::Activation* activation) { return ir::evaluate(function, helpers, activation); };
}

Entry x86_entry(const ir::Function& function, bool baseline, std::string* error) {
  codegen::CodegenOptions options;
  options.isa = baseline ? codegen::Isa::kSse2 : codegen::Isa::kNative;
  options.force_exits = true;
  options.validate = true;
  base::Result<std::unique_ptr<codegen::CompiledCode>> code = codegen::compile(function, ir::core_helpers(), options);
  if (!code) {
    *error = code.refusal().message();
    return {};
  }
  std::shared_ptr<codegen::CompiledCode> shared = std::move(code).value();
  return [shared](ir::Activation* activation) { return shared->entry()(activation); };
}

std::string difference(const RunResult& a, const RunResult& b, bool exact_nans) {
  if (a.exit_id == ir::kNone || b.exit_id == ir::kNone) return "no exit was taken";
  if (a.reason != b.reason || a.snapshot != b.snapshot) {
    auto text = [](const RunResult& r) { return std::string(ir::exit_reason_name(r.reason)) + " !" + std::to_string(r.snapshot) + (r.forced ? " forced" : ""); };
    return "exits " + text(a) + " and " + text(b);
  }
  if (a.forced != b.forced) return "one exit was forced, the other was not";
  if (a.parts.size() != b.parts.size()) return "snapshots with different numbers of parts";
  for (size_t k = 0; k < a.parts.size(); ++k) {
    const ir::Type type = a.parts[k].type;
    const int64_t cells[] = {a.parts[k].cell, b.parts[k].cell};
    if (cells[0] == cells[1] || (ir::is_float(type) && same_cell(type, cells[0], cells[1], exact_nans))) continue;
    return "part " + std::to_string(k) + ", %" + std::to_string(a.parts[k].value) + " or %" + std::to_string(b.parts[k].value) + ": " +
           ir::constant_text(type, cells[0]) + " and " + ir::constant_text(type, cells[1]);
  }
  if (a.memory.size() != b.memory.size()) return "different numbers of arrays";
  for (size_t k = 0; k < a.memory.size(); ++k) {
    for (size_t at = 0; at < a.memory[k].size(); ++at) {
      if (a.memory[k][at] != b.memory[k][at]) return "array " + std::to_string(k) + ", byte " + std::to_string(static_cast<int64_t>(at) - kMargin);
    }
  }
  return {};
}

}  // namespace hotloop::test
