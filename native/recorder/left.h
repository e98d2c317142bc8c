/* SPDX-License-Identifier: Apache-2.0
 *
 * Signal handlers that do not return (siglongjmp) where they interrupted the writing of an event: its thread stays marked as writing.
 */
#ifndef TACHO_RECORDER_LEFT_H_
#define TACHO_RECORDER_LEFT_H_

#include <stdbool.h>
#include <stdint.h>

/* Whether the writing that marked its thread as busy can no longer be under way. Asked on that thread; `busy`: where its stack stood. */
bool left_for_ever(uint64_t busy);

#endif /* TACHO_RECORDER_LEFT_H_ */
