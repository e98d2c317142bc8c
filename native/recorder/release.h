/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds which release of tracetools the program uses: the argument lists differ between releases.
 */
#ifndef TACHO_RECORDER_RELEASE_H_
#define TACHO_RECORDER_RELEASE_H_

#include <stdatomic.h>
#include <stdint.h>

#include "tacho/events.h"

#define RELEASE(major, minor, patch) ((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

/* From this release on (Jazzy) it is rmw_publish(rmw_publisher_handle, message, timestamp); before, it was
 * rmw_publish(message). */
#define RELEASE_OF_PUBLISH_WITH_HANDLE RELEASE(8, 0, 0)

/* Fills in the ROS fields of the header. */
void release_describe(struct tacho_file_header *header);

/* Searches again for what is still unknown: a program may load libtracetools and the middleware long after it began.
 * Call it when these have just fired an event and the file is open. It is cheap once all is known, or after some tries. */
void release_seek(void);

/* Returns a handle of libtracetools if it is loaded; the library then stays loaded. Only one thread at a time may call
 * it. */
void *release_open_tracetools(void);

/* Call this in a forked child: the thread that was searching does not exist there. */
void release_forget_seekers(void);

/* The release that release_describe or release_seek found; 0: unknown. */
extern _Atomic uint32_t release_found;

static inline uint32_t release_known(void) { return atomic_load_explicit(&release_found, memory_order_relaxed); }

#endif /* TACHO_RECORDER_RELEASE_H_ */
