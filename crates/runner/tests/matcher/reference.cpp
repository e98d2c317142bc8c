// SPDX-License-Identifier: Apache-2.0
//
// Prints the sets that message_filters makes of drawn sequences of messages: one line a case, with the number of sets
// and a checksum of their members. crates/runner/tests/matcher.rs draws the same sequences and expects the same lines.
//
//   apt-get install libmessage-filters-dev
//   g++ -O1 reference.cpp -o reference -lmessage_filters -lroscpp -lroscpp_serialization -lrostime -lrosconsole -lboost_thread
//   ./reference > sets.txt
#include <boost/bind/bind.hpp>
#include <message_filters/sync_policies/approximate_time.h>
#include <message_filters/sync_policies/exact_time.h>
#include <message_filters/synchronizer.h>

#include <cstdint>
#include <cstdio>
#include <vector>

struct Message {
  ros::Time stamp;
  uint64_t number;
};

namespace ros::message_traits {
template <>
struct TimeStamp<Message> {
  static ros::Time value(const Message &message) { return message.stamp; }
};
}  // namespace ros::message_traits

namespace mf = message_filters;
using namespace boost::placeholders;

// splitmix64
struct Draws {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return next() % n; }
};

struct Case {
  bool approximate;
  unsigned inputs, queue, age_penalty_percent, messages;
  int64_t max_interval_us, grain_us;
  int64_t period_us[4], jitter_us[4], bound_us[4];
};

static Case draw(Draws &draws) {
  Case of{};
  of.approximate = draws.below(4) != 0;
  of.inputs = 2 + draws.below(3);
  of.queue = 1 + draws.below(12);
  of.age_penalty_percent = 10 * draws.below(6);
  of.messages = 20 + draws.below(120);
  of.max_interval_us = draws.below(3) == 0 ? 5000 + draws.below(60000) : 0;
  of.grain_us = draws.below(2) == 0 ? 10000 : 1;
  for (unsigned i = 0; i < 4; i++) {
    of.period_us[i] = of.approximate ? 10000 + draws.below(90000) : 10000;
    of.jitter_us[i] = draws.below(of.period_us[i]);
    of.bound_us[i] = draws.below(2) == 0 ? of.period_us[i] : 0;
  }
  return of;
}

static uint64_t sets, checksum;

static void member(const boost::shared_ptr<const Message> &message) {
  if (message) {
    checksum = (checksum ^ message->number) * 0x100000001b3;
  }
}

using Event = ros::MessageEvent<const Message>;

static void set(const Event &a, const Event &b, const Event &c, const Event &d) {
  sets++;
  for (const Event *event : {&a, &b, &c, &d}) {
    member(event->getConstMessage());
  }
}

template <class Policy, int N>
struct Sync : mf::Synchronizer<Policy> {
  using mf::Synchronizer<Policy>::Synchronizer;
  void put(unsigned input, const Event &event) {
    switch (input) {
      case 0:
        this->template add<0>(event);
        break;
      case 1:
        this->template add<1>(event);
        break;
      case 2:
        if constexpr (N > 2) this->template add<2>(event);
        break;
      case 3:
        if constexpr (N > 3) this->template add<3>(event);
        break;
    }
  }
};

static void on2(const Event &a, const Event &b) { set(a, b, Event(), Event()); }
static void on3(const Event &a, const Event &b, const Event &c) { set(a, b, c, Event()); }
static void on4(const Event &a, const Event &b, const Event &c, const Event &d) { set(a, b, c, d); }

template <int N, class S>
static void listen(S &sync) {
  if constexpr (N == 2) sync.registerCallback(boost::bind(on2, _1, _2));
  if constexpr (N == 3) sync.registerCallback(boost::bind(on3, _1, _2, _3));
  if constexpr (N == 4) sync.registerCallback(boost::bind(on4, _1, _2, _3, _4));
}

template <class S>
static void feed(S &sync, const Case &of, Draws &draws) {
  int64_t last[4] = {1000000, 1000000, 1000000, 1000000};
  for (unsigned number = 0; number < of.messages; number++) {
    unsigned input = draws.below(of.inputs);
    int64_t after = of.period_us[input] + (of.jitter_us[input] ? draws.below(of.jitter_us[input]) : 0);
    last[input] += (after / of.grain_us + (after % of.grain_us != 0)) * of.grain_us;
    boost::shared_ptr<Message> message(new Message);
    message->stamp.fromNSec(last[input] * 1000);
    message->number = number + 1;
    sync.put(input, Event(message, boost::shared_ptr<ros::M_string>(), ros::Time(1)));
  }
}

template <class Approximate, class Exact, int N>
static void run(const Case &of, Draws &draws) {
  if (!of.approximate) {
    Sync<Exact, N> sync{Exact(of.queue)};
    listen<N>(sync);
    feed(sync, of, draws);
    return;
  }
  Approximate policy(of.queue);
  policy.setAgePenalty(of.age_penalty_percent / 100.0);
  if (of.max_interval_us) {
    policy.setMaxIntervalDuration(ros::Duration().fromNSec(of.max_interval_us * 1000));
  }
  for (int i = 0; i < N; i++) {
    policy.setInterMessageLowerBound(i, ros::Duration().fromNSec(of.bound_us[i] * 1000));
  }
  Sync<Approximate, N> sync{policy};
  listen<N>(sync);
  feed(sync, of, draws);
}

int main() {
  namespace sp = mf::sync_policies;
  using M = Message;
  ros::Time::init();
  Draws draws{2022};
  for (int i = 0; i < 4000; i++) {
    sets = 0, checksum = 0xcbf29ce484222325;
    Case of = draw(draws);
    switch (of.inputs) {
      case 2:
        run<sp::ApproximateTime<M, M>, sp::ExactTime<M, M>, 2>(of, draws);
        break;
      case 3:
        run<sp::ApproximateTime<M, M, M>, sp::ExactTime<M, M, M>, 3>(of, draws);
        break;
      case 4:
        run<sp::ApproximateTime<M, M, M, M>, sp::ExactTime<M, M, M, M>, 4>(of, draws);
        break;
    }
    std::printf("%llu %016llx\n", (unsigned long long)sets, (unsigned long long)checksum);
  }
}
