// SPDX-License-Identifier: Apache-2.0
#include "participant.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

extern "C" const char micro_node_image[], micro_node_image_end[];

namespace {
// tacho-micro requires a spin every 10 ms, whether or not a message has arrived.
constexpr int SPIN_MS = 5;
// The participant whose spin is running, because on_message of tacho-micro has no context.
thread_local Participant *spinning;
}  // namespace

template <unsigned I>
void Participant::deliver(const micro_message *message) {
  spinning->by_index_[I]->on_message(*message);
}

template <unsigned... I>
void (*Participant::trampoline(unsigned row, std::integer_sequence<unsigned, I...>))(const micro_message *) {
  static void (*const all[])(const micro_message *) = {&Participant::deliver<I>...};
  return all[row];
}

template <typename Function>
void Participant::find(Function *&function, const char *name) {
  void *symbol = dlsym(library_, name);
  if (!symbol) throw std::runtime_error(std::string("the library of tacho-micro lacks ") + name);
  std::memcpy(&function, &symbol, sizeof function);
}

// dlopen identifies a library by its inode, so a copy in memory of its own is loaded again, with its own variables.
void Participant::load() {
  int file = memfd_create("tacho-micro", MFD_CLOEXEC);
  if (file < 0) throw std::runtime_error(std::string("memfd_create: ") + std::strerror(errno));
  const char *at = micro_node_image;
  while (at < micro_node_image_end) {
    ssize_t written = write(file, at, static_cast<size_t>(micro_node_image_end - at));
    if (written < 0) {
      int cause = errno;
      ::close(file);
      throw std::runtime_error(std::string("copy of the library: ") + std::strerror(cause));
    }
    at += written;
  }
  library_ = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  const char *why = library_ ? nullptr : dlerror();
  ::close(file);
  if (!library_) throw std::runtime_error(std::string("copy of the library: ") + why);
}

Participant::Participant(const std::string &node, uint8_t domain, uint32_t address) : name_(node) {
  load();
  try {
    find(init_, "micro_init");
    find(spin_, "micro_spin");
    find(close_, "micro_close");
    find(extended_, "micro_extended");
    find(matched_, "micro_matched");
    find(loan_, "micro_loan");
    find(publish_, "micro_publish");
    find(cdr_read, "cdr_read");
    find(cdr_write, "cdr_write");
    find(interface_, "linux_udp_interface");
    find(wait_, "linux_udp_wait");
  } catch (...) {
    dlclose(library_);
    throw;
  }
  node_.name = name_.c_str();
  node_.ns = "/";
  node_.endpoints = table_;
  node_.domain = domain;
  interface_(address);
  if (!init_(&node_)) {
    dlclose(library_);
    throw std::runtime_error("no free ports for a participant of domain " + std::to_string(domain));
  }
  thread_ = std::thread([this] { run(); });
}

Participant::~Participant() {
  stopping_ = true;
  thread_.join();
  close_();
  dlclose(library_);
}

void Participant::run() {
  spinning = this;
  while (!stopping_) {
    wait_(SPIN_MS);
    std::lock_guard<std::mutex> lock(mutex_);
    spin_();
  }
}

unsigned Participant::append(Row &&row, micro_endpoint endpoint) {
  std::lock_guard<std::mutex> lock(mutex_);
  unsigned index = node_.endpoint_count;
  if (index == MICRO_ENDPOINTS)
    throw std::runtime_error("node " + name_ + " has " + std::to_string(index) +
                             " endpoints of a kind already; expected at most so many");
  rows_.push_back(std::move(row));
  Row &kept = rows_.back();
  by_index_.push_back(&kept);
  endpoint.topic = kept.topic.c_str();
  endpoint.storage = kept.storage.empty() ? nullptr : kept.storage.data();
  if (kept.on_message) endpoint.on_message = trampoline(index, std::make_integer_sequence<unsigned, MICRO_ENDPOINTS>());
  table_[index] = endpoint;
  node_.endpoint_count = static_cast<uint8_t>(index + 1);
  extended_();
  return index;
}

unsigned Participant::add_writer(const std::string &topic, const micro_type &type, uint8_t qos, uint16_t depth,
                                 uint32_t size) {
  micro_endpoint endpoint = {};
  endpoint.type = &type;
  endpoint.qos = qos;
  Row row{topic, {}, nullptr};
  if (qos & MICRO_RELIABLE || size > MICRO_UNSTORED_MAX) {
    // The writer's store splits a best-effort message that is larger than a datagram; nobody requests it again.
    endpoint.depth = qos & MICRO_RELIABLE ? depth : 1;
    endpoint.size = size;
    row.storage.resize(MICRO_WRITER_WORDS(static_cast<size_t>(endpoint.depth), size));
  }
  return append(std::move(row), endpoint);
}

unsigned Participant::add_reader(const std::string &topic, const micro_type &type, uint8_t qos, uint32_t size,
                                 std::function<void(const micro_message &)> on_message) {
  micro_endpoint endpoint = {};
  endpoint.type = &type;
  endpoint.qos = qos;
  endpoint.size = size;
  return append(Row{topic, std::vector<uint32_t>(MICRO_READER_WORDS(size)), std::move(on_message)}, endpoint);
}

unsigned Participant::matched(unsigned row) {
  std::lock_guard<std::mutex> lock(mutex_);
  return matched_(row);
}

bool Participant::publish(unsigned row, const std::function<void(cdr_writer &)> &fill) {
  std::lock_guard<std::mutex> lock(mutex_);
  cdr_writer message = loan_(row);
  fill(message);
  return publish_(row, &message) >= 0;
}
