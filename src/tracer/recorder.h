// The recorder itself: a typed abstract interpreter over bytecode that emits IR. Internal to src/tracer/record*.cpp.
//
// Needs tracer/semantics.h (what operations mean), tracer/cfg.h (where control goes), tracer/record_state.h. Promises: see record.h.
//
// How control flow becomes structured IR. A block is run straight through. At its end control goes to one or several Places. A join is run by the
// block that dominates it immediately, after that block's `if` is complete ("Beyond Relooper", Ramsey 2022): until then the ways that lead to it
// come out of the `if` as Ways with flags. Ways out of a loop come out of the loop op in the same manner. A place outside of what is compiled is an exit.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/builder.h"
#include "tracer/liveness.h"
#include "tracer/record.h"
#include "tracer/record_state.h"
#include "tracer/semantics.h"

namespace hotloop::tracer {

using base::RefusalReason;
using base::Result;
using ir::ExitReason;
using ir::PyKind;
using ir::ValueId;

inline constexpr size_t kMaxValues = 60000;
inline constexpr int kMaxPeels = 2;
inline constexpr size_t kMaxCarriedFlags = 64;  // for pairs that are one object at times, of one loop

// Objects that a region may take as given, keep alive, and compare by identity when it is entered.
bool compared_by_identity(PyObject* object);

class Recorder final : public Emit {
 public:
  explicit Recorder(const RecordRequest& request);
  ~Recorder() override;
  Result<std::unique_ptr<ir::Function>> record();

  // Emit
  ir::Builder& b() override { return builder_; }
  ir::SnapshotId before() override;
  uint32_t new_box() override { return ++boxes_; }
  ir::ObjectId object(PyObject* object) override;
  const ir::HelperTable& helpers() override { return *request_.helpers; }
  base::Refusal refuse(base::RefusalReason reason, std::string detail) override;
  void note_choice(const Sym& result, ValueId flag, const Sym& a, const Sym& b) override;
  base::Refusal want_text(const Sym& s) override;
  std::optional<base::Refusal> refuse_object(const Sym& s) override;
  PyObject* seen_result() override;

  // A name was stored that this recording took for constant: it must be begun again, knowing that.
  bool wants_restart() const { return wants_restart_; }
  // The iterator of the loop at whose header the region is entered is no more than an object, which FOR_ITER's run asks.
  void take_any_iterator(bool any) { any_iterator_ = any; }
  std::set<std::string>& stored_names() { return stored_names_; }
  std::set<std::pair<int, uint32_t>>& text_slots() { return text_slots_; }
  std::set<std::pair<int, uint32_t>>& u64_slots() { return u64_slots_; }

