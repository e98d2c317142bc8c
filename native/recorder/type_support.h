/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what the generated code of a message type says about the type. Only fields at the same place in all releases
 * from Humble on are read.
 */
#ifndef TACHO_RECORDER_TYPE_SUPPORT_H_
#define TACHO_RECORDER_TYPE_SUPPORT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* rosidl_message_type_support_t */
struct type_support;

/* Returns how many bytes a message takes on the wire, without the four that name its encoding. */
typedef uint32_t type_support_size(const void *message);

/* Writes a name as ROS spells it, `std_msgs/msg/String`; an empty one if it is not known. */
void type_support_name(const struct type_support *type, char *name, size_t room);

/* Returns whether messages begin with a stamp: their first field is a std_msgs/Header, or a time called `stamp`. Both
 * begin with seconds and nanoseconds, in C, in C++ and on the wire. In Humble types have no description: false. */
bool type_support_begins_with_stamp(const struct type_support *type);

/* Returns what finds out the size of a message; NULL if the middleware does not use it for this type, because we load
 * nothing that the program would not. Cyclone DDS does not. */
type_support_size *type_support_size_of(const struct type_support *type);

#endif /* TACHO_RECORDER_TYPE_SUPPORT_H_ */
