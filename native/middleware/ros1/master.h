// SPDX-License-Identifier: Apache-2.0
//
// The ROS master of a domain. All sessions of the domain on this machine share one, on a port of its own. The first
// session starts it, and it ends when the last session is gone, even if that was killed. TACHO_ROS_MASTER_URI names
// another master to use instead.
#ifndef TACHO_ROS1_MASTER_H_
#define TACHO_ROS1_MASTER_H_

#include <cstdint>
#include <memory>
#include <string>

struct Descriptor {
  const int number;
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor();
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
};

class Master {
 public:
  // Returns when the master answers. `address`: IPv4 address of this host for nodes of other hosts; "" for the
  // loopback.
  Master(uint32_t domain, const std::string &address);

  const std::string &uri() const { return uri_; }

 private:
  std::unique_ptr<Descriptor> users_;  // the lock file; its shared lock keeps the master running
  std::string uri_;
};

#endif
