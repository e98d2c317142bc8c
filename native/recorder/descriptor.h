/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's file, opened so that the program has as many descriptors, of the same numbers, as without us.
 */
#ifndef TACHO_RECORDER_DESCRIPTOR_H_
#define TACHO_RECORDER_DESCRIPTOR_H_

#include <stdbool.h>
#include <sys/types.h>

/* open(2) of a file that stays open: on a number that programs which close or reuse low ones leave alone, beyond RLIMIT_NOFILE where the hard
 * limit lets it. `keep`: whether the descriptor may stay; if not, the program has hardly any left and this is one of them. */
int descriptor_open(const char *path, int flags, mode_t mode, bool *keep);

#endif /* TACHO_RECORDER_DESCRIPTOR_H_ */
