/* SPDX-License-Identifier: Apache-2.0
 * Generated from std_msgs/msg/Empty by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_STD_MSGS_MSG_EMPTY_H_
#define MICRO_STD_MSGS_MSG_EMPTY_H_


#include "tacho_micro.h"

struct std_msgs_msg_Empty {
  uint8_t structure_needs_at_least_one_member;
};

static const struct micro_type std_msgs_msg_Empty_type = {
    "std_msgs::msg::dds_::Empty_",
    "RIHS01_20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312"};

static inline void std_msgs_msg_Empty_write(struct cdr_writer *cdr, const struct std_msgs_msg_Empty *message) {
  cdr_write(cdr, &message->structure_needs_at_least_one_member, 1, 1);
}

static inline void std_msgs_msg_Empty_read(struct cdr_reader *cdr, struct std_msgs_msg_Empty *message) {
  cdr_read(cdr, &message->structure_needs_at_least_one_member, 1, 1);
}

#endif
