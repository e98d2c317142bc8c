/* SPDX-License-Identifier: Apache-2.0
 *
 * Searches the running program for the Python interpreter, and uses it through functions that every release since 3.4
 * exports with the same arguments. We declare them here, so that the recorder is built without Python. All but
 * PyGILState_Check belong to the stable ABI (PEP 384). All calls happen on the thread that called rcl_init. It already
 * holds the interpreter's lock, so nothing here waits.
 */
#define _GNU_SOURCE
#include "hook.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../callbacks.h"
#include "../thread.h"

typedef struct object PyObject;
typedef intptr_t Py_ssize_t;

#define METH_VARARGS 0x1
#define METH_NOARGS 0x4
#define METH_O 0x8
#define FILE_INPUT 257 /* Py_file_input */
#define WORDS_MAX 4

/* PyMethodDef */
struct method {
  const char *name;
  PyObject *(*function)(PyObject *module, PyObject *arguments);
  int flags;
  const char *doc;
};

/* The functions of the interpreter that we use. */
#define INTERPRETER(X)                                                        \
  X(int, Py_IsInitialized, (void))                                            \
  X(int, PyGILState_Check, (void))                                            \
  X(PyObject *, PyImport_GetModuleDict, (void))                               \
  X(PyObject *, PyDict_GetItemString, (PyObject *, const char *))             \
  X(int, PyDict_SetItemString, (PyObject *, const char *, PyObject *))        \
  X(PyObject *, PyDict_New, (void))                                           \
  X(PyObject *, PyEval_GetBuiltins, (void))                                   \
  X(PyObject *, PyEval_EvalCode, (PyObject *, PyObject *, PyObject *))        \
  X(PyObject *, Py_CompileString, (const char *, const char *, int))          \
  X(PyObject *, PyCFunction_NewEx, (struct method *, PyObject *, PyObject *)) \
  X(Py_ssize_t, PyTuple_Size, (PyObject *))                                   \
  X(PyObject *, PyTuple_GetItem, (PyObject *, Py_ssize_t))                    \
  X(const char *, PyUnicode_AsUTF8AndSize, (PyObject *, Py_ssize_t *))        \
  X(long long, PyLong_AsLongLong, (PyObject *))                               \
  X(unsigned long long, PyLong_AsUnsignedLongLong, (PyObject *))              \
  X(void, PyErr_SetString, (PyObject *, const char *))                        \
  X(PyObject *, PyErr_Occurred, (void))                                       \
  X(void, PyErr_Fetch, (PyObject **, PyObject **, PyObject **))               \
  X(void, PyErr_Restore, (PyObject *, PyObject *, PyObject *))                \
  X(void, PyErr_Clear, (void))                                                \
  X(void, Py_IncRef, (PyObject *))                                            \
  X(void, Py_DecRef, (PyObject *))

static struct {
#define FIELD(type, name, parameters) type(*name) parameters;
  INTERPRETER(FIELD)
#undef FIELD
  PyObject *None;
  PyObject **TypeError;
} py;

/* callbacks.py, which the build turns into C. */
extern const char rclpy_callbacks_source[];

