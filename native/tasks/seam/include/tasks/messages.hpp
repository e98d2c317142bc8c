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
  uint32_t kind;   // of its struct: KIND below
  uint32_t count;  // entries in use, of a struct with entries
  // When the vehicle was sensed whose state the content rests on; 0 if it rests on none. Of the world: its own instant.
  int64_t stamp_ns;
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
  static constexpr uint32_t KIND = 0x32444c57;  // "WLD2"
  static constexpr size_t MOST = 8;
  Prefix prefix;
  double straight;  // length of the two long sides, without corners
  double breadth;   // of the two short sides
  double radius;    // of the centre line in the corners
  double lane_width;
  double wall;  // distance of the walls from the centre line
  double wall_height;
  Obstacle obstacles[MOST];
  // Upright cylinders beside the lane, alternately to its right and left. They make places distinguishable.
  double post_spacing;  // from one to the next, on average; 0 if there are none
  double post_offset;   // of their centres from the centre line
  double post_radius;
  double post_height;
  // Of each obstacle, along the centre line and to the left of it. The obstacles are where `obstacles` says at the
  // instant of the prefix.
  double speed_along[MOST];
  double speed_left[MOST];
};

// The world with its obstacles where they are at an instant.
inline World at_instant(const World &world, int64_t at_ns) {
  World moved = world;
  const double passed = world.prefix.stamp_ns ? static_cast<double>(at_ns - world.prefix.stamp_ns) * 1e-9 : 0;
  for (uint32_t i = 0; i < world.prefix.count && i < World::MOST; ++i) {
    moved.obstacles[i].distance += passed * world.speed_along[i];
    moved.obstacles[i].offset += passed * world.speed_left[i];
  }
  return moved;
}

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

// Points that stand together, in the vehicle's frame, as the upright cylinder whose near side they may be.
struct Cluster {
  float x, y;  // of its centre
  float radius;
  float bottom, top;  // above the ground
  uint32_t points;
};

struct Clusters {
  static constexpr uint32_t KIND = 0x31534c43;  // "CLS1"
  static constexpr size_t MOST = 64;
  Prefix prefix;
  Cluster clusters[MOST];
};

// What a thing is, as far as it is known.
enum Class : uint32_t { UNKNOWN = 0, PERSON = 1, BICYCLE = 2, VEHICLE = 3 };

// A cluster that a camera may have recognised, in the vehicle's frame.
struct Detection {
  Cluster cluster;
  uint32_t what;  // a Class
  float score;    // of the box that it was fused with; 0 without one
};

struct Detections {
  static constexpr uint32_t KIND = 0x31544544;  // "DET1"
  static constexpr size_t MOST = 64;
  Prefix prefix;
  Detection detections[MOST];
};

// A thing that is followed over time, in the map's frame.
struct Track {
  double x, y;
  double speed_x, speed_y;
  double radius;
  uint32_t id;    // it keeps it while it is followed; no other ever gets it
  uint32_t what;  // a Class
};

struct Tracks {
  static constexpr uint32_t KIND = 0x314b5254;  // "TRK1"
  static constexpr size_t MOST = 64;
  Prefix prefix;
  Track tracks[MOST];
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

// A camera without distortion, level in the vehicle's frame.
struct Camera {
  double focal;               // in pixels
  double centre_x, centre_y;  // where its axis meets the picture
  double x, y, z;             // of its centre; z above the ground
  double yaw;                 // of its axis
  uint32_t width, height;     // of the picture
};

// Followed by the pixels, rows from the top, three bytes each: blue, green, red.
struct Picture {
  static constexpr uint32_t KIND = 0x31474d49;  // "IMG1"
  Prefix prefix;
  Camera camera;
};

// A rectangle of a picture, in pixels from its upper left corner.
struct Box {
  float x, y, width, height;
  float score;
  uint32_t what;  // a Class
  uint32_t id;    // of a tracker; 0 without one
  uint32_t reserved;
};

struct Boxes {
  static constexpr uint32_t KIND = 0x31584f42;  // "BOX1"
  static constexpr size_t MOST = 64;
  Prefix prefix;
  Camera camera;
  Box boxes[MOST];
};

// The borders of the lane that a camera sees, in the vehicle's frame: y = offset + slope x.
struct LaneBorders {
  static constexpr uint32_t KIND = 0x31534e4c;  // "LNS1"
  struct Border {
    double offset, slope;
  };
  Prefix prefix;  // count: 1 if both borders were found, else 0
  Border left, right;
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

// A message that was recorded, followed by its `count` bytes as they were serialised. The stamp is that of its header, by
// the clock of the recorded system; 0 if it has none.
struct Raw {
  static constexpr uint32_t KIND = 0x31574152;  // "RAW1"
  Prefix prefix;
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

// The beginning of the latest message of an input, for inputs of several kinds; none before the first.
inline std::optional<Prefix> received_prefix(const tacho_task_call &call, size_t index, const std::string &topic) {
  const tacho_task_input &input = call.inputs[index];
  if (!input.data) return std::nullopt;
  if (input.size < sizeof(Prefix)) {
    throw std::runtime_error(topic + ": found a message of " + std::to_string(input.size) + " B, expected at least " +
                             std::to_string(sizeof(Prefix)) + " B");
  }
  Prefix prefix;
  std::memcpy(&prefix, input.data, sizeof prefix);
  return prefix;
}

// Whether a message has entries.
template <class Message, class = void>
struct HasMost : std::false_type {};
template <class Message>
struct HasMost<Message, std::void_t<decltype(Message::MOST)>> : std::true_type {};

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
  if constexpr (HasMost<Message>::value) {
    if (message.prefix.count > Message::MOST) {
      throw std::runtime_error(topic + ": found " + std::to_string(message.prefix.count) +
                               " entries, expected at most " + std::to_string(Message::MOST));
    }
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
