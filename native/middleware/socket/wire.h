// SPDX-License-Identifier: Apache-2.0
//
// The format on the network. Both ends are builds for one machine, so the byte order is native.
#ifndef TACHO_SOCKET_WIRE_H_
#define TACHO_SOCKET_WIRE_H_

#include <tacho/middleware.h>

#include <cstddef>
#include <cstdint>

// A frame is a tacho_header and the data after it.
constexpr size_t FRAME_HEADER = sizeof(tacho_header);
constexpr size_t MAX_DATA = (size_t{1} << 32) - 1 - FRAME_HEADER;

// UDP: a frame travels in one datagram, or in pieces of equal size, except for the last one.
struct Fragment {
  uint32_t magic;
  uint32_t total;   // bytes of the frame
  uint64_t writer;  // unique on the machine
  uint64_t number;  // of the frame, 0, 1, 2 ... a writer
  uint32_t offset;  // of this piece in the frame
  uint32_t reserved;
};
constexpr uint32_t FRAGMENT_MAGIC = 0x54534631;
constexpr size_t MAX_PIECE = 65507 - sizeof(Fragment);  // IPv4's longest UDP payload

inline size_t piece_count(size_t frame) { return (frame + MAX_PIECE - 1) / MAX_PIECE; }
inline size_t piece_size(size_t frame) { return (frame + piece_count(frame) - 1) / piece_count(frame); }

// TCP: sent once when a publisher connects. Frames of this many bytes follow, because all frames of a publisher have
// one size.
struct Hello {
  uint32_t magic;
  uint32_t frame;
};
constexpr uint32_t HELLO_MAGIC = 0x54534831;

#endif
