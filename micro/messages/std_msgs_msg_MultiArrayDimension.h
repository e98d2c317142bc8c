/* SPDX-License-Identifier: Apache-2.0
 * Generated from std_msgs/msg/MultiArrayDimension by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_STD_MSGS_MSG_MULTIARRAYDIMENSION_H_
#define MICRO_STD_MSGS_MSG_MULTIARRAYDIMENSION_H_


#include "tacho_micro.h"

struct std_msgs_msg_MultiArrayDimension {
  struct micro_string label;
  uint32_t size;
  uint32_t stride;
};

static const struct micro_type std_msgs_msg_MultiArrayDimension_type = {
    "std_msgs::msg::dds_::MultiArrayDimension_",
    "RIHS01_5e773a60a4c7fc8a54985f307c7837aa2994252a126c301957a24e31282c9cbe"};

static inline void std_msgs_msg_MultiArrayDimension_write(struct cdr_writer *cdr, const struct std_msgs_msg_MultiArrayDimension *message) {
  cdr_write_string(cdr, message->label, 0);
  cdr_write(cdr, &message->size, 4, 1);
  cdr_write(cdr, &message->stride, 4, 1);
}

static inline void std_msgs_msg_MultiArrayDimension_read(struct cdr_reader *cdr, struct std_msgs_msg_MultiArrayDimension *message) {
  cdr_read_string(cdr, &message->label, 0);
  cdr_read(cdr, &message->size, 4, 1);
  cdr_read(cdr, &message->stride, 4, 1);
}

#endif