 private:
  using VarPair = std::pair<VarRef, VarRef>;
  using LeafPair = std::pair<LeafRef, LeafRef>;
  // Whether two values are one object: not, always, or if the flag is set.
  struct Same {
    bool may = false;
    ValueId flag = ir::kNoValue;
  };
  struct Leaf {
    LeafRef ref;
    const Sym* sym;
  };
  // Two values of which it is said at the head of a loop whether they are one object: as before the loop in the first trip, then never, always
  // or as the back edge brings it.
  struct HeadSame {
    LeafRef a, b;
    enum How : uint8_t { kFirstOnly, kThenAlways, kVaries } how;
    Same before;
    size_t column;                 // kVaries: which of the carried flags
  };
  struct SameNode {                // of a join: what is `a` in one arm and `b` in the other
    LeafRef ref;
    Identity a, b;
    const Sym* in_a;
    const Sym* in_b;
  };
  struct PendingSame {             // column -1: the flag as it is
    LeafRef a, b;
    int column;
    ValueId flag;
  };
  // What is known of the carried variables of a loop that are copies of each other.
  struct Copies {
    std::vector<VarPair> assumed;
    std::vector<VarPair> given_up;
    std::vector<LeafPair> always, varying;  // what the back edges bring as one object, and what at times
    void give_up(const VarPair& pair) {
      std::erase(assumed, pair);
      given_up.push_back(pair);
    }
  };
  struct WalkedList {              // a list that a counted loop walks over: its length is looked at at every trip
    Sym list;
    ValueId length;                // before the loop
    ValueId at, step;
  };
  struct Course {                  // what a counted loop counts; the positions of its iterator follow from it
    ValueId lo = ir::kNoValue, hi = ir::kNoValue, step = ir::kNoValue;
    std::vector<WalkedList> lists;
    ValueId together = ir::kNoValue;  // i1: its strict zips end without raising
  };
  // A loop that is being built around the point of recording.
  struct LoopContext {
    int frame = 0;
    int header = kNoBlock;
    bool check = false;            // the back edge must bring what `head` has (else: the peeled first trip)
    bool may_peel = false;
    int iterator = -1;             // stack index of its iterator, -1: none
    const State* head = nullptr;
    const Course* course = nullptr;
    uint64_t kept_ops = 0;         // how many operations that keep objects stood before it
    std::vector<VarRef> carried;
    std::vector<VarRef> grow;      // found to change though not carried
    std::vector<std::pair<VarRef, Sym>> widen;  // came back in another form, of which only the form counts here
    std::vector<VarPair> copies;   // carried variables that are one object at the head (T29)
    std::vector<VarPair> found;    // ... that are one object at some back edge, though not known to be at the head
    std::vector<VarPair> parted;   // ... that are not one object at every back edge, though `copies` has them
    std::vector<HeadSame> same;    // what else may be one object at the head
    std::vector<LeafPair> always, varying;  // known when the loop was begun, see Copies
    std::vector<LeafPair> found_always, found_varying;
    size_t flags = 0;              // how many flags are carried, behind the values of the carried variables
    bool needs_first = false;      // whether it is the first trip: of loops that do not count another carried flag
  };
  enum class Step : uint8_t { kNext, kEnded };
  enum class Edge : uint8_t { kExit, kWay, kInline };
  struct NameVar {                 // a variable in a namespace (module globals, locals mapping), or an attribute of an instance
    PyObject* dict = nullptr;      // attributes: null
    PyObject* name = nullptr;
    ir::Slot slot;
    Sym initial;
    PyObject* value = nullptr;     // attributes and cells: what they hold at entry
    bool added = false;            // an attribute that was not there at entry is stored
  };

  // record.cpp: begin and end
  Result<void> set_up();
  bool is_stored(const ir::Slot& slot);
  Sym entry_value(ir::Slot slot, PyObject* value, bool any_type = false);  // a new input, once per slot
  const Liveness& liveness(const FrameInfo& info);
  Sym resolve(const VarRef& ref, const Sym& s);         // an untouched slot of the entry frame becomes an input
  Sym fetch(State& s, const VarRef& ref);
  void compact_snapshots();

  // record_snapshot.cpp
  ir::SnapshotId snapshot_at(const State& state, int unit);
  ir::SnapshotId snapshot_at_place(const State& state, const Place& place);
  void add_slots(const State& state, int frame, ir::FrameState* out);
  bool unchanged(const Sym& s, ir::Slot slot);
  ir::SnapValue snap_value(const Sym& s, const State* state);   // state: to find what it may be besides, or null
  ir::SnapValue snap_choice(const Sym& s, ir::SnapValue own, const State& state);
  static bool asks_for_objects(const State& state);

  // record_object.cpp
  ValueId known_pointer(const Sym& s);                            // of the object that it is known to be; kNoValue: of none
  void has_become(State& state, const Sym& s, ValueId object);
  bool holds_borrowed(const State& state) const;
  template <typename Put>
  void put_object(State& state, Sym value, ValueId pointer, ir::SnapshotId before, Put&& put);
  Result<Step> store_item(State& state, const HlInstr& in);
  Result<Step> append_to(State& state, const Sym& list, const Sym& value, int drop, bool leaves_none);

