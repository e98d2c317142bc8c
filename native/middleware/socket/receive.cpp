// SPDX-License-Identifier: Apache-2.0
#include "receive.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>

// Queue

BufferPointer Queue::fresh(size_t capacity) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto found = empty_.rbegin(); found != empty_.rend(); ++found)
      if ((*found)->capacity == capacity) {
        BufferPointer buffer = std::move(*found);
        empty_.erase(std::next(found).base());
        return buffer;
      }
  }
  return std::make_unique<Buffer>(capacity);
}

void Queue::recycle(BufferPointer buffer) {
  std::lock_guard<std::mutex> lock(mutex_);
  empty_.push_back(std::move(buffer));
}

void Queue::put(BufferPointer buffer) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    full_.push_back(std::move(buffer));
    if (qos_.history == TACHO_KEEP_LAST && full_.size() > qos_.depth) {
      empty_.push_back(std::move(full_.front()));
      full_.pop_front();
    }
  }
  if (on_data_) on_data_(context_);
}

ON_THE_WAY BufferPointer Queue::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (full_.empty()) return nullptr;
  BufferPointer buffer = std::move(full_.front());
  full_.pop_front();
  return buffer;
}

// Poller, Receiver

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC)) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (epoll_ < 0 || wake_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) fail("socket: no epoll: %m");
}

void Poller::add(Source &source) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &source;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, source.descriptor(), &event) != 0) fail("socket: no epoll: %m");
}

void Poller::wake() { eventfd_write(wake_, 1); }

bool Poller::wait(int limit_ms) {
  std::array<epoll_event, 32> events;
  const int count = epoll_wait(epoll_, events.data(), events.size(), limit_ms);
  bool woken = false;
  for (int i = 0; i < count; i++) {
    eventfd_t times;
    if (Source *source = static_cast<Source *>(events[i].data.ptr))
      source->ready();
    else
      woken = eventfd_read(wake_, &times) == 0;
  }
  return !woken && (limit_ms < 0 || count > 0);  // interrupted: wait again
}

Receiver::Receiver() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "receiver");
    while (poller_.wait(-1)) {
    }
  });
}

Receiver::~Receiver() {
  poller_.wake();
  thread_.join();
}

