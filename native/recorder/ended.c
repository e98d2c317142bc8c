/* SPDX-License-Identifier: Apache-2.0 */
#include "ended.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "storage.h"

#define NOTES 1024u
#define USED_BITS 16u /* enough bits for any number of used bytes in a chunk */

/* Each note is chunk << USED_BITS | used bytes; 0: none. */
static _Atomic uint64_t notes[NOTES];
static _Atomic uint64_t noted;
static _Atomic uint64_t bytes_given_back;

/* The limit is one of storage: the file may grow by as many bytes as were given back. */
static void raise_limit(uint64_t bytes) {
  uint64_t before = atomic_fetch_add_explicit(&bytes_given_back, bytes, memory_order_relaxed);
  uint64_t chunks = (before + bytes) / TACHO_CHUNK_SIZE - before / TACHO_CHUNK_SIZE;
  if (chunks > 0) atomic_fetch_add_explicit(storage_live(&storage_header->chunks_max), chunks, memory_order_relaxed);
}

static void give_back(uint64_t note) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  const uint64_t start = TACHO_HEADER_SIZE + (note >> USED_BITS) * TACHO_CHUNK_SIZE;
  const uint64_t from = (start + (note & ((1u << USED_BITS) - 1)) + page - 1) / page * page;
  const uint64_t to = (start + TACHO_CHUNK_SIZE) / page * page;
  if (from < to && storage_punch(from, to)) raise_limit(to - from);
}

void ended_note(uint64_t chunk, uint64_t used_bytes) {
  uint64_t slot = atomic_fetch_add_explicit(&noted, 1, memory_order_relaxed) % NOTES;
  uint64_t before = atomic_exchange_explicit(&notes[slot], chunk << USED_BITS | used_bytes, memory_order_relaxed);
  if (before == 0) return;
  int saved = errno;
  give_back(before);
  errno = saved;
}

void ended_give_back(void) {
  /* Only the keeper uses it. In a forked child, the next keeper continues from it. */
  static uint64_t seen;
  uint64_t now = atomic_load_explicit(&noted, memory_order_relaxed);
  if (now - seen > NOTES) seen = now - NOTES;
  for (; seen != now; seen++) {
    uint64_t note = atomic_exchange_explicit(&notes[seen % NOTES], 0, memory_order_relaxed);
    if (note != 0) give_back(note);
  }
}

void ended_forget(void) {
  for (unsigned i = 0; i < NOTES; i++) atomic_store_explicit(&notes[i], 0, memory_order_relaxed);
  atomic_store_explicit(&bytes_given_back, 0, memory_order_relaxed);
}
