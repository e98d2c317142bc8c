/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures as text.
 */
#ifndef TACHO_ROS2_FAILURE_H_
#define TACHO_ROS2_FAILURE_H_

#include <rcl/types.h>
#include <seam/nodes.h>

/* Appends rcl's own text to ours and clears its thread-local error. */
__attribute__((format(printf, 3, 4))) void say_rcl(char *error, rcl_ret_t code, const char *format, ...);

/* Closing cannot report a failure to the caller, so rcl's text is printed. */
void closed(rcl_ret_t code, const char *what);

#endif
