// SPDX-License-Identifier: Apache-2.0
//
// The receiving side: one thread a session reads the sockets of all its subscriptions into their queues.
#ifndef TACHO_SOCKET_RECEIVE_H_
#define TACHO_SOCKET_RECEIVE_H_

#include <tacho/middleware.h>

#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "failure.h"

// Room for a frame.
struct Buffer {
  std::unique_ptr<unsigned char[]> bytes;
  size_t capacity, size; // size: of the frame in it
};
using BufferPointer = std::unique_ptr<Buffer>;

// Frames that were received and not taken yet, and buffers for those to come.
class Queue {
 public:
  Queue(size_t frame, const tacho_qos &qos, tacho_on_data on_data, void *context)
      : frame(frame), qos_(qos), on_data_(on_data), context_(context) {}
  BufferPointer fresh(size_t capacity);
  void recycle(BufferPointer buffer);
  void put(BufferPointer buffer); // the oldest goes where keep last has no room
  BufferPointer take();           // null: none there

  const size_t frame; // the most that a message may have, with its header

 private:
  const tacho_qos qos_;
  const tacho_on_data on_data_;
  void *const context_;
  std::mutex mutex_; // of what follows
  std::deque<BufferPointer> full_;
  std::vector<BufferPointer> empty_;
};

// Something with a socket that the receiving thread reads when there is data.
class Source {
 public:
  virtual ~Source() = default;
  virtual int descriptor() const = 0;
  virtual void ready() = 0;
};

// The thread. Sources are added at any time and outlive it.
class Receiver {
 public:
  Receiver();
  ~Receiver();
  void add(Source &source);

 private:
  void run();
  Descriptor epoll_, stop_;
  std::thread thread_;
};

// Binds a socket of 127.0.0.1 for the queue; *port is where.
std::unique_ptr<Source> udp_source(Queue &queue, uint16_t *port);
std::unique_ptr<Source> tcp_source(Queue &queue, Receiver &receiver, uint16_t *port);

#endif
