/* SPDX-License-Identifier: Apache-2.0
 *
 * Array: a message type of a fixed size, the one shape that ROS 2 middlewares lend and share without a copy. In IDL:
 *
 *   module tacho_msgs { module msg { struct Array_N {
 *     unsigned long long sequence; long long stamp_ns; unsigned long publisher; unsigned long reserved; octet data[N]; }; }; };
 *
 * Its type support is what rosidl would generate, for each of a list of sizes: as CDR for rmw_fastrtps, and as introspection.
 */
#ifndef TACHO_ROS2_ARRAY_H_
#define TACHO_ROS2_ARRAY_H_

#include <rosidl_runtime_c/message_type_support_struct.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the type with that many bytes of data; NULL if there is none of that size. */
const rosidl_message_type_support_t *ros2_array_support(size_t size);

/* Returns its message_type_support_callbacks_t of rosidl_typesupport_fastrtps_cpp, or NULL. */
const void *ros2_array_callbacks(size_t size);

#ifdef __cplusplus
}
#endif

#endif
