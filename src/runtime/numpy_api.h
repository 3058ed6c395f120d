// The NumPy C API for every file that needs it: one import, one unique symbol.
// Needs NumPy >= 2.0 headers. Promises: a file that includes this sees the API table that the extension imported at start;
// exactly one file defines HOTLOOP_IMPORT_NUMPY before including it and calls import_array().
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL hotloop_numpy_api
#define PY_UFUNC_UNIQUE_SYMBOL hotloop_ufunc_api
#ifndef HOTLOOP_IMPORT_NUMPY
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>
