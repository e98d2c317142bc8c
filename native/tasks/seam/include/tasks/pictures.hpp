// SPDX-License-Identifier: Apache-2.0
//
// Pictures where the middleware has them.
#ifndef TACHO_TASKS_PICTURES_HPP_
#define TACHO_TASKS_PICTURES_HPP_

#include <tasks/messages.hpp>

#include <cmath>

namespace tasks {

// Pixels of a row or a column.
constexpr uint32_t LARGEST = 16384;

struct PictureView {
  Picture head;
  const unsigned char *pixels;

  bool is_empty() const { return head.camera.width == 0 || head.camera.height == 0; }
};

inline size_t bytes(const Camera &camera) { return sizeof(Picture) + size_t{3} * camera.width * camera.height; }

// The latest picture of an input, valid until run() returns; none before the first.
inline std::optional<PictureView> received_picture(const tacho_task_call &call, size_t index,
                                                   const std::string &topic) {
  const auto head = received<Picture>(call, index, topic);
  if (!head) return std::nullopt;
  const tasks::Camera &camera = head->camera;
  if (camera.width > LARGEST || camera.height > LARGEST) {
    throw std::runtime_error(topic + ": found a picture of " + std::to_string(camera.width) + " x " +
                             std::to_string(camera.height) + ", expected at most " + std::to_string(LARGEST) +
                             " pixels either way");
  }
  for (const double value :
       {camera.focal, camera.centre_x, camera.centre_y, camera.x, camera.y, camera.z, camera.yaw}) {
    if (!std::isfinite(value)) throw std::runtime_error(topic + ": found a camera that is no number, expected one");
  }
  const tacho_task_input &input = call.inputs[index];
  const size_t needed = bytes(camera);
  if (input.size < needed) {
    throw std::runtime_error(topic + ": found a picture of " + std::to_string(head->camera.width) + " x " +
                             std::to_string(head->camera.height) + " in " + std::to_string(input.size) +
                             " B, expected at least " + std::to_string(needed) + " B");
  }
  return PictureView{*head, static_cast<const unsigned char *>(input.data) + sizeof(Picture)};
}

// Refuses an output that is too small for the pictures of this camera.
inline void require_room(const tacho_task_endpoint &output, const Camera &camera) {
  if (output.size >= bytes(camera)) return;
  throw std::runtime_error(std::string(output.topic) + ": found a size of " + std::to_string(output.size) +
                           " B, expected at least " + std::to_string(bytes(camera)) + " B for a picture of " +
                           std::to_string(camera.width) + " x " + std::to_string(camera.height));
}

}  // namespace tasks

#endif  // TACHO_TASKS_PICTURES_HPP_