  // record_container.cpp
  struct CallOperands {            // of an object_call
    std::vector<ValueId> cells;
    int64_t kinds = 0;             // of its values
    int count = 0;
    size_t taken = 0;              // stack items that the instruction takes
    void add_kind(PyKind kind) { kinds |= static_cast<int64_t>(kind) << ir::kObjectCallKindBits * count++; }
    bool fits() const { return cells.size() <= ir::kMaxObjectCallCells && count * ir::kObjectCallKindBits <= ir::kObjectCallFlags; }
  };
  using MaybeStep = std::optional<Result<Step>>;
  std::span<const HlInstr> instrs_behind(int unit) const;
  PyObject* sample_of(const Sym& s) const;
  PyTypeObject* object_type(const Sym& s) const;
  ValueId pointer_as(const Sym& s, PyTypeObject* type);
  bool is_copied(const State& state, const Sym& value, size_t operands) const;
  bool add_value(State& state, CallOperands& call, const Sym& value, bool shared);
  ValueId object_of(State& state, Sym value);
  Result<Step> put_result(State& state, const HlInstr& in, int drop, ValueId pointer, PyObject* sample);
  ValueId emit_call(ir::ObjectCallId id, std::span<const ValueId> operands, int64_t kinds, ir::SnapshotId before);
  void flush_kept(const State& state, const LoopContext& loop);
  Result<Step> load_key(State& state, const HlInstr& in);
  PyObject* value_sample(const Sym& dict);
  PyObject* item_sample(const Sym& list);
  Result<Step> store_key(State& state, const HlInstr& in);
  MaybeStep contains_key(State& state, const HlInstr& in);
  Result<Step> build_list(State& state, const HlInstr& in);
  Result<Step> append_item(State& state, const HlInstr& in);
  Result<Step> delete_item(State& state, const HlInstr& in);
  PyObject* object_method(const Sym& o, PyObject* name);
  Result<Step> call_leaf(State& state, const HlInstr& in, ir::ObjectCallId id, ValueId callable, const std::vector<Sym>& args, size_t first, ValueId self,
                         int drop);
  MaybeStep call_object(State& state, const HlInstr& in, PyObject* callable, const std::vector<Sym>& args, int drop);
  MaybeStep call_dict(State& state, const HlInstr& in, std::string_view name, const std::vector<Sym>& args, int drop);
  MaybeStep call_set(State& state, std::string_view name, const std::vector<Sym>& args, int drop);
  MaybeStep call_list(State& state, const HlInstr& in, PyObject* callable, std::string_view name, const std::vector<Sym>& args, int drop);
  MaybeStep call_len(State& state, const Sym& container, int drop);
  // record_draws.cpp
  static bool is_draw(std::string_view method);
  MaybeStep call_draw(State& state, const HlInstr& in, PyObject* callable, const std::vector<Sym>& args, int drop);

  // record_leaf.cpp
  static bool is_builtin_function(PyObject* callable, std::string_view name);
  Result<Step> unpack_elements(State& state, const HlInstr& in, const Sym& row);
  Result<std::vector<Sym>> items_of(const Sym& tuple);
  Sym indexable(State& state, const Sym& tuple, const Sym& index);
  void make_tuple_object(State& state, const VarRef& ref, ir::SnapshotId before);
  ValueId tuple_pointer(State& state, const Sym& s);
  bool is_tuple_form(const State& state, const Sym& s) const;
  void adopt_tuple(State& state, uint32_t box, ValueId object);
  bool build_spread(State& state, const HlInstr& in);
  Result<Step> slice(State& state, const HlInstr& in);
  bool grows(const State& state, const HlInstr& in, const Sym& s) const;
  MaybeStep object_operator(State& state, const HlInstr& in);
  MaybeStep call_isinstance(State& state, const std::vector<Sym>& args, int drop);
  MaybeStep call_conversion(State& state, const HlInstr& in, PyObject* callable, const std::vector<Sym>& args, int drop);

  // record_run.cpp
  struct RunPlan;
  std::optional<Step> run_here(State& state, const HlInstr& in, const base::Refusal& why);
  bool prepare_run(State& state, const HlInstr& in, const base::Refusal& why, RunPlan* plan);
  std::vector<ValueId> emit_run(State& state, const HlInstr& in, const RunPlan& plan);
  Result<Ways> run_for_iter(State state, const HlInstr& in, int block, bool to_end);
  Result<Ways> follow_run(State state, const RunPlan& plan, int block, const HlInstr& in);
  bool is_body_of(const FrameInfo& info, const HlInstr& in) const;
  bool plan_one(RunPlan& plan, const State& state, const HlInstr& in) const;
  bool plan_run(const State& state, const HlInstr& in, RunPlan* plan) const;
  bool place_unknowns(RunPlan& plan);
  void take_results(State& state, RunPlan& plan, const std::vector<ValueId>& objects);
  void look_at_results(State& state, RunPlan& plan);
  void look_at_arrays(State& state);
  bool survives_run(const Sym& s) const;
  bool survives_run(const State& state) const;
  VarRef stored_variable(const HlInstr& in);
  ir::Slot slot_of(const HlInstr& in);
  static bool is_consumed(const RunPlan& plan, const ir::Slot& slot);
  bool is_loop_iterator(const State& state, const ir::Slot& slot) const;
  void note_made(State& state, const ir::FrameState& frame, const RunPlan& plan);
  void adopt(Sym& s, ValueId object);
  void complete_snapshots();

