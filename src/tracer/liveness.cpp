// See liveness.h: the usual backward fixed point.
#include "tracer/liveness.h"

namespace hotloop::tracer {

namespace {

struct Access {
  std::vector<int> reads, writes;  // in this order within one instruction where it does both, but for STORE_FAST_LOAD_FAST
};

Access access(const HlInstr& in, int locals) {
  switch (in.op) {
    case HL_LOAD_FAST:
    case HL_LOAD_FAST_CHECK: return {{in.arg}, {}};
    case HL_LOAD_FAST_AND_CLEAR:
    case HL_DELETE_FAST: return {{in.arg}, {in.arg}};
    case HL_LOAD_FAST_LOAD_FAST: return {{in.arg, in.arg2}, {}};
    case HL_STORE_FAST: return {{}, {in.arg}};
    case HL_STORE_FAST_LOAD_FAST:
      if (in.arg == in.arg2) return {{}, {in.arg}};
      return {{in.arg2}, {in.arg}};
    case HL_STORE_FAST_STORE_FAST: return {{}, {in.arg, in.arg2}};
    case HL_LOAD_GLOBAL:
    case HL_LOAD_NAME: return {{locals + in.arg}, {}};
    case HL_STORE_GLOBAL:
    case HL_STORE_NAME: return {{}, {locals + in.arg}};
    default: return {};
  }
}

}  // namespace

Liveness::Liveness(const Part& part) : locals_(hl_local_count(part.map().code())) {
  const CodeMap& map = part.map();
  const auto& blocks = map.blocks();
  size_t names = static_cast<size_t>(PyTuple_GET_SIZE(map.code()->co_names));
  live_.assign(blocks.size(), std::vector<bool>(static_cast<size_t>(locals_) + names, false));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks.size(); b-- > 0;) {
      std::vector<bool> live(static_cast<size_t>(locals_) + names, false);
      for (int next : blocks[b].next) {
        if (!part.contains(next)) continue;
        for (size_t k = 0; k < live.size(); ++k) {
          if (live_[static_cast<size_t>(next)][k]) live[k] = true;
        }
      }
      for (int k = blocks[b].last; k >= blocks[b].first; --k) {
        Access a = access(map.instrs()[static_cast<size_t>(k)], locals_);
        for (int index : a.writes) live[static_cast<size_t>(index)] = false;
        for (int index : a.reads) live[static_cast<size_t>(index)] = true;
      }
      for (int k = 0; k < locals_; ++k) {
        if (hl_local_kind(map.code(), k) != HL_LOCAL_FAST) live[static_cast<size_t>(k)] = true;
      }
      if (live != live_[b]) {
        live_[b] = std::move(live);
        changed = true;
      }
    }
  }
}

}  // namespace hotloop::tracer
