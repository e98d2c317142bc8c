/* SPDX-License-Identifier: Apache-2.0
 *
 * The message types that the ros2 plugin carries, and the places of our header and data in each of them.
 *
 * Types with a byte array hold the header in its first TACHO_ROS2_HEADER bytes, ahead of the data. TwistStamped has no
 * such array: its stamp is the header's stamp, its frame_id the other header fields in hexadecimal, its six numbers the data.
 * Array (array.h) has the header as fields, ahead of an array of a fixed size.
 */
#ifndef TACHO_ROS2_TYPES_H_
#define TACHO_ROS2_TYPES_H_

#include <rosidl_runtime_c/message_type_support_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <tacho/middleware.h>

#define TACHO_ROS2_HEADER sizeof(struct tacho_header)

struct ros2_type {
  const char *name;
  size_t only_size; /* bytes of data it always carries; 0: any */
  bool is_fixed;    /* its memory has one size, so that it can be lent and shared */
  const rosidl_message_type_support_t *(*support)(size_t size); /* NULL: there is none of this size */
  void *(*create)(size_t size);
  void (*destroy)(void *message);
  int (*resize)(void *message, size_t size); /* makes room for `size` bytes of data; negative: no memory */
  /* Returns the data; NULL if the message is not one of ours. *size must hold the size that the endpoint was made
     with. */
  void *(*data)(void *message, size_t *size);
  void (*stamp)(void *message, const struct tacho_header *header);
  int (*header)(const void *message, struct tacho_header *header); /* negative: no header of ours in it */
};

extern const char *const ros2_type_names[];
#define ROS2_TYPES "PointCloud2, PointCloud1m, Image, Bytes, TwistStamped or Array"
#define ROS2_ARRAY_SIZES \
  "0, 16, 48, 64 or 256 B, 1, 4, 16, 64, 128, 256 or 512 KiB, 1, 2 or 4 MiB, 64 or 512 kB, 1 or 2 MB"

/* Returns the type of that name; for "" the one that fits the size: Bytes below 4 KiB, PointCloud2 from there on.
   NULL: none. */
const struct ros2_type *ros2_type(const char *name, size_t size);

#endif
