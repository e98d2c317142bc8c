/* SPDX-License-Identifier: Apache-2.0
 *
 * The keeper: one thread of the recorder in each recorded process. It keeps storage ahead of the threads that write,
 * and relates ticks to the clocks of the kernel once a second. Woken only for these.
 */
#ifndef TACHO_RECORDER_KEEPER_H_
#define TACHO_RECORDER_KEEPER_H_

#include <stdatomic.h>
#include <stdint.h>

/* The chunk whose reservation wakes the keeper. */
extern _Atomic uint64_t keeper_wake_at;

/* Remembers the CPUs that the program was started on. Before main. */
void keeper_note_cpus(void);

/* Starts the thread, once the file is open. Called with all signals blocked: they are the program's. */
void keeper_start(void);

/* Before a fork: waits until the keeper, if it was just made, runs; 0.1 s at most. */
void keeper_begun(void);

/* In a forked child: there is no keeper any more. */
void keeper_forget(void);

void keeper_wake(void);

/* From now on the keeper ends, as soon as the program has but one thread besides: one that has left. Otherwise the process would stay for the
 * keeper's sake. */
void keeper_stay_not_alone(void);

/* The same before the calling thread can no longer end the keeper with itself. Of the only thread of a program waits until the keeper has ended,
 * 0.1 s at most: the last one to end gives the program's exit code. */
void keeper_leave_to(void);

/* A thread reserved this chunk. Never waits. */
static inline void keeper_note(uint64_t chunk)
{
  if (chunk >= atomic_load_explicit(&keeper_wake_at, memory_order_relaxed)) keeper_wake();
}

#endif /* TACHO_RECORDER_KEEPER_H_ */
