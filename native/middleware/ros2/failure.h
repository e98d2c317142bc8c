/* SPDX-License-Identifier: Apache-2.0
 *
 * What goes wrong, in words.
 */
#ifndef TACHO_ROS2_FAILURE_H_
#define TACHO_ROS2_FAILURE_H_

#include <rcl/types.h>
#include <seam/nodes.h>

/* rcl's own words behind ours, and its thread-local error cleared. */
__attribute__((format(printf, 3, 4))) void say_rcl(char *error, rcl_ret_t code, const char *format, ...);

/* Closing cannot fail towards the caller; what rcl says on the way is shown, not swallowed. */
void closed(rcl_ret_t code, const char *what);

#endif
