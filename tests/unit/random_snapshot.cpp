// Random snapshots. Needs random_snapshot.h. Promises: as there.
#include "random_snapshot.h"

namespace hotloop::test {
namespace {

using ir::PyKind;
using ir::SnapValue;
using ir::Type;
using ir::ValueId;

class SnapshotMaker {
 public:
  SnapshotMaker(Random& random, ir::Function& f, const std::vector<ValueId>& visible) : random_(random), f_(f), visible_(visible) {}

  ir::SnapshotId run() {
    ir::Snapshot snapshot;
    const bool inlined = random_.chance(15);
    snapshot.frames.push_back(frame(true, inlined));
    if (inlined) snapshot.frames.push_back(frame(false, false));
    f_.snapshots.push_back(std::move(snapshot));
    return static_cast<ir::SnapshotId>(f_.snapshots.size() - 1);
  }

 private:
  ir::FrameState frame(bool outermost, bool calls) {
    ir::FrameState frame;
    frame.code = outermost ? 0 : 2;
    if (!outermost) frame.function = 1;
    frame.resume_unit = random_.below(500);
    if (calls) {
      frame.return_unit = frame.resume_unit + 1 + random_.below(4);
      frame.result_use = random_.chance(20) ? ir::ResultUse::kDrop : ir::ResultUse::kPush;
    }
    frame.stack_depth = static_cast<uint32_t>(random_.below(4));
    const uint32_t first = outermost ? f_.entry_stack_depth : 0;
    for (uint32_t k = first; k < frame.stack_depth; ++k) frame.slots.push_back({{ir::SlotKind::kStack, k}, value(0)});
    for (int k = random_.below(5); k > 0; --k) {
      const auto kind = random_.chance(85) ? ir::SlotKind::kLocal : ir::SlotKind::kCell;
      frame.slots.push_back({{kind, static_cast<uint32_t>(k)}, value(0)});
    }
    if (outermost && random_.chance(10)) frame.slots.push_back({{ir::SlotKind::kGlobal, 3}, value(0)});
    return frame;
  }

  ValueId visible_of(Type type) {
    for (int tries = 0; tries < 8 && !visible_.empty(); ++tries) {
      const ValueId v = random_.pick(visible_);
      if (f_.type_of(v) == type) return v;
    }
    return ir::kNoValue;
  }

  SnapValue value(int depth) {
    SnapValue out;
    const int dice = random_.below(100);
    if (dice < 70 && !visible_.empty() && value_of_type(f_, random_.pick(visible_), &out)) return out;
    if (dice < 75) {
      out.kind = PyKind::Const;
      out.index = 3;
      return out;
    }
    if (dice < 80 && !f_.inputs.empty()) {
      out.kind = PyKind::Input;
      out.index = static_cast<uint32_t>(random_.below(static_cast<int>(f_.inputs.size())));
      return out;
    }
    if (dice < 84 && depth < 2) {
      out.kind = PyKind::Tuple;
      for (int k = random_.below(3); k > 0; --k) out.children.push_back(value(depth + 1));
      return out;
    }
    if (dice < 88) {
      if (array(&out)) return out;
    }
    static const std::vector<PyKind> kMany = {PyKind::Complex, PyKind::NpComplex64, PyKind::NpComplex128, PyKind::Range, PyKind::RangeIter};
    if (dice < 96 && parts(random_.pick(kMany), &out)) return out;
    out = SnapValue();
    out.kind = random_.chance(50) ? PyKind::Unbound : PyKind::None_;
    return out;
  }

  bool parts(PyKind kind, SnapValue* out) {
    out->kind = kind;
    for (int k = 0; k < ir::pykind_info(kind).parts; ++k) {
      const ValueId v = visible_of(ir::pykind_info(kind).part_type);
      if (v == ir::kNoValue) return false;
      out->values.push_back(v);
    }
    return true;
  }

  // An array by pointer, or an iterator over one.
  bool array(SnapValue* out) {
    if (f_.inputs.empty() || f_.inputs[0].kind != PyKind::Array) return false;
    SnapValue pointer;
    pointer.kind = PyKind::Array;
    pointer.index = random_.chance(50) ? f_.inputs[0].array_type : ir::kNone;
    pointer.values = {f_.body->params[0]};
    *out = pointer;
    SnapValue index;
    if (random_.chance(50) || !parts(PyKind::Int, &index)) return true;
    *out = SnapValue();
    out->kind = PyKind::SeqIter;
    out->children = {pointer, index};
    return true;
  }

  Random& random_;
  ir::Function& f_;
  const std::vector<ValueId>& visible_;
};

}  // namespace

ir::SnapshotId random_snapshot(Random& random, ir::Function& function, const std::vector<ValueId>& visible) {
  return SnapshotMaker(random, function, visible).run();
}

bool value_of_type(const ir::Function& function, ValueId v, SnapValue* out) {
  const Type type = function.type_of(v);
  switch (type) {
    case Type::I1: out->kind = PyKind::Bool; break;
    case Type::I8: out->kind = PyKind::NpInt8; break;
    case Type::I16: out->kind = PyKind::NpInt16; break;
    case Type::I32: out->kind = PyKind::NpInt32; break;
    case Type::I64: out->kind = PyKind::Int; break;
    case Type::U8: out->kind = PyKind::NpUint8; break;
    case Type::U16: out->kind = PyKind::NpUint16; break;
    case Type::U32: out->kind = PyKind::NpUint32; break;
    case Type::U64: out->kind = PyKind::NpUint64; break;
    case Type::F32: out->kind = PyKind::NpFloat32; break;
    case Type::F64: out->kind = PyKind::Float; break;
    case Type::Ptr:
    case Type::None: return false;
  }
  out->values = {v};
  out->box = v % 7 == 0 ? v + 1 : 0;
  return true;
}

}  // namespace hotloop::test
