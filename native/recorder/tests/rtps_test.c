/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests the reader of RTPS messages with handwritten messages after DDSI-RTPS 2.5: divided into buffers in every way,
 * cut at every length, and with every byte wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../dds/rtps.h"

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#define PREFIX 1, 15, 120, 253, 1, 2, 3, 4, 5, 6, 7, 8
#define HEADER 'R', 'T', 'P', 'S', 2, 3, 1, 15, PREFIX

/* INFO_DST, INFO_TS (1000000001.25 s), DATA of writer 00000103 sequence 2^32 + 7, HEARTBEAT, DATA of the DDS's own writer. */
static const uint8_t little[] = {
    HEADER, 0x0e, 0x01, 12, 0, PREFIX, 0x09, 0x01, 8,   0,   0x01, 0xca, 0x9a, 0x3b, 0,  0, 0, 0x40, 0x15,
    0x05,   28,   0,    0,  0, 16,     0,    0,    0,   0,   0,    0,    0,    1,    3,  1, 0, 0,    0,
    7,      0,    0,    0,  0, 1,      0,    0,    'd', 'a', 't',  'a',  0x07, 0x01, 28, 0, 0, 0,    0,
    0,      0,    0,    1,  3, 0,      0,    0,    0,   1,   0,    0,    0,    0,    0,  0, 0, 7,    0,
    0,      0,    1,    0,  0, 0,      0x15, 0x05, 24,  0,   0,    0,    16,   0,    0,  0, 0, 0,    0,
    0,      2,    0xc2, 0,  0, 0,      0,    1,    0,   0,   0,    0,    1,    0,    0,
};
/* INFO_TS, then fragments 3 and 4 of a sample of 3 * 1000 + 1 bytes, big endian, to the end of the message (length 0). */
static const uint8_t big[] = {
    HEADER, 0x09, 0x00, 0, 8, 0x3b, 0x9a, 0xca, 0x01, 0x40, 0, 0,   0,    0x16, 0x00, 0,   0,   0,
    0,      0,    28,   0, 0, 0,    4,    0,    0,    2,    2, 0,   0,    0,    0,    0,   0,   0,
    9,      0,    0,    0, 3, 0,    2,    3,    0xe8, 0,    0, 0xb, 0xb9, 'd',  'a',  't', 'a',
};
/* An INFO_SRC ahead of the data, the time made invalid, a disposal (no data), and data. */
static const uint8_t relayed[] = {
    HEADER, 0x09, 0x01, 8,  0,  0x01, 0xca, 0x9a, 0x3b, 0,    0,    0,  0x40, 0x0c, 0x01, 20, 0, 0,    0,    0,
    0,      2,    3,    1,  15, 9,    9,    9,    9,    9,    9,    9,  9,    9,    9,    9,  9, 0x15, 0x09, 24,
    0,      0,    0,    16, 0,  0,    0,    0,    0,    0,    0,    1,  3,    0,    0,    0,  0, 1,    0,    0,
    0,      0,    1,    0,  0,  0x09, 0x03, 0,    0,    0x15, 0x05, 24, 0,    0,    0,    16, 0, 0,    0,    0,
    0,      0,    0,    1,  3,  0,    0,    0,    0,    2,    0,    0,  0,    0,    1,    0,  0,
};

static size_t read_all(const struct iovec *buffers, size_t count, size_t size, struct rtps_sample *samples) {
  struct rtps_reader reader;
  size_t found = 0;
  if (!rtps_open(&reader, buffers, count, size)) return 0;
  while (rtps_next(&reader, &samples[found])) CHECK(++found < 64);
  return found;
}

static void check_little(const struct rtps_sample *samples, size_t count) {
  const uint8_t writer[16] = {PREFIX, 0, 0, 1, 3};
  CHECK(count == 1);
  CHECK(memcmp(samples[0].writer, writer, 16) == 0);
  CHECK(samples[0].sequence == (INT64_C(1) << 32) + 7);
  CHECK(samples[0].source_timestamp_ns == INT64_C(1000000001250000000));
  CHECK(samples[0].first_fragment == 1 && samples[0].fragments == 1 && samples[0].of_fragments == 1);
}

static void check_big(const struct rtps_sample *samples, size_t count) {
  CHECK(count == 1);
  CHECK(samples[0].sequence == 9);
  CHECK(samples[0].source_timestamp_ns == INT64_C(1000000001250000000));
  CHECK(samples[0].first_fragment == 3 && samples[0].fragments == 2 && samples[0].of_fragments == 4);
}

static void check_relayed(const struct rtps_sample *samples, size_t count) {
  const uint8_t writer[16] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 1, 3};
  CHECK(count == 1);
  CHECK(memcmp(samples[0].writer, writer, 16) == 0);
  CHECK(samples[0].sequence == 2 && samples[0].source_timestamp_ns == 0);
}

/* Each part has memory of its exact size, so that a sanitiser notices a read beyond it. */
static struct iovec part(const uint8_t *from, size_t size) {
  struct iovec buffer = {malloc(size), size};
  CHECK(buffer.iov_base != NULL || size == 0);
  if (size > 0) memcpy(buffer.iov_base, from, size);
  return buffer;
}

static void message(const uint8_t *bytes, size_t size, void (*check)(const struct rtps_sample *, size_t)) {
  struct rtps_sample samples[64];
  /* The message lies in two and three buffers, of which one may be empty. */
  for (size_t first = 0; first <= size; first++) {
    for (size_t second = first; second <= size; second += 7) {
      struct iovec buffers[] = {part(bytes, first), part(bytes + first, second - first),
                                part(bytes + second, size - second)};
      check(samples, read_all(buffers, 3, size, samples));
      /* A size beyond the buffers ends with the buffers. */
      size_t found = read_all(buffers, 3, size + 100, samples);
      CHECK(found <= 2);
      for (size_t i = 0; i < 3; i++) free(buffers[i].iov_base);
    }
  }
  /* The message is cut at every length: no more samples are found than in the whole, and none before the first sample's
   * header. */
  for (size_t length = 0; length < size; length++) {
    struct iovec buffer = part(bytes, length);
    size_t found = read_all(&buffer, 1, length, samples);
    CHECK(found <= 1);
    CHECK(length > 40 || found == 0);
    free(buffer.iov_base);
  }
  /* Any byte may have any value: the reader ends, and reads nothing beyond the message. */
  for (size_t at = 0; at < size; at++) {
    for (unsigned value = 0; value < 256; value += 3) {
      struct iovec buffer = part(bytes, size);
      ((uint8_t *)buffer.iov_base)[at] = (uint8_t)value;
      read_all(&buffer, 1, size, samples);
      free(buffer.iov_base);
    }
  }
}

int main(void) {
  message(little, sizeof little, check_little);
  message(big, sizeof big, check_big);
  message(relayed, sizeof relayed, check_relayed);
  struct iovec other = part((const uint8_t *)"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27);
  struct rtps_sample sample;
  CHECK(read_all(&other, 1, 27, &sample) == 0);
  free(other.iov_base);
  return 0;
}
