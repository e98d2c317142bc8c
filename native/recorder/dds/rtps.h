/* SPDX-License-Identifier: Apache-2.0
 *
 * What samples an RTPS message carries: OMG DDSI-RTPS 2.5, sections 9.4.4 and 9.4.5. Only headers are read, never payloads.
 */
#ifndef TACHO_RECORDER_DDS_RTPS_H_
#define TACHO_RECORDER_DDS_RTPS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* One DATA or DATA_FRAG submessage of a user's writer; fields as the payload of TACHO_DDS_SEND. */
struct rtps_sample {
  uint64_t writer[2]; /* GUID, its 16 bytes */
  int64_t sequence;
  int64_t source_timestamp_ns; /* of the Unix epoch; 0: none */
  uint64_t first_fragment;     /* from 1; a sample that is sent whole is fragment 1 of 1 */
  uint64_t fragments;          /* in this submessage */
  uint64_t of_fragments;       /* that the sample has */
};

/* Where the reading of a message stands. Its pieces lie in `count` buffers, of which the first `size` bytes belong to it. */
struct rtps_reader {
  const struct iovec *buffers;
  size_t count;
  size_t size;     /* bytes of the message that were not passed yet, the present buffer's included */
  size_t buffer;   /* present one */
  size_t offset;   /* in it */
  uint8_t prefix[12];
  int64_t source_timestamp_ns;
};

/* Whether these bytes begin as an RTPS message does. */
static inline bool rtps_begins(const void *bytes, size_t size)
{
  return size >= 4 && __builtin_memcmp(bytes, "RTPS", 4) == 0;
}

/* Begins to read; false if this is no RTPS message. */
bool rtps_open(struct rtps_reader *reader, const struct iovec *buffers, size_t count, size_t size);

/* The next sample of a user's writer; false at the end of the message, or where it is no longer as the specification has it. */
bool rtps_next(struct rtps_reader *reader, struct rtps_sample *sample);

#endif /* TACHO_RECORDER_DDS_RTPS_H_ */
