/* SPDX-License-Identifier: Apache-2.0
 *
 * The keeper is one thread of the recorder in each recorded process. It provides storage ahead of the writing threads,
 * and relates ticks to the kernel's clocks once a second. It wakes for nothing else.
 */
#ifndef TACHO_RECORDER_KEEPER_H_
#define TACHO_RECORDER_KEEPER_H_

#include <stdatomic.h>
#include <stdint.h>

/* The keeper wakes when a thread reserves this chunk or a later one. */
extern _Atomic uint64_t keeper_wake_at;

/* Stores the CPUs on which the program was started. Call it before main. */
void keeper_note_cpus(void);

/* Starts the thread once the file is open. Call it with all signals blocked, because signals belong to the program. */
void keeper_start(void);

/* Before a fork: if the keeper was just created, waits until it runs, at most 0.1 s. */
void keeper_begun(void);

/* In a forked child: resets the state, because the child has no keeper. */
void keeper_forget(void);

void keeper_wake(void);

/* From now on the keeper ends as soon as only one other thread is left. That thread has ended or is about to end, and
 * the keeper would otherwise keep the process alive. */
void keeper_stay_not_alone(void);

/* Does the same before the calling thread enters a mode in which it can no longer end the keeper together with itself.
 * If it is the program's only thread, waits until the keeper has ended, at most 0.1 s, because the last thread to end
 * sets the program's exit code. */
void keeper_leave_to(void);

/* Reports that a thread reserved this chunk. It never waits. */
static inline void keeper_note(uint64_t chunk) {
  if (chunk >= atomic_load_explicit(&keeper_wake_at, memory_order_relaxed)) keeper_wake();
}

#endif /* TACHO_RECORDER_KEEPER_H_ */
