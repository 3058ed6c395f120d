// Which variables may be read before they are written, at the beginning of each block, as far as a Part of the code goes (what is read after
// leaving it finds its variables in the frame, whatever their form).
//
// Needs tracer/cfg.h. Promises: an answer of false is only a reason to keep a variable in two possible types instead of one, never to forget it:
// frames hold every variable at every exit. Names are counted by co_names index, all namespaces as one; cells are always live.
#pragma once
#include <memory>
#include <vector>

#include "tracer/cfg.h"

namespace hotloop::tracer {

class Liveness {
 public:
  explicit Liveness(const Part& part);
  bool local_at(int block, int index) const { return live_[static_cast<size_t>(block)][static_cast<size_t>(index)]; }
  bool name_at(int block, int index) const { return live_[static_cast<size_t>(block)][static_cast<size_t>(locals_ + index)]; }

 private:
  int locals_;
  std::vector<std::vector<bool>> live_;
};

}  // namespace hotloop::tracer
