/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tracetools the program uses: its argument lists are not the same in every release.
 */
#ifndef TACHO_RECORDER_RELEASE_H_
#define TACHO_RECORDER_RELEASE_H_

#include <stdatomic.h>
#include <stdint.h>

#include "tacho/events.h"

#define RELEASE(major, minor, patch) ((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

/* rmw_publish(message) before, rmw_publish(rmw_publisher_handle, message, timestamp) from this one on (Jazzy). */
#define RELEASE_OF_PUBLISH_WITH_HANDLE RELEASE(8, 0, 0)

/* Fills in what the header says of ROS. */
void release_describe(struct tacho_file_header *header);

/* Looks again for what is not known yet: libtracetools and the middleware may be loaded long after the program began.
 * Called where they have just fired an event and the file is open. Cheap once all is known, or after some tries. */
void release_seek(void);

/* A handle of libtracetools, if it is loaded; it stays so. One thread at a time may ask. */
void *release_open_tracetools(void);

/* In a forked child: whichever thread was looking is not here. */
void release_forget_seekers(void);

/* The release as release_describe or release_seek found it; 0: not known. */
extern _Atomic uint32_t release_found;

static inline uint32_t release_known(void)
{
  return atomic_load_explicit(&release_found, memory_order_relaxed);
}

#endif /* TACHO_RECORDER_RELEASE_H_ */
