/* SPDX-License-Identifier: Apache-2.0
 *
 * The event file of this process: made, mapped, and kept ahead of what threads use. The program's own threads reserve a
 * chunk and look up its address; everything that can fail or wait is done before, by the keeper. Where it had no CPU in time, as when
 * hundreds of threads start at once, a thread makes the chunk that it needs itself: it costs some system calls, and no event.
 */
#ifndef TACHO_RECORDER_STORAGE_H_
#define TACHO_RECORDER_STORAGE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tacho/events.h"

#define SEGMENT_CHUNKS TACHO_SEGMENT_CHUNKS /* 16 MiB of file a mapping: address space follows what is used (RLIMIT_AS, mlockall) */
#define BLOCK_SEGMENTS 512u                 /* a page of addresses */
#define BLOCKS_MAX (TACHO_CHUNKS_LIMIT / SEGMENT_CHUNKS / BLOCK_SEGMENTS)

/* The header of the open file; NULL while there is none. */
extern struct tacho_file_header *storage_header;
/* Mappings, each of one header's length and SEGMENT_CHUNKS chunks, the second overlapping the first's last page: so
 * that their offsets are multiples of any page size. Written before chunks_allocated says that they may be used; NULL again
 * once nobody needs them any more. */
extern _Atomic(char *) *_Atomic storage_blocks[BLOCKS_MAX];

/* What TACHO_EVENTS_MAX_BYTES says; what it says wrongly is told on stderr. */
uint64_t storage_max_bytes(void);

/* Makes `directory`/<pid>-<ns>.events with `ahead` chunks and fills in its header up to, but not with, the magic.
 * 0, or an errno with what failed written to `error`. */
int storage_open(const char *directory, uint64_t max_bytes, uint64_t ahead, char *error, unsigned error_size);

/* The file's limit, as it is now. */
uint64_t storage_chunks_max(void);

/* Whether a thread that asked for a chunk now would have none: the limit, or what the disk refused last. Nobody reserves one then that he may
 * never use. */
bool storage_is_used_up(void);

/* Makes chunks up to `wanted` usable, as far as the limit, the disk and RLIMIT_FSIZE let it. False: not all of them,
 * and header->storage_error says why unless it is the limit. By the keeper, or the one thread there is; see storage_make. */
bool storage_grow(uint64_t wanted);

/* Makes the chunk that a thread has reserved usable, with some behind it. No lock is taken, many may do it at once, in signal handlers as
 * well. False: there is none for it now; after a failure only the keeper tries again, as it does once a second. */
bool storage_make(uint64_t chunk);

/* Unmaps the segments that header->unmap names: of a file that is a ring, those whose chunks are no thread's any more. By the keeper. */
void storage_unmap_what_was_let_go(void);

/* Takes page faults on chunks [from, to) now rather than on the program's path; contents stay. */
void storage_populate(uint64_t from, uint64_t to);

/* Takes chunks [from, to) out of the program's resident set; contents stay, and who touches one again has it at a page fault. */
void storage_give_back(uint64_t from, uint64_t to);

/* Makes a hole of whole pages of the file. False: the file system has none, or it was refused; then none is tried again. Any thread. */
bool storage_punch(uint64_t from, uint64_t to);

/* In a forked child: lets go of the parent's file. `writing`: a signal handler forked inside the writing of an event, which
 * will go on in the child: private memory then stands where the file was. */
void storage_leave_to_parent(bool writing);

static inline char *storage_chunk(uint64_t index)
{
  uint64_t segment = index / SEGMENT_CHUNKS;
  char *mapping = atomic_load_explicit(&storage_blocks[segment / BLOCK_SEGMENTS][segment % BLOCK_SEGMENTS], memory_order_relaxed);
  return mapping + TACHO_HEADER_SIZE + (index % SEGMENT_CHUNKS) * (uint64_t)TACHO_CHUNK_SIZE;
}

/* The live fields are plain words in events.h, for readers in any language; here they are atomic. */
static inline _Atomic uint64_t *storage_live(uint64_t *field)
{
  return (_Atomic uint64_t *)field;
}

#endif /* TACHO_RECORDER_STORAGE_H_ */
