// Between Python objects and the 8-byte cells of ir/activation.h: unboxing at entry, boxing at exits.
//
// Needs: import_numpy() has succeeded; the GIL. Promises: exact types only; no Python code runs; unbox() changes nothing when it says no.
#pragma once
#include <Python.h>

#include <cstdint>

#include "ir/ir.h"

namespace hotloop::runtime {

// Kinds whose parts alone say everything (numbers, None, Range, RangeIter).
// New reference; null with MemoryError. REQUIRES such a kind.
PyObject* box(ir::PyKind kind, const int64_t* parts);

// True when `object` is exactly of this kind and fits; writes the parts. Kinds Array, SeqIter, Object: see unbox_array and the caller.
bool unbox(ir::PyKind kind, PyObject* object, int64_t* parts);

// Where the value of a kind's objects lies, if it is one part of 8 bytes in an object of one exact type; else type is null.
struct PlainPart {
  PyTypeObject* type = nullptr;
  int offset = 0;
};
PlainPart plain_part(ir::PyKind kind);

// What an ArrayType asks of an array, worked out once: it is asked at every entry of native code.
struct ArrayCheck {
  int type_num = -1;
  int ndim = 0;
  int needed_flags = 0, forbidden_flags = 0;
  Py_ssize_t itemsize = 0;
  const ir::Stride* strides = nullptr;  // of the ArrayType, which must live on
};
ArrayCheck array_check(const ir::ArrayType& type);

// Exact ndarray with this element type in native byte order, aligned, with these stride classes; writable where asked.
// exact_strides false: an axis of class kOther may also have the stride of a better class (but not 0).
bool array_matches(PyObject* object, const ArrayCheck& check, bool exact_strides);

// The number of items between next and stop: how many trips an iterator has left.
int64_t range_length(int64_t next, int64_t stop, int64_t step);

}  // namespace hotloop::runtime
