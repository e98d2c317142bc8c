// SPDX-License-Identifier: Apache-2.0
#include "bench_node.hpp"

#include <rcl/timer.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <thread>

#include "trace.hpp"

namespace {

std::unique_ptr<rclcpp::Executor> executor_of(const std::string &name) {
  if (name.empty() || name == "single-threaded") return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  if (name == "multi-threaded") return std::make_unique<rclcpp::executors::MultiThreadedExecutor>();
  if (name == "events") return std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
  throw Refused("rclcpp: transport \"" + name +
                "\" is not known; expected an executor: \"single-threaded\", \"multi-threaded\" or \"events\"");
}

int64_t ns_of(const Json &duration) {
  return duration.at("secs").get<int64_t>() * 1'000'000'000 + duration.at("nanos").get<int64_t>();
}

// CPU time of one activation.
int64_t draw_ns(const Json &work, Draws &draws) {
  if (work == "none") return 0;
  if (work.contains("fixed")) return ns_of(work.at("fixed"));
  if (work.contains("uniform")) {
    const Json &of = work.at("uniform");
    return draws.uniform_ns(ns_of(of.at("min")), ns_of(of.at("max")));
  }
  const Json &of = work.at("normal");
  return draws.normal_ns(ns_of(of.at("mean")), ns_of(of.at("std")));
}

void pin(const Json &plan) {
  if (plan.at("cpus").empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const size_t cpu : plan.at("cpus")) CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw Refused("node " + plan.at("node").at("name").get<std::string>() +
                  ": these CPUs are not there: " + plan.at("cpus").dump());
}

void schedule(const Json &plan) {
  if (!plan.contains("scheduling") || plan.at("scheduling").is_null()) return;
  const auto scheduling = plan.at("scheduling").begin();
  const std::string kind = scheduling.key();
  const Json &value = scheduling.value();
  sched_param parameter{};
  parameter.sched_priority = kind == "nice" ? 0 : value.get<int>();
  const int policy = kind == "fifo" ? SCHED_FIFO : SCHED_RR;
  errno = 0;
  const bool done =
      kind == "nice" ? nice(value.get<int>()) != -1 || errno == 0 : sched_setscheduler(0, policy, &parameter) == 0;
  if (!done)
    throw Refused("node " + plan.at("node").at("name").get<std::string>() + ": " + kind + " " + value.dump() +
                  " is not permitted; expected root, CAP_SYS_NICE, or `ulimit -r` and `ulimit -e`");
}

}  // namespace

BenchTimer::BenchTimer(rclcpp::Node &node, double hz, std::vector<Publication *> publications,
                       rclcpp::CallbackGroup::SharedPtr group, std::function<bool()> begins,
                       std::function<void(const Due &)> activates)
    : hz(hz),
      period_ns(std::llround(1e9 / hz)),
      publications(std::move(publications)),
      begins(std::move(begins)),
      activates(std::move(activates)) {
  timer = node.create_wall_timer(std::chrono::nanoseconds(period_ns), [this] { call(); }, group, false);
}

// The clock and the time left are read one after the other. If the thread lost its CPU in between, they do not fit
// together, and are read again.
int64_t BenchTimer::due_ns() const {
  constexpr int most_readings = 10;
  int64_t due = 0;
  int64_t shortest = std::numeric_limits<int64_t>::max();
  for (int reading = 0; reading < most_readings && shortest >= period_ns / 4; ++reading) {
    const int64_t before = now_ns();
    const int64_t left = timer->time_until_trigger().count();
    const int64_t took = now_ns() - before;
    if (took < shortest) {
      shortest = took;
      due = before + left;
    }
  }
  return due;
}

int64_t BenchTimer::advance() {
  const int64_t due = due_ns();
  const int64_t periods = std::llround(static_cast<double>(due - next_due_ns) / static_cast<double>(period_ns));
  next_due_ns = due;
  reached += periods;
  return periods;
}

void BenchTimer::start(const Grid &grid) {
  const int64_t now = now_ns();
  reached = grid.due_by(now);  // this process was started too late for these
  for (Publication *publication : publications) publication->skip(reached);
  // Reset sets the next call one period ahead; the period from then on is set after it.
  int64_t before = 0;
  const auto set_period = [&](int64_t ns) {
    if (rcl_timer_exchange_period(timer->get_timer_handle().get(), ns, &before) != RCL_RET_OK)
      throw std::runtime_error("rcl_timer_exchange_period failed");
  };
  set_period(std::max<int64_t>(1, grid.due_ns(reached) - now));
  timer->reset();
  set_period(period_ns);
  next_due_ns = due_ns();
}

void BenchTimer::call() {
  if (!begins()) return;  // end() counts the sends that were due before
  const int64_t periods = advance();
  const int64_t last_due_ns = next_due_ns - period_ns;
  for (Publication *publication : publications) publication->skip(std::max<int64_t>(0, periods - 1));
  calls++;
  Due due;
  for (Publication *publication : publications) due.emplace_back(publication, last_due_ns);
  activates(due);
}

