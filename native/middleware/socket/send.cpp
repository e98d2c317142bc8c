// SPDX-License-Identifier: Apache-2.0
#include "send.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "failure.h"
#include "wire.h"

namespace {

constexpr timeval CONNECTING_LIMIT{5, 0};

sockaddr_in place(in_addr address, uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_addr = address;
  made.sin_port = htons(port);
  return made;
}

std::string text(const sockaddr_in &place) {
  char address[INET_ADDRSTRLEN];
  return inet_ntop(AF_INET, &place.sin_addr, address, sizeof address) + (":" + std::to_string(ntohs(place.sin_port)));
}

// The peers choose their ports, and the kernel chooses ours; with many connections, once the other end is known.
Descriptor bound(int type, in_addr from) {
  Descriptor made(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const sockaddr_in here = place(from, 0);
  const int on = 1;
  if (made < 0 || setsockopt(made, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) != 0 ||
      bind(made, reinterpret_cast<const sockaddr *>(&here), sizeof here) != 0)
    fail("socket: nothing can be sent from %s: %m", text(here).c_str());
  return made;
}

// UDP

class UdpSender : public Sender {
 public:
  UdpSender(in_addr from, const Buffer &frame) : from_(from), whole_(frame.bytes.get()), fragment_(frame.fragment()) {
    uint64_t writer;
    if (getrandom(&writer, sizeof writer, 0) != sizeof writer) fail("socket: getrandom: %m");
    const uint32_t size = static_cast<uint32_t>(frame.size);
    const size_t piece = piece_size(size), count = piece_count(size);
    fragment_ = {FRAGMENT_MAGIC, size, writer, 0, 0, 0};
    if (count == 1) return;
    pieces_.resize(count);
    for (size_t i = 0; i < count; i++) {
      const size_t offset = i * piece;
      pieces_[i].fragment = {FRAGMENT_MAGIC, size, writer, 0, static_cast<uint32_t>(offset), 0};
      pieces_[i].parts = {
          {{&pieces_[i].fragment, sizeof(Fragment)}, {frame.frame() + offset, std::min(piece, size - offset)}}};
    }
  }

  // Connected, so that the kernel need not look up the route of every datagram.
  void add(int peer, in_addr address, uint16_t port) override {
    Descriptor made = bound(SOCK_DGRAM, from_);
    const sockaddr_in there = place(address, port);
    if (connect(made, reinterpret_cast<const sockaddr *>(&there), sizeof there) != 0)
      fail("socket: no way to %s: %m", text(there).c_str());
    destinations_.push_back({peer, there, std::move(made), 0});
  }

  void remove(int peer) override {
    destinations_.erase(std::remove_if(destinations_.begin(), destinations_.end(),
                                       [&](const Destination &d) { return d.peer == peer; }),
                        destinations_.end());
  }

  int matched() const override { return static_cast<int>(destinations_.size()); }

  ON_THE_WAY void send() override {
    if (!pieces_.empty()) return send_pieces();
    const size_t size = sizeof fragment_ + fragment_.total;
    for (Destination &destination : destinations_)
      // Not send(): in a process of several threads, that first makes itself a cancellation point and then unmakes it.
      destination.error = error_of(
          [&] { return syscall(SYS_sendto, static_cast<int>(destination.socket), whole_, size, 0, nullptr, 0); });
    fragment_.number++;
    check(size);
  }

 private:
  struct Piece {
    Fragment fragment;
    std::array<iovec, 2> parts;
  };
  struct Destination {
    int peer;
    sockaddr_in place;
    Descriptor socket;
    int error = 0;  // errno of the last message; 0: it was sent
  };

  // Sends piece by piece to all, so that none gets a whole burst before the next has its first piece.
  void send_pieces() {
    msghdr datagram{};
    datagram.msg_iovlen = 2;
    const uint64_t number = fragment_.number++;  // the same in all, whatever became of those before
    for (Destination &destination : destinations_) destination.error = 0;
    for (Piece &piece : pieces_) {
      piece.fragment.number = number;
      datagram.msg_iov = piece.parts.data();
      for (Destination &destination : destinations_)
        if (!destination.error) destination.error = error_of([&] { return sendmsg(destination.socket, &datagram, 0); });
    }
    check(sizeof(Fragment) + pieces_[0].parts[1].iov_len);
  }

  // A message was sent if one destination took it whole, and it was refused if none did.
  ON_THE_WAY void check(size_t size) const {
    for (const Destination &destination : destinations_)
      if (!destination.error) return;
    if (!destinations_.empty()) refuse(destinations_.front(), size);
  }

  [[noreturn]] __attribute__((cold)) static void refuse(const Destination &destination, size_t size) {
    throw Refused(destination.error, "socket: sending a datagram of " + std::to_string(size) + " bytes to " +
                                         text(destination.place) + ": " + std::strerror(destination.error));
  }

  template <class Function>
  ON_THE_WAY static int error_of(Function function) {
    while (function() < 0)
      // An earlier send was refused, by a subscription that has just ended.
      if (errno != EINTR && errno != ECONNREFUSED) return errno;
    return 0;
  }

  const in_addr from_;
  const unsigned char *const whole_;  // the datagram of a frame that needs no more than one
  Fragment &fragment_;                // at its start
  std::vector<Piece> pieces_;         // of one that needs more
  std::vector<Destination> destinations_;
};

// TCP

class TcpSender : public Sender {
 public:
  TcpSender(in_addr from, const Buffer &frame, bool reliable)
      : from_(from), frame_(frame.frame()), size_(frame.size), reliable_(reliable) {}

  void add(int peer, in_addr address, uint16_t port) override {
    Descriptor made = bound(SOCK_STREAM, from_);
    const sockaddr_in there = place(address, port);
    const int on = 1;
    const timeval no_limit{};
    const Hello hello{HELLO_MAGIC, static_cast<uint32_t>(size_)};
    // The kernel completes this while the other side sleeps. If it is refused, the other side has just ended.
    if (setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &CONNECTING_LIMIT, sizeof CONNECTING_LIMIT) != 0 ||
        connect(made, reinterpret_cast<const sockaddr *>(&there), sizeof there) != 0) {
      if (errno == ECONNREFUSED) return;
      fail("socket: connecting to %s: %m", text(there).c_str());
    }
    if (setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &no_limit, sizeof no_limit) != 0 ||
        setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
      fail("socket: options of a connection: %m");
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

  // Returns false if the other side ended.
  bool send_to(int socket) {
    for (size_t sent = 0; sent < size_;) {
      // Best effort leaves a frame out if there is no room at all; a frame that was begun must be completed.
      const int flags = MSG_NOSIGNAL | (!reliable_ && sent == 0 ? MSG_DONTWAIT : 0);
      const ssize_t count = ::send(socket, frame_ + sent, size_ - sent, flags);
      if (count >= 0)
        sent += static_cast<size_t>(count);
      else if (errno == EAGAIN)
        return true;
      else if (errno != EINTR)
        return false;
    }
    return true;
  }

  const in_addr from_;
  const unsigned char *const frame_;
  const size_t size_;
  const bool reliable_;
  std::vector<Connection> connections_;
};

}  // namespace

std::unique_ptr<Sender> udp_sender(in_addr from, const Buffer &frame) {
  return std::make_unique<UdpSender>(from, frame);
}

std::unique_ptr<Sender> tcp_sender(in_addr from, const Buffer &frame, bool reliable) {
  return std::make_unique<TcpSender>(from, frame, reliable);
}
