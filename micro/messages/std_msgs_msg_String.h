/* SPDX-License-Identifier: Apache-2.0
 * Generated from std_msgs/msg/String by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_STD_MSGS_MSG_STRING_H_
#define MICRO_STD_MSGS_MSG_STRING_H_


#include "tacho_micro.h"

struct std_msgs_msg_String {
  struct micro_string data;
};

static const struct micro_type std_msgs_msg_String_type = {
    "std_msgs::msg::dds_::String_",
    "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"};

static inline void std_msgs_msg_String_write(struct cdr_writer *cdr, const struct std_msgs_msg_String *message) {
  cdr_write_string(cdr, message->data, 0);
}

static inline void std_msgs_msg_String_read(struct cdr_reader *cdr, struct std_msgs_msg_String *message) {
  cdr_read_string(cdr, &message->data, 0);
}

#endif
