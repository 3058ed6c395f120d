// Begin and end of a recording: the region's inputs, the entry frame, restarts. See record.h and recorder.h.
#include "tracer/record.h"

#include <cstring>
#include <utility>

#include "base/log.h"
#include "ir/text.h"
#include "tracer/recorder.h"

namespace hotloop::tracer {

Recorder::Recorder(const RecordRequest& request)
    : request_(request), function_(std::make_unique<ir::Function>()), builder_(*function_) {}

Recorder::~Recorder() {
  if (function_) release_objects(*function_);
  for (PyObject* sample : samples_) Py_DECREF(sample);
}

void release_objects(ir::Function& function) {
  std::vector<void*> owned;
  for (ir::ObjectRef& ref : function.objects) {
    void* pointer = std::exchange(ref.pointer, nullptr);
    if (pointer != nullptr && !ref.weak) owned.push_back(pointer);
  }
  for (void* pointer : owned) Py_DECREF(static_cast<PyObject*>(pointer));
}

ir::ObjectId Recorder::object(PyObject* object) {
  for (size_t k = 0; k < function_->objects.size(); ++k) {
    if (function_->objects[k].pointer == object && !function_->objects[k].weak) return static_cast<ir::ObjectId>(k);
  }
  std::string text = Py_TYPE(object)->tp_name;
  const char* utf8 = nullptr;
  if (PyUnicode_CheckExact(object)) {
    utf8 = PyUnicode_AsUTF8(object);
  } else if (PyFunction_Check(object)) {
    utf8 = PyUnicode_AsUTF8(reinterpret_cast<PyFunctionObject*>(object)->func_qualname);
  } else if (PyCode_Check(object)) {
    utf8 = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(object)->co_qualname);
  } else if (PyType_Check(object)) {
    text = reinterpret_cast<PyTypeObject*>(object)->tp_name;
  } else if (PyModule_CheckExact(object)) {
    utf8 = PyModule_GetName(object);
  } else if (PyCFunction_CheckExact(object)) {
    utf8 = reinterpret_cast<PyCFunctionObject*>(object)->m_ml->ml_name;
  }
  if (utf8 != nullptr) text = utf8;
  PyErr_Clear();
  return function_->add_object(Py_NewRef(object), std::move(text));
}

int Recorder::line_here() const {
  if (current_info_ == nullptr) return 0;
  return current_info_->part != nullptr ? current_info_->part->map().line(current_op_unit_)
                                        : hl_line_of_unit(current_info_->code, current_op_unit_);
}

base::Refusal Recorder::refuse(base::RefusalReason reason, std::string detail) {
  return base::refuse(reason, line_here(), std::move(detail));
}

Result<std::shared_ptr<const CodeMap>> Recorder::code_map(PyCodeObject* code) {
  auto& place = maps_[code];
  if (!place) {
    auto made = CodeMap::make(code, request_.observations != nullptr ? request_.observations->find(code) : nullptr);
    if (!made) return made.refusal();
    place = *made;
  }
  return place;
}

const Liveness& Recorder::liveness(const FrameInfo& info) {
  auto& known = liveness_[info.part.get()];
  if (!known) known = std::make_unique<Liveness>(*info.part);
  return *known;
}

// May the variable be read before it is written from `place` on? Variables of callers: as from after their CALL, which is not known here.
bool Recorder::is_live(const State& state, const VarRef& ref, const Place& place) {
  if (ref.where == VarRef::Where::kStack || place.block == kReturn) return true;
  const FrameInfo& info = *state.frames[static_cast<size_t>(place.frame)].info;
  if (ref.where == VarRef::Where::kLocal) return ref.frame != place.frame || liveness(info).local_at(place.block, ref.index);
  const NameVar& var = name_vars_[static_cast<size_t>(ref.index)];
  if (var.dict == nullptr) return true;  // an attribute or a cell: others may read it
  PyObject* name = var.name;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(info.code->co_names); ++k) {
    if (PyTuple_GET_ITEM(info.code->co_names, k) == name) return liveness(info).name_at(place.block, static_cast<int>(k));
  }
  return true;
}

