/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads event files for the recorder's tests. It was written from docs/event-file.md and not from the recorder. Any
 * violation of the format ends the test.
 */
#ifndef TACHO_EVENTS_READER_H_
#define TACHO_EVENTS_READER_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tacho/events.h"
#include "tacho/widths.h"

struct event_file {
  struct tacho_file_header header;
  char *bytes; /* the whole file */
  uint64_t size;
  uint64_t chunks; /* whole chunks in it */
};

#define EXPECT(condition, ...)                                        \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                   \
      fprintf(stderr, "\n");                                          \
      abort();                                                        \
    }                                                                 \
  } while (0)

static inline struct event_file event_file_read(const char *path) {
  struct event_file file = {.size = 0};
  FILE *stream = fopen(path, "rb");
  EXPECT(stream != NULL, "%s", path);
  fseek(stream, 0, SEEK_END);
  file.size = (uint64_t)ftell(stream);
  rewind(stream);
  file.bytes = malloc(file.size);
  EXPECT(file.bytes != NULL && fread(file.bytes, 1, file.size, stream) == file.size, "%s", path);
  fclose(stream);
  EXPECT(file.size >= TACHO_HEADER_SIZE, "%s: %llu bytes", path, (unsigned long long)file.size);
  memcpy(&file.header, file.bytes, sizeof file.header);
  file.chunks = (file.size - TACHO_HEADER_SIZE) / TACHO_CHUNK_SIZE;
  return file;
}

static inline int event_file_complete(const struct event_file *file) {
  return memcmp(file->header.magic, TACHO_MAGIC, 8) == 0;
}

static inline const struct tacho_chunk_header *event_file_chunk(const struct event_file *file, uint64_t index) {
  const struct tacho_chunk_header *chunk =
      (const struct tacho_chunk_header *)(file->bytes + TACHO_HEADER_SIZE + index * TACHO_CHUNK_SIZE);
  return chunk->magic == TACHO_CHUNK_MAGIC ? chunk : NULL;
}

struct event {
  uint64_t ticks;
  uint32_t kind;
  uint32_t count;
  uint64_t words[TACHO_MAX_WORDS];
};

/* A position in a chunk; it begins with zeros. */
struct place {
  uint32_t at;                  /* bytes of records that were read */
  uint64_t passed;              /* ticks from base_ticks to where heads count from */
  uint64_t gids[TACHO_GIDS][2]; /* by their numbers */
};

/* Returns the next event or text of a chunk, or 0 if there is none. */
static inline int event_next(const struct event_file *file, const struct tacho_chunk_header *chunk, struct place *place,
                             struct event *event) {
  const char *records = (const char *)(chunk + 1);
  const uint32_t room = TACHO_CHUNK_SIZE - sizeof *chunk;
  for (;;) {
    uint32_t head = 0, first = 0;
    if (place->at + 4 <= room) memcpy(&head, records + place->at, sizeof head);
    if (head == 0) {
      /* What follows the last head belongs to a record whose head was never written: at most one record. */
      for (uint32_t i = place->at; i < room; i++) {
        EXPECT(records[i] == 0 || i < place->at + 8 + 2 * (TACHO_TEXT_MAX + 1), "byte %u after the end at %u", i,
               place->at);
      }
      return 0;
    }
    const uint32_t kind = head & 255;
    uint32_t size = 4 * (uint32_t)(file->header.sizes[kind / 2] >> (kind % 2 * 4) & 15), payload = place->at + 4;
    EXPECT(kind != 0, "head %x", head);
    if (size == 4 * TACHO_ANY_SIZE) {
      memcpy(&first, records + payload, sizeof first);
      payload += 4;
      size = 4 * (first & 0xffff);
    }
    EXPECT(payload + size <= room, "a record of %u bytes at %u", size, place->at);
    place->at = payload + size;
    if (kind == TACHO_TIME) {
      place->passed = (uint64_t)(head >> 8) << 24;
      continue;
    }
    if (kind == TACHO_GID) {
      uint32_t number;
      memcpy(&number, records + payload, sizeof number);
      EXPECT(number < TACHO_GIDS, "gid %u", number);
      memcpy(place->gids[number], records + payload + 4, 16);
      continue;
    }
    event->ticks = chunk->base_ticks + place->passed + (head >> 8);
    event->kind = kind;
    event->count = 0;
    for (uint32_t whole = 1; whole < 256; whole++) {
      if (tacho_short[whole] == kind) event->kind = whole;
    }
    if (kind == TACHO_WIDE) {
      event->kind = first >> 16;
      event->count = size / 8;
      EXPECT(event->count <= TACHO_MAX_WORDS, "%u words", event->count);
      memcpy(event->words, records + payload, size);
    } else if (kind != TACHO_TEXT) {
      const uint64_t digits = tacho_widths[kind];
      uint32_t at = payload;
      while (event->count < 16 && digits >> 4 * event->count != 0) event->count++;
      for (uint32_t i = 0; i < event->count; i++) {
        const uint32_t digit = digits >> 4 * (event->count - 1 - i) & 15;
        const uint32_t width = digit <= 8 ? digit : digit == 0x9 ? 4 : digit == 0xa ? 6 : digit == 0xb ? 1 : 0;
        event->words[i] = 0;
        memcpy(&event->words[i], records + at, width);
        at += width;
        EXPECT(at <= place->at, "word %u of kind %u ends at %u", i, kind, at);
        if (digit == 0xb) event->words[i] = place->gids[event->words[i]][0];
        if (digit == 0xc) event->words[i] = place->gids[(uint8_t)records[at - 1]][1];
        if (digit == 0xf) event->words[i] = 1;
      }
    }
    return 1;
  }
}

#endif /* TACHO_EVENTS_READER_H_ */
