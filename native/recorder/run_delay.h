/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads for how long a thread was ready to run and had no CPU (run_delay of /proc/thread-self/schedstat; in the kernel's
 * Documentation/scheduler/sched-stats.rst).
 */
#ifndef TACHO_RECORDER_RUN_DELAY_H_
#define TACHO_RECORDER_RUN_DELAY_H_

#include <stdbool.h>
#include <stdint.h>

/* Reads it for the calling thread, since the thread began. Returns false if it is not known: the kernel does not report
 * it, this process has no event yet, or the program has hardly any descriptor left. It keeps a descriptor open for each
 * thread that asks. It leaves errno alone. */
bool run_delay_read(uint64_t *ns);

/* Closes the descriptor of a thread that ends. */
void run_delay_thread_ends(void);

/* In a forked child: closes the descriptors, which are of the parent's threads. */
void run_delay_forget(void);

#endif /* TACHO_RECORDER_RUN_DELAY_H_ */
