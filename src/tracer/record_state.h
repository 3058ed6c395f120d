// The recorder's model of the interpreter at one point of the region: the values of every variable and stack item of every frame.
//
// Needs tracer/sym.h, tracer/cfg.h. Promises: a State is a value: copied at branches, merged at joins. Slots that the region has not looked at
// yet are kUntouched: they hold what they held at entry.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tracer/cfg.h"
#include "tracer/sym.h"

namespace hotloop::tracer {

inline constexpr uint32_t kUntouched = ir::kNone - 1;  // Sym::input of a slot as it was at entry and not read

inline Sym untouched() {
  Sym s;
  s.input = kUntouched;
  return s;
}
inline bool is_untouched(const Sym& s) { return s.input == kUntouched; }

// One variable of a State. kGlobal: by number of the recorder's table of variables that are in no frame.
struct VarRef {
  enum class Where : uint8_t { kLocal, kStack, kGlobal };
  Where where = Where::kLocal;
  int frame = 0;
  int index = 0;
  bool operator==(const VarRef&) const = default;
};

// Which object a value is: a known one, the one that came in as an input, or by the number of a box.
struct Identity {
  uint32_t box = 0;
  uint32_t input = ir::kNone;
  PyObject* object = nullptr;
  bool operator==(const Identity&) const = default;
  bool is_known() const { return input != ir::kNone || object != nullptr; }
  bool any() const { return box != 0 || is_known(); }
};
// None for what has no identity of its own: bools, small ints, None, objects that native code handles by pointer.
Identity identity_of(const Sym& s);
bool may_have_identity(const Sym& s);  // of this kind there can be several equal objects

// They are one object if the flag is set.
struct SameIf {
  Identity a, b;
  ir::ValueId flag;  // i1
};

// A value in a variable or, in tuples and variables of several forms, inside of it (by number, in preorder). number < 0: a known object.
struct LeafRef {
  VarRef var;
  int number = -1;
  Identity known;
  bool operator==(const LeafRef&) const = default;
};

// What does not change while a frame runs.
struct FrameInfo {
  PyCodeObject* code = nullptr;
  PyObject* function = nullptr;   // inlined frames
  PyObject* globals = nullptr;
  PyObject* builtins = nullptr;
  PyObject* locals = nullptr;     // mapping of module-like code, else null
  std::shared_ptr<const Part> part;
  ir::ObjectId code_object = ir::kNone;
  ir::ObjectId function_object = ir::kNone;
  uint32_t function_input = ir::kNone;  // the function came in as this input
  std::vector<VarRef> cells;      // inlined frames: where the contents of their free variables are, by place in the closure
  int call_unit = 0;              // of the caller's CALL
  int return_unit = 0;            // after it
  std::string path;               // names this inlining: the units of the CALLs that lead here
};

struct FrameVals {
  const FrameInfo* info = nullptr;
  std::vector<Sym> locals;  // by index of localsplus; cell slots: the contents of the cell
  std::vector<Sym> stack;
};

struct State {
  std::vector<FrameVals> frames;
  std::vector<Sym> globals;  // by number of the recorder's table: names of namespaces, attributes of instances, cells of closures
  std::vector<SameIf> same;  // identities that are one object at times (record_same.cpp)

  FrameVals& top() { return frames.back(); }
  const FrameVals& top() const { return frames.back(); }
};

Sym& at(State& state, const VarRef& ref);
const Sym& at(const State& state, const VarRef& ref);
// All variables of frames 0..frame, and the namespace variables.
std::vector<VarRef> all_variables(const State& state, int frame);

// Where control goes: a block of a frame, or (kReturn) out of that frame with the result on its stack.
inline constexpr int kReturn = -2;
struct Place {
  int frame = 0;
  int block = kNoBlock;
  bool operator==(const Place&) const = default;
};

// One of the ways in which control goes on after a piece of structured code.
struct Way {
  Place place;
  State state;
  ir::ValueId flag = ir::kNoValue;  // i1: it is this one. The only way, and the second of two, may have none
};
// All of them. None: every path has left through an exit, and the current block is terminated.
using Ways = std::vector<Way>;

// Do two Syms carry values in the same form, so that one set of parts can stand for either?
bool same_shape(const Sym& a, const Sym& b);
// Are they the very same value with the same identity?
bool same_sym(const Sym& a, const Sym& b);
void collect_parts(const Sym& s, std::vector<ir::ValueId>* out);
// The same form with other parts and a new identity; `next_box` gives fresh identities.
Sym with_parts(const Sym& s, const std::vector<ir::ValueId>& parts, uint32_t* next_box);
// For refusals and logs: "int", "array", "tuple".
std::string kind_text(const Sym& s);

// Visits the value of every variable and stack item of all frames, not what they consist of. `S`: State, const or not.
template <typename S, typename Visit>
void for_each_value(S& state, Visit&& visit) {
  for (auto& frame : state.frames) {
    for (auto& s : frame.locals) visit(s);
    for (auto& s : frame.stack) visit(s);
  }
  for (auto& s : state.globals) visit(s);
}

}  // namespace hotloop::tracer
