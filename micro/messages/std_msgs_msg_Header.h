/* SPDX-License-Identifier: Apache-2.0
 * Generated from std_msgs/msg/Header by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_STD_MSGS_MSG_HEADER_H_
#define MICRO_STD_MSGS_MSG_HEADER_H_


#include "tacho_micro.h"
#include "builtin_interfaces_msg_Time.h"

struct std_msgs_msg_Header {
  struct builtin_interfaces_msg_Time stamp;
  struct micro_string frame_id;
};

static const struct micro_type std_msgs_msg_Header_type = {
    "std_msgs::msg::dds_::Header_",
    "RIHS01_f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01"};

static inline void std_msgs_msg_Header_write(struct cdr_writer *cdr, const struct std_msgs_msg_Header *message) {
  builtin_interfaces_msg_Time_write(cdr, &message->stamp);
  cdr_write_string(cdr, message->frame_id, 0);
}

static inline void std_msgs_msg_Header_read(struct cdr_reader *cdr, struct std_msgs_msg_Header *message) {
  builtin_interfaces_msg_Time_read(cdr, &message->stamp);
  cdr_read_string(cdr, &message->frame_id, 0);
}

#endif
