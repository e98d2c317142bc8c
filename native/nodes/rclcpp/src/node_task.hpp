// SPDX-License-Identifier: Apache-2.0
//
// The task of a node: libtacho_node_tasks.so runs it as tacho-node does (tacho/node_tasks.h).
#pragma once

#include <dlfcn.h>
#include <tacho/node_tasks.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

// The task failed; the text says what it found and expected.
struct TaskFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class NodeTask {
 public:
  // `plan` is the plan of its node in JSON, `node` the address of the node in trace events.
  NodeTask(const std::string &libraries, const std::string &plan, uint64_t node) : table(load(libraries)) {
    char error[TACHO_ERROR_SIZE] = "";
    task = table->create(plan.c_str(), node, error);
    if (!task) throw std::runtime_error(error);
  }
  ~NodeTask() { table->destroy(task); }
  NodeTask(const NodeTask &) = delete;
  NodeTask &operator=(const NodeTask &) = delete;

  // Keeps a message that makes the node compute nothing.
  void hear(const tacho_lent &message) { table->hear(task, &message); }

  // One activation with the message that a callback took, or null; there is an output for each publication.
  void run(const tacho_lent *message, std::vector<tacho_task_output> &outputs) {
    char error[TACHO_ERROR_SIZE] = "";
    if (table->run(task, message, outputs.data(), error) < 0) throw TaskFailed(error);
  }

  // What the task reports of its quality, in JSON.
  std::string figures() { return table->figures(task); }

 private:
  static const struct tacho_node_tasks *load(const std::string &libraries) {
    const std::string path = libraries + "/libtacho_node_tasks.so";
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "tacho_node_tasks") : nullptr;
    if (!symbol)
      throw std::runtime_error(path + ": cannot be loaded, expected what runs tasks: " + dlerror() + ": make build");
    const struct tacho_node_tasks *(*entry)() = nullptr;
    std::memcpy(&entry, &symbol, sizeof entry);
    const struct tacho_node_tasks *found = entry();
    if (found->abi != TACHO_NODE_TASKS_ABI)
      throw std::runtime_error(path + ": speaks ABI " + std::to_string(found->abi) + " of node_tasks.h, expected " +
                               std::to_string(TACHO_NODE_TASKS_ABI) + ": build the nodes on rclcpp again");
    return found;
  }

  const struct tacho_node_tasks *table;
  tacho_node_task *task = nullptr;
};
