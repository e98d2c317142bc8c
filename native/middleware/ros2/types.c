// SPDX-License-Identifier: Apache-2.0
#include "types.h"

#include <geometry_msgs/msg/twist_stamped.h>
#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <rosidl_runtime_c/string_functions.h>
#include <sensor_msgs/msg/image.h>
#include <sensor_msgs/msg/point_cloud2.h>
#include <sensor_msgs/msg/point_field.h>
#include <std_msgs/msg/u_int8_multi_array.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define SECOND 1000000000ll
#define KIB4 4096u
#define MIB (1024u * 1024u)

static void set_stamp(builtin_interfaces__msg__Time *stamp, int64_t ns) {
  int64_t part = ns % SECOND;
  if (part < 0) part += SECOND;
  stamp->sec = (int32_t)((ns - part) / SECOND);
  stamp->nanosec = (uint32_t)part;
}

// Byte arrays hold the header first, then the data.

static int bytes_resize(rosidl_runtime_c__uint8__Sequence *bytes, size_t size) {
  rosidl_runtime_c__uint8__Sequence__fini(bytes);
  return rosidl_runtime_c__uint8__Sequence__init(bytes, TACHO_ROS2_HEADER + size) ? 0 : -1;
}

static void *bytes_data(rosidl_runtime_c__uint8__Sequence *bytes, size_t *size) {
  if (bytes->size < TACHO_ROS2_HEADER) return NULL;
  *size = bytes->size - TACHO_ROS2_HEADER;
  return bytes->data + TACHO_ROS2_HEADER;
}

static int bytes_header(const rosidl_runtime_c__uint8__Sequence *bytes, struct tacho_header *header) {
  if (bytes->size < TACHO_ROS2_HEADER) return -1;
  memcpy(header, bytes->data, TACHO_ROS2_HEADER);
  return 0;
}

// std_msgs/UInt8MultiArray

typedef std_msgs__msg__UInt8MultiArray Bytes;

static const rosidl_message_type_support_t *array_support(size_t size) {
  (void)size;
  return ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, UInt8MultiArray);
}
static void *array_create(size_t size) {
  (void)size;
  return std_msgs__msg__UInt8MultiArray__create();
}
static void array_destroy(void *message) { std_msgs__msg__UInt8MultiArray__destroy(message); }
static int array_resize(void *message, size_t size) { return bytes_resize(&((Bytes *)message)->data, size); }
static void *array_data(void *message, size_t *size) { return bytes_data(&((Bytes *)message)->data, size); }
static void array_stamp(void *message, const struct tacho_header *header) {
  memcpy(((Bytes *)message)->data.data, header, sizeof *header);
}
static int array_header(const void *message, struct tacho_header *header) {
  return bytes_header(&((const Bytes *)message)->data, header);
}

// sensor_msgs/PointCloud2: one row of one-byte points, so that any size is a well-formed cloud.

typedef sensor_msgs__msg__PointCloud2 Cloud;

static const rosidl_message_type_support_t *cloud_support(size_t size) {
  (void)size;
  return ROSIDL_GET_MSG_TYPE_SUPPORT(sensor_msgs, msg, PointCloud2);
}
static void *cloud_create(size_t size) {
  (void)size;
  return sensor_msgs__msg__PointCloud2__create();
}
static void cloud_destroy(void *message) { sensor_msgs__msg__PointCloud2__destroy(message); }
static int cloud_resize(void *message, size_t size) {
  Cloud *cloud = message;
  sensor_msgs__msg__PointField__Sequence__fini(&cloud->fields);
  if (!sensor_msgs__msg__PointField__Sequence__init(&cloud->fields, 1) ||
      !rosidl_runtime_c__String__assign(&cloud->fields.data[0].name, "intensity") ||
      !rosidl_runtime_c__String__assign(&cloud->header.frame_id, "lidar") || bytes_resize(&cloud->data, size) < 0)
    return -1;
  cloud->fields.data[0].datatype = sensor_msgs__msg__PointField__UINT8;
  cloud->fields.data[0].count = 1;
  cloud->height = 1;
  cloud->width = cloud->row_step = (uint32_t)cloud->data.size;
  cloud->point_step = 1;
  cloud->is_dense = true;
  return 0;
}
static void *cloud_data(void *message, size_t *size) { return bytes_data(&((Cloud *)message)->data, size); }
static void cloud_stamp(void *message, const struct tacho_header *header) {
  Cloud *cloud = message;
  set_stamp(&cloud->header.stamp, header->stamp_ns);
  memcpy(cloud->data.data, header, sizeof *header);
}
static int cloud_header(const void *message, struct tacho_header *header) {
  return bytes_header(&((const Cloud *)message)->data, header);
}

// sensor_msgs/Image: one row of mono8.

typedef sensor_msgs__msg__Image Image;

