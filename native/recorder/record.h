/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes the records of the event file (docs/event-file.md). With a constant kind, the compiler computes all sizes, and
 * a record costs one store a word and one for its head.
 */
#ifndef TACHO_RECORDER_RECORD_H_
#define TACHO_RECORDER_RECORD_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tacho/events.h"
#include "tacho/widths.h"

/* Bytes at the end of a chunk in which no record lies: each word is stored as 8 bytes, so the last one of a record may
 * write zeros beyond it. */
#define RECORD_SLACK 8u
#define RECORD_TIME 8u /* bytes of a TACHO_TIME record */

static inline __attribute__((always_inline)) uint64_t record_widths(uint32_t kind) {
  return kind < sizeof tacho_widths / sizeof *tacho_widths ? tacho_widths[kind] : 0;
}

/* Returns the width of a word of `count`. */
static inline __attribute__((always_inline)) uint32_t record_width(uint64_t widths, uint32_t count, uint32_t word) {
  return widths >> 4 * (count - 1 - word) & 15;
}

/* Returns the bytes of a record with these widths: its head, the sum of the widths, and what fills it up. */
static inline __attribute__((always_inline)) uint32_t record_size(uint64_t widths) {
  const uint64_t nibbles = UINT64_C(0x0f0f0f0f0f0f0f0f);
  const uint64_t pairs = (widths & nibbles) + (widths >> 4 & nibbles);
  const uint32_t payload = (uint32_t)(pairs * UINT64_C(0x0101010101010101) >> 56);
  return 4 + (payload + 3) / 4 * 4;
}

static inline uint32_t record_wide_size(uint32_t count) { return 8 + 8 * count; }

/* Returns 0 if the kind has `count` words, and each of them fits its width. */
static inline __attribute__((always_inline)) uint64_t record_misfit(uint32_t kind, const uint64_t *words,
                                                                    uint32_t count) {
  const uint64_t widths = record_widths(kind);
  const uint32_t listed = widths == 0 ? 0 : (67 - (uint32_t)__builtin_clzll(widths)) / 4;
  if (listed != count || kind > UINT8_MAX) return 1;
  uint64_t pointers = 0, beyond = 0;
#pragma GCC unroll 8
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t width = record_width(widths, count, i);
    if (width == 6) {
      pointers |= words[i];
    } else if (width < 8) {
      beyond |= words[i] >> 8 * width;
    }
  }
  return pointers >> 48 | beyond;
}

/* The head goes last, with release order: if the process is killed in between, a head of 0 stays. */
static inline __attribute__((always_inline)) void record_publish(char *at, uint64_t delta, uint32_t kind) {
  atomic_store_explicit((_Atomic uint32_t *)(void *)at, (uint32_t)(delta << 8) | kind, memory_order_release);
}

/* Writes a record whose words fit. */
static inline __attribute__((always_inline)) void record_put(char *at, uint64_t delta, uint32_t kind,
                                                             const uint64_t *words, uint32_t count) {
  const uint64_t widths = record_widths(kind);
  char *word = at + 4;
#pragma GCC unroll 8
  for (uint32_t i = 0; i < count; i++) {
    memcpy(word, &words[i], sizeof *words); /* the bytes beyond its width are 0, and the next word covers them */
    word += record_width(widths, count, i);
  }
  record_publish(at, delta, kind);
}

/* Writes an event of any kind and any words. */
static inline void record_put_wide(char *at, uint64_t delta, uint32_t kind, const uint64_t *words, uint32_t count) {
  const uint32_t first = kind << 16 | 2 * count;
  memcpy(at + 4, &first, sizeof first);
  if (count > 0) memcpy(at + 8, words, count * sizeof *words);
  record_publish(at, delta, TACHO_WIDE);
}

/* Writes that later heads count from this many ticks after the base of the chunk. */
static inline void record_put_time(char *at, uint64_t since_base) {
  const uint32_t high = (uint32_t)(since_base >> TACHO_TICKS_BITS);
  memcpy(at + 4, &high, sizeof high);
  record_publish(at, since_base & ((1u << TACHO_TICKS_BITS) - 1), TACHO_TIME);
}

/* Fills in the header's sizes of payloads. */
static inline void record_describe(uint8_t sizes[128]) {
  memset(sizes, 0, 128);
  for (uint32_t kind = 1; kind < 256; kind++) {
    uint32_t size = record_size(tacho_widths[kind]) / 4 - 1;
    if (kind == TACHO_TIME) size = 1;
    if (kind == TACHO_TEXT || kind == TACHO_WIDE) size = TACHO_ANY_SIZE;
    sizes[kind / 2] |= (uint8_t)(size << kind % 2 * 4);
  }
}

#endif /* TACHO_RECORDER_RECORD_H_ */
