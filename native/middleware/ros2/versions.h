/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACHO_ROS2_VERSIONS_H_
#define TACHO_ROS2_VERSIONS_H_

#include <stddef.h>

/* "rcl 10.1.3, rmw_fastrtps_cpp 9.3.3": of the libraries loaded, from the package.xml beside them. */
int ros2_version(char *out, size_t size, char *error);

#endif
