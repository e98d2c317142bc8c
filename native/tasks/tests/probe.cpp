// SPDX-License-Identifier: Apache-2.0
//
// Tasks for tests of the seam: they copy, compute, publish nothing, and fail in every way.
#include <tasks/messages.hpp>
#include <tasks/task.hpp>

#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr tacho_task_parameter COPY_PARAMETERS[] = {
    {"every", "", 1, 1e6, 1, "publishes each n-th message"},
    {"fail_at", "", 0, 1e9, 0, "the call that fails; 0: none"},
    {"how", "", 0, 2, 0, "0: throws an exception, 1: throws a number, 2: ends the process"},
};
constexpr tacho_task_slot INPUTS[] = {tasks::input("data"), tasks::optional_input("more data")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("data", 1), {"more data", 1, 1, 0}};

int64_t thread_cpu_ns() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Copies its first input to its outputs, and counts what it saw.
class Copy : public tasks::Task {
 public:
  explicit Copy(const tasks::Config &config)
      : every_(static_cast<uint64_t>(config.value(0))),
        fail_at_(static_cast<uint64_t>(config.value(1))),
        how_(static_cast<int>(config.value(2))),
        inputs_(config.raw.input_count),
        outputs_(config.raw.output_count) {
    if (every_ == 13) throw std::runtime_error("found 13 as every, expected a number without bad luck");
  }

  void run(const tacho_task_call &call) override {
    ++calls_;
    if (last_ns_ && call.now_ns < last_ns_) throw std::runtime_error("time went back");
    last_ns_ = call.now_ns;
    for (size_t i = 0; i < inputs_; ++i) new_[i] += call.inputs[i].is_new;
    if (calls_ == fail_at_) fail();
    const tacho_task_input &input = call.inputs[0];
    if (!input.data) return;
    header_ = input.header;
    for (size_t i = 0; i < outputs_; ++i) {
      tacho_task_output &output = call.outputs[i];
      if (!output.data || calls_ % every_ != 0) continue;
      std::memset(output.data, 0, output.size);
      std::memcpy(output.data, input.data, std::min(input.size, output.size));
      output.publish = 1;
    }
  }

  void figures(const tasks::Figures &figure) override {
    figure("calls", "", static_cast<double>(calls_));
    figure("new_first", "", static_cast<double>(new_[0]));
    figure("new_second", "", static_cast<double>(new_[1]));
    figure("last_sequence", "", static_cast<double>(header_.sequence));
    figure("last_age", "ms", static_cast<double>(last_ns_ - header_.stamp_ns) * 1e-6);
  }

 private:
  void fail() const {
    if (how_ == 1) throw 42;
    if (how_ == 2) std::_Exit(7);
    throw std::runtime_error("found call " + std::to_string(calls_) + ", expected fewer");
  }

  uint64_t every_, fail_at_;
  int how_;
  size_t inputs_, outputs_;
  uint64_t calls_ = 0, new_[2] = {};
  int64_t last_ns_ = 0;
  tacho_header header_{};
};

constexpr tacho_task_parameter COUNT_PARAMETERS[] = {{"size", "", 8, 1e6, 64, "bytes that it fills"}};
constexpr tacho_task_slot COUNT_OUTPUTS[] = {tasks::output("count", 8)};
constexpr tacho_task_signal COUNT_SIGNALS[] = {
    tasks::signal("count", "", "messages before"),
    tasks::list("square", "m/s^2", "entries 0 and 1: the square of the count, and its negative"),
};

// Publishes 0, 1, 2 ... in every byte.
class Count : public tasks::Task {
 public:
  explicit Count(const tasks::Config &) {}
  void run(const tacho_task_call &call) override {
    tacho_task_output &output = call.outputs[0];
    if (!output.data) return;
    const auto count = static_cast<double>(next_);
    tasks::report(call, 0, call.now_ns, count);
    tasks::report(call, 1, call.now_ns - 1000, count * count, 0);
    tasks::report(call, 1, call.now_ns - 1000, -count * count, 1);
    std::memset(output.data, static_cast<int>(next_++ % 256), output.size);
    output.publish = 1;
  }

