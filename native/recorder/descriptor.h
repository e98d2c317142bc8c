/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the recorder's file so that the program has as many descriptors, with the same numbers, as without us.
 */
#ifndef TACHO_RECORDER_DESCRIPTOR_H_
#define TACHO_RECORDER_DESCRIPTOR_H_

#include <stdbool.h>
#include <sys/types.h>

/* Opens a file that stays open, like open(2). Its number is one that programs which close or reuse low numbers leave
 * alone; it is beyond RLIMIT_NOFILE if the hard limit allows that. `keep` is whether the descriptor may stay open. If
 * not, the program has hardly any left and this is one of them. */
int descriptor_open(const char *path, int flags, mode_t mode, bool *keep);

#endif /* TACHO_RECORDER_DESCRIPTOR_H_ */
