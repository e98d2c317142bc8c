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
#define RECORD_TIME 4u /* bytes of a TACHO_TIME record */
#define RECORD_GID 24u /* bytes of a TACHO_GID record */

/* Digits of widths.h that are no number of bytes. */
enum record_digit {
  RECORD_POINTER = 0x9,
  RECORD_MADE = 0xa,
  RECORD_NUMBERED = 0xb,
  RECORD_SECOND = 0xc,
  RECORD_ZERO = 0xe,
  RECORD_ONE = 0xf,
};

static inline __attribute__((always_inline)) uint64_t record_widths(uint32_t kind) {
  return kind < sizeof tacho_widths / sizeof *tacho_widths ? tacho_widths[kind] : 0;
}

/* Returns the short form of a kind; 0: it has none. */
static inline __attribute__((always_inline)) uint32_t record_short(uint32_t kind) {
  return kind < sizeof tacho_short / sizeof *tacho_short ? tacho_short[kind] : 0;
}

/* Returns the digit of a word of `count`. */
static inline __attribute__((always_inline)) uint32_t record_digit(uint64_t widths, uint32_t count, uint32_t word) {
  return widths >> 4 * (count - 1 - word) & 15;
}

static inline __attribute__((always_inline)) uint32_t record_bytes(uint32_t digit) {
  /* One hexadecimal digit each, digit 0 in the lowest: 1 to 8, then those of the enumeration. */
  return UINT64_C(0x0000164876543210) >> 4 * digit & 15;
}

static inline __attribute__((always_inline)) uint32_t record_words(uint64_t widths) {
  return widths == 0 ? 0 : (67 - (uint32_t)__builtin_clzll(widths)) / 4;
}

/* Returns the bytes of a record with these widths: its head, its words, and what fills it up. */
static inline __attribute__((always_inline)) uint32_t record_size(uint64_t widths) {
  uint32_t payload = 0;
#pragma GCC unroll 16
  for (uint32_t i = 0; i < 16; i++) payload += record_bytes(widths >> 4 * i & 15);
  return 4 + (payload + 3) / 4 * 4;
}

/* Returns how many gids have numbers in records with these widths. */
static inline __attribute__((always_inline)) uint32_t record_gids(uint64_t widths) {
  /* A digit that is this one becomes 0, and its lowest bit 1. */
  const uint64_t lowest = UINT64_C(0x1111111111111111), other = widths ^ RECORD_NUMBERED * lowest;
  const uint64_t found = ~(other | other >> 1 | other >> 2 | other >> 3) & lowest;
  return (uint32_t)(found * lowest >> 60);
}

static inline uint32_t record_wide_size(uint32_t count) { return 8 + 8 * count; }

/* Returns 0 if the kind has `count` words, and each of them fits. */
static inline __attribute__((always_inline)) uint64_t record_misfit(uint32_t kind, const uint64_t *words,
                                                                    uint32_t count) {
  const uint64_t widths = record_widths(kind);
  if (record_words(widths) != count || kind > UINT8_MAX) return 1;
  uint64_t beyond = 0;
#pragma GCC unroll 8
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t digit = record_digit(widths, count, i);
    if (digit == RECORD_ZERO || digit == RECORD_ONE) {
      beyond |= words[i] ^ (digit == RECORD_ONE);
    } else if (digit < 8 || digit == RECORD_MADE) {
      beyond |= words[i] >> 8 * record_bytes(digit);
    }
  }
  return beyond;
}

/* Returns whether the words that a short form leaves out have the values that it stands for. */
static inline __attribute__((always_inline)) bool record_leaves_out(uint64_t widths, const uint64_t *words,
                                                                    uint32_t count) {
  uint64_t other = 0;
#pragma GCC unroll 8
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t digit = record_digit(widths, count, i);
    if (digit == RECORD_ZERO || digit == RECORD_ONE) other |= words[i] ^ (digit == RECORD_ONE);
  }
  return other == 0;
}

/* The head goes last, with release order: if the process is killed in between, a head of 0 stays. */
static inline __attribute__((always_inline)) void record_publish(char *at, uint64_t delta, uint32_t kind) {
  atomic_store_explicit((_Atomic uint32_t *)(void *)at, (uint32_t)(delta << 8) | kind, memory_order_release);
}

/* Writes a record whose words fit. `numbers` are those of its gids. */
static inline __attribute__((always_inline)) void record_put(char *at, uint64_t delta, uint32_t kind,
                                                             const uint64_t *words, uint32_t count,
                                                             const uint8_t *numbers) {
  const uint64_t widths = record_widths(kind);
  char *word = at + 4;
#pragma GCC unroll 8
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t digit = record_digit(widths, count, i);
    if (digit == RECORD_POINTER) {
      const uint32_t low = (uint32_t)words[i];
      memcpy(word, &low, sizeof low);
    } else if (digit == RECORD_NUMBERED) {
      *word = (char)*numbers++;
    } else if (digit <= 8 || digit == RECORD_MADE) {
      memcpy(word, &words[i], sizeof *words); /* the bytes beyond its width are 0, and the next word covers them */
    }
    word += record_bytes(digit);
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

/* Writes that later heads count from the last multiple of 2^24 ticks after the base of the chunk. */
static inline void record_put_time(char *at, uint64_t since_base) {
  record_publish(at, since_base >> TACHO_TICKS_BITS, TACHO_TIME);
}

/* Writes that later events of this chunk name a gid by this number. Returns where the gid lies. */
static inline const char *record_put_gid(char *at, uint64_t delta, uint32_t number, const uint64_t *gid) {
  memcpy(at + 4, &number, sizeof number);
  memcpy(at + 8, gid, 2 * sizeof *gid);
  record_publish(at, delta, TACHO_GID);
  return at + 8;
}

/* Fills in the header's sizes of payloads. */
static inline void record_describe(uint8_t sizes[128]) {
  memset(sizes, 0, 128);
  for (uint32_t kind = 1; kind < 256; kind++) {
    uint32_t size = record_size(tacho_widths[kind]) / 4 - 1;
    if (kind == TACHO_GID) size = RECORD_GID / 4 - 1;
    if (kind == TACHO_TEXT || kind == TACHO_WIDE) size = TACHO_ANY_SIZE;
    sizes[kind / 2] |= (uint8_t)(size << kind % 2 * 4);
  }
}

#endif /* TACHO_RECORDER_RECORD_H_ */