 private:
  uint64_t next_ = 0;
};

constexpr tacho_task_slot CHECK_INPUTS[] = {tasks::input("count")};

// Counts messages whose bytes differ from each other.
class Check : public tasks::Task {
 public:
  explicit Check(const tasks::Config &) {}
  void run(const tacho_task_call &call) override {
    const tacho_task_input &input = call.inputs[0];
    if (!input.is_new) return;
    ++messages_;
    const auto *bytes = static_cast<const unsigned char *>(input.data);
    const bool is_whole = input.size > 0 && std::memcmp(bytes, bytes + 1, input.size - 1) == 0;
    wrong_ += !is_whole;
    bytes_ = input.size;
  }
  void figures(const tasks::Figures &figure) override {
    figure("messages", "", static_cast<double>(messages_));
    figure("wrong", "", static_cast<double>(wrong_));
    figure("size", "B", static_cast<double>(bytes_));
  }

 private:
  uint64_t messages_ = 0, wrong_ = 0;
  size_t bytes_ = 0;
};

constexpr tacho_task_signal DIGEST_SIGNALS[] = {
    tasks::signal("digest", "", "FNV-1a of the content, its lower 53 bits")};

// Says what is in recorded messages (kind RAW1).
class Digest : public tasks::Task {
 public:
  explicit Digest(const tasks::Config &) {}
  void run(const tacho_task_call &call) override {
    const tacho_task_input &input = call.inputs[0];
    const auto raw = tasks::received<tasks::Raw>(call, 0, "data");
    if (!raw || !input.is_new) return;
    if (input.size < sizeof(tasks::Raw) + raw->prefix.count) throw std::runtime_error("found a message that is cut");
    uint64_t value = 0xcbf29ce484222325;
    for (uint32_t i = 0; i < raw->prefix.count; ++i) {
      value = (value ^ static_cast<const unsigned char *>(input.data)[sizeof(tasks::Raw) + i]) * 0x100000001b3;
    }
    tasks::report(call, 0, call.now_ns, static_cast<double>(value & ((uint64_t{1} << 53) - 1)));
  }
};

constexpr tacho_task_parameter COMPUTE_PARAMETERS[] = {{"rounds", "", 1, 1e9, 20000, "of its loop"}};

// Computes, and reports the CPU time of its own code: what the seam adds is the rest.
class Compute : public tasks::Task {
 public:
  explicit Compute(const tasks::Config &config) : rounds_(static_cast<uint64_t>(config.value(0))) {}
  void run(const tacho_task_call &call) override {
    const int64_t from = thread_cpu_ns();
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < rounds_; ++i) sum = sum + i * i;
    inside_ns_ += thread_cpu_ns() - from;
    if (call.outputs[0].data) call.outputs[0].publish = 1;
  }
  void figures(const tasks::Figures &figure) override { figure("inside", "ns", static_cast<double>(inside_ns_)); }

 private:
  uint64_t rounds_;
  int64_t inside_ns_ = 0;
};

constexpr tacho_task_kind KINDS[] = {
    tasks::kind<Copy>("probe_copy", "copies", COPY_PARAMETERS, INPUTS, OUTPUTS),
    tasks::with_signals(tasks::source<Count>("probe_count", "counts", COUNT_PARAMETERS, COUNT_OUTPUTS), COUNT_SIGNALS),
    tasks::sink<Check>("probe_check", "checks", CHECK_INPUTS),
    tasks::with_signals(tasks::sink<Digest>("probe_digest", "says what is in recorded messages", CHECK_INPUTS),
                        DIGEST_SIGNALS),
    tasks::kind<Compute>("probe_compute", "computes", COMPUTE_PARAMETERS, INPUTS, OUTPUTS),
};
constexpr struct tacho_tasks TASKS = {TACHO_TASK_ABI, "probe", KINDS, 5};

}  // namespace

extern "C" __attribute__((visibility("default"))) const struct tacho_tasks *tacho_tasks() { return &TASKS; }
