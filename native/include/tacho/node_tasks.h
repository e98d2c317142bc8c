/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks for nodes on client libraries (rclcpp, rclpy): what a node of `tacho-node` does with its task, for programs
 * that are not in Rust. libtacho_node_tasks.so, beside the libraries of tasks, exports
 *
 *     const struct tacho_node_tasks *tacho_node_tasks(void);
 *
 * It loads the task of a planned node, keeps the latest message of each input, takes the time, and records signals
 * through the preloaded recorder.
 *
 * Conventions, the same for every entry:
 *  - A function that can fail returns NULL or a negative value and writes the cause into `error` (never NULL,
 *    TACHO_ERROR_SIZE bytes).
 *  - One node task is used from one thread at a time.
 */
#ifndef TACHO_NODE_TASKS_H_
#define TACHO_NODE_TASKS_H_

#include <tacho/task.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TACHO_NODE_TASKS_ABI 1u

struct tacho_node_task;

/* The message that a callback took. */
struct tacho_lent {
  const struct tacho_header *header;
  const void *data; /* without the header */
  size_t size;
  size_t input; /* number of its subscription */
};

struct tacho_node_tasks {
  uint32_t abi; /* TACHO_NODE_TASKS_ABI */
  uint32_t reserved;
  /* Makes the task of a node. `plan` is the NodePlan of crates/runner/src/protocol.rs in JSON, `node` the address of the
   * node in trace events. */
  struct tacho_node_task *(*create)(const char *plan, uint64_t node, char *error);
  /* Keeps a message that makes the node compute nothing. */
  void (*hear)(struct tacho_node_task *task, const struct tacho_lent *message);
  /* One activation: with the message that a callback took, or NULL, and an output for each publication of the node.
   * After a failure, no entry but figures() and destroy() is called. */
  int (*run)(struct tacho_node_task *task, const struct tacho_lent *message, struct tacho_task_output *outputs,
             char *error);
  /* What the task reports of its quality: TaskFigures of protocol.rs in JSON. Called once; valid until destroy(). */
  const char *(*figures)(struct tacho_node_task *task);
  void (*destroy)(struct tacho_node_task *task);
};

const struct tacho_node_tasks *tacho_node_tasks(void);

#ifdef __cplusplus
}
#endif

#endif /* TACHO_NODE_TASKS_H_ */
