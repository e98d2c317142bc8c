// SPDX-License-Identifier: Apache-2.0
//
// Point clouds where the middleware has them: it aligns nothing, and a cloud may be shorter than it says.
#ifndef TACHO_TASKS_CLOUDS_HPP_
#define TACHO_TASKS_CLOUDS_HPP_

#include <tasks/messages.hpp>

#include <cmath>

namespace tasks {

class CloudView {
 public:
  CloudView(const Prefix &prefix, const void *points) : prefix_(prefix), points_(static_cast<const char *>(points)) {}

  const Prefix &prefix() const { return prefix_; }
  uint32_t size() const { return prefix_.count; }
  Point operator[](size_t index) const {
    Point point;
    std::memcpy(&point, points_ + index * sizeof point, sizeof point);
    return point;
  }

 private:
  Prefix prefix_;
  const char *points_;
};

inline bool is_finite(const Point &point) {
  return std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.z);
}

// The latest cloud of an input, valid until run() returns; none before the first.
inline std::optional<CloudView> received_cloud(const tacho_task_call &call, size_t index, const std::string &topic) {
  const auto cloud = received<PointCloud>(call, index, topic);
  if (!cloud) return std::nullopt;
  const tacho_task_input &input = call.inputs[index];
  const size_t needed = sizeof(PointCloud) + size_t{cloud->prefix.count} * sizeof(Point);
  if (input.size < needed) {
    throw std::runtime_error(topic + ": found " + std::to_string(cloud->prefix.count) + " points in " +
                             std::to_string(input.size) + " B, expected at least " + std::to_string(needed) + " B");
  }
  return CloudView(cloud->prefix, static_cast<const char *>(input.data) + sizeof(PointCloud));
}

// Writes a cloud into an output, if the node publishes it in this call. The bytes behind the last point stay as they
// are, because a clean megabyte costs as much as a task.
class CloudWriter {
 public:
  CloudWriter(const tacho_task_call &call, size_t index, std::string topic)
      : output_(call.outputs[index]), topic_(std::move(topic)) {}

  void add(const Point &point) {
    const size_t at = sizeof(PointCloud) + size_t{count_} * sizeof point;
    ++count_;
    if (!output_.data || at + sizeof point > output_.size) return;
    std::memcpy(static_cast<char *>(output_.data) + at, &point, sizeof point);
  }

  void publish(int64_t stamp_ns) {
    if (!output_.data) return;
    const size_t needed = sizeof(PointCloud) + size_t{count_} * sizeof(Point);
    if (needed > output_.size) {
      throw std::runtime_error(topic_ + ": found a size of " + std::to_string(output_.size) + " B, expected at least " +
                               std::to_string(needed) + " B for " + std::to_string(count_) + " points");
    }
    const PointCloud cloud = {{PointCloud::KIND, count_, stamp_ns}};
    std::memcpy(output_.data, &cloud, sizeof cloud);
    output_.publish = 1;
  }

 private:
  tacho_task_output &output_;
  std::string topic_;
  uint32_t count_ = 0;
};

}  // namespace tasks

#endif  // TACHO_TASKS_CLOUDS_HPP_
