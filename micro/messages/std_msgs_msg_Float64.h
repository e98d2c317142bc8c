/* SPDX-License-Identifier: Apache-2.0
 * Generated from std_msgs/msg/Float64 by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_STD_MSGS_MSG_FLOAT64_H_
#define MICRO_STD_MSGS_MSG_FLOAT64_H_


#include "tacho_micro.h"

struct std_msgs_msg_Float64 {
  double data;
};

static const struct micro_type std_msgs_msg_Float64_type = {
    "std_msgs::msg::dds_::Float64_",
    "RIHS01_705ba9c3d1a09df43737eb67095534de36fd426c0587779bda2bc51fe790182a"};

static inline void std_msgs_msg_Float64_write(struct cdr_writer *cdr, const struct std_msgs_msg_Float64 *message) {
  cdr_write(cdr, &message->data, 8, 1);
}

static inline void std_msgs_msg_Float64_read(struct cdr_reader *cdr, struct std_msgs_msg_Float64 *message) {
  cdr_read(cdr, &message->data, 8, 1);
}

#endif
