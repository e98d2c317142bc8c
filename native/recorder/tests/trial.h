/* SPDX-License-Identifier: Apache-2.0
 *
 * A trial: the victim under the recorder, in a folder of its own.
 */
#ifndef TACHO_RECORDER_TESTS_TRIAL_H_
#define TACHO_RECORDER_TESTS_TRIAL_H_

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define SKIPPED 77

extern const char *recorder, *victim;
extern char **emulator; /* a command and its arguments, ended by NULL; may be empty */
extern char work[256], events[300];
extern _Atomic uint64_t *fired; /* by each writer of the victim */

void make_work(void);
void remove_work(void);
void empty_work(void); /* call it between the runs of a case that has several */

/* Starts the victim. max_bytes 0 keeps the default limit; more: its last argument, or NULL. */
pid_t start(const char *mode, uint64_t count, uint64_t max_bytes, const char *more);
void finish(pid_t pid);
uint64_t fired_sum(void);

/* Ends a case that cannot run here. */
_Noreturn void skip(const char *why);

#endif /* TACHO_RECORDER_TESTS_TRIAL_H_ */
