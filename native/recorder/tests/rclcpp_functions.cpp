// SPDX-License-Identifier: Apache-2.0
//
// Registers callbacks as rclcpp does, and prints the text that must be recorded of each.
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <variant>

extern "C" void ros_trace_rclcpp_callback_register(const void *callback, const char *symbol);

namespace nav {
struct Planner {
  void on_points(int points) { sum += points; }
  virtual void on_map(int map) { sum -= map; }
  void plan() { sum *= 2; }
  int sum = 1;
};
}  // namespace nav

namespace {

using std::placeholders::_1;

struct Relay {
  void on_points(int points) { last = points; }
  int last = 0;
};

// What rclcpp::AnySubscriptionCallback has before its callback differs from release to release.
struct AnySubscriptionCallback {
  void *allocator = this;
  std::function<void(int)> deleter = [](int) {};
  std::variant<std::monostate, std::function<void(int, int)>, std::function<void(int)>> callback;
};

template <class Functor>
struct GenericTimer {
  explicit GenericTimer(Functor functor) : callback(functor) {}
  virtual ~GenericTimer() = default;
  Functor callback;
};

// As tracetools names a function object.
std::string symbol_of(const std::type_info &type) {
  int status = 0;
  char *readable = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string text = readable;
  std::free(readable);
  return text;
}

void registered(const void *callback, const std::string &symbol, const std::string &expected) {
  ros_trace_rclcpp_callback_register(callback, symbol.c_str());
  std::puts(expected.c_str());
}

// Of a subscription whose symbol stays as it is if nothing else is expected.
template <class Functor>
void subscribed(Functor functor, const char *expected = nullptr) {
  AnySubscriptionCallback any;
  const std::function<void(int)> callback = functor;
  any.callback = callback;
  const std::string symbol = symbol_of(callback.target_type());
  registered(&any, symbol, expected ? expected : symbol);
}

}  // namespace

int main() {
  nav::Planner planner;
  Relay relay;
  const auto shared = std::make_shared<nav::Planner>();
  subscribed(std::bind(&nav::Planner::on_points, &planner, _1), "nav::Planner::on_points(int)");
  subscribed(std::bind(&nav::Planner::on_points, shared, _1), "nav::Planner::on_points(int)");
  subscribed(std::bind(&Relay::on_points, &relay, _1), "(anonymous namespace)::Relay::on_points(int)");
  subscribed(std::bind(&nav::Planner::on_map, &planner, _1));  // its object decides which one runs
  subscribed([&](int points) { planner.on_points(points); });

  auto plan = std::bind(&nav::Planner::plan, &planner);
  const GenericTimer<decltype(plan)> timer(plan);
  registered(&timer.callback, symbol_of(typeid(plan)), "nav::Planner::plan()");

  // What lies behind a callback is not its own.
  const std::function<void(int)> two[] = {std::bind(&nav::Planner::on_map, &planner, _1),
                                          std::bind(&nav::Planner::on_points, &planner, _1)};
  registered(two, symbol_of(two[0].target_type()), symbol_of(two[0].target_type()));

  // A callback that is not where its symbol says, and one that is nowhere.
  const GenericTimer<int> none(1);
  registered(&none.callback, symbol_of(typeid(plan)), symbol_of(typeid(plan)));
  registered(nullptr, symbol_of(typeid(plan)), symbol_of(typeid(plan)));
  registered(reinterpret_cast<const void *>(33), symbol_of(typeid(plan)), symbol_of(typeid(plan)));
}