static bool find_interpreter(void) {
  bool found = true;
#define FIND(type, name, parameters)           \
  do {                                         \
    void *symbol = dlsym(RTLD_DEFAULT, #name); \
    memcpy(&py.name, &symbol, sizeof symbol);  \
    found = found && symbol != NULL;           \
  } while (0);
  INTERPRETER(FIND)
#undef FIND
  py.None = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
  py.TypeError = dlsym(RTLD_DEFAULT, "PyExc_TypeError");
  return found && py.None != NULL && py.TypeError != NULL;
}

static PyObject *none(void) {
  py.Py_IncRef(py.None);
  return py.None;
}

static PyObject *start(PyObject *module, PyObject *callback) {
  (void)module;
  const uint64_t address = py.PyLong_AsUnsignedLongLong(callback);
  if (address == UINT64_MAX && py.PyErr_Occurred() != NULL) return NULL;
  tracepoints_callback_start((const void *)(uintptr_t)address);
  return none();
}

static PyObject *end(PyObject *module, PyObject *callback) {
  (void)module;
  const uint64_t address = py.PyLong_AsUnsignedLongLong(callback);
  if (address == UINT64_MAX && py.PyErr_Occurred() != NULL) return NULL;
  tracepoints_callback_end((const void *)(uintptr_t)address);
  return none();
}

static PyObject *waiting(PyObject *module, PyObject *timeout_ns) {
  (void)module;
  const uint64_t words[] = {(uint64_t)py.PyLong_AsLongLong(timeout_ns)};
  if (words[0] == UINT64_MAX && py.PyErr_Occurred() != NULL) return NULL;
  thread_put(TACHO_RCLCPP_EXECUTOR_WAIT_FOR_WORK, words, 1);
  return none();
}

static PyObject *ready(PyObject *module, PyObject *nothing) {
  (void)module;
  (void)nothing;
  thread_put(TACHO_RCLCPP_EXECUTOR_GET_NEXT_READY, NULL, 0);
  return none();
}

static PyObject *refuse(const char *why) {
  py.PyErr_SetString(*py.TypeError, why);
  return NULL;
}

/* put(kind, text or None, word ...): writes an event. */
static PyObject *put(PyObject *module, PyObject *arguments) {
  uint64_t words[WORDS_MAX];
  const char *text = NULL;
  (void)module;
  const Py_ssize_t count = py.PyTuple_Size(arguments) - 2;
  if (count < 0 || count > WORDS_MAX) return refuse("expected put(kind, text, up to 4 words)");
  const uint32_t kind = (uint32_t)py.PyLong_AsUnsignedLongLong(py.PyTuple_GetItem(arguments, 0));
  PyObject *of_event = py.PyTuple_GetItem(arguments, 1);
  if (of_event != py.None) text = py.PyUnicode_AsUTF8AndSize(of_event, NULL);
  for (Py_ssize_t i = 0; i < count; i++) words[i] = py.PyLong_AsUnsignedLongLong(py.PyTuple_GetItem(arguments, i + 2));
  if (py.PyErr_Occurred() != NULL) return NULL;
  if (text != NULL) {
    thread_put_texts(kind, words, (uint32_t)count, &text, 1);
  } else {
    thread_put(kind, words, (uint32_t)count);
  }
  return none();
}

static struct method methods[] = {
    {"start", start, METH_O, "start(callback): callback_start."},
    {"end", end, METH_O, "end(callback): callback_end."},
    {"waiting", waiting, METH_O, "waiting(timeout_ns): rclcpp_executor_wait_for_work."},
    {"ready", ready, METH_NOARGS, "ready(): rclcpp_executor_get_next_ready."},
    {"put", put, METH_VARARGS, "put(kind, text or None, word ...): writes an event."},
};

/* Runs callbacks.py with our functions among its globals. If callbacks.py fails half-way, it restores rclpy itself. */
static bool run_source(void) {
  PyObject *globals = py.PyDict_New();
  if (globals == NULL) return false;
  bool ready = py.PyDict_SetItemString(globals, "__builtins__", py.PyEval_GetBuiltins()) == 0;
  for (size_t i = 0; ready && i < sizeof methods / sizeof *methods; i++) {
    PyObject *function = py.PyCFunction_NewEx(&methods[i], NULL, NULL);
    ready = function != NULL && py.PyDict_SetItemString(globals, methods[i].name, function) == 0;
    if (function != NULL) py.Py_DecRef(function);
  }
  PyObject *code =
      ready ? py.Py_CompileString(rclpy_callbacks_source, "<tacho: callbacks of rclpy>", FILE_INPUT) : NULL;
  PyObject *result = code != NULL ? py.PyEval_EvalCode(code, globals, globals) : NULL;
  if (code != NULL) py.Py_DecRef(code);
  if (result != NULL) py.Py_DecRef(result);
  py.Py_DecRef(globals); /* the functions of callbacks.py keep it alive */
  return result != NULL;
}

void rclpy_hook(void) {
  static _Atomic int hooked;
  int expected = 0;
  const char *wanted = getenv("TACHO_EVENTS_RCLPY");
  if (atomic_load_explicit(&hooked, memory_order_relaxed) != 0 || !thread_recording()) return;
  if (wanted != NULL && strcmp(wanted, "off") == 0) return;
  const int saved = errno;
  /* A program in C++ has no interpreter. If another thread holds the lock, the caller is not rclpy. */
  if (find_interpreter() && py.Py_IsInitialized() && py.PyGILState_Check() &&
      py.PyDict_GetItemString(py.PyImport_GetModuleDict(), "rclpy") != NULL &&
      atomic_compare_exchange_strong(&hooked, &expected, 1)) {
    /* These hold an exception that may be on its way through the caller. */
    PyObject *type, *value, *traceback;
    py.PyErr_Fetch(&type, &value, &traceback);
    if (!run_source()) {
      py.PyErr_Clear();
      const char *why = "the interpreter refused the recorder's functions";
      thread_put_texts(TACHO_RCLPY_CALLBACKS, NULL, 0, &why, 1);
    }
    py.PyErr_Restore(type, value, traceback);
  }
  errno = saved;
}
