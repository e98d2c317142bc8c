// SPDX-License-Identifier: Apache-2.0
//
// The tasks of nodes on rclcpp, by the library that runs them: task_test FOLDER_OF_LIBRARIES LIBRARY_OF_PROBE
#include <cstdio>
#include <cstdlib>

#include "node_task.hpp"

namespace {

void expect(bool is_so, const std::string &what, const std::string &found) {
  if (is_so) return;
  std::fprintf(stderr, "expected %s, found: %s\n", what.c_str(), found.c_str());
  std::exit(1);
}

void expect(const std::string &found, const std::string &words) {
  expect(found.find(words) != std::string::npos, "\"" + words + "\"", found);
}

// The plan of a node with the task probe_copy, two inputs, and one output of 8 bytes.
std::string plan(const std::string &probe, const std::string &parameters) {
  const std::string qos = R"("qos": {"reliable": true, "transient_local": false, "keep_all": false, "depth": 10})";
  const auto input = [&](const char *topic, const char *latest) {
    return std::string(R"({"topic": ")") + topic + R"(", "latest": )" + latest + ", " + qos + "}";
  };
  const std::string of_input = R"({"publishers": 1, "size_bytes": 8, "message_type": ""})";
  return R"({"node": {"name": "relay", "process": "relay", "executor": "arrival", "subscribes": [)" +
         input("/a", "false") + ", " + input("/b", "true") +
         R"(], "publishes": [{"topic": "/c", "message_type": "", "size_bytes": 8, "rate_hz": null, )" + qos +
         R"(}], "work": {"task": {"name": "probe_copy", "parameters": [)" + parameters +
         R"(]}}}, "phase": 0.5, "seed": 1, "cpus": [], "inputs": [)" + of_input + ", " + of_input +
         R"(], "outputs": [{"publisher_id": 3, "subscribers": 1}], "task_library": ")" + probe + "\"}";
}

template <class Call>
std::string failure_of(Call call) {
  try {
    call();
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "no failure";
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const std::string libraries = arguments[1], probe = arguments[2];
  const tacho_header header{7, 1000, 1, 0};
  const char data[8] = "seven";
  const tacho_lent first{&header, data, sizeof data, 0}, second{&header, data, sizeof data, 1};

  // It publishes the second of two messages, and keeps what comes on the other input.
  NodeTask task(libraries, plan(probe, R"(["every", "2"], ["fail_at", "3"])"), 42);
  char buffer[8] = "";
  std::vector<tacho_task_output> outputs(1);
  for (uint32_t call = 0; call < 2; call++) {
    outputs[0] = {buffer, sizeof buffer, 0, 0};
    if (call == 1) task.hear(second);
    task.run(call == 0 ? &first : nullptr, outputs);
    expect(outputs[0].publish == call, "every second to be published", std::to_string(outputs[0].publish));
  }
  expect(std::string(buffer), "seven");
  expect(failure_of([&] { task.run(&first, outputs); }), "task probe_copy: found call 3, expected fewer");
  const std::string figures = task.figures();
  for (const char *words : {R"("task":"probe_copy")", R"("name":"calls","value":3.0)",
                            R"("name":"new_first","value":2.0)", R"("name":"new_second","value":1.0)"})
    expect(figures, words);

  expect(failure_of([&] { NodeTask(libraries, plan(probe, R"(["every", "13"])"), 42); }),
         "node relay: task probe_copy: found 13 as every, expected a number without bad luck");
  expect(failure_of([&] { NodeTask(libraries, plan("/nowhere.so", ""), 42); }), "/nowhere.so: cannot be loaded");
  expect(failure_of([&] { NodeTask("/nowhere", plan(probe, ""), 42); }),
         "/nowhere/libtacho_node_tasks.so: cannot be loaded, expected what runs tasks");
}
