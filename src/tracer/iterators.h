// Iterator objects at the border of native code: their state is read at entry, written back at exits, or a new object is made (T34).
//
// Needs region.h, ir/iter_path.h, cpython/access.h (iterators.def). Promises: state is read only where nobody else holds the iterator or an iterator that
// it draws from; nothing here runs Python code of the user.
#pragma once
#include "ir/iter_path.h"
#include "tracer/region.h"

namespace hotloop::tracer {

// Reads the part of an iterator that an input of slot kind kSeqArray or kSeqIndex names. False: it is built otherwise, exhausted or shared.
bool unbox_iterator(const Region& region, const ir::Input& input, HlFrame* frame, int64_t* cells, PyObject** object, bool exact_strides);

// May the state of `iterator` be set to what the plan says?
bool iterator_fits(const ExitPlan& plan, const PlanValue& value, PyObject* iterator);
void set_iterator(const ExitPlan& plan, const PlanValue& value, PyObject* iterator, const int64_t* out);

// New iterators; `inner`: borrowed. Null: no memory.
PyObject* new_sequence_iterator(PyObject* sequence, bool countdown, Py_ssize_t index);
// The view base[indices], as one subscript by integers makes it.
PyObject* new_row(PyObject* base, const int64_t* indices, uint32_t count);

}  // namespace hotloop::tracer
