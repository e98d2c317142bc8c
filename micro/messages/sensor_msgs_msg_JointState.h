/* SPDX-License-Identifier: Apache-2.0
 * Generated from sensor_msgs/msg/JointState by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_SENSOR_MSGS_MSG_JOINTSTATE_H_
#define MICRO_SENSOR_MSGS_MSG_JOINTSTATE_H_


#include "tacho_micro.h"
#include "std_msgs_msg_Header.h"

#ifndef sensor_msgs_msg_JointState_name_MAX
#define sensor_msgs_msg_JointState_name_MAX 16u /* the .msg has no bound; longer ones are refused */
#endif
#ifndef sensor_msgs_msg_JointState_position_MAX
#define sensor_msgs_msg_JointState_position_MAX 16u /* the .msg has no bound; longer ones are refused */
#endif
#ifndef sensor_msgs_msg_JointState_velocity_MAX
#define sensor_msgs_msg_JointState_velocity_MAX 16u /* the .msg has no bound; longer ones are refused */
#endif
#ifndef sensor_msgs_msg_JointState_effort_MAX
#define sensor_msgs_msg_JointState_effort_MAX 16u /* the .msg has no bound; longer ones are refused */
#endif

struct sensor_msgs_msg_JointState {
  struct std_msgs_msg_Header header;
  struct {
    uint32_t size;
    struct micro_string data[sensor_msgs_msg_JointState_name_MAX];
  } name;
  struct {
    uint32_t size;
    double data[sensor_msgs_msg_JointState_position_MAX];
  } position;
  struct {
    uint32_t size;
    double data[sensor_msgs_msg_JointState_velocity_MAX];
  } velocity;
  struct {
    uint32_t size;
    double data[sensor_msgs_msg_JointState_effort_MAX];
  } effort;
};

static const struct micro_type sensor_msgs_msg_JointState_type = {
    "sensor_msgs::msg::dds_::JointState_",
    "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e"};

static inline void sensor_msgs_msg_JointState_write(struct cdr_writer *cdr, const struct sensor_msgs_msg_JointState *message) {
  std_msgs_msg_Header_write(cdr, &message->header);
  cdr_write_length(cdr, message->name.size, sensor_msgs_msg_JointState_name_MAX);
  for (uint32_t i = 0; i < message->name.size && i < sensor_msgs_msg_JointState_name_MAX; i++) cdr_write_string(cdr, message->name.data[i], 0);
  cdr_write_length(cdr, message->position.size, sensor_msgs_msg_JointState_position_MAX);
  cdr_write(cdr, message->position.data, 8, message->position.size);
  cdr_write_length(cdr, message->velocity.size, sensor_msgs_msg_JointState_velocity_MAX);
  cdr_write(cdr, message->velocity.data, 8, message->velocity.size);
  cdr_write_length(cdr, message->effort.size, sensor_msgs_msg_JointState_effort_MAX);
  cdr_write(cdr, message->effort.data, 8, message->effort.size);
}

static inline void sensor_msgs_msg_JointState_read(struct cdr_reader *cdr, struct sensor_msgs_msg_JointState *message) {
  std_msgs_msg_Header_read(cdr, &message->header);
  message->name.size = cdr_read_length(cdr, sensor_msgs_msg_JointState_name_MAX);
  for (uint32_t i = 0; i < message->name.size && i < sensor_msgs_msg_JointState_name_MAX; i++) cdr_read_string(cdr, &message->name.data[i], 0);
  message->position.size = cdr_read_length(cdr, sensor_msgs_msg_JointState_position_MAX);
  cdr_read(cdr, message->position.data, 8, message->position.size);
  message->velocity.size = cdr_read_length(cdr, sensor_msgs_msg_JointState_velocity_MAX);
  cdr_read(cdr, message->velocity.data, 8, message->velocity.size);
  message->effort.size = cdr_read_length(cdr, sensor_msgs_msg_JointState_effort_MAX);
  cdr_read(cdr, message->effort.data, 8, message->effort.size);
}

#endif