void BenchTimer::end(int64_t end_ns) {
  advance();
  timer->cancel();
  const int64_t after = next_due_ns - end_ns;
  const int64_t due = reached - (after >= 0 ? after / period_ns : -((-after + period_ns - 1) / period_ns));
  for (Publication *publication : publications) {
    const auto done = static_cast<int64_t>(publication->sent + publication->refused + publication->withheld);
    publication->skip(std::max<int64_t>(0, due - done - publication->skipped.value_or(0)));
  }
}

BenchNode::BenchNode(const Json &plan, const std::string &executor_name, bool clock, const std::string &libraries)
    : plan(plan), draws(plan.at("seed").get<uint64_t>()), taken(plan.at("node").at("subscribes").size()) {
  const Json &of = plan.at("node");
  name = of.at("name");
  has_inputs = !of.at("subscribes").empty();
  if (clock)
    throw Refused("rclcpp: node " + name + ": there is no in-node clock on rclcpp; expected in_node_clock: false");
  const Json &when = of.at("executor");
  const double timer_hz = when.is_object() && when.contains("timer") ? when.at("timer").at("hz").get<double>() : 0;
  spin_hz = when.is_object() && when.contains("spin") ? when.at("spin").at("hz").get<double>() : 0;
  if (spin_hz > 0 && !executor_name.empty() && executor_name != "single-threaded")
    throw Refused("rclcpp: node " + name + ": spin on \"" + executor_name + "\"; expected \"single-threaded\"");
  // Services and topics that no workload names would be further traffic.
  node = std::make_shared<rclcpp::Node>(name, rclcpp::NodeOptions()
                                                  .enable_rosout(false)
                                                  .start_parameter_services(false)
                                                  .start_parameter_event_publisher(false)
                                                  .parameter_overrides({{"start_type_description_service", false}}));
  if (plan.contains("task_library"))
    task = std::make_unique<NodeTask>(libraries, plan.dump(),
                                      word(node->get_node_base_interface()->get_rcl_node_handle()));
  // With several threads each callback has a group of its own. Otherwise no callbacks would run in parallel. But a task
  // runs on one thread at a time, as all callbacks do that are in the default group.
  const auto group = [&]() -> rclcpp::CallbackGroup::SharedPtr {
    if (executor_name != "multi-threaded" || task) return nullptr;
    return groups.emplace_back(node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive));
  };
  for (size_t i = 0; i < of.at("subscribes").size(); i++) {
    const auto takes = [this, i](const tacho_header &header, const void *data, size_t size) {
      on_message(i, header, data, size);
    };
    subscriptions.push_back(subscription(*node, of.at("subscribes")[i], plan.at("inputs")[i], takes, group()));
    subscriptions.back()->latest |= timer_hz > 0;
  }
  for (size_t i = 0; i < of.at("publishes").size(); i++)
    publications.push_back(publication(*node, of.at("publishes")[i], plan.at("outputs")[i]));
  const auto timer = [&](double hz, std::vector<Publication *> serves) {
    timers.push_back(std::make_unique<BenchTimer>(
        *node, hz, std::move(serves), group(), [this] { return now_ns() < end_ns && !failed; },
        [this](const Due &due) { activate(due, nullptr); }));
  };
  if (timer_hz > 0) {
    std::vector<Publication *> all;
    for (const auto &one : publications) all.push_back(one.get());
    timer(timer_hz, all);
  } else if (spin_hz <= 0) {
    for (const auto &one : publications)
      if (one->rate_hz) timer(*one->rate_hz, {one.get()});
  }
  executor = executor_of(executor_name);
  executor->add_node(node);
}

Json BenchNode::unmatched() const {
  const auto lacking = [&](const auto &endpoint) -> Json {
    const size_t found = endpoint->matched();
    if (found >= endpoint->expected) return nullptr;
    return {{"node", name}, {"topic", endpoint->topic}, {"found", found}, {"expected", endpoint->expected}};
  };
  for (const auto &one : subscriptions)
    if (Json answer = lacking(one); !answer.is_null()) return answer;
  for (const auto &one : publications)
    if (Json answer = lacking(one); !answer.is_null()) return answer;
  return nullptr;
}

void BenchNode::on_message(size_t index, const tacho_header &header, const void *data, size_t size) {
  if (failed) return;
  const Subscription &input = *subscriptions[index];
  record(TACHO_NODE_TAKE,
         {word(input.handle), header.publisher, header.sequence, static_cast<uint64_t>(header.stamp_ns)});
  int64_t none = 0;
  if (first_message_ns == 0) first_message_ns.compare_exchange_strong(none, now_ns());
  taken[index]++;
  const tacho_lent message{&header, data, size, index};
  if (input.latest) {
    if (task) task->hear(message);
    return;
  }
  Due due;
  for (const auto &one : publications)
    if (!one->rate_hz) due.emplace_back(one.get(), std::nullopt);
  activate(due, &message);
}