  // record_next_item.cpp
  Result<Ways> ask_iterator(State state, const HlInstr& in, int block);
  Result<Sym> as_seen(ValueId item, const SeenItem& seen);
  bool is_dropped_iterator(const State& state) const;
  void guard_texts(ValueId pointer, const SeenItem& seen, PyObject* sample);

  // record_flow.cpp
  Result<Ways> run_from(State state, int block);
  Result<Ways> run_block(State state, int block, int first = -1);  // from instruction `first`, -1: all
  Result<Ways> settle(Ways ways, int frame, const FrameInfo* info, int block, bool after_loop);
  int owned_way(const Ways& ways, int frame, const FrameInfo& info, int block, bool after_loop);
  Result<Ways> run_owned(Ways ways, size_t k, int peels = -1);  // peels >= 0: it is a loop of which so many trips are peeled off
  Edge edge_kind(const FrameInfo& info, int from, int to);
  ExitReason edge_reason(const FrameInfo& info, int from, int to);
  Result<Ways> follow(State state, int from, int to);            // inside an arm or a body: runs what belongs to it alone
  Result<Ways> make_way(State state, Place place);
  Result<bool> check_latch(State& state, LoopContext& loop);     // false: left through an exit
  Result<Ways> branch(State state, const HlInstr& in, ValueId condition, int block, int if_true, int if_false);
  Result<Ways> end_block(State state, const HlInstr& in, int block);
  Result<Ways> end_conditional(State state, const HlInstr& in, int block);
  int known_truth(const Sym& s, ValueId v);                       // 1, 0, -1: not known

  // record_merge.cpp
  Result<Ways> merge(ir::Op* op, ValueId mark, Ways a, Ways b, const State& fallback, const Place& fallback_place);
  void exit_if(ValueId flag, ExitReason reason, ir::SnapshotId snapshot);
  void leave_way(Ways* ways, size_t k, ExitReason reason);
  void make_u64(Ways& ways, size_t k, const VarRef& ref);
  void settle_mismatches(ir::Op* op, Ways* a, Ways* b);
  bool mismatch(Way& a, Way& b, VarRef* which);
  bool visible(ValueId v, ValueId mark) const { return v < mark || input_values_.count(v) != 0; }  // defined outside of what came after mark
  ValueId flag_value(const Ways& ways, const Place& place);       // in the current block
  void normalise(State& state);
  ValueId dummy(ir::Type type);

  // record_either.cpp
  static bool fits_form(const Sym& s, const Sym& like);
  std::optional<Sym> common_form(const Sym& a, const Sym& b);
  Sym dummy_form(const Sym& like);
  void collect_parts_types(const Sym& like, std::vector<ValueId>* out);
  Sym coerce(const Sym& s, const Sym& like);
  ValueId flag_looked_into(State& state, const HlInstr& in);
  Result<std::optional<Ways>> split(State& state, ValueId flag, int block, int instr);
  Result<std::optional<Sym>> mixed_extreme(PyObject* callable, const std::vector<Sym>& args);

  // record_loop.cpp
  Result<Ways> emit_loop(State state, int header, int peels);
  State head_state(const State& before, const LoopContext& loop, const std::vector<ValueId>& params, size_t used);

  // record_copies.cpp
  void compare_copies(const State& state, LoopContext& loop);
  bool learn_copies(State& before, const LoopContext& loop, Copies* copies);
  void guard_copies(State& before, const LoopContext& loop);
  Sym chosen_form(Sym s) const;
  void join_copies(State& state, const LoopContext& loop);
  PyObject* object_now(const VarRef& ref);

