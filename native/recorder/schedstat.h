/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of /proc/PID/schedstat: time on a CPU, time ready to run without one, and how many times the thread got a
 * CPU (the kernel's Documentation/scheduler/sched-stats.rst).
 */
#ifndef TACHO_RECORDER_SCHEDSTAT_H_
#define TACHO_RECORDER_SCHEDSTAT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds the time ready to run without a CPU, ns. Returns false if the text is another one, or if the thread never got a
 * CPU: a kernel that does not count prints zeros (CONFIG_TASK_DELAY_ACCT without CONFIG_SCHEDSTATS, and without
 * delayacct on its command line). */
bool schedstat_run_delay(const char *text, size_t size, uint64_t *ns);

#endif /* TACHO_RECORDER_SCHEDSTAT_H_ */
