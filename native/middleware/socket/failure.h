// SPDX-License-Identifier: Apache-2.0
//
// The exceptions that end a call of the plugin.
#ifndef TACHO_SOCKET_FAILURE_H_
#define TACHO_SOCKET_FAILURE_H_

#include <seam/guard.hpp>

#include <stdexcept>
#include <string>
#include <unistd.h>

using seam::fail;

// A message that the kernel refused to send.
class Refused : public std::runtime_error {
 public:
  Refused(int number, const std::string &text) : std::runtime_error(text), number(number) {}
  const int number;  // errno
};

// Data that every message needs lies together, because after a sleep each page and cache line is fetched again.
#define ON_THE_WAY __attribute__((hot))

// A descriptor that its owner closes.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor &&other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  operator int() const { return number_; }

 private:
  int number_;
};

#endif
