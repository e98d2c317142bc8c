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
  const uint64_t *words;
};

/* Returns the next event of a chunk, or 0 if there is none. Start with *at = 0. */
static inline int event_next(const struct tacho_chunk_header *chunk, uint32_t *at, struct event *event) {
  const uint64_t *words = (const uint64_t *)(chunk + 1);
  const uint32_t room = (TACHO_CHUNK_SIZE - sizeof *chunk) / 8;
  if (*at >= room || words[*at] == 0) {
    for (uint32_t i = *at; i < room; i++) {
      /* Words after the last head belong to a record whose head was never written: at most one record. */
      EXPECT(words[i] == 0 || i <= *at + TACHO_MAX_WORDS, "word %u after the end at %u", i, *at);
    }
    return 0;
  }
  uint64_t head = words[*at];
  event->ticks = chunk->base_ticks + (head >> 16);
  event->kind = (uint32_t)(head >> 6) & 1023;
  event->count = (uint32_t)head & 63;
  event->words = words + *at + 1;
  EXPECT(event->kind != 0, "head %llx", (unsigned long long)head);
  EXPECT(*at + 1 + event->count <= room, "a record of %u words at %u", event->count, *at);
  *at += 1 + event->count;
  return 1;
}

#endif /* TACHO_EVENTS_READER_H_ */
