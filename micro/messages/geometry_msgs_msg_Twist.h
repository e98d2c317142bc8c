/* SPDX-License-Identifier: Apache-2.0
 * Generated from geometry_msgs/msg/Twist by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_GEOMETRY_MSGS_MSG_TWIST_H_
#define MICRO_GEOMETRY_MSGS_MSG_TWIST_H_


#include "tacho_micro.h"
#include "geometry_msgs_msg_Vector3.h"

struct geometry_msgs_msg_Twist {
  struct geometry_msgs_msg_Vector3 linear;
  struct geometry_msgs_msg_Vector3 angular;
};

static const struct micro_type geometry_msgs_msg_Twist_type = {
    "geometry_msgs::msg::dds_::Twist_",
    "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a"};

static inline void geometry_msgs_msg_Twist_write(struct cdr_writer *cdr, const struct geometry_msgs_msg_Twist *message) {
  geometry_msgs_msg_Vector3_write(cdr, &message->linear);
  geometry_msgs_msg_Vector3_write(cdr, &message->angular);
}

static inline void geometry_msgs_msg_Twist_read(struct cdr_reader *cdr, struct geometry_msgs_msg_Twist *message) {
  geometry_msgs_msg_Vector3_read(cdr, &message->linear);
  geometry_msgs_msg_Vector3_read(cdr, &message->angular);
}

#endif
