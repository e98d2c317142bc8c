// SPDX-License-Identifier: Apache-2.0
//
// The receiving side: reads sockets into the queues of their subscriptions. One thread a session reads and then
// notifies; if nobody wants notifications, the thread that takes reads.
#ifndef TACHO_SOCKET_RECEIVE_H_
#define TACHO_SOCKET_RECEIVE_H_

#include <netinet/in.h>
#include <tacho/middleware.h>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "buffer.h"
#include "failure.h"

// Frames that were received and not taken yet, and buffers for further ones.
class Queue {
 public:
  Queue(size_t frame, const tacho_qos &qos, tacho_on_data on_data, void *context)
      : frame(frame), qos_(qos), on_data_(on_data), context_(context) {}
  BufferPointer fresh(size_t capacity);
  void recycle(BufferPointer buffer);
  void put(BufferPointer buffer);  // drops the oldest if keep last has no room
  BufferPointer take();            // null: none there

  const size_t frame;  // largest size of a message, with its header

 private:
  const tacho_qos qos_;
  const tacho_on_data on_data_;
  void *const context_;
  std::mutex mutex_;  // of what follows
  std::deque<BufferPointer> full_;
  std::vector<BufferPointer> empty_;
};

// A source with a socket that is read when there is data.
class Source {
 public:
  virtual ~Source() = default;
  virtual int descriptor() const = 0;
  virtual bool ready() = 0;  // whether more may be there
};

// A source for which the taking thread may wait inside the kernel's receive.
class BlockingSource : public Source {
 public:
  static constexpr std::chrono::microseconds NO_LIMIT{0};  // as the kernel has it
  // Receives once, waiting at most this long: the frame that this completed, kept until the next call; null: none, or woken.
  virtual const Buffer *receive(std::chrono::microseconds limit) = 0;
  // From any thread: the receive that waits without a limit returns; if none waits, the next one does.
  virtual void wake() = 0;
};

// Waits for sources. They may be added at any time and outlive it.
class Poller {
 public:
  Poller();
  void add(Source &source);
  bool wait(int limit_ms);  // reads those that have data; -1: no limit; false: there was none, or woken
  void wake();              // from any thread: the wait that runs, or else the next one
  int descriptor() const { return epoll_; }

 private:
  Descriptor epoll_, wake_;
};

// The thread that reads and notifies.
class Receiver {
 public:
  Receiver();
  ~Receiver();
  void add(Source &source) { poller_.add(source); }
  Poller &poller() { return poller_; }

 private:
  Poller poller_;
  std::thread thread_;
};

// Binds a socket for the queue; *port is its port.
std::unique_ptr<BlockingSource> udp_source(Queue &queue, in_addr address, uint16_t *port);
// The poller to which this source is added reads the connections.
std::unique_ptr<Source> tcp_source(Queue &queue, Poller &poller, in_addr address, uint16_t *port);

#endif
