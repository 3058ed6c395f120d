// What each Python operation means on known kinds, as IR: the only place where the rules of SEMANTICS (types of results, checks, warnings) become ops.
//
// Needs tracer/sym.h, ir/builder.h. Promises: the emitted ops compute exactly the interpreter's value or leave through Emit::before() (the state
// before the current instruction, so that the interpreter does the operation, raises and warns itself); nothing is emitted when a
// Refusal is returned... except dead pure ops. No function here runs Python code of the user; queries such as np.result_type are allowed.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "ir/builder.h"
#include "ir/numeric.h"
#include "tracer/sym.h"

namespace hotloop::tracer {

// What the semantic functions need of the recorder.
class Emit {
 public:
  virtual ~Emit() = default;
  virtual ir::Builder& b() = 0;
  // Snapshot "nothing of the current instruction has happened": operands are on the stack, resume at its own unit. Cached per instruction;
  // after an effect (astore) inside the instruction it must not be asked again.
  virtual ir::SnapshotId before() = 0;
  virtual uint32_t new_box() = 0;                               // fresh identity
  virtual ir::ObjectId object(PyObject* object) = 0;            // keeps the object alive in the region
  virtual const ir::HelperTable& helpers() = 0;
  virtual base::Refusal refuse(base::RefusalReason reason, std::string detail) = 0;  // adds the current line
  virtual void note_choice(const Sym& result, ir::ValueId flag, const Sym& a, const Sym& b) = 0;  // it is the object a if the flag is set, else b (Sym{}: a new one)
  virtual base::Refusal want_text(const Sym& s) = 0;           // a str that came in as a known object is looked into: record anew, with it as text
  // Why a value of kind Object is not known by its type, if it is an array or a scalar of NumPy.
  virtual std::optional<base::Refusal> refuse_object(const Sym& s) = 0;
  // An object (borrowed) of the kind or type that the current instruction was seen to leave on the stack; null: not seen.
  virtual PyObject* seen_result() = 0;
};

enum class BinaryOp : uint8_t { kAdd, kAnd, kFloorDivide, kLshift, kMatmul, kMultiply, kRemainder, kOr, kPower, kRshift, kSubtract, kTrueDivide, kXor };
enum class UnaryOp : uint8_t { kNegative, kPositive, kInvert, kNot };
enum class CompareOp : uint8_t { kLt, kLe, kEq, kNe, kGt, kGe };

// a OP b. In-place forms on numbers and scalars are the same; in-place on arrays (mutation) is refused.
base::Result<Sym> binary(Emit& e, BinaryOp op, const Sym& a, const Sym& b);
base::Result<Sym> unary(Emit& e, UnaryOp op, const Sym& a);
base::Result<Sym> compare(Emit& e, CompareOp op, const Sym& a, const Sym& b);
// `a is b` where it is decidable without boxing (None tests, bools, known objects); else refusal.
base::Result<Sym> identity(Emit& e, const Sym& a, const Sym& b, bool negate);
// bool(a) as an i1 value.
base::Result<ir::ValueId> truth(Emit& e, const Sym& a);

// container[index] and container[index] = value: arrays by full integer or tuple index, known tuples by known index.
base::Result<Sym> subscript(Emit& e, const Sym& container, const Sym& index);
base::Result<bool> store_subscript(Emit& e, const Sym& container, const Sym& index, const Sym& value);  // true

// Sequences by position: arrays and rows of them, lists and tuples that exist as objects, str and bytes. len(s) as an i64, and the item at a position that lies in [0, len).
base::Result<ir::ValueId> sequence_length(Emit& e, const Sym& sequence);
base::Result<Sym> item_at(Emit& e, const Sym& sequence, ir::ValueId position);

// Lists, and tuples that exist as objects (semantics_objects.cpp).
inline bool is_sequence_object(ir::PyKind kind) { return kind == ir::PyKind::List || kind == ir::PyKind::TupleObject; }
ir::ValueId object_length(Emit& e, const Sym& sequence);
// The item at `index`, which REQUIRES 0 <= index < length: assumed to be what `sample` is, else left through before(). Without a sample, unknown.
base::Result<Sym> sequence_item(Emit& e, const Sym& sequence, ir::ValueId index, PyObject* sample);
// An item that the sequence held while recording, the one at `index` if that is known (-1: not). Null: it was empty or is not known.
PyObject* sample_item(const Sym& sequence, int64_t index);
// What the object at `pointer` is, if it is like `sample`: guarded by its exact type.
base::Result<Sym> object_value(Emit& e, ir::ValueId pointer, PyObject* sample);
// The index checked and wrapped, by the rules of sequences.
base::Result<ir::ValueId> sequence_index(Emit& e, const Sym& sequence, const Sym& index);

// object.name (no call): real, imag, shape, ndim, size of numbers and arrays; attributes of known modules (guarded by the caller through `module_attribute`).
base::Result<Sym> attribute(Emit& e, const Sym& object, PyObject* name);

// The method descriptor that `object.name` finds in the type of a number, if it has a model; else null.
PyObject* number_method(const Sym& object, PyObject* name);

// A call of a known builtin, math, cmath-free, NumPy function or type: abs min max int float bool complex len range round divmod, math.*, np.sqrt ....
// is_known_callable says whether `call_known` has a model for it (else: a plain Python function to inline, or a refusal).
bool is_known_callable(PyObject* callable);
base::Result<Sym> call_known(Emit& e, PyObject* callable, std::span<const Sym> args, PyObject* kwnames);

// A Sym for a known object: numbers and None by value, tuples by items where all items are known, everything else Const.
Sym known(Emit& e, PyObject* object);
// The kind with which `object` would be unboxed as an input, and for arrays its ArrayType; Unbound for null. Objects of no known type: Object.
// Exact lists and tuples: List, TupleObject.
ir::PyKind classify(PyObject* object, ir::ArrayType* array_type);
// What stands against an object of kind Object that is an array or a NumPy scalar: its dtype, its layout, its class.
std::optional<std::pair<base::RefusalReason, std::string>> why_object(PyObject* object);

}  // namespace hotloop::tracer
