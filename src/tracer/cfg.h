// The control flow of one code object as the recorder sees it: basic blocks, and for a chosen part of them dominators and loops.
//
// Needs cpython/access.h (decoding), tracer/observation.h. Promises: a Part holds only blocks that can be reached from its entry over blocks that were seen
// running; its loops nest properly (anything else is refused). Exception handlers are not part of the normal flow and never in a Part.
#pragma once
#include <Python.h>

#include <memory>
#include <vector>

#include "base/result.h"
#include "cpython/access.h"
#include "tracer/observation.h"

namespace hotloop::tracer {

inline constexpr int kNoBlock = -1;

struct CodeBlock {
  int first = 0;  // instruction numbers
  int last = 0;
  int unit = 0;             // first unit of the first instruction
  std::vector<int> next;    // successors: block numbers (fall-through first, then the jump)
  bool seen = true;         // executed while watched (true for all blocks of code that was not watched)
};

// All blocks of a code object.
class CodeMap {
 public:
  static base::Result<std::shared_ptr<const CodeMap>> make(PyCodeObject* code, const CodeObservation* observation);

  PyCodeObject* code() const { return code_; }
  const std::vector<HlInstr>& instrs() const { return instrs_; }
  const std::vector<CodeBlock>& blocks() const { return blocks_; }
  int block_at(int unit) const;  // the block that starts at `unit`, else kNoBlock
  bool watched() const { return watched_; }
  int line(int unit) const { return lines_[static_cast<size_t>(unit)]; }  // -1: none

 private:
  PyCodeObject* code_ = nullptr;
  std::vector<HlInstr> instrs_;
  std::vector<CodeBlock> blocks_;
  std::vector<int> block_of_unit_, lines_;
  bool watched_ = false;
};

struct CodeLoop {
  int header = kNoBlock;
  int parent = -1;          // loop number, -1: none
  std::vector<bool> blocks; // by block number
};

// The blocks below an entry: the whole function, or the loop of one header.
class Part {
 public:
  // All of the function from unit 0.
  static base::Result<std::shared_ptr<const Part>> whole(std::shared_ptr<const CodeMap> map);
  // The natural loop of the header at `unit` (all back edges that jump there).
  static base::Result<std::shared_ptr<const Part>> loop_at(std::shared_ptr<const CodeMap> map, int unit);

  const CodeMap& map() const { return *map_; }
  int entry() const { return entry_; }
  bool contains(int block) const { return block != kNoBlock && member_[static_cast<size_t>(block)]; }
  bool inside_region(int block) const { return block != kNoBlock && region_[static_cast<size_t>(block)]; }  // contained or only not seen
  int order(int block) const { return order_[static_cast<size_t>(block)]; }             // reverse postorder number
  int dominator(int block) const { return dominator_[static_cast<size_t>(block)]; }     // immediate; the entry's own is itself
  int forward_sources(int block) const { return sources_[static_cast<size_t>(block)]; } // edges into it that are no back edges
  const std::vector<CodeLoop>& loops() const { return loops_; }
  int loop_of(int block) const { return loop_of_[static_cast<size_t>(block)]; }         // innermost loop, -1: none
  bool is_header(int block) const { return loop_of(block) >= 0 && loops_[static_cast<size_t>(loop_of(block))].header == block; }
  // The loop in which a block stands as a whole: for a header the loop around its own.
  int place_of(int block) const { return is_header(block) ? loops_[static_cast<size_t>(loop_of(block))].parent : loop_of(block); }
  bool loop_contains(int loop, int block) const { return loop < 0 || loops_[static_cast<size_t>(loop)].blocks[static_cast<size_t>(block)]; }
  bool is_back_edge(int from, int to) const { return is_header(to) && loop_contains(loop_of(to), from); }
  bool dominates(int above, int below) const;

 private:
  base::Result<void> analyse();
  void order_blocks();
  void find_dominators();
  base::Result<void> find_loops();
  void flood_loop(CodeLoop& loop, int latch) const;
  const CodeBlock& at(int block) const { return map_->blocks()[static_cast<size_t>(block)]; }

  std::shared_ptr<const CodeMap> map_;
  int entry_ = 0;
  std::vector<bool> region_, member_;
  std::vector<int> order_, sequence_, dominator_, sources_, loop_of_;
  std::vector<CodeLoop> loops_;
};

}  // namespace hotloop::tracer
