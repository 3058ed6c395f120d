// The rows of ops.def as an array, and look-up by text. Needs ops.def. Promises: as in ops.h.
#include "ir/ops.h"


namespace hotloop::ir {
namespace {

constexpr OpInfo kOps[] = {
#define HL_OP(name, text, operands, result, effects, fp, doc) {text, operands, (result)[0], effects, FpRule::fp, doc},
#include "ir/ops.def"
#undef HL_OP
};

}  // namespace

const OpInfo& op_info(OpCode code) { return kOps[static_cast<size_t>(code)]; }

bool op_from_text(std::string_view text, OpCode* out) {
  for (size_t k = 0; k < static_cast<size_t>(kOpCount); ++k) {
    if (kOps[k].text == text) {
      *out = static_cast<OpCode>(k);
      return true;
    }
  }
  return false;
}

}  // namespace hotloop::ir
