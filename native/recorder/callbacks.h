/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of a callback that its client library does not tell, CPU time with them where that is asked for. tracetools has none of these, so
 * that nobody else is told.
 */
#ifndef TACHO_RECORDER_CALLBACKS_H_
#define TACHO_RECORDER_CALLBACKS_H_

void tracepoints_callback_start(const void *callback);
void tracepoints_callback_end(const void *callback);

#endif /* TACHO_RECORDER_CALLBACKS_H_ */
