// A Python value as the recorder knows it: its exact Python kind, the IR values that carry it, and its identity.
//
// Needs ir/ir.h and Python.h (only for the type PyObject). Promises: a Sym is a value, freely copied; object pointers are borrowed from the
// region's object table (ir::Function::objects), which keeps them alive.
#pragma once
#include <Python.h>

#include <memory>
#include <vector>

#include "ir/ir.h"

namespace hotloop::tracer {

// What is known of an int: -below <= value <= most.
struct WideRange {
  unsigned __int128 most, below;
};

struct Sym {
  ir::PyKind kind = ir::PyKind::Unbound;
  ir::ValueId v[3] = {ir::kNoValue, ir::kNoValue, ir::kNoValue};  // the parts: pykind_info(kind).parts of them

  // The known object, or null. kind == Const: always set (functions, modules, types, strings, None is kind None_). Also set for numeric
  // constants (LOAD_CONST 2 is kind Int with object = the constant): exits then restore that very object.
  PyObject* object = nullptr;

  uint32_t input = ir::kNone;                 // it still is the object that came in as input n (a mere copy of a variable)
  uint32_t box = 0;                           // identity number of an unboxed value: copies keep it, each operation makes a new one; 0 when `object` or `input` says it
  ir::ArrayTypeId array_type = ir::kNone;     // kind == Array
  std::shared_ptr<std::vector<Sym>> items;    // the children of an ir::SnapValue of this kind: tuples, iterators, rows

  // A number that came from an object, or was boxed, still is that object: its pointer, which is null at run time where there is none
  // (kNoValue: there never is one). `sure`: it never is null.
  ir::ValueId obj = ir::kNoValue;
  bool sure = false;
  // An object of the kind that it will be, seen while recording (borrowed, a hint): what lists of this value hold.
  PyObject* sample = nullptr;

  std::shared_ptr<const WideRange> range;     // ints: always there for Int128 and IntU128, for others null where nothing is known

  bool is_const() const { return object != nullptr; }
};

inline bool is_np_int(ir::PyKind k) { return k >= ir::PyKind::NpInt8 && k <= ir::PyKind::NpUint64; }
inline bool is_np_real_float(ir::PyKind k) { return k >= ir::PyKind::NpFloat16 && k <= ir::PyKind::NpFloat64; }
inline bool is_np_complex(ir::PyKind k) { return k == ir::PyKind::NpComplex64 || k == ir::PyKind::NpComplex128; }
inline bool is_np_scalar(ir::PyKind k) { return k >= ir::PyKind::NpBool && k <= ir::PyKind::NpComplex128; }
inline bool is_py_number(ir::PyKind k) {
  return k == ir::PyKind::Bool || k == ir::PyKind::Int || k == ir::PyKind::IntU64 || k == ir::PyKind::Float || k == ir::PyKind::Complex;
}

}  // namespace hotloop::tracer
