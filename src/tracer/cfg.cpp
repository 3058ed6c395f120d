// See cfg.h. Dominators by the iterative algorithm of Cooper, Harvey and Kennedy; loops are natural loops of back edges.
#include "tracer/cfg.h"

#include <algorithm>
#include <utility>

namespace hotloop::tracer {

using base::RefusalReason;
using base::Result;

namespace {

bool ends_block(const HlInstr& in) {
  switch (in.op) {
    case HL_RETURN_VALUE:
    case HL_RETURN_CONST:
    case HL_RAISE_VARARGS:
    case HL_RERAISE: return true;
    default: return in.target >= 0;
  }
}

// Sets the bit; what it was before.
bool mark(std::vector<bool>& bits, int k) {
  bool was = bits[static_cast<size_t>(k)];
  bits[static_cast<size_t>(k)] = true;
  return was;
}

bool falls_through(const HlInstr& in) {
  switch (in.op) {
    case HL_RETURN_VALUE:
    case HL_RETURN_CONST:
    case HL_RAISE_VARARGS:
    case HL_RERAISE:
    case HL_JUMP:
    case HL_JUMP_BACKWARD:
    case HL_JUMP_BACKWARD_NO_INTERRUPT: return false;
    default: return true;
  }
}

}  // namespace

Result<std::shared_ptr<const CodeMap>> CodeMap::make(PyCodeObject* code, const CodeObservation* observation) {
  auto map = std::make_shared<CodeMap>();
  map->code_ = code;
  map->watched_ = observation != nullptr;
  int units = hl_unit_count(code);
  map->lines_.resize(static_cast<size_t>(units));
  hl_lines(code, map->lines_.data());
  std::vector<bool> leader(static_cast<size_t>(units) + 1, false);
  leader[0] = true;
  for (int unit = 0; unit < units;) {
    HlInstr in;
    if (hl_decode(code, unit, &in) < 0) {
      PyErr_Clear();
      return base::refuse(RefusalReason::kUnsupportedOpcode, hl_line_of_unit(code, unit), "unknown instruction");
    }
    if (in.target >= 0 && in.target <= units) leader[static_cast<size_t>(in.target)] = true;
    if (ends_block(in)) leader[static_cast<size_t>(in.next_unit)] = true;
    map->instrs_.push_back(in);
    unit = in.next_unit;
  }
  map->block_of_unit_.assign(static_cast<size_t>(units) + 1, kNoBlock);
  for (size_t k = 0; k < map->instrs_.size(); ++k) {
    const HlInstr& in = map->instrs_[k];
    if (leader[static_cast<size_t>(in.unit)]) {
      map->block_of_unit_[static_cast<size_t>(in.unit)] = static_cast<int>(map->blocks_.size());
      CodeBlock block;
      block.first = static_cast<int>(k);
      block.unit = in.unit;
      block.seen = observation == nullptr;
      map->blocks_.push_back(std::move(block));
    }
    CodeBlock& block = map->blocks_.back();
    block.last = static_cast<int>(k);
    if (observation != nullptr && observation->hit(in.op_unit)) block.seen = true;
  }
  for (CodeBlock& block : map->blocks_) {
    const HlInstr& in = map->instrs_[static_cast<size_t>(block.last)];
    if (falls_through(in) && map->block_at(in.next_unit) != kNoBlock) block.next.push_back(map->block_at(in.next_unit));
    if (in.target >= 0 && map->block_at(in.target) != kNoBlock) block.next.push_back(map->block_at(in.target));
  }
  return std::shared_ptr<const CodeMap>(std::move(map));
}

int CodeMap::block_at(int unit) const {
  if (unit < 0 || static_cast<size_t>(unit) >= block_of_unit_.size()) return kNoBlock;
  return block_of_unit_[static_cast<size_t>(unit)];
}

Result<std::shared_ptr<const Part>> Part::whole(std::shared_ptr<const CodeMap> map) {
  auto part = std::make_shared<Part>();
  part->map_ = std::move(map);
  part->entry_ = 0;
  part->region_.assign(part->map_->blocks().size(), true);
  auto done = part->analyse();
  if (!done) return done.refusal();
  return std::shared_ptr<const Part>(std::move(part));
}

// Blocks from which a back edge to the header can be reached without passing the header. What leads into them from outside does so
// only through the header (handlers aside, which nothing in the loop reaches by normal flow).
Result<std::shared_ptr<const Part>> Part::loop_at(std::shared_ptr<const CodeMap> map, int unit) {
  auto part = std::make_shared<Part>();
  const auto& blocks = map->blocks();
  int header = map->block_at(unit);
  if (header == kNoBlock) return base::refuse(RefusalReason::kIrreducibleFlow, hl_line_of_unit(map->code(), unit), "no loop header");
  std::vector<std::vector<int>> sources(blocks.size());
  std::vector<bool> reached(blocks.size(), false);
  std::vector<int> work{header};
  reached[static_cast<size_t>(header)] = true;
  while (!work.empty()) {  // forward from the header
    int b = work.back();
    work.pop_back();
    for (int t : blocks[static_cast<size_t>(b)].next) {
      sources[static_cast<size_t>(t)].push_back(b);
      if (!mark(reached, t)) work.push_back(t);
    }
  }
  std::vector<bool> body(blocks.size(), false);
  body[static_cast<size_t>(header)] = true;
  for (int latch : sources[static_cast<size_t>(header)]) {
    const HlInstr& in = map->instrs()[static_cast<size_t>(blocks[static_cast<size_t>(latch)].last)];
    bool back = in.target == unit && in.unit >= unit;
    if (back && !mark(body, latch)) work.push_back(latch);
  }
  while (!work.empty()) {
    int b = work.back();
    work.pop_back();
    for (int p : sources[static_cast<size_t>(b)]) {
      if (!mark(body, p)) work.push_back(p);
    }
  }
  part->map_ = std::move(map);
  part->entry_ = header;
  part->region_ = std::move(body);
  auto done = part->analyse();
  if (!done) return done.refusal();
  return std::shared_ptr<const Part>(std::move(part));
}

Result<void> Part::analyse() {
  order_blocks();
  find_dominators();
  return find_loops();
}

// Depth-first from the entry over seen blocks of the region: membership and reverse postorder.
void Part::order_blocks() {
  size_t n = map_->blocks().size();
  member_.assign(n, false);
  order_.assign(n, -1);
  std::vector<std::pair<int, size_t>> path;
  path.emplace_back(entry_, 0);
  member_[static_cast<size_t>(entry_)] = true;
  while (!path.empty()) {
    auto& [b, k] = path.back();
    const auto& next = at(b).next;
    if (k < next.size()) {
      int t = next[k++];
      size_t index = static_cast<size_t>(t);
      if (region_[index] && at(t).seen && !member_[index]) {
        member_[index] = true;
        path.emplace_back(t, 0);
      }
    } else {
      sequence_.push_back(b);
      path.pop_back();
    }
  }
  std::reverse(sequence_.begin(), sequence_.end());
  for (size_t k = 0; k < sequence_.size(); ++k) order_[static_cast<size_t>(sequence_[k])] = static_cast<int>(k);
}

void Part::find_dominators() {
  size_t n = map_->blocks().size();
  dominator_.assign(n, kNoBlock);
  std::vector<std::vector<int>> sources(n);
  for (int b : sequence_) {
    for (int t : at(b).next) {
      if (contains(t)) sources[static_cast<size_t>(t)].push_back(b);
    }
  }
  auto idom = [&](int b) -> int& { return dominator_[static_cast<size_t>(b)]; };
  auto meet = [&](int a, int b) {
    while (a != b) {
      while (order(a) > order(b)) a = idom(a);
      while (order(b) > order(a)) b = idom(b);
    }
    return a;
  };
  idom(entry_) = entry_;
  for (bool changed = true; changed;) {
    changed = false;
    for (int b : sequence_) {
      if (b == entry_) continue;
      int best = kNoBlock;
      for (int p : sources[static_cast<size_t>(b)]) {
        if (idom(p) == kNoBlock) continue;
        best = best == kNoBlock ? p : meet(p, best);
      }
      if (idom(b) != best) {
        idom(b) = best;
        changed = true;
      }
    }
  }
}

bool Part::dominates(int above, int below) const {
  while (order(below) > order(above)) below = dominator(below);
  return above == below;
}

Result<void> Part::find_loops() {
  size_t n = map_->blocks().size();
  loop_of_.assign(n, -1);
  sources_.assign(n, 0);
  for (int b : sequence_) {
    for (int t : at(b).next) {
      if (!contains(t)) continue;
      if (order(t) > order(b)) {
        ++sources_[static_cast<size_t>(t)];
        continue;
      }
      if (!dominates(t, b)) return base::refuse(RefusalReason::kIrreducibleFlow, hl_line_of_unit(map_->code(), at(t).unit));
      auto known = std::find_if(loops_.begin(), loops_.end(), [&](const CodeLoop& l) { return l.header == t; });
      if (known == loops_.end()) {
        CodeLoop loop;
        loop.header = t;
        loop.blocks.assign(n, false);
        loop.blocks[static_cast<size_t>(t)] = true;
        loops_.push_back(std::move(loop));
        known = loops_.end() - 1;
      }
      flood_loop(*known, b);
    }
  }
  // Outer loops first: a header that comes earlier in the order is never inside a later one.
  std::sort(loops_.begin(), loops_.end(), [&](const CodeLoop& a, const CodeLoop& b) { return order(a.header) < order(b.header); });
  for (size_t k = 0; k < loops_.size(); ++k) {
    loops_[k].parent = loop_of_[static_cast<size_t>(loops_[k].header)];
    for (size_t b = 0; b < n; ++b) {
      if (loops_[k].blocks[b]) loop_of_[b] = static_cast<int>(k);
    }
  }
  return {};
}

void Part::flood_loop(CodeLoop& loop, int latch) const {
  std::vector<std::vector<int>> sources(map_->blocks().size());
  for (int b : sequence_) {
    for (int t : at(b).next) {
      if (contains(t)) sources[static_cast<size_t>(t)].push_back(b);
    }
  }
  std::vector<int> work{latch};
  while (!work.empty()) {
    int b = work.back();
    work.pop_back();
    if (mark(loop.blocks, b)) continue;
    for (int p : sources[static_cast<size_t>(b)]) work.push_back(p);
  }
}

}  // namespace hotloop::tracer
