/* SPDX-License-Identifier: Apache-2.0
 * Generated from std_msgs/msg/UInt8MultiArray by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_STD_MSGS_MSG_UINT8MULTIARRAY_H_
#define MICRO_STD_MSGS_MSG_UINT8MULTIARRAY_H_


#include "tacho_micro.h"
#include "std_msgs_msg_MultiArrayLayout.h"

#ifndef std_msgs_msg_UInt8MultiArray_data_MAX
#define std_msgs_msg_UInt8MultiArray_data_MAX 16u /* the .msg has no bound; longer ones are refused */
#endif

struct std_msgs_msg_UInt8MultiArray {
  struct std_msgs_msg_MultiArrayLayout layout;
  struct {
    uint32_t size;
    uint8_t data[std_msgs_msg_UInt8MultiArray_data_MAX];
  } data;
};

static const struct micro_type std_msgs_msg_UInt8MultiArray_type = {
    "std_msgs::msg::dds_::UInt8MultiArray_",
    "RIHS01_5687e861b8d307a5e48b7515467ae7a5fc2daf805bd0ce6d8e9e604bade9f385"};

static inline void std_msgs_msg_UInt8MultiArray_write(struct cdr_writer *cdr, const struct std_msgs_msg_UInt8MultiArray *message) {
  std_msgs_msg_MultiArrayLayout_write(cdr, &message->layout);
  cdr_write_length(cdr, message->data.size, std_msgs_msg_UInt8MultiArray_data_MAX);
  cdr_write(cdr, message->data.data, 1, message->data.size);
}

static inline void std_msgs_msg_UInt8MultiArray_read(struct cdr_reader *cdr, struct std_msgs_msg_UInt8MultiArray *message) {
  std_msgs_msg_MultiArrayLayout_read(cdr, &message->layout);
  message->data.size = cdr_read_length(cdr, std_msgs_msg_UInt8MultiArray_data_MAX);
  cdr_read(cdr, message->data.data, 1, message->data.size);
}

#endif
