// SPDX-License-Identifier: Apache-2.0
// A participant of tacho-micro: a copy of its library, which holds all state in static variables, and the thread that spins it.
#ifndef TACHO_MICRO_PARTICIPANT_H_
#define TACHO_MICRO_PARTICIPANT_H_

#include <tacho/middleware.h>
#include <tacho_micro.h>

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Participant {
 public:
  // `address`: that of the interface to use, in host byte order. Throws std::runtime_error.
  Participant(const std::string &node, uint8_t domain, uint32_t address);
  ~Participant();
  Participant(const Participant &) = delete;

  // Append rows to the node's table and return their index. Sizes are those of the body of a message. They throw if the
  // table is full.
  unsigned add_writer(const std::string &topic, const micro_type &type, uint8_t qos, uint16_t depth, uint32_t size);
  unsigned add_reader(const std::string &topic, const micro_type &type, uint8_t qos, uint32_t size,
                      std::function<void(const micro_message &)> on_message);

  unsigned matched(unsigned row);
  // Fills and sends a message; returns false if it does not fit.
  bool publish(unsigned row, const std::function<void(cdr_writer &)> &fill);

  // Access unaligned primitives in messages, by the copy's own code.
  decltype(&::cdr_read) cdr_read = nullptr;
  decltype(&::cdr_write) cdr_write = nullptr;

 private:
  struct Row {
    std::string topic;
    std::vector<uint32_t> storage;
    std::function<void(const micro_message &)> on_message;
  };

  void load();
  template <typename Function>
  void find(Function *&function, const char *name);
  unsigned append(Row &&row, micro_endpoint endpoint);
  void run();

  template <unsigned I>
  static void deliver(const micro_message *message);
  template <unsigned... I>
  static void (*trampoline(unsigned row, std::integer_sequence<unsigned, I...>))(const micro_message *);

  std::string name_;
  void *library_ = nullptr;
  std::mutex mutex_;  // of the copy's state, and of what follows
  std::list<Row> rows_;
  std::vector<Row *> by_index_;
  micro_endpoint table_[MICRO_ENDPOINTS] = {};
  micro_node node_ = {};
  std::atomic<bool> stopping_{false};
  std::thread thread_;

  decltype(&::micro_init) init_ = nullptr;
  decltype(&::micro_spin) spin_ = nullptr;
  decltype(&::micro_close) close_ = nullptr;
  decltype(&::micro_extended) extended_ = nullptr;
  decltype(&::micro_matched) matched_ = nullptr;
  decltype(&::micro_loan) loan_ = nullptr;
  decltype(&::micro_publish) publish_ = nullptr;
  void (*interface_)(uint32_t) = nullptr;
  void (*wait_)(int) = nullptr;
};

#endif
