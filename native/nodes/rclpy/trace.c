// SPDX-License-Identifier: Apache-2.0
//
// The trace events of nodes on rclpy, which emits none above rcl: the events that rclcpp emits and those of tacho's
// nodes, in their order, through the preloaded recorder. Without a recorder nothing is emitted. One call from Python
// writes all events of one moment, and reads or writes the message's header in place, so that neither is part of the
// latency.
#define Py_LIMITED_API 0x030b0000  // one library for Python 3.11 and later
#include <Python.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/events.h>
#include <tacho/middleware.h>
#include <time.h>

static void (*record)(uint32_t kind, const uint64_t *words, uint32_t count);
static void (*record_texts)(uint32_t kind, const uint64_t *words, uint32_t count, const char *const *texts,
                            uint32_t text_count);
static void (*callback_register)(const void *callback, const char *symbol);  // its text is written by the recorder

#define EVENT(kind, ...)                                                       \
  do {                                                                         \
    const uint64_t words[] = {__VA_ARGS__};                                    \
    if (record) record(kind, words, (uint32_t)(sizeof words / sizeof *words)); \
  } while (0)

// Returns an address that is unique as long as the process runs and identifies an object of the client library.
static uint64_t address(void) { return (uint64_t)(uintptr_t)malloc(1); }

static int words_of(PyObject *const *arguments, Py_ssize_t count, Py_ssize_t expected, uint64_t *words) {
  for (Py_ssize_t i = 0; i < count && i < expected; i++) {
    words[i] = PyLong_AsUnsignedLongLong(arguments[i]);
    if (words[i] == (uint64_t)-1 && PyErr_Occurred()) return -1;
  }
  if (count >= expected) return 0;
  PyErr_Format(PyExc_TypeError, "found %zd arguments, expected %zd", count, expected);
  return -1;
}

static void registered(uint64_t callback, const char *symbol) {
  if (callback_register) callback_register((const void *)(uintptr_t)callback, symbol);
}

static PyObject *subscription(PyObject *module, PyObject *arguments) {
  unsigned long long handle;
  const char *symbol;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "Ks", &handle, &symbol)) return NULL;
  const uint64_t object = address(), callback = address();
  EVENT(TACHO_RCLCPP_SUBSCRIPTION_INIT, handle, object);
  EVENT(TACHO_RCLCPP_SUBSCRIPTION_CALLBACK_ADDED, object, callback);
  registered(callback, symbol);
  return PyLong_FromUnsignedLongLong(callback);
}

static PyObject *timer(PyObject *module, PyObject *arguments) {
  unsigned long long handle, node, period_ns;
  const char *symbol;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "KKKs", &handle, &node, &period_ns, &symbol)) return NULL;
  const uint64_t callback = address();
  if (!handle) {  // a spinning node has no timer of rcl
    handle = address();
    EVENT(TACHO_RCL_TIMER_INIT, handle, period_ns);
  }
  EVENT(TACHO_RCLCPP_TIMER_CALLBACK_ADDED, handle, callback);
  registered(callback, symbol);
  EVENT(TACHO_RCLCPP_TIMER_LINK_NODE, handle, node);
  return PyLong_FromUnsignedLongLong(callback);
}

static int header_bytes(PyObject *object, int flags, Py_buffer *view) {
  if (PyObject_GetBuffer(object, view, flags) < 0) return -1;
  if (view->len >= (Py_ssize_t)sizeof(struct tacho_header)) return 0;
  PyErr_Format(PyExc_ValueError,
               "a message of %zd bytes, without our header of %zu bytes in it: somebody else publishes here", view->len,
               sizeof(struct tacho_header));
  PyBuffer_Release(view);
  return -1;
}

static PyObject *received(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
  uint64_t of[2];  // subscription, callback
  Py_buffer view;
  struct tacho_header header;
  (void)module;
  if (words_of(arguments, count - 1, 2, of) < 0 || header_bytes(arguments[2], PyBUF_SIMPLE, &view) < 0) return NULL;
  memcpy(&header, view.buf, sizeof header);
  PyBuffer_Release(&view);
  EVENT(TACHO_RCLCPP_TAKE, 0);  // rclpy converts the message, so its address below is unknown here
  EVENT(TACHO_CALLBACK_START, of[1], 0);
  EVENT(TACHO_NODE_TAKE, of[0], header.publisher, header.sequence, (uint64_t)header.stamp_ns);
  return Py_BuildValue("(IKL)", header.publisher, (unsigned long long)header.sequence, (long long)header.stamp_ns);
}

