/* SPDX-License-Identifier: Apache-2.0 */
#include "rtps.h"

#include <string.h>

enum submessage {
  INFO_TS = 0x09,
  INFO_SRC = 0x0c,
  DATA = 0x15,
  DATA_FRAG = 0x16,
  PAD = 0x01,
};

#define LITTLE_ENDIAN_FLAG 0x01
#define INVALIDATE_FLAG 0x02 /* in INFO_TS */
#define DATA_FLAG 0x04       /* in DATA: it carries a serialised payload; otherwise it is a disposal */
#define KEY_FLAG 0x04        /* in DATA_FRAG: it carries a serialised key instead of data */
#define HEADER_SIZE 20
#define DATA_SIZE 20
#define DATA_FRAG_SIZE 32

/* Skips `size` bytes and, if `to` is given, copies them there. Returns false if the message ends earlier. */
static bool pass(struct rtps_reader *reader, void *to, size_t size) {
  char *at = to;
  if (size > reader->size) return false;
  reader->size -= size;
  while (size > 0) {
    if (reader->buffer >= reader->count) return false;
    const struct iovec *buffer = &reader->buffers[reader->buffer];
    size_t left = buffer->iov_len - reader->offset;
    size_t part = size < left ? size : left;
    if (at != NULL && part > 0) {
      memcpy(at, (const char *)buffer->iov_base + reader->offset, part);
      at += part;
    }
    reader->offset += part;
    size -= part;
    if (reader->offset == buffer->iov_len) {
      reader->buffer++;
      reader->offset = 0;
    }
  }
  return true;
}

static uint16_t two(const uint8_t *at, bool little) {
  return (uint16_t)(little ? at[0] | at[1] << 8 : at[1] | at[0] << 8);
}

static uint32_t four(const uint8_t *at, bool little) {
  uint32_t low = two(little ? at : at + 2, little), high = two(little ? at + 2 : at, little);
  return high << 16 | low;
}

bool rtps_open(struct rtps_reader *reader, const struct iovec *buffers, size_t count, size_t size) {
  uint8_t header[HEADER_SIZE];
  *reader = (struct rtps_reader){.buffers = buffers, .count = count, .size = size};
  if (!pass(reader, header, sizeof header) || !rtps_begins(header, sizeof header)) return false;
  memcpy(reader->prefix, header + 8, sizeof reader->prefix);
  return true;
}

/* Converts seconds and 2^-32 s to the nearest ns (section 9.3.2.1). */
static int64_t nanoseconds(const uint8_t *time, bool little) {
  uint64_t fraction = four(time + 4, little);
  return (int64_t)(int32_t)four(time, little) * 1000000000 + (int64_t)((fraction * 1000000000 + (1u << 31)) >> 32);
}

/* Reads the fields that DATA and DATA_FRAG share: flags, offset, reader, writer, sequence number. Returns false for a
 * writer of the DDS itself (section 9.3.1.2: the upper bits of an entity's kind). */
static bool read_sample(const struct rtps_reader *reader, const uint8_t *body, bool little,
                        struct rtps_sample *sample) {
  uint8_t guid[16];
  memcpy(guid, reader->prefix, 12);
  memcpy(guid + 12, body + 8, 4);
  if ((guid[15] & 0xc0) != 0) return false;
  memcpy(sample->writer, guid, sizeof guid);
  sample->sequence = (int64_t)((uint64_t)four(body + 12, little) << 32 | four(body + 16, little));
  sample->source_timestamp_ns = reader->source_timestamp_ns;
  sample->first_fragment = sample->fragments = sample->of_fragments = 1;
  return true;
}

bool rtps_next(struct rtps_reader *reader, struct rtps_sample *sample) {
  uint8_t head[4], body[DATA_FRAG_SIZE];
  while (pass(reader, head, sizeof head)) {
    bool little = head[1] & LITTLE_ENDIAN_FLAG, found = false;
    size_t length = two(head + 2, little), read = 0;
    /* Section 9.4.5.1.3: 0 means up to the end of the message, except for submessages that may be empty. */
    if (length == 0 && head[0] != PAD && head[0] != INFO_TS) length = reader->size;
    switch (head[0]) {
      case INFO_TS:
        reader->source_timestamp_ns = 0;
        if (head[1] & INVALIDATE_FLAG) break;
        if (length < 8 || !pass(reader, body, read = 8)) return false;
        reader->source_timestamp_ns = nanoseconds(body, little);
        break;
      case INFO_SRC:
        if (length < 20 || !pass(reader, body, read = 20)) return false;
        memcpy(reader->prefix, body + 8, sizeof reader->prefix);
        reader->source_timestamp_ns = 0;
        break;
      case DATA:
        if (length < DATA_SIZE || !pass(reader, body, read = DATA_SIZE)) return false;
        found = (head[1] & DATA_FLAG) && read_sample(reader, body, little, sample);
        break;
      case DATA_FRAG:
        if (length < DATA_FRAG_SIZE || !pass(reader, body, read = DATA_FRAG_SIZE)) return false;
        found = !(head[1] & KEY_FLAG) && read_sample(reader, body, little, sample);
        uint32_t fragment_size = two(body + 26, little), sample_size = four(body + 28, little);
        if (fragment_size == 0) return false;
        sample->first_fragment = four(body + 20, little);
        sample->fragments = two(body + 24, little);
        sample->of_fragments = ((uint64_t)sample_size + fragment_size - 1) / fragment_size;
        break;
      default:
        break;
    }
    /* Skips the rest of the submessage. A message that ends inside its last payload still contained everything we need. */
    bool whole = pass(reader, NULL, length - read);
    if (found) {
      if (!whole) reader->size = 0;
      return true;
    }
    if (!whole) return false;
  }
  return false;
}
