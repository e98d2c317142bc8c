// SPDX-License-Identifier: Apache-2.0
#include "send.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "failure.h"
#include "wire.h"

namespace {

sockaddr_in loopback(uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  made.sin_port = htons(port);
  return made;
}

// UDP

class UdpSender : public Sender {
 public:
  UdpSender(const unsigned char *frame, size_t size) : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    uint64_t writer;
    if (socket_ < 0) fail("socket: no UDP socket: %m");
    if (getrandom(&writer, sizeof writer, 0) != sizeof writer) fail("socket: getrandom: %m");
    const size_t piece = piece_size(size), count = piece_count(size);
    fragments_.resize(count);
    parts_.resize(2 * count);
    for (size_t i = 0; i < count; i++) {
      const size_t offset = i * piece;
      fragments_[i] = {FRAGMENT_MAGIC, static_cast<uint32_t>(size), writer, 0, static_cast<uint32_t>(offset), 0};
      parts_[2 * i] = {&fragments_[i], sizeof(Fragment)};
      parts_[2 * i + 1] = {const_cast<unsigned char *>(frame) + offset, std::min(piece, size - offset)};
    }
  }

  void add(int peer, uint16_t port) override {
    destinations_.push_back({peer, loopback(port)});
    lay_out();
  }

  void remove(int peer) override {
    destinations_.erase(std::remove_if(destinations_.begin(), destinations_.end(),
                                       [&](const Destination &d) { return d.peer == peer; }),
                        destinations_.end());
    lay_out();
  }

  int matched() const override { return static_cast<int>(destinations_.size()); }

  void send() override {
    for (size_t sent = 0; sent < datagrams_.size();) {
      // The kernel takes at most 1024 at once by itself.
      const int count = sendmmsg(socket_, &datagrams_[sent], static_cast<unsigned>(datagrams_.size() - sent), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("socket: sending a datagram of %zu bytes to 127.0.0.1: %m", parts_[1].iov_len + sizeof(Fragment));
      sent += static_cast<size_t>(count);
    }
    for (Fragment &fragment : fragments_) fragment.number++;
  }

 private:
  struct Destination {
    int peer;
    sockaddr_in address;
  };

  // Piece by piece to all, so that none gets a whole burst before the next has its first piece.
  void lay_out() {
    datagrams_.clear();
    for (size_t piece = 0; piece < fragments_.size(); piece++)
      for (Destination &destination : destinations_) {
        mmsghdr datagram{};
        datagram.msg_hdr.msg_name = &destination.address;
        datagram.msg_hdr.msg_namelen = sizeof destination.address;
        datagram.msg_hdr.msg_iov = &parts_[2 * piece];
        datagram.msg_hdr.msg_iovlen = 2;
        datagrams_.push_back(datagram);
      }
  }

  Descriptor socket_;
  std::vector<Fragment> fragments_;
  std::vector<iovec> parts_;
  std::vector<Destination> destinations_;
  std::vector<mmsghdr> datagrams_;
};

// TCP

class TcpSender : public Sender {
 public:
  TcpSender(const unsigned char *frame, size_t size, bool reliable) : frame_(frame), size_(size), reliable_(reliable) {}

  void add(int peer, uint16_t port) override {
    Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    const int on = 1;
    const Hello hello{HELLO_MAGIC, static_cast<uint32_t>(size_)};
    if (made < 0) fail("socket: no TCP socket: %m");
    // On loopback the kernel completes this while the other side sleeps. Refused: it has just ended.
    if (connect(made, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0) {
      if (errno == ECONNREFUSED) return;
      fail("socket: connecting to port %u of 127.0.0.1: %m", port);
    }
    if (setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("socket: TCP_NODELAY: %m");
    if (::send(made, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) return;
    connections_.push_back({peer, std::move(made)});
  }

  void remove(int peer) override {
    drop([&](const Connection &c) { return c.peer == peer; });
  }

  int matched() const override { return static_cast<int>(connections_.size()); }

  void send() override {
    bool ended = false;
    for (Connection &connection : connections_)
      if (!send_to(connection.socket)) {
        connection.socket = Descriptor();
        ended = true;
      }
    if (ended) drop([](const Connection &c) { return c.socket < 0; });
  }

 private:
  struct Connection {
    int peer;
    Descriptor socket;
  };

  template <class Condition>
  void drop(Condition condition) {
    connections_.erase(std::remove_if(connections_.begin(), connections_.end(), condition), connections_.end());
  }

  // False where the other side ended.
  bool send_to(int socket) {
    for (size_t sent = 0; sent < size_;) {
      // Best effort leaves a frame out where there is no room at all; one that was begun must be ended.
      const int flags = MSG_NOSIGNAL | (!reliable_ && sent == 0 ? MSG_DONTWAIT : 0);
      const ssize_t count = ::send(socket, frame_ + sent, size_ - sent, flags);
      if (count >= 0) sent += static_cast<size_t>(count);
      else if (errno == EAGAIN) return true;
      else if (errno != EINTR) return false;
    }
    return true;
  }

  const unsigned char *const frame_;
  const size_t size_;
  const bool reliable_;
  std::vector<Connection> connections_;
};

}  // namespace

std::unique_ptr<Sender> udp_sender(const unsigned char *frame, size_t size) {
  return std::make_unique<UdpSender>(frame, size);
}

std::unique_ptr<Sender> tcp_sender(const unsigned char *frame, size_t size, bool reliable) {
  return std::make_unique<TcpSender>(frame, size, reliable);
}