  // record_same.cpp
  static std::vector<Leaf> leaves_of(const State& state, const VarRef& ref);
  static std::vector<Leaf> leaves_of(const State& state, int frame);
  static Same same_in(const State& state, const Sym* a, const Identity& ia, const Identity& ib);
  static Identity identity_at(const State& state, const LeafRef& ref);
  static const Sym* sym_at(const State& state, const LeafRef& ref);
  static const Sym* holder_of(const State& state, const Identity& id);
  static std::vector<SameIf> others_of(const State& state, const Sym& s);
  static void set_same(State& state, const Identity& a, const Identity& b, ValueId flag);
  static void prune_same(State& state);
  static std::vector<SameNode> nodes_of(const Way& a, const Way& b);
  ValueId value_of(const Same& same);
  void join_same(const Way& a, const Way& b, ir::Op* op, const std::function<int(ValueId, ValueId)>& column, std::vector<PendingSame>* out);
  Result<void> plan_same(const State& before, LoopContext& loop);
  void initial_same(const LoopContext& loop, std::vector<ValueId>* initial);
  void apply_same(State& state, const LoopContext& loop, ValueId first, const ValueId* flags);
  static void compare_same(const State& state, LoopContext& loop);
  void yield_same(const State* state, const LoopContext& loop, std::vector<ValueId>* values);
  static bool is_known_at_times(const State& state, const Sym& s);
  ValueId pointer_of(const State& state, const Sym& s);
  void begin_trip(const State& state, int unit);
  Result<Ways> build_for(State state, LoopContext& loop);
  Result<Ways> build_while(State state, LoopContext& loop);
  class LoopEnd;
  Result<Ways> finish_loop(ir::Op* op, ValueId mark, State state, const State& head, LoopContext& loop, Ways ways, bool is_for);
  ValueId any_trip(const Course& course);
  Result<Ways> after_exhaustion(ir::Op* op, State state, LoopContext& loop, Ways out);
  Result<Ways> peel(State state, int header, int peels);
  Result<Ways> first_trip(State state, int header, int peels, const Course* course);
  bool may_run_no_trip(const FrameInfo& info, const HlInstr& in) const;
  std::vector<VarRef> stored_in_loop(State& state, int header);
  const HlInstr& first_instr(const FrameInfo& info, int block) const;
  std::optional<int64_t> constant(ValueId v) const;

  // record_iterators.cpp
  struct Position {                // of one counting part of an iterator
    ValueId at, step, end;
    bool may_pass;                 // at + step * trips may lie beyond end
    bool endless;                  // the numbers of an enumerate: no end of their own
  };
  struct EntryPositions {          // facts about the parts of the entry iterator that are checked at entry
    ValueId first = ir::kNoValue;  // the first position that moves by 1, and where it was at recording
    int64_t value = 0;
    std::vector<ValueId> equal;    // positions that are where the first is
    std::vector<std::pair<ValueId, int64_t>> guards;
    std::vector<std::pair<ValueId, bool>> signs;  // steps of any size: whether they are positive
  };
  bool is_counted(const State& state, const HlInstr& in) const;
  Result<Course> course(const State& state, ir::SnapshotId before);
  Result<void> collect_positions(const Sym& iterator, std::vector<Position>* out, Course* course);
  void guard_lists(const Course& course, ValueId i, ir::SnapshotId before);
  void leave_if_grown(const LoopContext& loop, const State& state, ValueId out, int unit);
  ValueId trips_left(const Position& p, bool clamp, ir::SnapshotId before);
  ValueId position_at(const Course& c, ValueId at, ValueId step, ValueId i);
  Sym iterator_at(const Sym& iterator, const Course& c, ValueId i);
  Result<Sym> element_at(const Sym& iterator, const Course& c, ValueId i);
  Result<ValueId> end_together(const Sym& iterator, ir::SnapshotId before);
  Result<std::vector<Sym>> map_arguments(const Sym& iterator, const Course& c, ValueId i);
  Result<Sym> mapped_element(const Sym& iterator, const Course& c, ValueId i);
  Result<Step> push_element(State& state, const HlInstr& in, const Sym& iterator, const Course& c, ValueId i);
  Result<void> entry_components(PyObject* inner, uint32_t first_step, uint32_t path, uint32_t depth, std::vector<Sym>* items, EntryPositions* positions);
  Result<ValueId> length_of(const Sym& sequence);
  Result<void> not_in_variables(const State& state);
  std::optional<int64_t> known_number(ValueId v);
  bool same_number(ValueId a, ValueId b);
  Sym as_object_sequence(const Sym& s);
  Result<Sym> iterator_of(const Sym& s);
  Result<Step> get_iter(State& state);
  static bool makes_iterator(PyObject* callable);
  Result<Sym> make_iterator(PyObject* callable, const std::vector<Sym>& args, PyObject* names);
  Result<Sym> make_enumerate(const std::vector<Sym>& args);
  Result<Sym> make_reversed(const Sym& s);
  Result<void> entry_iterator(State& state);
  Result<void> entry_any_iterator(State& state, PyObject* it);
  Result<Sym> entry_part(PyObject* it, uint32_t path, uint32_t depth, EntryPositions* positions);
  Result<Sym> entry_range(PyObject* it, uint32_t path, bool top, EntryPositions* positions);
  Result<ValueId> entry_position(uint32_t path, Py_ssize_t value, bool up, EntryPositions* positions);
  ValueId align(ValueId v, int64_t value, EntryPositions* positions);

