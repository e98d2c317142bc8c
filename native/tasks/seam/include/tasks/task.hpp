// SPDX-License-Identifier: Apache-2.0
//
// For libraries of tasks in C++: a task is a class, its failures are exceptions, and none of them leaves the library.
#ifndef TACHO_TASKS_TASK_HPP_
#define TACHO_TASKS_TASK_HPP_

#include <tacho/task.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace tasks {

// What a task was made with. The pointers are valid in its constructor only.
struct Config {
  const tacho_task_config &raw;

  double value(size_t index) const { return raw.values[index]; }
  std::string topic_of_input(size_t index) const { return raw.inputs[index].topic; }
};

// Reports figures of quality.
struct Figures {
  tacho_task_figure add;
  void *context;

  void operator()(const char *name, const char *unit, double value) const { add(context, name, unit, value); }
};

class Task {
 public:
  virtual ~Task() = default;
  virtual void run(const tacho_task_call &call) = 0;
  virtual void figures(const Figures &) {}
};

template <class Call>
int guarded(char *error, Call call) {
  try {
    call();
    return 0;
  } catch (const std::exception &failure) {
    std::snprintf(error, TACHO_ERROR_SIZE, "%s", failure.what());
  } catch (...) {
    std::snprintf(error, TACHO_ERROR_SIZE, "found an exception that is no std::exception, expected none");
  }
  return -1;
}

// The entries of a class, for its kind.
template <class Of>
struct Entries {
  static tacho_task *create(const tacho_task_config *config, char *error) {
    Task *task = nullptr;
    guarded(error, [&] { task = new Of(Config{*config}); });
    return reinterpret_cast<tacho_task *>(task);
  }
  static int run(tacho_task *task, const tacho_task_call *call, char *error) {
    return guarded(error, [&] { reinterpret_cast<Task *>(task)->run(*call); });
  }
  static void figures(tacho_task *task, tacho_task_figure figure, void *context) {
    char error[TACHO_ERROR_SIZE];
    guarded(error, [&] { reinterpret_cast<Task *>(task)->figures(Figures{figure, context}); });
  }
  static void destroy(tacho_task *task) { delete reinterpret_cast<Task *>(task); }
};

template <class T>
struct List {
  const T *first = nullptr;
  size_t count = 0;
};

template <class Of>
constexpr tacho_task_kind kind_of(const char *name, const char *meaning, List<tacho_task_parameter> parameters,
                                  List<tacho_task_slot> inputs, List<tacho_task_slot> outputs) {
  using Entry = Entries<Of>;
  return {name,
          meaning,
          parameters.first,
          parameters.count,
          inputs.first,
          inputs.count,
          outputs.first,
          outputs.count,
          Entry::create,
          Entry::run,
          Entry::figures,
          Entry::destroy,
          nullptr,
          0,
          nullptr,
          0};
}

template <class Of, size_t P, size_t I, size_t O>
constexpr tacho_task_kind kind(const char *name, const char *meaning, const tacho_task_parameter (&parameters)[P],
                               const tacho_task_slot (&inputs)[I], const tacho_task_slot (&outputs)[O]) {
  return kind_of<Of>(name, meaning, {parameters, P}, {inputs, I}, {outputs, O});
}

// A source: it has no inputs.
template <class Of, size_t P, size_t O>
constexpr tacho_task_kind source(const char *name, const char *meaning, const tacho_task_parameter (&parameters)[P],
                                 const tacho_task_slot (&outputs)[O]) {
  return kind_of<Of>(name, meaning, {parameters, P}, {}, {outputs, O});
}

// A sink with parameters.
template <class Of, size_t P, size_t I>
constexpr tacho_task_kind judge(const char *name, const char *meaning, const tacho_task_parameter (&parameters)[P],
                                const tacho_task_slot (&inputs)[I]) {
  return kind_of<Of>(name, meaning, {parameters, P}, {inputs, I}, {});
}

// A sink: it has no parameters and no outputs.
template <class Of, size_t I>
constexpr tacho_task_kind sink(const char *name, const char *meaning, const tacho_task_slot (&inputs)[I]) {
  return kind_of<Of>(name, meaning, {}, {inputs, I}, {});
}

constexpr tacho_task_signal signal(const char *name, const char *unit, const char *meaning) {
  return {name, unit, meaning, 0, 0};
}
constexpr tacho_task_signal list(const char *name, const char *unit, const char *meaning) {
  return {name, unit, meaning, 1, 0};
}

// The same kind with signals that it reports.
template <size_t S>
constexpr tacho_task_kind with_signals(tacho_task_kind kind, const tacho_task_signal (&signals)[S]) {
  kind.signals = signals, kind.signal_count = S;
  return kind;
}

// Reports the value of a signal of this kind, if anybody records it.
inline void report(const tacho_task_call &call, uint32_t signal, int64_t at_ns, double value, uint32_t entry = 0) {
  if (call.report) call.report(call.report_context, signal, entry, at_ns, value);
}

constexpr tacho_task_slot input(const char *name) { return {name, 0, 0, 0}; }
constexpr tacho_task_slot optional_input(const char *name) { return {name, 0, 1, 0}; }
constexpr tacho_task_slot output(const char *name, size_t size) { return {name, size, 0, 0}; }

// The instant of a call, in s, for differences of times only.
inline double seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace tasks

#endif  // TACHO_TASKS_TASK_HPP_
