/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles threads that ended: the pages of their last chunk that they did not use go back to the file system. So a
 * program that creates threads without end takes one page of storage for each, not a chunk. The pages read as zeros,
 * which mark the end of a chunk.
 */
#ifndef TACHO_RECORDER_ENDED_H_
#define TACHO_RECORDER_ENDED_H_

#include <stdint.h>

/* Notes that a thread is done with its chunk, of which it used this many bytes. It never waits. If the keeper is far
 * behind, it makes one of the keeper's system calls itself. */
void ended_note(uint64_t chunk, uint64_t used_bytes);

/* Gives back the storage of all noted chunks. Only the keeper calls it. */
void ended_give_back(void);

/* In a forked child: discards the notes, because they are about the parent's threads. */
void ended_forget(void);

#endif /* TACHO_RECORDER_ENDED_H_ */
