/* SPDX-License-Identifier: Apache-2.0
 * Generated from geometry_msgs/msg/Quaternion by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_GEOMETRY_MSGS_MSG_QUATERNION_H_
#define MICRO_GEOMETRY_MSGS_MSG_QUATERNION_H_


#include "tacho_micro.h"

struct geometry_msgs_msg_Quaternion {
  double x;
  double y;
  double z;
  double w;
};

static const struct micro_type geometry_msgs_msg_Quaternion_type = {
    "geometry_msgs::msg::dds_::Quaternion_",
    "RIHS01_8a765f66778c8ff7c8ab94afcc590a2ed5325a1d9a076ffff38fbce36f458684"};

static inline void geometry_msgs_msg_Quaternion_write(struct cdr_writer *cdr, const struct geometry_msgs_msg_Quaternion *message) {
  cdr_write(cdr, &message->x, 8, 1);
  cdr_write(cdr, &message->y, 8, 1);
  cdr_write(cdr, &message->z, 8, 1);
  cdr_write(cdr, &message->w, 8, 1);
}

static inline void geometry_msgs_msg_Quaternion_read(struct cdr_reader *cdr, struct geometry_msgs_msg_Quaternion *message) {
  cdr_read(cdr, &message->x, 8, 1);
  cdr_read(cdr, &message->y, 8, 1);
  cdr_read(cdr, &message->z, 8, 1);
  cdr_read(cdr, &message->w, 8, 1);
}

#endif
