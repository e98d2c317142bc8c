// SPDX-License-Identifier: Apache-2.0
//
// Sessions of one domain on one machine find each other here, with no server and no traffic on the network.
//
// Each session listens on a UNIX socket in one folder and, when it joins, connects to all others. A lock on the folder
// serialises joining, so each pair holds exactly one connection, over which both announce their endpoints. The kernel
// closes the connections of a killed process, so peers know of its end at once, without heartbeats that would disturb a
// measurement. The socket file of a killed process refuses connections, and the next session that joins removes it.
#ifndef TACHO_SOCKET_RENDEZVOUS_H_
#define TACHO_SOCKET_RENDEZVOUS_H_

#include <netinet/in.h>
#include <tacho/middleware.h>

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "failure.h"

// A publisher or subscription as its peers know it.
struct Endpoint {
  enum Kind : uint32_t { Publisher = 1, Subscription = 2 };
  Kind kind;
  tacho_qos qos;
  uint64_t size;    // bytes of data that a message carries, or at most carries
  in_addr address;  // where a subscription receives
  uint16_t port;
  std::string topic, type;
};

class Rendezvous {
 public:
  // Receives the announcements; calls come from the rendezvous' own thread, one at a time.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void found(int peer, const Endpoint &endpoint) = 0;
    virtual void lost(int peer) = 0;
  };

  // Joins; sessions of the same `domain` (a text without '/') find each other.
  Rendezvous(const std::string &domain, Listener &listener);
  ~Rendezvous();
  // Announces it to all peers, including those that come later.
  void announce(const Endpoint &endpoint);

 private:
  struct Peer {
    Descriptor connection;
    size_t told = 0;  // of what was said
  };

  void join(const std::string &folder, const std::string &prefix);
  void run();
  bool hear(int id, Peer &peer);
  bool tell(Peer &peer);
  std::string said(size_t index);
  size_t said_count();

  Listener &listener_;
  std::string path_;
  Descriptor door_, wake_;
  std::map<int, Peer> peers_;  // of the thread alone
  int next_peer_ = 1;
  std::mutex mutex_;  // of what follows
  std::vector<std::string> said_;
  bool stopping_ = false;
  std::thread thread_;
};

#endif
