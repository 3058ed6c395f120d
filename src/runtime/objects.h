// The functions on objects that compiled code calls (ir/activation.h, ObjectFunctions), and what keeps dropped objects until the exit.
//
// Needs: import_numpy() has succeeded; the GIL. Promises: none of the functions runs Python code or leaves an exception set; what an activation
// keeps is bounded.
#pragma once
#include <Python.h>

#include <cstdint>

#include "ir/activation.h"

namespace hotloop::runtime {

ir::ObjectFunctions object_functions();
void add_object_calls(ir::ObjectFunctions* functions);  // part of object_functions(); object_calls.cpp
int64_t make_room(ir::Activation* activation);          // for one object to keep; 0: there is none

inline constexpr uintptr_t kUntilExit = 1;
inline constexpr size_t kFlushed = 512;  // places that are filled before a flush drops anything

// Makes room in the activation for objects that are kept until the exit; 0: there is none.
int64_t make_room(ir::Activation* activation);

// May the object be dropped without running Python code? Numbers, bool, None, str, bytes, NumPy scalars, arrays that own plain data.
bool is_closed(PyObject* object);

// Does the dictionary hold variables that the activation has in registers? It is left to the interpreter.
bool is_namespace(const ir::Activation* activation, const PyObject* dict);

// Keeps the object, which it makes one more owner of, until the exit: no flush drops it. REQUIRES room.
void keep_until_exit(ir::Activation* activation, PyObject* object);

// Drops what the activation has kept. May free arrays; the frame must be complete.
void drop_kept(ir::Activation* activation);

}  // namespace hotloop::runtime