bool compared_by_identity(PyObject* object) {
  return PyFunction_Check(object) || PyCFunction_Check(object) || PyModule_CheckExact(object) || PyType_Check(object) ||
         PyUnicode_CheckExact(object) || is_known_callable(object);
}

// A str from a slot was taken for a known object, but its characters matter.
base::Refusal Recorder::want_text(const Sym& s) {
  const ir::Slot& slot = function_->inputs[s.input].slot;
  if (PyUnicode_IS_COMPACT_ASCII(s.object) && text_slots_.insert({static_cast<int>(slot.kind), slot.index}).second) wants_restart_ = true;
  return refuse(RefusalReason::kUnsupportedType, "str with characters beyond ASCII");
}

// Is the variable assigned somewhere in the loop?
bool Recorder::is_stored(const ir::Slot& slot) {
  if (slot.kind == ir::SlotKind::kLocal || slot.kind == ir::SlotKind::kCell) return stored_locals_.count(slot.index) != 0;
  if (slot.kind != ir::SlotKind::kGlobal && slot.kind != ir::SlotKind::kName) return false;
  const char* name = PyUnicode_AsUTF8(static_cast<PyObject*>(function_->objects[slot.index].pointer));
  PyErr_Clear();
  return name != nullptr && stored_names_.count(name) != 0;
}

Sym Recorder::entry_value(ir::Slot slot, PyObject* value, bool any_type) {
  auto key = std::make_pair(static_cast<int>(slot.kind), slot.index);
  auto known_already = entry_values_.find(key);
  if (known_already != entry_values_.end()) return known_already->second;
  ir::Input input;
  input.slot = slot;
  Sym s;
  if (value != nullptr) {
    ir::ArrayType array_type;
    input.kind = any_type ? PyKind::Object : classify(value, &array_type);
    bool text = slot.kind == ir::SlotKind::kSeqArray || text_slots_.count(key) != 0;
    if (text && PyUnicode_CheckExact(value) && PyUnicode_IS_COMPACT_ASCII(value)) input.kind = PyKind::Str;
    const bool changing_text = PyUnicode_CheckExact(value) && is_stored(slot);  // a str that grows is another at each entry
    if (input.kind == PyKind::Object && !any_type && !changing_text && compared_by_identity(value) && !known_by_code(value, slot)) {
      input.kind = PyKind::Const;
    }
    if (input.kind == PyKind::Int && u64_slots_.count(key) != 0) input.kind = PyKind::IntU64;
    if (input.kind == PyKind::Array) input.array_type = s.array_type = function_->intern_array_type(array_type);
    if (input.kind == PyKind::Object) {
      input.unknown = !any_type;
      if (auto why = why_object(value)) object_inputs_.emplace(static_cast<uint32_t>(function_->inputs.size()), std::move(*why));
    }
    if (input.kind == PyKind::Const) {
      input.object = object(value);
      s.object = value;
    }
  }
  s.kind = input.kind;
  s.sample = value;
  s.input = static_cast<uint32_t>(function_->inputs.size());
  if (input.kind == PyKind::Object) input_objects_.emplace(s.input, value);
  for (uint32_t k = 0; k < input.parts(); ++k) {
    s.v[k] = function_->new_value(ir::pykind_info(input.kind).part_type);
    // An Object or Array part is a pointer, a range has three i64.
    region_->params.push_back(s.v[k]);
    input_values_.insert(s.v[k]);
  }
  function_->inputs.push_back(input);
  if (input.kind == PyKind::Str || input.kind == PyKind::Bytes) {  // their length never changes: an input of its own
    input.kind = PyKind::Length;
    s.v[1] = function_->new_value(ir::Type::I64);
    region_->params.push_back(s.v[1]);
    input_values_.insert(s.v[1]);
    function_->inputs.push_back(input);
  }
  entry_values_.emplace(key, s);
  return s;
}

