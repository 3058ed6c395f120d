// What was seen while the interpreter ran a hot loop: which instructions were executed.
//
// Needs Python.h and src/cpython/access.h (units). Promises: plain data, filled by the runtime from INSTRUCTION events, read by the
// recorder. Code objects are borrowed: whoever fills it keeps them alive until the record is made.
//
// A code object that is not in the table was never watched: nothing is known of it, and all of its paths count as possible. A code object
// in the table was watched: a unit that is not marked was not executed meanwhile, and the recorder turns the way there into a side exit.
#pragma once
#include <Python.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace hotloop::tracer {

// An iterator that FOR_ITER was about to ask.
struct SeenIterator {
  std::string type;    // its name
  bool plain = false;  // next_item can ask it (next_item.h)
};
// The number or constant that an item was (Str: any exact str), or of what the tuple consisted that it was (kind Tuple).
struct SeenItem {
  ir::PyKind kind = ir::PyKind::Unbound;
  std::vector<SeenItem> items;
  bool is_tuple() const { return kind == ir::PyKind::Tuple; }
};

class CodeObservation {
 public:
  // `unit` is where the event was reported: byte offset / 2, the opcode itself (HlInstr::op_unit). True when it is new.
  bool mark(int unit) {
    if (unit < 0) return false;
    if (static_cast<size_t>(unit) >= hit_.size()) hit_.resize(static_cast<size_t>(unit) + 1);
    if (hit_[static_cast<size_t>(unit)]) return false;
    hit_[static_cast<size_t>(unit)] = true;
    return true;
  }
  bool hit(int unit) const { return unit >= 0 && static_cast<size_t>(unit) < hit_.size() && hit_[static_cast<size_t>(unit)]; }

  // Takes over the marks of another observation of the same code.
  void add_hits(const CodeObservation& other) {
    if (hit_.size() < other.hit_.size()) hit_.resize(other.hit_.size());
    for (size_t k = 0; k < other.hit_.size(); ++k) {
      if (other.hit_[k]) hit_[k] = true;
    }
    no_trips_.insert(other.no_trips_.begin(), other.no_trips_.end());
    for (const auto& [unit, top] : other.tops_) tops_.insert_or_assign(unit, top);
    for (const auto& [unit, it] : other.iterators_) iterators_.insert_or_assign(unit, it);
    for (const auto& [unit, item] : other.items_) items_.insert_or_assign(unit, item);
  }

  // What was on top of the stack before the instruction at op_unit `unit`: the kind of number or constant (Object: something else, or not seen), or
  // the static type of a container or str (else null).
  struct Top {
    ir::PyKind kind = ir::PyKind::Object;
    PyTypeObject* type = nullptr;
  };
  void saw_top(int unit, Top top) { tops_.insert_or_assign(unit, top); }
  Top top(int unit) const {
    auto seen = tops_.find(unit);
    return seen == tops_.end() ? Top{} : seen->second;
  }

  // By op_unit: the iterator of a FOR_ITER, and what was on top of the stack where it goes on. Null: not seen, or something else.
  void saw_iterator(int unit, SeenIterator it) { iterators_.insert_or_assign(unit, std::move(it)); }
  void saw_item(int unit, SeenItem item) { items_.insert_or_assign(unit, std::move(item)); }
  const SeenIterator* iterator(int unit) const {
    auto seen = iterators_.find(unit);
    return seen == iterators_.end() ? nullptr : &seen->second;
  }
  const SeenItem* item(int unit) const {
    auto seen = items_.find(unit);
    return seen == items_.end() ? nullptr : &seen->second;
  }

  // The counted loop whose FOR_ITER (op_unit) this is has been seen to run no trip at all, often enough that this must stay in native code.
  void saw_no_trip(int unit) { no_trips_.insert(unit); }
  bool ran_no_trip(int unit) const { return no_trips_.count(unit) != 0; }

 private:
  std::vector<bool> hit_;
  std::unordered_set<int> no_trips_;
  std::unordered_map<int, Top> tops_;
  std::unordered_map<int, SeenIterator> iterators_;
  std::unordered_map<int, SeenItem> items_;
};

struct Observations {
  std::unordered_map<PyCodeObject*, CodeObservation> codes;  // codes[code] says that `code` is watched

  const CodeObservation* find(PyCodeObject* code) const {
    auto place = codes.find(code);
    return place == codes.end() ? nullptr : &place->second;
  }
};

}  // namespace hotloop::tracer
