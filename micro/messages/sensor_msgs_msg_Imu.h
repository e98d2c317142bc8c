/* SPDX-License-Identifier: Apache-2.0
 * Generated from sensor_msgs/msg/Imu by tacho_micro_msg.py; not to be edited. */

#ifndef MICRO_SENSOR_MSGS_MSG_IMU_H_
#define MICRO_SENSOR_MSGS_MSG_IMU_H_


#include "tacho_micro.h"
#include "std_msgs_msg_Header.h"
#include "geometry_msgs_msg_Quaternion.h"
#include "geometry_msgs_msg_Vector3.h"

struct sensor_msgs_msg_Imu {
  struct std_msgs_msg_Header header;
  struct geometry_msgs_msg_Quaternion orientation;
  double orientation_covariance[9];
  struct geometry_msgs_msg_Vector3 angular_velocity;
  double angular_velocity_covariance[9];
  struct geometry_msgs_msg_Vector3 linear_acceleration;
  double linear_acceleration_covariance[9];
};

static const struct micro_type sensor_msgs_msg_Imu_type = {
    "sensor_msgs::msg::dds_::Imu_",
    "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b"};

static inline void sensor_msgs_msg_Imu_write(struct cdr_writer *cdr, const struct sensor_msgs_msg_Imu *message) {
  std_msgs_msg_Header_write(cdr, &message->header);
  geometry_msgs_msg_Quaternion_write(cdr, &message->orientation);
  cdr_write(cdr, message->orientation_covariance, 8, 9);
  geometry_msgs_msg_Vector3_write(cdr, &message->angular_velocity);
  cdr_write(cdr, message->angular_velocity_covariance, 8, 9);
  geometry_msgs_msg_Vector3_write(cdr, &message->linear_acceleration);
  cdr_write(cdr, message->linear_acceleration_covariance, 8, 9);
}

static inline void sensor_msgs_msg_Imu_read(struct cdr_reader *cdr, struct sensor_msgs_msg_Imu *message) {
  std_msgs_msg_Header_read(cdr, &message->header);
  geometry_msgs_msg_Quaternion_read(cdr, &message->orientation);
  cdr_read(cdr, message->orientation_covariance, 8, 9);
  geometry_msgs_msg_Vector3_read(cdr, &message->angular_velocity);
  cdr_read(cdr, message->angular_velocity_covariance, 8, 9);
  geometry_msgs_msg_Vector3_read(cdr, &message->linear_acceleration);
  cdr_read(cdr, message->linear_acceleration_covariance, 8, 9);
}

#endif
