// SPDX-License-Identifier: Apache-2.0
//
// Stands in for libpython3.6m.so.1.0. The library of the wheel also contains the Python extension, and is linked so
// that every symbol must exist when it is loaded (BIND_NOW). Nothing that a C++ program calls ever reaches these
// functions.
#include <stdio.h>
#include <stdlib.h>

static void called(const char *name) {
  fprintf(stderr, "cyber: %s was called: the Python side of Cyber RT cannot be used here\n", name);
  abort();
}

#define FUNCTION(name)                                     \
  __attribute__((visibility("default"))) void *name(void); \
  void *name(void) {                                       \
    called(#name);                                         \
    return NULL;                                           \
  }
#define OBJECT(name)                                          \
  __attribute__((visibility("default"))) extern long name[4]; \
  long name[4];

FUNCTION(PyArg_ParseTuple)
FUNCTION(PyBytes_FromStringAndSize)
FUNCTION(PyCapsule_GetPointer)
FUNCTION(PyCapsule_New)
FUNCTION(PyDict_New)
FUNCTION(PyDict_SetItem)
FUNCTION(PyList_New)
FUNCTION(PyList_SetItem)
FUNCTION(PyLong_AsLong)
FUNCTION(PyLong_FromLong)
FUNCTION(PyModule_Create2)
FUNCTION(PyObject_IsTrue)
FUNCTION(Py_BuildValue)
OBJECT(_Py_FalseStruct)
OBJECT(_Py_NoneStruct)
OBJECT(_Py_TrueStruct)
