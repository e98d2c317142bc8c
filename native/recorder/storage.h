/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates and maps the event file of this process, and keeps it ahead of what threads use. The program's own threads
 * only reserve a chunk and look up its address; the keeper has already done everything that can fail or wait. If the
 * keeper got no CPU in time, for example when hundreds of threads start at once, a thread makes the chunk that it needs
 * itself. This costs some system calls, but no event is lost.
 */
#ifndef TACHO_RECORDER_STORAGE_H_
#define TACHO_RECORDER_STORAGE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tacho/events.h"

/* Each mapping covers 16 MiB of the file, so that the address space grows with use (RLIMIT_AS, mlockall). */
#define SEGMENT_CHUNKS TACHO_SEGMENT_CHUNKS
#define BLOCK_SEGMENTS 512u /* one page of addresses */
#define BLOCKS_MAX (TACHO_CHUNKS_LIMIT / SEGMENT_CHUNKS / BLOCK_SEGMENTS)

/* The header of the open file; NULL if there is none. */
extern struct tacho_file_header *storage_header;
/* Mappings. Each covers SEGMENT_CHUNKS chunks and as many bytes as a header has. Each overlaps the last page of
 * the one before, so that their offsets are multiples of any page size. An entry is set before chunks_allocated makes
 * it
 * usable, and NULL again once nobody needs it. */
extern _Atomic(char *) *_Atomic storage_blocks[BLOCKS_MAX];

/* Returns the limit from TACHO_EVENTS_MAX_BYTES. Prints a message on stderr and returns the default if the value is
 * wrong. */
uint64_t storage_max_bytes(void);

/* Creates `directory`/<pid>-<ns>.events with `ahead` chunks and fills in its header, except for the magic. Returns 0,
 * or an errno after writing what failed to `error`. */
int storage_open(const char *directory, uint64_t max_bytes, uint64_t ahead, char *error, unsigned error_size);

/* Returns the file's current limit in chunks. */
uint64_t storage_chunks_max(void);

/* Returns whether a thread that asked for a chunk now would get none, because of the limit or because the disk refused
 * the last growth. Threads then do not reserve chunks that they may never use. */
bool storage_is_used_up(void);

/* Makes chunks up to `wanted` usable, as far as the limit, the disk and RLIMIT_FSIZE allow. False: some are not usable,
 * and header->storage_error holds the reason unless it is the limit. Only the keeper calls it, or the only thread there
 * is; other threads call storage_make. */
bool storage_grow(uint64_t wanted);

/* Makes the chunk that a thread has reserved usable, and some chunks after it. It takes no lock; many threads may call
 * it at once, even in signal handlers. False: there is no storage now. After a failure only the keeper tries again,
 * once a second. */
bool storage_make(uint64_t chunk);

/* Unmaps the segments that header->unmap names: in a ring file, those whose chunks no thread uses any more. Only the
 * keeper calls it. */
void storage_unmap_what_was_let_go(void);

/* Takes page faults on chunks [from, to) now, so that the program does not take them later. Contents stay. */
void storage_populate(uint64_t from, uint64_t to);

/* Removes chunks [from, to) from the program's resident set. Contents stay: a thread that touches a chunk again takes a
 * page fault. */
void storage_give_back(uint64_t from, uint64_t to);

/* Punches a hole of whole pages into the file. False: the file system cannot do this or refused, and we never try
 * again. Any thread may call it. */
bool storage_punch(uint64_t from, uint64_t to);

/* In a forked child: releases the parent's file. `writing`: a signal handler forked during the writing of an event,
 * which continues in the child. Private memory then replaces the mapped file. */
void storage_leave_to_parent(bool writing);

static inline char *storage_chunk(uint64_t index) {
  uint64_t segment = index / SEGMENT_CHUNKS;
  char *mapping =
      atomic_load_explicit(&storage_blocks[segment / BLOCK_SEGMENTS][segment % BLOCK_SEGMENTS], memory_order_relaxed);
  return mapping + TACHO_HEADER_SIZE + (index % SEGMENT_CHUNKS) * (uint64_t)TACHO_CHUNK_SIZE;
}

/* The live fields are plain words in events.h for readers in any language. Here they are atomic. */
static inline _Atomic uint64_t *storage_live(uint64_t *field) { return (_Atomic uint64_t *)field; }

#endif /* TACHO_RECORDER_STORAGE_H_ */
