/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that ended: the pages of their last chunk that they did not use go back to the file system, so that a program that makes
 * threads without end takes a page of storage for each and not a chunk. They read as zeros, which is the end of a chunk.
 */
#ifndef TACHO_RECORDER_ENDED_H_
#define TACHO_RECORDER_ENDED_H_

#include <stdint.h>

/* A thread is done with its chunk, of which it used so many bytes. Never waits; where the keeper is far behind, it does a system call of its work. */
void ended_note(uint64_t chunk, uint64_t used_bytes);

/* Gives back what was noted so far. By the keeper. */
void ended_give_back(void);

/* In a forked child: these threads were the parent's. */
void ended_forget(void);

#endif /* TACHO_RECORDER_ENDED_H_ */