std::optional<base::Refusal> Recorder::refuse_object(const Sym& s) {
  auto why = s.kind == PyKind::Object ? object_inputs_.find(s.input) : object_inputs_.end();
  if (why == object_inputs_.end()) return std::nullopt;
  return refuse(why->second.first, why->second.second);
}

Sym Recorder::resolve(const VarRef& ref, const Sym& s) {
  if (!is_untouched(s)) return s;
  if (ref.where == VarRef::Where::kGlobal) return name_vars_[static_cast<size_t>(ref.index)].initial;
  uint32_t index = static_cast<uint32_t>(ref.index);
  if (ref.where == VarRef::Where::kStack) return entry_value({ir::SlotKind::kStack, index}, hl_stack_peek(request_.frame, ref.index));
  PyObject* value = hl_local_get(request_.frame, ref.index);
  int kind = hl_local_kind(request_.code, ref.index);
  if (kind != HL_LOCAL_CELL && kind != HL_LOCAL_FREE) {
    bool any_type = request_.any_dead_type && !liveness(*infos_[0]).local_at(infos_[0]->part->entry(), ref.index);
    return entry_value({ir::SlotKind::kLocal, index}, value, any_type);
  }
  return entry_value({ir::SlotKind::kCell, index}, value == nullptr ? nullptr : hl_cell_get(value));
}

Sym Recorder::fetch(State& state, const VarRef& ref) {
  Sym& s = at(state, ref);
  if (is_untouched(s)) s = resolve(ref, s);
  return s;
}

Result<void> Recorder::set_up() {
  PyCodeObject* code = request_.code;
  function_->name = "region";
  const char* text = PyUnicode_AsUTF8(code->co_qualname);
  if (text != nullptr) function_->name = text;
  text = PyUnicode_AsUTF8(code->co_filename);
  if (text != nullptr) function_->file = text;
  PyErr_Clear();
  function_->line = hl_line_of_unit(code, request_.header_unit);
  function_->entry_stack_depth = static_cast<uint32_t>(hl_stack_depth(request_.frame));
  function_->body = region_ = function_->new_block();
  builder_.set_block(region_);

  auto info = std::make_unique<FrameInfo>();
  info->code = code;
  info->globals = hl_frame_globals(request_.frame);
  info->builtins = hl_frame_builtins(request_.frame);
  info->locals = hl_frame_locals(request_.frame);
  info->code_object = object(reinterpret_cast<PyObject*>(code));
  auto map = code_map(code);
  if (!map) return map.refusal();
  auto part = Part::loop_at(*map, request_.header_unit);
  if (!part) return part.refusal();
  info->part = *part;
  for (size_t k = 0; k < (*map)->blocks().size(); ++k) {
    if (!info->part->contains(static_cast<int>(k))) continue;
    const CodeBlock& block = (*map)->blocks()[k];
    for (int i = block.first; i <= block.last; ++i) {
      const HlInstr& in = (*map)->instrs()[static_cast<size_t>(i)];
      if (in.op == HL_STORE_FAST || in.op == HL_STORE_FAST_LOAD_FAST || in.op == HL_STORE_FAST_STORE_FAST || in.op == HL_STORE_DEREF) {
        stored_locals_.insert(static_cast<uint32_t>(in.arg));
        if (in.op == HL_STORE_FAST_STORE_FAST) stored_locals_.insert(static_cast<uint32_t>(in.arg2));
      }
      if (in.op != HL_STORE_GLOBAL && in.op != HL_STORE_NAME) continue;
      const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(code->co_names, in.arg));
      if (name != nullptr) stored_names_.insert(name);
    }
  }
  PyErr_Clear();
  infos_.push_back(std::move(info));
  return {};
}

