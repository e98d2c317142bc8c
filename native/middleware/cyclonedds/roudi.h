/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds RouDi, the daemon without which iceoryx 2 ends a process, or starts it and keeps it for as long as a process
 * needs it.
 */
#ifndef TACHO_CYCLONEDDS_ROUDI_H_
#define TACHO_CYCLONEDDS_ROUDI_H_

#include <stdbool.h>

/* Returns whether RouDi answers, and starts it if none does. It then stays until this process ends, because iceoryx
 * has one runtime a process, which never leaves. False: the cause is in `error` (TACHO_ERROR_SIZE). */
bool roudi_runs(char *error);

#endif
