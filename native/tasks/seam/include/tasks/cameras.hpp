// SPDX-License-Identifier: Apache-2.0
//
// Where a camera sees what stands in the vehicle's frame.
#ifndef TACHO_TASKS_CAMERAS_HPP_
#define TACHO_TASKS_CAMERAS_HPP_

#include <tasks/messages.hpp>
#include <tasks/task.hpp>

#include <algorithm>
#include <cmath>

namespace tasks {

// Parameters of a task with a camera that is mounted on the vehicle: its first ones.
inline constexpr tacho_task_parameter MOUNTED[] = {
    {"width", "", 16, 8192, 768, "pixels of a row"},
    {"height", "", 16, 8192, 576, "rows"},
    {"focal", "", 10, 1e5, 1000, "focal length in pixels"},
    {"ahead", "m", -10, 10, 1, "of the camera from the centre of gravity"},
    {"left", "m", -10, 10, 0, "of the camera from the centre of gravity"},
    {"above", "m", 0.1, 10, 1.5, "of the camera from the ground"},
    {"yaw", "rad", -3.2, 3.2, 0, "of its axis, to the left of straight ahead"},
};

// The camera of a task whose first parameters are those.
inline Camera mounted(const Config &config) {
  enum { WIDTH, HEIGHT, FOCAL, AHEAD, LEFT, ABOVE, YAW };
  Camera camera{};
  camera.focal = config.value(FOCAL);
  camera.x = config.value(AHEAD), camera.y = config.value(LEFT), camera.z = config.value(ABOVE);
  camera.yaw = config.value(YAW);
  camera.width = static_cast<uint32_t>(config.value(WIDTH));
  camera.height = static_cast<uint32_t>(config.value(HEIGHT));
  camera.centre_x = camera.width / 2.0, camera.centre_y = camera.height * 0.45;
  return camera;
}

struct Pixel {
  double x, y;
};

// What is nearer to the camera than this is not seen.
constexpr double NEAREST = 0.5;

// A point of the vehicle's frame relative to the camera: along its axis, and to the left of it.
struct Seen {
  double ahead, left;
};

inline Seen seen(const Camera &camera, double x, double y) {
  const double dx = x - camera.x, dy = y - camera.y;
  const double cosine = std::cos(camera.yaw), sine = std::sin(camera.yaw);
  return {dx * cosine + dy * sine, dy * cosine - dx * sine};
}

// Where the picture shows a point of the vehicle's frame; none if it is not before the camera.
inline std::optional<Pixel> projected(const Camera &camera, double x, double y, double z) {
  const Seen at = seen(camera, x, y);
  if (at.ahead < NEAREST) return std::nullopt;
  return Pixel{camera.centre_x - camera.focal * at.left / at.ahead,
               camera.centre_y - camera.focal * (z - camera.z) / at.ahead};
}

// The point of the ground that a pixel below the horizon shows, in the vehicle's frame.
inline std::optional<Pixel> on_ground(const Camera &camera, double x, double y) {
  if (y <= camera.centre_y) return std::nullopt;
  const double ahead = camera.focal * camera.z / (y - camera.centre_y);
  const double left = (camera.centre_x - x) * ahead / camera.focal;
  const double cosine = std::cos(camera.yaw), sine = std::sin(camera.yaw);
  return Pixel{camera.x + ahead * cosine - left * sine, camera.y + ahead * sine + left * cosine};
}

struct Rectangle {
  double left, top, right, bottom;

  double area() const { return std::max(0.0, right - left) * std::max(0.0, bottom - top); }
};

inline Rectangle rectangle(const Box &box) { return {box.x, box.y, box.x + box.width, box.y + box.height}; }

// Intersection over union.
inline double overlap(const Rectangle &a, const Rectangle &b) {
  const Rectangle both = {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                          std::min(a.bottom, b.bottom)};
  const double common = both.area();
  return common > 0 ? common / (a.area() + b.area() - common) : 0;
}

// Where the picture shows an upright cylinder from `bottom` to `top`, cut at the picture's borders; none if it does not.
inline std::optional<Rectangle> projected(const Camera &camera, double x, double y, double radius, double bottom,
                                          double top) {
  const Seen at = seen(camera, x, y);
  if (at.ahead < NEAREST) return std::nullopt;
  const double middle = camera.centre_x - camera.focal * at.left / at.ahead, half = camera.focal * radius / at.ahead;
  const auto row = [&](double z) { return camera.centre_y - camera.focal * (z - camera.z) / at.ahead; };
  const double width = camera.width, height = camera.height;
  const Rectangle all = {std::clamp(middle - half, 0.0, width), std::clamp(row(top), 0.0, height),
                         std::clamp(middle + half, 0.0, width), std::clamp(row(bottom), 0.0, height)};
  if (all.area() <= 0) return std::nullopt;
  return all;
}

}  // namespace tasks

#endif  // TACHO_TASKS_CAMERAS_HPP_
