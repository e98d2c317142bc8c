/* SPDX-License-Identifier: Apache-2.0
 *
 * Declares the parts of the recorded program of the tests.
 */
#ifndef TACHO_RECORDER_TESTS_VICTIM_H_
#define TACHO_RECORDER_TESTS_VICTIM_H_

#include <stdatomic.h>
#include <stdint.h>

#define NOT_POSSIBLE_HERE 77

extern _Atomic uint64_t *fired; /* fired[w]: events of writer w whose call returned */
extern uint64_t count;          /* third argument */

void fire(uint64_t writer, uint64_t number);

/* Runs a mode of an odd program. `more`: the fourth argument, or NULL. Returns the program's exit code, or -1 if there
 * is no such mode. */
int odd_mode(const char *mode, const char *more);

#endif /* TACHO_RECORDER_TESTS_VICTIM_H_ */