  // record_ops.cpp
  Result<Step> step(State& state, const HlInstr& in);
  Result<Step> step_local(State& state, const HlInstr& in);
  Result<Step> step_stack(State& state, const HlInstr& in);
  Result<Step> step_operator(State& state, const HlInstr& in);
  Result<Step> step_container(State& state, const HlInstr& in);
  Result<Sym> load_local(State& state, const HlInstr& in, int index);
  base::Refusal not_compiled(const HlInstr& in);
  Result<Step> unsupported(const HlInstr& in);
  Result<Step> contains(State& state, const HlInstr& in);
  bool may_be_rare() const;
  Result<Step> leave_here(ExitReason reason);
  Sym pop(State& state);
  void push(State& state, Sym s) { state.top().stack.push_back(std::move(s)); }
  void pop_push(State& state, int n, Sym s);
  Sym peek(State& state, int from_top);

  // record_wide.cpp
  bool modulus_may_be_large(const State& state, const HlInstr* in) const;
  bool wide_ahead(const State& state) const;
  Result<Sym> binary_operation(State& state, BinaryOp op, const Sym& a, const Sym& b);
  Result<Sym> unary_operation(State& state, UnaryOp op, const Sym& a);
  Sym known_small(long value);
  void narrow_all(State& state);
  void narrow_for(State& state, const HlInstr& in, bool last);
  Sym as_u64(const Sym& s, ir::SnapshotId snapshot);
  static bool becomes_u64(const Sym& s, const Sym& like);
  bool want_u64_input(const Sym& s);

  // record_names.cpp
  Result<Step> step_name(State& state, const HlInstr& in);
  Result<Sym> load_name(State& state, const FrameInfo& info, PyObject* name, bool through_locals);
  Result<Sym> load_from(State& state, PyObject* dict, PyObject* builtins, PyObject* name, bool is_locals);
  static PyObject* stored_namespace(const FrameInfo& info, bool into_locals);  // where STORE_NAME, STORE_GLOBAL put it
  Result<void> store_name(State& state, const FrameInfo& info, PyObject* name, bool into_locals, Sym value);
  int name_var(PyObject* dict, PyObject* name, bool create);
  bool is_entry_namespace(PyObject* dict) const;
  Sym namespace_constant(PyObject* dict, PyObject* builtins, PyObject* name, PyObject* value);
  VarRef cell_ref(const State& state, int index) const;
  Result<Sym> load_cell(State& state, int index);
  Result<void> store_cell(State& state, int index, Sym value);

  // record_attribute.cpp
  Result<Step> load_attribute(State& state, const HlInstr& in);
  Result<Step> store_attribute(State& state, const HlInstr& in);
  Result<Step> load_from_instance(State& state, const HlInstr& in, const Sym& o, PyObject* object);
  Result<Sym> load_from_type(const Sym& o, PyObject* name);
  Sym bound_method(PyObject* function, Sym self);
  Result<Sym> load_from_module(PyObject* module, PyObject* name);
  void push_attribute(State& state, const HlInstr& in, Sym value);
  PyObject* instance_object(const Sym& o) const;        // null: it is none whose attributes are variables
  Result<uint32_t> instance_of(const Sym& o, PyObject* object);
  int find_attribute(uint32_t instance, PyObject* name) const;
  Result<int> attribute_var(uint32_t instance, PyObject* name, uint32_t offset);
  Result<uint32_t> type_version(PyTypeObject* type);
  Result<void> guard_type(PyTypeObject* type);
  int attribute_looked_into(const State& state, const HlInstr& in) const;

