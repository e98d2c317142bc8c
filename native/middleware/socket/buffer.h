// SPDX-License-Identifier: Apache-2.0
//
// Memory for a frame.
#ifndef TACHO_SOCKET_BUFFER_H_
#define TACHO_SOCKET_BUFFER_H_

#include <memory>

#include "wire.h"

// The datagram's own head has room before the frame, so that one plain send and one plain recv handle both. The kernel
// takes more than half a microsecond longer for each sendmsg and recvmsg.
struct Buffer {
  explicit Buffer(size_t capacity) : bytes(new unsigned char[sizeof(Fragment) + capacity]), capacity(capacity) {}
  Fragment &fragment() const { return *reinterpret_cast<Fragment *>(bytes.get()); }
  unsigned char *frame() const { return bytes.get() + sizeof(Fragment); }

  const std::unique_ptr<unsigned char[]> bytes;  // not zeroed, because every byte of a frame is written
  const size_t capacity;                         // of the frame
  size_t size = 0;                               // of the frame in it
};
using BufferPointer = std::unique_ptr<Buffer>;

#endif
