// The functions on objects that compiled code calls (ir/activation.h, ObjectFunctions), and what keeps dropped objects until the exit.
//
// Needs: import_numpy() has succeeded; the GIL. Promises: none of the functions runs Python code or leaves an exception set; what an activation
// keeps is bounded.
#pragma once
#include <Python.h>

#include "ir/activation.h"

namespace hotloop::runtime {

ir::ObjectFunctions object_functions();

// Makes room in the activation for objects that are kept until the exit; 0: there is none.
int64_t make_room(ir::Activation* activation);

// May the object be dropped without running Python code? Numbers, bool, None, str, bytes, NumPy scalars, arrays that own plain data.
bool is_closed(PyObject* object);

// Drops what the activation has kept. May free arrays; the frame must be complete.
void drop_kept(ir::Activation* activation);

}  // namespace hotloop::runtime
