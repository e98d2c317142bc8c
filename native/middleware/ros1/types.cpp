// SPDX-License-Identifier: Apache-2.0
#include "types.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace {

constexpr int64_t SECOND = 1000000000;  // ns

// ROS 1 counts seconds in 32 bits, from 0.
bool has_time(int64_t ns) { return ns >= 0 && ns / SECOND <= std::numeric_limits<uint32_t>::max(); }

// In ROS 1, zero means no time: the whole header is then in the data, too.
ros::Time time(int64_t ns) {
  if (!has_time(ns)) return ros::Time();
  return ros::Time(static_cast<uint32_t>(ns / SECOND), static_cast<uint32_t>(ns % SECOND));
}

void set_header(std::vector<uint8_t> &bytes, const tacho_header &header) {
  std::memcpy(bytes.data(), &header, sizeof header);
}

bool read(const std::vector<uint8_t> &bytes, tacho_message *out) {
  if (bytes.size() < HEADER) return false;
  std::memcpy(&out->header, bytes.data(), HEADER);
  out->data = bytes.data() + HEADER;
  out->size = bytes.size() - HEADER;
  return true;
}

}  // namespace

// std_msgs/UInt8MultiArray

void resize(std_msgs::UInt8MultiArray &message, size_t size) { message.data.resize(HEADER + size); }

void set_header(std_msgs::UInt8MultiArray &message, const tacho_header &header) { set_header(message.data, header); }

bool read(const std_msgs::UInt8MultiArray &message, tacho_message *out) { return read(message.data, out); }

// sensor_msgs/PointCloud2: one row of one-byte points, so that any size is a well-formed cloud.

void resize(sensor_msgs::PointCloud2 &message, size_t size) {
  message.header.frame_id = "lidar";
  message.fields.resize(1);
  message.fields[0].name = "intensity";
  message.fields[0].datatype = sensor_msgs::PointField::UINT8;
  message.fields[0].count = 1;
  message.data.resize(HEADER + size);
  message.height = 1;
  message.width = message.row_step = static_cast<uint32_t>(message.data.size());
  message.point_step = 1;
  message.is_dense = true;
}

void set_header(sensor_msgs::PointCloud2 &message, const tacho_header &header) {
  message.header.stamp = time(header.stamp_ns);
  set_header(message.data, header);
}

bool read(const sensor_msgs::PointCloud2 &message, tacho_message *out) { return read(message.data, out); }

// sensor_msgs/Image: one row of mono8.

void resize(sensor_msgs::Image &message, size_t size) {
  message.header.frame_id = "camera";
  message.encoding = "mono8";
  message.data.resize(HEADER + size);
  message.height = 1;
  message.width = message.step = static_cast<uint32_t>(message.data.size());
}

void set_header(sensor_msgs::Image &message, const tacho_header &header) {
  message.header.stamp = time(header.stamp_ns);
  set_header(message.data, header);
}

bool read(const sensor_msgs::Image &message, tacho_message *out) { return read(message.data, out); }

// geometry_msgs/TwistStamped: sequence.publisher.reserved in hexadecimal is its frame_id. roscpp overwrites its seq.

static_assert(sizeof(geometry_msgs::Twist) == TWIST, "six doubles, nothing between them");

void resize(geometry_msgs::TwistStamped &message, size_t) { message.header.frame_id.assign(16 + 1 + 8 + 1 + 8, '0'); }

void set_header(geometry_msgs::TwistStamped &message, const tacho_header &header) {
  if (!has_time(header.stamp_ns))
    throw std::runtime_error("ros1: TwistStamped with a stamp of " + std::to_string(header.stamp_ns) +
                             " ns; expected 0 to 2^32 s, which is what ROS 1 holds");
  std::string &id = message.header.frame_id;
  message.header.stamp = time(header.stamp_ns);
  std::snprintf(&id[0], id.size() + 1, "%016" PRIx64 ".%08" PRIx32 ".%08" PRIx32, header.sequence, header.publisher,
                header.reserved);
}

bool read(const geometry_msgs::TwistStamped &message, tacho_message *out) {
  const ros::Time &stamp = message.header.stamp;
  if (std::sscanf(message.header.frame_id.c_str(), "%16" SCNx64 ".%8" SCNx32 ".%8" SCNx32, &out->header.sequence,
                  &out->header.publisher, &out->header.reserved) != 3)
    return false;
  out->header.stamp_ns = static_cast<int64_t>(stamp.toNSec());
  out->data = &message.twist;
  out->size = TWIST;
  return true;
}

unsigned char *data(geometry_msgs::TwistStamped &message) { return reinterpret_cast<unsigned char *>(&message.twist); }