Result<std::unique_ptr<ir::Function>> Recorder::record() {
  auto ready = set_up();
  if (!ready) return ready.refusal();
  const FrameInfo& info = *infos_[0];
  if (info.builtins == nullptr || !PyDict_CheckExact(info.globals) || !PyDict_CheckExact(info.builtins) ||
      (info.locals != nullptr && !PyDict_CheckExact(info.locals))) {
    return base::refuse(RefusalReason::kCustomNamespace, function_->line);
  }
  if (!info.part->is_header(info.part->entry())) return base::refuse(RefusalReason::kNeverRan, function_->line);
  State state;
  FrameVals frame;
  frame.info = &info;
  int depth = hl_stack_depth(request_.frame);
  frame.locals.assign(static_cast<size_t>(hl_local_count(request_.code)), untouched());
  frame.stack.assign(static_cast<size_t>(depth), untouched());
  state.frames.push_back(std::move(frame));
  current_info_ = &info;
  current_unit_ = current_op_unit_ = request_.header_unit;
  if (first_instr(info, info.part->entry()).op == HL_FOR_ITER) {
    auto it = entry_iterator(state);
    if (!it) return it.refusal();
  }
  auto ways = run_from(std::move(state), info.part->entry());
  if (!ways) return ways.refusal();
  if (!ways->empty()) return base::refuse(RefusalReason::kVerifierFailed, function_->line, "control left the region without an exit");
  compact_snapshots();
  complete_snapshots();
  function_->native_instructions = static_cast<uint32_t>(native_.size());
  int loops = 0;
  ir::for_each_op(*region_, [&](ir::Op& op, ir::Block&) { loops += op.code == ir::OpCode::For || op.code == ir::OpCode::Loop; });
  function_->has_inner_loops = loops > 1;
  HOTLOOP_LOG(kRecord, "%s:%d %s: %zu inputs, %zu values", function_->file.c_str(), function_->line, function_->name.c_str(),
              function_->inputs.size(), function_->value_types.size());
  return std::move(function_);
}

// Attempts that were given up have left snapshots behind: keep those that ops name.
void Recorder::compact_snapshots() {
  std::vector<ir::SnapshotId> map(function_->snapshots.size(), ir::kNoSnapshot);
  std::vector<ir::Snapshot> kept;
  ir::for_each_op(*region_, [&](ir::Op& op, ir::Block&) {
    if (op.snapshot == ir::kNoSnapshot) return;
    ir::SnapshotId& id = map[op.snapshot];
    if (id == ir::kNoSnapshot) {
      id = static_cast<ir::SnapshotId>(kept.size());
      kept.push_back(std::move(function_->snapshots[op.snapshot]));
    }
    op.snapshot = id;
  });
  function_->snapshots = std::move(kept);
}

Result<std::unique_ptr<ir::Function>> record_region(const RecordRequest& request) {
  std::set<std::string> stored_names;
  std::set<std::pair<int, uint32_t>> text_slots;
  std::set<std::pair<int, uint32_t>> u64_slots;
  bool any_iterator = false;
  for (int attempt = 0;; ++attempt) {
    Recorder recorder(request);
    recorder.stored_names() = stored_names;
    recorder.text_slots() = text_slots;
    recorder.u64_slots() = u64_slots;
    recorder.take_any_iterator(any_iterator);
    auto made = recorder.record();
    if (made) return made;
    const RefusalReason why = made.refusal().reason;
    if (!any_iterator && (why == RefusalReason::kUnsupportedIterator || why == RefusalReason::kSharedIterator)) {
      any_iterator = true;  // it is known only later that the iterator at entry cannot be walked over
      continue;
    }
    if (!recorder.wants_restart() || attempt == 8) {
      HOTLOOP_LOG(kRecord, "line %d: %s", made.refusal().line, made.refusal().message().c_str());
      return made;
    }
    stored_names = recorder.stored_names();
    text_slots = recorder.text_slots();
    u64_slots = recorder.u64_slots();
  }
}

}  // namespace hotloop::tracer
