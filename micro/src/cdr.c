/* SPDX-License-Identifier: Apache-2.0
 * Writes and reads XCDR1 bodies (tacho_micro_cdr.h) on hosts of either byte order. It writes little endian. */
#include "tacho_micro_cdr.h"

#include <string.h>

#define HOST_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

static void copy(uint8_t *to, const uint8_t *from, uint32_t width, uint32_t size, bool reverse) {
  if (width == 1 || !reverse) {
    memcpy(to, from, size);
    return;
  }
  for (uint32_t i = 0; i < size; i++) to[i] = from[(i / width) * width + (width - 1 - i % width)];
}

/* Returns the bytes of padding before a value of that width if it and `size` bytes fit; -1 otherwise. */
static int32_t room(uint32_t at, uint32_t end, uint32_t width, uint32_t count) {
  uint32_t pad = (width - at % width) % width;
  if (count == 0) return 0;
  if (pad > end - at || count > (end - at - pad) / width) return -1;
  return (int32_t)pad;
}

void cdr_write(struct cdr_writer *cdr, const void *values, uint32_t width, uint32_t count) {
  int32_t pad = cdr->overflow ? -1 : room(cdr->at, cdr->size, width, count);
  if (pad < 0) {
    cdr->overflow = true;
    return;
  }
  while (pad--) cdr->body[cdr->at++] = 0;
  if (count) copy(cdr->body + cdr->at, values, width, width * count, !HOST_LITTLE);
  cdr->at += width * count;
}

void cdr_read(struct cdr_reader *cdr, void *values, uint32_t width, uint32_t count) {
  int32_t pad = cdr->bad ? -1 : room(cdr->at, cdr->size, width, count);
  if (pad < 0) {
    cdr->bad = true;
    if (count) memset(values, 0, width * count);
    return;
  }
  cdr->at += (uint32_t)pad;
  if (count) copy(values, cdr->body + cdr->at, width, width * count, cdr->little_endian != HOST_LITTLE);
  cdr->at += width * count;
}

void cdr_write_length(struct cdr_writer *cdr, uint32_t length, uint32_t bound) {
  if (length > bound) cdr->overflow = true;
  cdr_write(cdr, &length, 4, 1);
}

uint32_t cdr_read_length(struct cdr_reader *cdr, uint32_t bound) {
  uint32_t length = 0;
  cdr_read(cdr, &length, 4, 1);
  if (length > bound) cdr->bad = true;
  return cdr->bad ? 0 : length;
}

void cdr_write_string(struct cdr_writer *cdr, struct micro_string text, uint32_t bound) {
  uint32_t at = (cdr->at + 3) & ~3u, size = text.size + 1;
  if (cdr->overflow || at > cdr->size || cdr->size - at < 4 || size > cdr->size - at - 4 || size == 0 ||
      (bound && text.size > bound)) {
    cdr->overflow = true;
    return;
  }
  while (cdr->at < at) cdr->body[cdr->at++] = 0;
  uint8_t *p = cdr->body + at;
  for (unsigned i = 0; i < 4; i++) p[i] = (uint8_t)(size >> (8 * i));
  memcpy(p + 4, text.data, text.size);
  p[4 + text.size] = 0;
  cdr->at = at + 4 + size;
}

void cdr_read_string(struct cdr_reader *cdr, struct micro_string *text, uint32_t bound) {
  uint32_t length = cdr_read_length(cdr, bound ? bound + 1 : UINT32_MAX);
  text->data = "";
  text->size = 0;
  if (cdr->bad || length == 0) return; /* some writers send an empty string without its NUL */
  const char *data = (const char *)cdr->body + cdr->at;
  if (length > cdr->size - cdr->at || data[length - 1] != 0) {
    cdr->bad = true;
    return;
  }
  cdr->at += length;
  text->data = data;
  text->size = length - 1;
}
