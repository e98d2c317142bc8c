// SPDX-License-Identifier: Apache-2.0
//
// Computes a number that distinguishes the messages of one connection. It covers all bytes of a short message. For a
// long one it covers the length, the first and last bytes and some in between, so that a megabyte costs no more. A
// header's sequence number and stamp are among the first bytes.
#ifndef TACHO_RECORDER_ROS1_DIGEST_H_
#define TACHO_RECORDER_ROS1_DIGEST_H_

#include <cstdint>
#include <cstring>

inline uint64_t digest_of(const uint8_t *bytes, uint32_t size) {
  constexpr uint32_t WHOLE = 1024, EDGE = 256, SAMPLES = 32;
  uint64_t digest = 0x9e3779b97f4a7c15u ^ size;
  const auto mix = [&digest](uint64_t word) {  // the finaliser of MurmurHash3 (Appleby, public domain)
    digest = (digest ^ word) * 0xff51afd7ed558ccdu;
    digest ^= digest >> 33;
  };
  const auto add = [&](uint32_t from, uint32_t to) {
    for (uint32_t at = from; at < to; at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, bytes + at, to - at < 8 ? to - at : 8);
      mix(word);
    }
  };
  if (size <= WHOLE) {
    add(0, size);
  } else {
    add(0, EDGE);
    for (uint32_t sample = 1; sample <= SAMPLES; sample++) {
      const uint32_t at = EDGE + static_cast<uint32_t>(uint64_t{size - 2 * EDGE - 8} * sample / SAMPLES);
      add(at, at + 8);
    }
    add(size - EDGE, size);
  }
  return digest == 0 ? 1 : digest;  // 0 means that there is no digest
}

#endif
