// Iterators that native code asks for their next item without making the frame complete: those for which no Python code need run.
//
// Needs cpython/access.h. Promises: is_plain_iterator() only looks; next_item() is as the op next_item of ir/ops.def.
#pragma once
#include <Python.h>

#include "ir/activation.h"

namespace hotloop::tracer {

// Does asking this iterator run nothing but C code of CPython and NumPy, whatever its items are?
bool is_plain_iterator(PyObject* it);

// The op next_item (ObjectFunctions::next_item).
void* next_item(ir::Activation* activation, void* iterator, int64_t flags);

}  // namespace hotloop::tracer
