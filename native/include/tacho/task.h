/* SPDX-License-Identifier: Apache-2.0
 *
 * The task seam: what a node computes. A library of tasks is one shared object, libtacho_tasks_<name>.so, that exports
 *
 *     const struct tacho_tasks *tacho_tasks(void);
 *
 * A workload names a task in `work: {task: NAME, ...parameters}`, and the node calls it in its callbacks.
 *
 * Conventions, the same for every entry:
 *  - A function that can fail returns NULL or a negative value and writes the cause, what was found and what was
 *    expected into `error` (never NULL, TACHO_ERROR_SIZE bytes). No exception leaves the library.
 *  - A task takes the time from `now_ns` of its call and from the headers of its inputs, never from a clock: a
 *    simulator calls the same task in virtual time.
 *  - With the same seed, the same parameters and the same calls, a task gives the same outputs.
 *  - One task is used from one thread at a time. Several tasks of one kind may exist in a process.
 */
#ifndef TACHO_TASK_H_
#define TACHO_TASK_H_

#include <tacho/middleware.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TACHO_TASK_ABI 2u

/* A parameter that a kind of task has. The reader of the workload checks the value before a task is made. */
struct tacho_task_parameter {
  const char *name;
  /* The unit of the number that the task receives: m, m/s, m/s^2, rad, rad/s, s, Hz; "" for a number without a unit.
   * A workload may write another unit of the same quantity (18 km/h). */
  const char *unit;
  double least;
  double greatest;
  double initial; /* the value if the workload gives none */
  const char *meaning;
};

/* A text that a kind of task takes: a path, the name of a topic. A workload writes it like a parameter. */
struct tacho_task_text {
  const char *name;
  const char *meaning;
};

/* An input or an output that a kind of task has. The first input is the first subscription of the node, and so on. */
struct tacho_task_slot {
  const char *name; /* "trajectory": what it carries, not the topic */
  size_t size;      /* least bytes of an output's message; 0 for an input */
  uint32_t optional;
  uint32_t reserved;
};

/* A signal that a kind of task reports: one number at an instant, or one of each entry of a list. */
struct tacho_task_signal {
  const char *name;
  const char *unit; /* m, m/s, rad ...; "" for a count, a ratio, or 1 for yes and 0 for no */
  const char *meaning;
  uint32_t is_list; /* 1: each report has an entry */
  uint32_t reserved;
};

/* A subscription or a publication of the node that runs the task. */
struct tacho_task_endpoint {
  const char *topic;
  const char *type; /* "" if the middleware chose it */
  size_t size;      /* bytes of data that a message carries, or at most carries (inputs) */
};

struct tacho_task_config {
  const char *node;
  uint64_t seed;
  const double *values; /* of the kind's parameters, in their order */
  const struct tacho_task_endpoint *inputs;
  size_t input_count;
  const struct tacho_task_endpoint *outputs;
  size_t output_count;
  const char *const *texts; /* of the kind's texts, in their order; "" if the workload gives none */
};

/* The latest message of an input. */
struct tacho_task_input {
  struct tacho_header header;
  const void *data; /* as the middleware carries it; NULL until the first message. Valid until run() returns. */
  size_t size;
  uint32_t is_new; /* whether it came since the last call */
  uint32_t reserved;
};

/* The buffer of the next message of an output. */
struct tacho_task_output {
  void *data;       /* the middleware's own buffer; NULL if the node does not publish this output in this call */
  size_t size;      /* bytes of the message, all of which are published */
  uint32_t publish; /* 0 before the call; the task sets it to 1 to publish what it filled in */
  uint32_t reserved;
};

/* Receives the value of a signal of the kind, by its number, at the instant that it describes. `entry` numbers the
 * entries of a list, less than 65536; it is 0 for all that is no list. It takes less than 0.1 us. */
typedef void (*tacho_task_report)(void *context, uint32_t signal, uint32_t entry, int64_t at_ns, double value);

struct tacho_task_call {
  int64_t now_ns; /* CLOCK_MONOTONIC, or virtual time */
  const struct tacho_task_input *inputs;
  struct tacho_task_output *outputs;
  tacho_task_report report; /* NULL if nobody records signals */
  void *report_context;
};

struct tacho_task;

/* Receives one figure of quality: "lateral_error_max", "m", 0.31. The texts are copied. */
typedef void (*tacho_task_figure)(void *context, const char *name, const char *unit, double value);

struct tacho_task_kind {
  const char *name;
  const char *meaning;
  const struct tacho_task_parameter *parameters;
  size_t parameter_count;
  const struct tacho_task_slot *inputs;
  size_t input_count;
  const struct tacho_task_slot *outputs;
  size_t output_count;

  struct tacho_task *(*create)(const struct tacho_task_config *config, char *error);
  /* One activation. After a failure, the node ends and no entry but figures() and destroy() is called. */
  int (*run)(struct tacho_task *task, const struct tacho_task_call *call, char *error);
  /* Optional (NULL). Called once, when the node ends, also after a failure. */
  void (*figures)(struct tacho_task *task, tacho_task_figure figure, void *context);
  void (*destroy)(struct tacho_task *task);

  const struct tacho_task_signal *signals;
  size_t signal_count;
  const struct tacho_task_text *texts;
  size_t text_count;
};

struct tacho_tasks {
  uint32_t abi;     /* TACHO_TASK_ABI */
  const char *name; /* "vehicle" */
  const struct tacho_task_kind *kinds;
  size_t kind_count;
};

const struct tacho_tasks *tacho_tasks(void);

#ifdef __cplusplus
}
#endif

#endif /* TACHO_TASK_H_ */
