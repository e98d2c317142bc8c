/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles signal handlers that do not return (siglongjmp) after they interrupted the writing of an event: their thread
 * stays marked as writing.
 */
#ifndef TACHO_RECORDER_LEFT_H_
#define TACHO_RECORDER_LEFT_H_

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the write that marked its thread as busy can no longer be under way. Call it on that thread; `busy`
 * is the stack position at the mark. */
bool left_for_ever(uint64_t busy);

#endif /* TACHO_RECORDER_LEFT_H_ */