namespace {

Descriptor bound(int type, in_addr address, uint16_t *port) {
  Descriptor made(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr = address;
  socklen_t length = sizeof here;
  char text[INET_ADDRSTRLEN];
  if (made < 0 || bind(made, reinterpret_cast<sockaddr *>(&here), length) != 0 ||
      getsockname(made, reinterpret_cast<sockaddr *>(&here), &length) != 0)
    fail("socket: no port of %s: %m", inet_ntop(AF_INET, &address, text, sizeof text));
  *port = ntohs(here.sin_port);
  return made;
}

// UDP

class UdpSource : public BlockingSource {
 public:
  UdpSource(Queue &queue, in_addr address, uint16_t *port)
      : queue_(queue),
        frame_(queue.frame),
        slot_size_(std::min(queue.frame, MAX_PIECE)),
        socket_(bound(SOCK_DGRAM, address, port)) {
    here_.sin_family = AF_INET;
    here_.sin_addr = address;
    here_.sin_port = htons(*port);
    // A burst must wait somewhere until this thread runs. Without CAP_NET_ADMIN the kernel reduces the request to
    // net.core.rmem_max.
    const int wish = 16 << 20;
    if (setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &wish, sizeof wish) != 0 &&
        setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &wish, sizeof wish) != 0)
      fail("socket: SO_RCVBUF: %m");
    for (size_t i = 0; i < SLOTS; i++) {
      datagrams_[i].msg_hdr.msg_iov = &parts_[i];
      datagrams_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  int descriptor() const override { return socket_; }

  bool ready() override {
    for (size_t i = 0; i < SLOTS; i++) {
      fill(i);
      parts_[i] = {slots_[i]->bytes.get(), room_};
    }
    const int count = recvmmsg(socket_, datagrams_.data(), SLOTS, MSG_DONTWAIT | MSG_TRUNC, nullptr);
    for (int i = 0; i < count; i++) {
      if (datagrams_[i].msg_len == 0) woken_ = false;
      if (BufferPointer *frame = completed(slots_[i], datagrams_[i].msg_len)) queue_.put(std::move(*frame));
    }
    return count == static_cast<int>(SLOTS);
  }

  ON_THE_WAY const Buffer *receive(std::chrono::microseconds limit) override {
    if (limit != limit_) set_limit(limit);
    for (;;) {
      fill(0);
      // Not recv(): in a process of several threads, that first makes itself a cancellation point and then unmakes it.
      const long length =
          syscall(SYS_recvfrom, static_cast<int>(socket_), slots_[0]->bytes.get(), room_, MSG_TRUNC, nullptr, nullptr);
      if (length < 0) return none_received();
      if (const BufferPointer *frame = completed(slots_[0], static_cast<size_t>(length))) return frame->get();
      if (length == 0) woken_ = false;
      if (length == 0 || limit != NO_LIMIT) return nullptr;  // the caller sees what is left of the limit
    }
  }

  // Sends an empty datagram to its own socket. If no thread waits, it stays there, so that no wake-up comes too early;
  // if the socket's buffer has no room for it, no thread waits. If it cannot be sent, or the wait did not end when
  // asked again (the network is down, or a firewall drops it), the socket is shut down for receiving, which ends every
  // wait.
  void wake() override {
    const auto *const here = reinterpret_cast<const sockaddr *>(&here_);
    if (woken_.exchange(true) || sendto(socket_, nullptr, 0, MSG_DONTWAIT, here, sizeof here_) < 0)
      shutdown(socket_, SHUT_RD);
  }

 private:
  static constexpr size_t SLOTS = 16;

  // A frame of which some pieces came. The loopback and a link keep the order of a writer, so its next frame ends one
  // with a gap.
  struct Assembly {
    uint64_t number = 0;
    size_t have = 0;
    BufferPointer buffer;
  };

  void set_limit(std::chrono::microseconds limit) {
    const timeval kernels{limit.count() / 1000000, limit.count() % 1000000};
    if (setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kernels, sizeof kernels) != 0) fail("socket: SO_RCVTIMEO: %m");
    limit_ = limit;
  }

  static const Buffer *none_received() {
    if (errno != EAGAIN && errno != EINTR) fail("socket: receiving a datagram: %m");
    return nullptr;
  }

  // Makes a buffer for the slot's next datagram, if the last one left with a frame.
  void fill(size_t slot) {
    if (!slots_[slot]) slots_[slot] = queue_.fresh(slot_size_);
  }

  // Returns the buffer of the frame that a slot's datagram is, or completes; `size`: what was sent, received or not
  // (MSG_TRUNC).
  ON_THE_WAY BufferPointer *completed(BufferPointer &slot, size_t size) {
    const Fragment &fragment = slot->fragment();
    const size_t length = size - std::min(size, sizeof fragment);
    // Ports may be reused, so a stranger's datagram is not one of ours.
    const bool ours = size >= sizeof fragment && size <= room_ && fragment.magic == FRAGMENT_MAGIC &&
                      fragment.total <= frame_ && fragment.total >= FRAME_HEADER &&
                      fragment.offset + length <= fragment.total;
    if (!ours) return nullptr;
    if (length != fragment.total) return assembled(fragment, slot->frame(), length);
    slot->size = length;
    return &slot;
  }

  BufferPointer *assembled(const Fragment &fragment, const unsigned char *piece, size_t length) {
    Assembly &assembly = assemblies_[fragment.writer];
    if (!assembly.buffer) assembly.buffer = queue_.fresh(queue_.frame);
    if (assembly.have == 0 || assembly.number != fragment.number) {
      assembly.number = fragment.number;
      assembly.have = 0;
    }
    if (fragment.offset != assembly.have) {  // a piece is lost, and with it the frame
      assembly.have = 0;
      return nullptr;
    }
    std::memcpy(assembly.buffer->frame() + fragment.offset, piece, length);
    assembly.have += length;
    if (assembly.have < fragment.total) return nullptr;
    assembly.buffer->size = fragment.total;
    assembly.have = 0;
    return &assembly.buffer;
  }

  // Every message needs these, so they lie together: each further cache line costs time after a sleep.
  Queue &queue_;
  const size_t frame_;  // the queue's
  const size_t slot_size_;
  const size_t room_ = sizeof(Fragment) + slot_size_;
  Descriptor socket_;
  std::chrono::microseconds limit_ = NO_LIMIT;  // of a receive that waits, as the kernel knows it
  std::array<BufferPointer, SLOTS> slots_;

  sockaddr_in here_{};
  std::atomic<bool> woken_{false};  // and not received yet
  std::array<iovec, SLOTS> parts_{};
  std::array<mmsghdr, SLOTS> datagrams_{};
  std::map<uint64_t, Assembly> assemblies_;
};

// TCP

class TcpConnection : public Source {
 public:
  TcpConnection(Queue &queue, Descriptor socket) : queue_(queue), socket_(std::move(socket)) {}
  int descriptor() const override { return socket_; }
  bool ended() const { return socket_ < 0; }

