/* SPDX-License-Identifier: Apache-2.0
 *
 * Records the start and end of callbacks that the client library does not report, with CPU time if the user asked for
 * it. tracetools has no such events, so nothing is passed on to it.
 */
#ifndef TACHO_RECORDER_CALLBACKS_H_
#define TACHO_RECORDER_CALLBACKS_H_

void tracepoints_callback_start(const void *callback);
void tracepoints_callback_end(const void *callback);

#endif /* TACHO_RECORDER_CALLBACKS_H_ */
