// SPDX-License-Identifier: Apache-2.0
//
// What the tasks of the driving stack exchange, as bytes of a message. Lengths are in m, angles in rad, times in s.
// Coordinates are those of the map: x to the east, y to the north, angles counterclockwise from x.
#ifndef TACHO_TASKS_MESSAGES_HPP_
#define TACHO_TASKS_MESSAGES_HPP_

#include <tacho/task.h>

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace tasks {

// Every message begins with this.
struct Prefix {
  uint32_t kind;     // of its struct: KIND below
  uint32_t count;    // entries in use, of a struct with entries
  int64_t stamp_ns;  // when the vehicle was sensed whose state the content rests on; 0 if it rests on none
};

// An upright cylinder that stands on the lane.
struct Obstacle {
  double distance;  // of its centre, along the centre line from the start of the track
  double offset;    // of its centre, to the left of the centre line
  double radius;
  double height;
};

// The truth about the world: a closed lane with four corners, counterclockwise, with a wall on either side.
struct World {
  static constexpr uint32_t KIND = 0x31444c57;  // "WLD1"
  static constexpr size_t MOST = 8;
  Prefix prefix;
  double straight;  // length of the two long sides, without corners
  double breadth;   // of the two short sides
  double radius;    // of the centre line in the corners
  double lane_width;
  double wall;  // distance of the walls from the centre line
  double wall_height;
  Obstacle obstacles[MOST];
};

// The true state of the vehicle at its centre of gravity.
struct VehicleState {
  static constexpr uint32_t KIND = 0x31544556;  // "VET1"
  Prefix prefix;
  double x, y, steering, speed, yaw, yaw_rate, slip, acceleration;
};

// What the actuators do until the next message.
struct Actuators {
  static constexpr uint32_t KIND = 0x31544341;  // "ACT1"
  Prefix prefix;
  double steering_rate;
  double acceleration;
};

// A pose as a localisation or odometry gives it, at the centre of gravity.
struct Pose {
  static constexpr uint32_t KIND = 0x31534f50;  // "POS1"
  Prefix prefix;
  double x, y, yaw, speed;
};

struct Imu {
  static constexpr uint32_t KIND = 0x31554d49;  // "IMU1"
  Prefix prefix;
  double yaw_rate;
  double longitudinal;  // acceleration
  double lateral;       // acceleration, to the left
};

// A point of a LiDAR in the vehicle's frame: x ahead, y to the left, z up from the ground.
struct Point {
  float x, y, z, ring;
};

// Followed by `count` points.
struct PointCloud {
  static constexpr uint32_t KIND = 0x31444c43;  // "CLD1"
  Prefix prefix;
};

// An object as a detector gives it.
struct Object {
  double x, y;  // of its centre
  double radius;
  double speed;
};

struct Objects {
  static constexpr uint32_t KIND = 0x314a424f;  // "OBJ1"
  static constexpr size_t MOST = 32;
  Prefix prefix;
  Object objects[MOST];
};

// The centre line of the lanes ahead.
struct Path {
  static constexpr uint32_t KIND = 0x31485450;  // "PTH1"
  static constexpr size_t MOST = 128;
  struct Entry {
    double x, y;
  };
  Prefix prefix;
  double width;             // of the lane
  double x, y, yaw, speed;  // of the vehicle when it was sensed
  Entry points[MOST];
};

struct Trajectory {
  static constexpr uint32_t KIND = 0x314a5254;  // "TRJ1"
  static constexpr size_t MOST = 256;
  struct Entry {
    double time;  // from the sensing of the vehicle
    double distance;
    double x, y, yaw, curvature, speed, acceleration;
  };
  Prefix prefix;
  Entry points[MOST];
};

// What the controller wants of drive by wire.
struct Command {
  static constexpr uint32_t KIND = 0x31444d43;  // "CMD1"
  Prefix prefix;
  double steering;  // angle of the front wheels
  double acceleration;
};

inline std::string shown(uint32_t kind) {
  std::string text(reinterpret_cast<const char *>(&kind), sizeof kind);
  for (char &c : text) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return "\"" + text + "\"";
}

// The latest message of an input, copied because a middleware aligns nothing; none before the first. A message of
// another kind is a failure.
template <class Message>
std::optional<Message> received(const tacho_task_call &call, size_t index, const std::string &topic) {
  static_assert(std::is_trivially_copyable_v<Message>);
  const tacho_task_input &input = call.inputs[index];
  if (!input.data) return std::nullopt;
  if (input.size < sizeof(Message)) {
    throw std::runtime_error(topic + ": found a message of " + std::to_string(input.size) + " B, expected at least " +
                             std::to_string(sizeof(Message)) + " B");
  }
  Message message;
  std::memcpy(&message, input.data, sizeof message);
  if (message.prefix.kind != Message::KIND) {
    throw std::runtime_error(topic + ": found a message of kind " + shown(message.prefix.kind) + ", expected " +
                             shown(Message::KIND));
  }
  return message;
}

// Publishes a message on an output, if the node publishes it in this call. The rest of a larger buffer is zero.
template <class Message>
void publish(const tacho_task_call &call, size_t index, const Message &message) {
  static_assert(std::is_trivially_copyable_v<Message>);
  tacho_task_output &output = call.outputs[index];
  if (!output.data) return;
  std::memcpy(output.data, &message, sizeof message);
  std::memset(static_cast<char *>(output.data) + sizeof message, 0, output.size - sizeof message);
  output.publish = 1;
}

}  // namespace tasks

#endif  // TACHO_TASKS_MESSAGES_HPP_