static PyObject *publishing(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
  uint64_t of[4];  // publisher, its id, sequence, size
  Py_buffer view;
  struct timespec now;
  (void)module;
  if (words_of(arguments, count - 1, 4, of) < 0 || header_bytes(arguments[4], PyBUF_WRITABLE, &view) < 0) return NULL;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const struct tacho_header header = {of[2], now.tv_sec * 1000000000ll + now.tv_nsec, (uint32_t)of[1], 0};
  memcpy(view.buf, &header, sizeof header);
  PyBuffer_Release(&view);
  EVENT(TACHO_NODE_PUBLISH, of[0], of[1], of[2], of[3]);
  EVENT(TACHO_RCLCPP_PUBLISH, of[0], 0);
  Py_RETURN_NONE;
}

static PyObject *started(PyObject *module, PyObject *callback) {
  (void)module;
  uint64_t word;
  if (words_of(&callback, 1, 1, &word) < 0) return NULL;
  EVENT(TACHO_CALLBACK_START, word, 0);
  Py_RETURN_NONE;
}

static PyObject *ended(PyObject *module, PyObject *callback) {
  (void)module;
  uint64_t word;
  if (words_of(&callback, 1, 1, &word) < 0) return NULL;
  EVENT(TACHO_CALLBACK_END, word);
  Py_RETURN_NONE;
}

static PyObject *due(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
  (void)module;
  uint64_t of[3];  // publisher, sequence, due_ns
  if (words_of(arguments, count, 3, of) < 0) return NULL;
  EVENT(TACHO_NODE_DUE, of[0], of[1], of[2]);
  Py_RETURN_NONE;
}

static PyObject *skipped(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
  (void)module;
  uint64_t of[2];  // publisher, count
  if (words_of(arguments, count, 2, of) < 0) return NULL;
  EVENT(TACHO_NODE_SKIPPED, of[0], of[1]);
  Py_RETURN_NONE;
}

static PyObject *refused(PyObject *module, PyObject *arguments) {
  unsigned long long publisher, sequence, code;
  const char *reason;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "KKKs", &publisher, &sequence, &code, &reason)) return NULL;
  const uint64_t words[] = {publisher, sequence, code};
  if (record_texts) record_texts(TACHO_NODE_REFUSED, words, 3, &reason, 1);
  Py_RETURN_NONE;
}

static PyObject *woke(PyObject *module, PyObject *node) {
  (void)module;
  uint64_t word;
  if (words_of(&node, 1, 1, &word) < 0) return NULL;
  EVENT(TACHO_NODE_WAKE, word);
  Py_RETURN_NONE;
}

#define FAST(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, name##_doc}
static const char received_doc[] =
    "received(subscription, callback, message): (publisher, sequence, stamp_ns) of the message's header.";
static const char publishing_doc[] =
    "publishing(publisher, id, sequence, size, message): writes the header; call publish() next.";
static const char due_doc[] =
    "due(publisher, sequence, due_ns): when the message that is published next was due by the clock.";
static const char skipped_doc[] = "skipped(publisher, count): sends that were due and did not happen.";
static PyMethodDef methods[] = {
    {"subscription", subscription, METH_VARARGS, "subscription(handle, symbol): what stands for its callback."},
    {"timer", timer, METH_VARARGS, "timer(handle or 0, node, period_ns, symbol): what stands for its callback."},
    FAST(received),
    FAST(publishing),
    FAST(due),
    FAST(skipped),
    {"started", started, METH_O, "started(callback): the callback of a timer starts."},
    {"ended", ended, METH_O, "ended(callback): the callback ends."},
    {"refused", refused, METH_VARARGS,
     "refused(publisher, sequence, code, reason): publish() failed, nothing was sent."},
    {"woke", woke, METH_O, "woke(node): a spinning node woke to look at its queues."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "trace", "Trace events of nodes on rclpy.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_trace(void) {
  void *symbol = dlsym(RTLD_DEFAULT, "tacho_record");
  memcpy(&record, &symbol, sizeof record);
  symbol = dlsym(RTLD_DEFAULT, "tacho_record_texts");
  memcpy(&record_texts, &symbol, sizeof record_texts);
  symbol = dlsym(RTLD_DEFAULT, "ros_trace_rclcpp_callback_register");
  memcpy(&callback_register, &symbol, sizeof callback_register);
  return PyModule_Create(&definition);
}