  // record_call.cpp
  Result<Step> step_call(State& state, const HlInstr& in);
  struct Callee {                  // a plain function: known, or what came in as an input
    PyObject* function;
    uint32_t input = ir::kNone;
  };
  std::optional<Callee> plain_callee(const Sym& callable) const;
  Result<Sym> unbind_method(const Sym& callable, std::vector<Sym>* args);
  Result<Step> inline_call(State& state, const HlInstr& in, const Callee& callee, const std::vector<Sym>& args, PyObject* names, int drop);
  Result<std::vector<Sym>> bind_arguments(PyObject* function, const std::vector<Sym>& args, PyObject* names);
  Result<const FrameInfo*> callee_info(State& state, const HlInstr& in, const Callee& callee);
  Result<void> bind_closure(const Callee& callee, FrameInfo* info);
  VarRef closure_var(PyObject* cell, const ir::ClosureRef& ref);
  void guard_function(const Callee& callee);
  bool known_by_code(PyObject* object, ir::Slot slot) const;

  Result<std::shared_ptr<const CodeMap>> code_map(PyCodeObject* code);
  bool is_live(const State& state, const VarRef& ref, const Place& place);
  int line_here() const;

  const RecordRequest request_;
  std::unique_ptr<ir::Function> function_;
  ir::Builder builder_;
  ir::Block* region_ = nullptr;
  uint32_t boxes_ = 0;

  // The instruction in progress.
  const State* current_ = nullptr;             // valid while an instruction is translated
  const FrameInfo* current_info_ = nullptr;
  int current_unit_ = 0;
  int current_op_unit_ = 0;
  int current_instr_ = 0, current_last_ = -1;  // its number, and that of the last one of its block
  ir::SnapshotId before_ = ir::kNoSnapshot;

  std::vector<std::unique_ptr<FrameInfo>> infos_;
  std::unordered_map<PyCodeObject*, std::shared_ptr<const CodeMap>> maps_;
  std::unordered_map<const Part*, std::unique_ptr<Liveness>> liveness_;
  std::vector<LoopContext*> loops_;
  LoopContext* abandoned_ = nullptr;           // set while a Refusal unwinds to the loop that will be tried again
  std::map<std::string, std::vector<VarRef>> carried_hints_;
  std::map<std::string, Copies> copies_;       // by loop and number of peeled trips
  std::map<std::pair<int, uint32_t>, Sym> entry_values_;  // by slot
  std::unordered_set<ValueId> input_values_;
  std::unordered_map<ValueId, std::optional<int64_t>> known_numbers_;  // answers of known_number
  std::map<uint32_t, ValueId> input_pointers_;            // by input number: the object of a number that came in
  std::map<uint32_t, std::pair<RefusalReason, std::string>> object_inputs_;  // by input: why it is an Object only
  std::vector<NameVar> name_vars_;
  std::unordered_map<uint32_t, PyObject*> input_objects_;  // what came in as an input of kind Object
  std::vector<PyObject*> instance_objects_;                // by number of the instance
  std::vector<PyObject*> cell_objects_;                    // by number of the closure cell
  std::vector<VarRef> cell_vars_;                          // likewise
  std::set<std::string> stored_names_;
  std::set<uint32_t> stored_locals_;           // of the region's own frame: assigned somewhere in the loop
  std::set<std::pair<int, uint32_t>> text_slots_;  // slots whose str is looked into
  std::set<std::pair<int, uint32_t>> u64_slots_;   // slots of ints that grow beyond 63 bits
  bool wants_restart_ = false;
  bool any_iterator_ = false;
  std::set<int> run_units_;                    // where instructions are left to the interpreter's C functions
  std::set<const HlInstr*> native_;            // instructions that were translated
  int run_end_ = -1;                           // the instruction in progress was the first of such, up to this unit
  std::vector<PyObject*> samples_;             // numbers of kinds that were seen as results; owned
  std::optional<base::Refusal> left_out_;      // the last operation that became an exit because it is not compiled
  int splits_ = 0;                             // how many splits by form are open
  std::vector<std::pair<uint32_t, ValueId>> made_here_;  // by identity: numbers that this instruction has made objects
  uint64_t kept_ops_ = 0;                      // operations that keep objects until the exit
  int arms_ = 0;                               // how many conditional arms are open
};

}  // namespace hotloop::tracer
