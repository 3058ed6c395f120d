// Poll thinning: an inner `for` with a known small number of trips, no loops inside and a body of moderate size asks for pending work only as
// often as the loop around it.
//
// Needs constants folded. Preserves that native code polls at least about every 50 µs: 2000 trips times the body's ops are bounded below.
#include "optimizer/editor.h"
#include "optimizer/passes.h"

namespace hotloop::optimizer {

using namespace ir;

namespace {

constexpr int64_t kMaxWork = 20000;  // trips times ops

// Trips of a loop with constant limits, or -1.
int64_t constant_trips(const Editor& editor, const Op& loop) {
  const auto lo = editor.const_bits(loop.operands[0]);
  const auto hi = editor.const_bits(loop.operands[1]);
  const auto step = editor.const_bits(loop.operands[2]);
  if (!lo || !hi || !step || *step == 0) return -1;
  if (*lo < -kMaxWork || *lo > kMaxWork || *hi < -kMaxWork || *hi > kMaxWork) return -1;
  const int64_t distance = *step > 0 ? *hi - *lo : *lo - *hi;
  const uint64_t size = *step > 0 ? static_cast<uint64_t>(*step) : 0 - static_cast<uint64_t>(*step);
  return distance <= 0 ? 0 : static_cast<int64_t>((static_cast<uint64_t>(distance) + size - 1) / size);
}

bool is_simple(const Block& block, int64_t* ops) {
  for (const Op* op : block.ops) {
    if (is_loop(*op)) return false;
    *ops += op->code == OpCode::Call ? 20 : 1;
    for (const Block* inner : op->blocks) {
      if (!is_simple(*inner, ops)) return false;
    }
  }
  return true;
}

bool has_poll(const Block& block) {
  for (const Op* op : block.ops) {
    if (op->code == OpCode::Poll) return true;
  }
  return false;
}

bool thin(const Editor& editor, Block& block, bool inside_polled) {
  bool changed = false;
  for (Op* op : block.ops) {
    if (is_loop(*op)) {
      Block& body = *op->blocks[0];
      int64_t ops = 0;
      const bool polled = has_poll(body);
      if (polled && inside_polled && op->code == OpCode::For && is_simple(body, &ops)) {
        const int64_t trips = constant_trips(editor, *op);
        if (trips >= 0 && trips * ops <= kMaxWork) {
          std::erase_if(body.ops, [](const Op* inner) { return inner->code == OpCode::Poll; });
          changed = true;
        }
      }
      changed = thin(editor, body, polled || inside_polled) || changed;
    } else {
      for (Block* inner : op->blocks) changed = thin(editor, *inner, inside_polled) || changed;
    }
  }
  return changed;
}

}  // namespace

bool thin_polls(Function& function) {
  const Editor editor(function);
  return thin(editor, *function.body, false);
}

}  // namespace hotloop::optimizer
