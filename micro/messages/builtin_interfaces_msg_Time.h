/* SPDX-License-Identifier: Apache-2.0
 * Generated from builtin_interfaces/msg/Time by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_BUILTIN_INTERFACES_MSG_TIME_H_
#define MICRO_BUILTIN_INTERFACES_MSG_TIME_H_


#include "tacho_micro.h"

struct builtin_interfaces_msg_Time {
  int32_t sec;
  uint32_t nanosec;
};

static const struct micro_type builtin_interfaces_msg_Time_type = {
    "builtin_interfaces::msg::dds_::Time_",
    "RIHS01_b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197"};

static inline void builtin_interfaces_msg_Time_write(struct cdr_writer *cdr, const struct builtin_interfaces_msg_Time *message) {
  cdr_write(cdr, &message->sec, 4, 1);
  cdr_write(cdr, &message->nanosec, 4, 1);
}

static inline void builtin_interfaces_msg_Time_read(struct cdr_reader *cdr, struct builtin_interfaces_msg_Time *message) {
  cdr_read(cdr, &message->sec, 4, 1);
  cdr_read(cdr, &message->nanosec, 4, 1);
}

#endif
