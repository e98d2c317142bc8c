/* SPDX-License-Identifier: Apache-2.0
 * Generated from sensor_msgs/msg/NavSatStatus by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_SENSOR_MSGS_MSG_NAVSATSTATUS_H_
#define MICRO_SENSOR_MSGS_MSG_NAVSATSTATUS_H_


#include "tacho_micro.h"

#define sensor_msgs_msg_NavSatStatus_STATUS_UNKNOWN -2
#define sensor_msgs_msg_NavSatStatus_STATUS_NO_FIX -1
#define sensor_msgs_msg_NavSatStatus_STATUS_FIX 0
#define sensor_msgs_msg_NavSatStatus_STATUS_SBAS_FIX 1
#define sensor_msgs_msg_NavSatStatus_STATUS_GBAS_FIX 2
#define sensor_msgs_msg_NavSatStatus_SERVICE_UNKNOWN 0
#define sensor_msgs_msg_NavSatStatus_SERVICE_GPS 1
#define sensor_msgs_msg_NavSatStatus_SERVICE_GLONASS 2
#define sensor_msgs_msg_NavSatStatus_SERVICE_COMPASS 4
#define sensor_msgs_msg_NavSatStatus_SERVICE_GALILEO 8

struct sensor_msgs_msg_NavSatStatus {
  int8_t status;
  uint16_t service;
};

static const struct micro_type sensor_msgs_msg_NavSatStatus_type = {
    "sensor_msgs::msg::dds_::NavSatStatus_",
    "RIHS01_d1ed3befa628e09571bd273b888ba1c1fd187c9a5e0006b385d7e5e9095a3204"};

static inline void sensor_msgs_msg_NavSatStatus_write(struct cdr_writer *cdr, const struct sensor_msgs_msg_NavSatStatus *message) {
  cdr_write(cdr, &message->status, 1, 1);
  cdr_write(cdr, &message->service, 2, 1);
}

static inline void sensor_msgs_msg_NavSatStatus_read(struct cdr_reader *cdr, struct sensor_msgs_msg_NavSatStatus *message) {
  cdr_read(cdr, &message->status, 1, 1);
  cdr_read(cdr, &message->service, 2, 1);
}

#endif
