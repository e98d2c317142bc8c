// SPDX-License-Identifier: Apache-2.0
//
// The places of our header and data in the ROS messages that the ros1 plugin carries: as in the ros2 plugin, so that
// both serialise the same.
//
// Types with a byte array hold the header in its first HEADER bytes, ahead of the data. TwistStamped has no such array: its
// stamp is the header's stamp, its frame_id the other header fields in hexadecimal, its six numbers the data.
#ifndef TACHO_ROS1_TYPES_H_
#define TACHO_ROS1_TYPES_H_

#include <tacho/middleware.h>

#include <geometry_msgs/TwistStamped.h>
#include <sensor_msgs/Image.h>
#include <sensor_msgs/PointCloud2.h>
#include <std_msgs/UInt8MultiArray.h>

constexpr size_t HEADER = sizeof(tacho_header);
constexpr size_t TWIST = 6 * sizeof(double);  // of data in a TwistStamped

// Makes room for `size` bytes of data, and fills in the constant fields.
void resize(std_msgs::UInt8MultiArray &message, size_t size);
void resize(sensor_msgs::PointCloud2 &message, size_t size);
void resize(sensor_msgs::Image &message, size_t size);
void resize(geometry_msgs::TwistStamped &message, size_t size);

// Writes the header into a resized message. Throws if the type cannot hold it.
void set_header(std_msgs::UInt8MultiArray &message, const tacho_header &header);
void set_header(sensor_msgs::PointCloud2 &message, const tacho_header &header);
void set_header(sensor_msgs::Image &message, const tacho_header &header);
void set_header(geometry_msgs::TwistStamped &message, const tacho_header &header);

// Reads the header, and finds the data. Returns false if the message is not one of ours.
bool read(const std_msgs::UInt8MultiArray &message, tacho_message *out);
bool read(const sensor_msgs::PointCloud2 &message, tacho_message *out);
bool read(const sensor_msgs::Image &message, tacho_message *out);
bool read(const geometry_msgs::TwistStamped &message, tacho_message *out);

// Returns the data, to be filled in.
template <class M>
unsigned char *data(M &message) {
  return message.data.data() + HEADER;
}
unsigned char *data(geometry_msgs::TwistStamped &message);

#endif