void BenchNode::activate(const Due &due, const tacho_lent *message) {
  if (!task) {
    compute();
    for (const auto &[publication, due_ns] : due) publication->publish(due_ns);
    return;
  }
  std::vector<tacho_task_output> outputs(publications.size());
  const auto index_of = [&](const Publication *of) {
    return std::find_if(publications.begin(), publications.end(), [&](const auto &one) { return one.get() == of; }) -
           publications.begin();
  };
  for (const auto &[publication, due_ns] : due) {
    const Publication::Room room = publication->room();
    outputs[index_of(publication)] = {room.data, room.size, 0, 0};
  }
  try {
    task->run(message, outputs);
  } catch (const TaskFailed &error) {
    failure = "node " + name + ": " + error.what();
    failed = ended = true;
    executor->cancel();
    return;
  }
  for (const auto &[publication, due_ns] : due)
    if (outputs[index_of(publication)].publish)
      publication->publish(due_ns);
    else
      publication->withheld += due_ns.has_value();
}

void BenchNode::compute() {
  int64_t ns = 0;
  {
    std::lock_guard<std::mutex> lock(drawing);
    ns = draw_ns(plan.at("node").at("work"), draws);
  }
  if (ns == 0) return;
  const int64_t until = cpu_ns() + ns;
  volatile uint64_t state = 1;
  while (cpu_ns() < until)
    for (int i = 0; i < 100; i++) state = state * 6364136223846793005u + 1;
}

// Study E: wake, take at most one message of each queue, sleep. spin_some waits once and runs once whatever was ready
// then.
void BenchNode::spin(const Grid &grid) {
  const bool triggered =
      std::any_of(subscriptions.begin(), subscriptions.end(), [](const auto &s) { return !s->latest; });
  const void *handle = node->get_node_base_interface()->get_rcl_node_handle();
  std::vector<int64_t> served(publications.size());
  const auto due_by = [&](size_t i, int64_t at) -> int64_t {
    if (publications[i]->rate_hz) return Grid{grid.first_ns, *publications[i]->rate_hz}.due_by(at);
    return triggered ? 0 : grid.due_by(at);
  };
  for (int64_t wake = 0;; wake = std::max(wake + 1, grid.due_by(now_ns()))) {
    const int64_t at = grid.due_ns(wake);
    if (at < end_ns) sleep_until(at);
    if (failed) return;
    if (at >= end_ns) break;
    record(TACHO_NODE_WAKE, {word(handle)});
    wakes++;
    executor->spin_some();
    if (failed) return;
    std::vector<size_t> now_due;
    for (size_t i = 0; i < publications.size(); i++) {
      const int64_t count = due_by(i, at);
      if (count <= served[i]) continue;
      publications[i]->skip(count - served[i] - 1);
      served[i] = count;
      now_due.push_back(i);
    }
    if (now_due.empty() && (triggered || !publications.empty())) continue;
    computed++;
    Due due;
    for (const size_t i : now_due) {
      const Grid of{grid.first_ns, publications[i]->rate_hz.value_or(spin_hz)};
      due.emplace_back(publications[i].get(), of.due_ns(served[i] - 1));
    }
    activate(due, nullptr);
  }
  // The sends that a wake before the end would have made are due.
  const int64_t last = grid.due_by(end_ns - 1);
  for (size_t i = 0; last > 0 && i < publications.size(); i++)
    if (publications[i]->rate_hz || !triggered)
      publications[i]->skip(std::max<int64_t>(0, due_by(i, grid.due_ns(last - 1)) - served[i]));
}

Json BenchNode::run(int64_t start_ns) {
  pin(plan);
  schedule(plan);
  const double phase = plan.at("phase");
  const int64_t cpu_before = cpu_ns();
  if (spin_hz > 0) {
    sleep_until(std::min<int64_t>(start_ns, end_ns));
    spin(Grid::of_phase(start_ns, phase, spin_hz));
  } else {
    for (const auto &one : timers) one->start(Grid::of_phase(start_ns, phase, one->hz));
    while (!ended) executor->spin();
    if (!failed)
      for (const auto &one : timers) one->end(end_ns);
  }
  over = true;
  Json outputs = Json::array(), inputs = Json::array();
  uint64_t callbacks = computed;
  for (const auto &one : publications) outputs.push_back(one->figures());
  for (const auto &count : taken) {
    inputs.push_back(count.load());
    callbacks += count;
  }
  for (const auto &one : timers) callbacks += one->calls;
  // Counts this thread. The threads of a multi-threaded executor have ended with spin() and count with their process.
  Json figures{{"node", name},       {"cpu_ns", cpu_ns() - cpu_before},
               {"wakes", wakes},     {"callbacks", callbacks},
               {"outputs", outputs}, {"taken", inputs}};
  if (task) figures["task"] = Json::parse(task->figures());
  if (first_message_ns != 0) figures["first_message_ns"] = first_message_ns.load();
  return figures;
}

void BenchNode::end() {
  ended = true;
  while (!over && spin_hz <= 0) {  // spin() forgets a cancel that came before it began
    executor->cancel();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}
