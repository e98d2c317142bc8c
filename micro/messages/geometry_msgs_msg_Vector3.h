/* SPDX-License-Identifier: Apache-2.0
 * Generated from geometry_msgs/msg/Vector3 by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_GEOMETRY_MSGS_MSG_VECTOR3_H_
#define MICRO_GEOMETRY_MSGS_MSG_VECTOR3_H_


#include "tacho_micro.h"

struct geometry_msgs_msg_Vector3 {
  double x;
  double y;
  double z;
};

static const struct micro_type geometry_msgs_msg_Vector3_type = {
    "geometry_msgs::msg::dds_::Vector3_",
    "RIHS01_cc12fe83e4c02719f1ce8070bfd14aecd40f75a96696a67a2a1f37f7dbb0765d"};

static inline void geometry_msgs_msg_Vector3_write(struct cdr_writer *cdr, const struct geometry_msgs_msg_Vector3 *message) {
  cdr_write(cdr, &message->x, 8, 1);
  cdr_write(cdr, &message->y, 8, 1);
  cdr_write(cdr, &message->z, 8, 1);
}

static inline void geometry_msgs_msg_Vector3_read(struct cdr_reader *cdr, struct geometry_msgs_msg_Vector3 *message) {
  cdr_read(cdr, &message->x, 8, 1);
  cdr_read(cdr, &message->y, 8, 1);
  cdr_read(cdr, &message->z, 8, 1);
}

#endif
