/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists the samples that an RTPS message carries: OMG DDSI-RTPS 2.5, sections 9.4.4 and 9.4.5. It reads only headers,
 * never payloads.
 */
#ifndef TACHO_RECORDER_DDS_RTPS_H_
#define TACHO_RECORDER_DDS_RTPS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* One DATA or DATA_FRAG submessage of a user's writer. The fields are those in the payload of TACHO_DDS_SEND. */
struct rtps_sample {
  uint64_t writer[2]; /* GUID, its 16 bytes */
  int64_t sequence;
  int64_t source_timestamp_ns; /* since the Unix epoch; 0: none */
  uint64_t first_fragment;     /* from 1; a sample that is sent whole is fragment 1 of 1 */
  uint64_t fragments;          /* in this submessage */
  uint64_t of_fragments;       /* the fragments of the whole sample */
};

/* The position of a reader in a message. The message lies in `count` buffers; only their first `size` bytes belong to
 * it. */
struct rtps_reader {
  const struct iovec *buffers;
  size_t count;
  size_t size;   /* unread bytes of the message, including those of the current buffer */
  size_t buffer; /* current buffer */
  size_t offset; /* position in it */
  uint8_t prefix[12];
  int64_t source_timestamp_ns;
};

/* Returns whether these bytes begin like an RTPS message. */
static inline bool rtps_begins(const void *bytes, size_t size) {
  return size >= 4 && __builtin_memcmp(bytes, "RTPS", 4) == 0;
}

/* Begins to read. Returns false if this is no RTPS message. */
bool rtps_open(struct rtps_reader *reader, const struct iovec *buffers, size_t count, size_t size);

/* Returns the next sample of a user's writer. Returns false at the end of the message, or if it no longer follows the
 * specification. */
bool rtps_next(struct rtps_reader *reader, struct rtps_sample *sample);

#endif /* TACHO_RECORDER_DDS_RTPS_H_ */