  bool ready() override {
    while (!ended()) {
      unsigned char *into = greeted_ ? buffer_->frame() : reinterpret_cast<unsigned char *>(&hello_);
      const size_t wanted = greeted_ ? hello_.frame : sizeof hello_;
      const ssize_t size = recv(socket_, into + have_, wanted - have_, MSG_DONTWAIT);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
      if (size <= 0) return end();  // with it what came of a frame
      have_ += static_cast<size_t>(size);
      if (have_ < wanted) continue;
      have_ = 0;
      if (greeted_) {
        buffer_->size = hello_.frame;
        queue_.put(std::move(buffer_));
      } else {
        greeted_ = true;
        if (hello_.magic != HELLO_MAGIC || hello_.frame < FRAME_HEADER || hello_.frame > queue_.frame) return end();
      }
      buffer_ = queue_.fresh(queue_.frame);
      if (++received_ % 16 == 0) return true;  // read the others, too
    }
    return false;
  }

 private:
  bool end() {
    socket_ = Descriptor();
    return false;
  }

  Queue &queue_;
  Descriptor socket_;
  bool greeted_ = false;
  Hello hello_{};
  size_t have_ = 0;  // bytes of the hello or frame under way
  size_t received_ = 0;
  BufferPointer buffer_;
};

class TcpSource : public Source {
 public:
  TcpSource(Queue &queue, Poller &poller, in_addr address, uint16_t *port)
      : queue_(queue), poller_(poller), socket_(bound(SOCK_STREAM | SOCK_NONBLOCK, address, port)) {
    if (listen(socket_, SOMAXCONN) != 0) fail("socket: listen: %m");
  }
  int descriptor() const override { return socket_; }

  bool ready() override {
    Descriptor accepted(accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted < 0) {
      if (errno != EMFILE && errno != ENFILE) return false;
      std::fprintf(stderr, "socket: no more publishers can be heard: %m; raise ulimit -n\n");
      socket_ = Descriptor();
      return false;
    }
    // Ended connections are of no use any more; closing took them out of the epoll.
    connections_.erase(std::remove_if(connections_.begin(), connections_.end(), [](auto &c) { return c->ended(); }),
                       connections_.end());
    connections_.push_back(std::make_unique<TcpConnection>(queue_, std::move(accepted)));
    poller_.add(*connections_.back());
    return true;
  }

 private:
  Queue &queue_;
  Poller &poller_;
  Descriptor socket_;
  std::vector<std::unique_ptr<TcpConnection>> connections_;
};

}  // namespace

std::unique_ptr<BlockingSource> udp_source(Queue &queue, in_addr address, uint16_t *port) {
  return std::make_unique<UdpSource>(queue, address, port);
}

std::unique_ptr<Source> tcp_source(Queue &queue, Poller &poller, in_addr address, uint16_t *port) {
  return std::make_unique<TcpSource>(queue, poller, address, port);
}
