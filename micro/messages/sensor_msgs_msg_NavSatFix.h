/* SPDX-License-Identifier: Apache-2.0
 * Generated from sensor_msgs/msg/NavSatFix by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_SENSOR_MSGS_MSG_NAVSATFIX_H_
#define MICRO_SENSOR_MSGS_MSG_NAVSATFIX_H_


#include "tacho_micro.h"
#include "std_msgs_msg_Header.h"
#include "sensor_msgs_msg_NavSatStatus.h"

#define sensor_msgs_msg_NavSatFix_COVARIANCE_TYPE_UNKNOWN 0
#define sensor_msgs_msg_NavSatFix_COVARIANCE_TYPE_APPROXIMATED 1
#define sensor_msgs_msg_NavSatFix_COVARIANCE_TYPE_DIAGONAL_KNOWN 2
#define sensor_msgs_msg_NavSatFix_COVARIANCE_TYPE_KNOWN 3

struct sensor_msgs_msg_NavSatFix {
  struct std_msgs_msg_Header header;
  struct sensor_msgs_msg_NavSatStatus status;
  double latitude;
  double longitude;
  double altitude;
  double position_covariance[9];
  uint8_t position_covariance_type;
};

static const struct micro_type sensor_msgs_msg_NavSatFix_type = {
    "sensor_msgs::msg::dds_::NavSatFix_",
    "RIHS01_62223ab3fe210a15976021da7afddc9e200dc9ec75231c1b6a557fc598a65404"};

static inline void sensor_msgs_msg_NavSatFix_write(struct cdr_writer *cdr, const struct sensor_msgs_msg_NavSatFix *message) {
  std_msgs_msg_Header_write(cdr, &message->header);
  sensor_msgs_msg_NavSatStatus_write(cdr, &message->status);
  cdr_write(cdr, &message->latitude, 8, 1);
  cdr_write(cdr, &message->longitude, 8, 1);
  cdr_write(cdr, &message->altitude, 8, 1);
  cdr_write(cdr, message->position_covariance, 8, 9);
  cdr_write(cdr, &message->position_covariance_type, 1, 1);
}

static inline void sensor_msgs_msg_NavSatFix_read(struct cdr_reader *cdr, struct sensor_msgs_msg_NavSatFix *message) {
  std_msgs_msg_Header_read(cdr, &message->header);
  sensor_msgs_msg_NavSatStatus_read(cdr, &message->status);
  cdr_read(cdr, &message->latitude, 8, 1);
  cdr_read(cdr, &message->longitude, 8, 1);
  cdr_read(cdr, &message->altitude, 8, 1);
  cdr_read(cdr, message->position_covariance, 8, 9);
  cdr_read(cdr, &message->position_covariance_type, 1, 1);
}

#endif
