/* SPDX-License-Identifier: Apache-2.0
 * Generated from std_msgs/msg/MultiArrayLayout by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_STD_MSGS_MSG_MULTIARRAYLAYOUT_H_
#define MICRO_STD_MSGS_MSG_MULTIARRAYLAYOUT_H_


#include "tacho_micro.h"
#include "std_msgs_msg_MultiArrayDimension.h"

#ifndef std_msgs_msg_MultiArrayLayout_dim_MAX
#define std_msgs_msg_MultiArrayLayout_dim_MAX 16u /* the .msg has no bound; longer ones are refused */
#endif

struct std_msgs_msg_MultiArrayLayout {
  struct {
    uint32_t size;
    struct std_msgs_msg_MultiArrayDimension data[std_msgs_msg_MultiArrayLayout_dim_MAX];
  } dim;
  uint32_t data_offset;
};

static const struct micro_type std_msgs_msg_MultiArrayLayout_type = {
    "std_msgs::msg::dds_::MultiArrayLayout_",
    "RIHS01_4c66e6f78e740ac103a94cf63259f968e48c617e7699e829b63c21a5cb50dac6"};

static inline void std_msgs_msg_MultiArrayLayout_write(struct cdr_writer *cdr, const struct std_msgs_msg_MultiArrayLayout *message) {
  cdr_write_length(cdr, message->dim.size, std_msgs_msg_MultiArrayLayout_dim_MAX);
  for (uint32_t i = 0; i < message->dim.size && i < std_msgs_msg_MultiArrayLayout_dim_MAX; i++) std_msgs_msg_MultiArrayDimension_write(cdr, &message->dim.data[i]);
  cdr_write(cdr, &message->data_offset, 4, 1);
}

static inline void std_msgs_msg_MultiArrayLayout_read(struct cdr_reader *cdr, struct std_msgs_msg_MultiArrayLayout *message) {
  message->dim.size = cdr_read_length(cdr, std_msgs_msg_MultiArrayLayout_dim_MAX);
  for (uint32_t i = 0; i < message->dim.size && i < std_msgs_msg_MultiArrayLayout_dim_MAX; i++) std_msgs_msg_MultiArrayDimension_read(cdr, &message->dim.data[i]);
  cdr_read(cdr, &message->data_offset, 4, 1);
}

#endif