static const rosidl_message_type_support_t *image_support(size_t size) {
  (void)size;
  return ROSIDL_GET_MSG_TYPE_SUPPORT(sensor_msgs, msg, Image);
}
static void *image_create(size_t size) {
  (void)size;
  return sensor_msgs__msg__Image__create();
}
static void image_destroy(void *message) { sensor_msgs__msg__Image__destroy(message); }
static int image_resize(void *message, size_t size) {
  Image *image = message;
  if (!rosidl_runtime_c__String__assign(&image->encoding, "mono8") ||
      !rosidl_runtime_c__String__assign(&image->header.frame_id, "camera") || bytes_resize(&image->data, size) < 0)
    return -1;
  image->height = 1;
  image->width = image->step = (uint32_t)image->data.size;
  return 0;
}
static void *image_data(void *message, size_t *size) { return bytes_data(&((Image *)message)->data, size); }
static void image_stamp(void *message, const struct tacho_header *header) {
  Image *image = message;
  set_stamp(&image->header.stamp, header->stamp_ns);
  memcpy(image->data.data, header, sizeof *header);
}
static int image_header(const void *message, struct tacho_header *header) {
  return bytes_header(&((const Image *)message)->data, header);
}

// geometry_msgs/TwistStamped: sequence.publisher.reserved in hexadecimal is its frame_id.

typedef geometry_msgs__msg__TwistStamped Twist;
_Static_assert(sizeof(geometry_msgs__msg__Twist) == 48, "six doubles, nothing between them");
#define FRAME_ID "%016llx.%08x.%08x"
enum { FRAME_ID_LENGTH = 16 + 1 + 8 + 1 + 8 };

static const rosidl_message_type_support_t *twist_support(size_t size) {
  (void)size;
  return ROSIDL_GET_MSG_TYPE_SUPPORT(geometry_msgs, msg, TwistStamped);
}
static void *twist_create(size_t size) {
  (void)size;
  return geometry_msgs__msg__TwistStamped__create();
}
static void twist_destroy(void *message) { geometry_msgs__msg__TwistStamped__destroy(message); }
static int twist_resize(void *message, size_t size) {
  char blank[FRAME_ID_LENGTH + 1];
  (void)size;  // always the one size
  memset(blank, '0', FRAME_ID_LENGTH);
  blank[FRAME_ID_LENGTH] = 0;
  return rosidl_runtime_c__String__assign(&((Twist *)message)->header.frame_id, blank) ? 0 : -1;
}
static void *twist_data(void *message, size_t *size) {
  *size = sizeof(geometry_msgs__msg__Twist);
  return &((Twist *)message)->twist;
}
static void twist_stamp(void *message, const struct tacho_header *header) {
  Twist *twist = message;
  set_stamp(&twist->header.stamp, header->stamp_ns);
  // Written in place: the string already has this length, so publishing allocates nothing.
  snprintf(twist->header.frame_id.data, FRAME_ID_LENGTH + 1, FRAME_ID, (unsigned long long)header->sequence,
           header->publisher, header->reserved);
}
static int twist_header(const void *message, struct tacho_header *header) {
  const Twist *twist = message;
  unsigned long long sequence;
  if (twist->header.frame_id.size != FRAME_ID_LENGTH ||
      sscanf(twist->header.frame_id.data, "%16llx.%8x.%8x", &sequence, &header->publisher, &header->reserved) != 3)
    return -1;
  header->sequence = sequence;
  header->stamp_ns = twist->header.stamp.sec * SECOND + twist->header.stamp.nanosec;
  return 0;
}

// Array

static void *fixed_create(size_t size) { return calloc(1, TACHO_ROS2_HEADER + size); }
static void fixed_destroy(void *message) { free(message); }
static int fixed_resize(void *message, size_t size) {
  (void)message, (void)size;  // made with its size
  return 0;
}
static void *fixed_data(void *message, size_t *size) {
  (void)size;  // of the endpoint: all its messages have one
  return (char *)message + TACHO_ROS2_HEADER;
}
static void fixed_stamp(void *message, const struct tacho_header *header) { memcpy(message, header, sizeof *header); }
static int fixed_header(const void *message, struct tacho_header *header) {
  memcpy(header, message, sizeof *header);
  return 0;
}
#define fixed_support ros2_array_support

#define FUNCTIONS(p) p##_support, p##_create, p##_destroy, p##_resize, p##_data, p##_stamp, p##_header
static const struct ros2_type types[] = {
    {"PointCloud2", 0, false, FUNCTIONS(cloud)},
    {"PointCloud1m", MIB, false, FUNCTIONS(cloud)},
    {"Image", 0, false, FUNCTIONS(image)},
    {"Bytes", 0, false, FUNCTIONS(array)},
    {"TwistStamped", sizeof(geometry_msgs__msg__Twist), false, FUNCTIONS(twist)},
    {"Array", 0, true, FUNCTIONS(fixed)},
};
const char *const ros2_type_names[] = {"PointCloud2", "PointCloud1m", "Image", "Bytes", "TwistStamped", "Array", NULL};

const struct ros2_type *ros2_type(const char *name, size_t size) {
  if (!*name) name = size < KIB4 ? "Bytes" : "PointCloud2";
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i].name, name)) return &types[i];
  return NULL;
}
