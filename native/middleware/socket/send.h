// SPDX-License-Identifier: Apache-2.0
//
// The sending side: a publisher's frames to every subscription matched with it.
#ifndef TACHO_SOCKET_SEND_H_
#define TACHO_SOCKET_SEND_H_

#include <netinet/in.h>
#include <tacho/middleware.h>

#include <memory>

#include "buffer.h"

// Used by one thread at a time.
class Sender {
 public:
  virtual ~Sender() = default;
  // A subscription that listens there; `peer` is its session.
  virtual void add(int peer, in_addr address, uint16_t port) = 0;
  virtual void remove(int peer) = 0;
  virtual int matched() const = 0;
  // Sends the frame given at the start to all of them.
  virtual void send() = 0;
};

// Both send from an address of this machine, and keep the place of the frame, which the caller fills before each send.
std::unique_ptr<Sender> udp_sender(in_addr from, const Buffer &frame);
// Reliable waits for a subscription whose buffer is full; best effort leaves it out.
std::unique_ptr<Sender> tcp_sender(in_addr from, const Buffer &frame, bool reliable);

#endif
