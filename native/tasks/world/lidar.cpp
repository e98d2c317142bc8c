// SPDX-License-Identifier: Apache-2.0
//
// A LiDAR: one scan of all rings at one instant, without the distortion of a car that
// moves meanwhile.
#include "kinds.hpp"
#include "ray_caster.hpp"

#include <tasks/messages.hpp>
#include <tasks/noise.hpp>

#include <cmath>

namespace world {
namespace {

constexpr double DEGREE = M_PI / 180;
constexpr tacho_task_parameter PARAMETERS[] = {
    {"rings", "", 1, 256, 64, "rays above each other"},
    {"columns", "", 4, 8192, 940, "rays beside each other, all around"},
    {"lowest", "rad", -1.5, 1.5, -24.8 * DEGREE, "elevation of the lowest ring"},
    {"highest", "rad", -1.5, 1.5, 2 * DEGREE, "elevation of the highest ring"},
    {"height", "m", 0.1, 10, 1.73, "above the ground"},
    {"ahead", "m", -10, 10, 0, "from the centre of gravity"},
    {"left", "m", -10, 10, 0, "from the centre of gravity"},
    {"range", "m", 1, 1000, 100, "longest distance that it measures"},
    {"noise", "m", 0, 1, 0, "standard deviation of the distance"},
};
enum { RINGS, COLUMNS, LOWEST, HIGHEST, HEIGHT, AHEAD, LEFT, RANGE, NOISE };

constexpr tacho_task_slot INPUTS[] = {tasks::input("world"), tasks::input("vehicle state")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("point cloud", sizeof(tasks::PointCloud) + sizeof(tasks::Point))};

class Lidar : public tasks::Task {
 public:
  explicit Lidar(const tasks::Config &config)
      : world_topic_(config.topic_of_input(0)),
        state_topic_(config.topic_of_input(1)),
        noise_(config.raw.seed),
        columns_(static_cast<size_t>(config.value(COLUMNS))),
        height_(config.value(HEIGHT)),
        mounted_ahead_(config.value(AHEAD)),
        mounted_left_(config.value(LEFT)),
        range_(config.value(RANGE)),
        deviation_(config.value(NOISE)) {
    const auto rings = static_cast<size_t>(config.value(RINGS));
    const double lowest = config.value(LOWEST), highest = config.value(HIGHEST);
    for (size_t ring = 0; ring < rings; ++ring) {
      const double part = rings == 1 ? 0 : static_cast<double>(ring) / static_cast<double>(rings - 1);
      const double elevation = lowest + part * (highest - lowest);
      rings_.push_back({std::tan(elevation), std::cos(elevation)});
    }
    for (size_t column = 0; column < columns_; ++column) {
      const double azimuth = 2 * M_PI * static_cast<double>(column) / static_cast<double>(columns_);
      azimuths_.push_back({std::cos(azimuth), std::sin(azimuth)});
    }
    const size_t needed = sizeof(tasks::PointCloud) + rings * columns_ * sizeof(tasks::Point);
    const tacho_task_endpoint &output = config.raw.outputs[0];
    if (output.size < needed) {
      throw std::runtime_error(std::string(output.topic) + ": found a size of " + std::to_string(output.size) +
                               " B, expected at least " + std::to_string(needed) + " B for " + std::to_string(rings) +
                               " x " + std::to_string(columns_) + " points");
    }
  }

  void run(const tacho_task_call &call) override {
    const auto world = tasks::received<tasks::World>(call, 0, world_topic_);
    const auto state = tasks::received<tasks::VehicleState>(call, 1, state_topic_);
    tacho_task_output &output = call.outputs[0];
    if (!world || !state || !output.data) return;
    const RayCaster caster(tasks::at_instant(*world, state->prefix.stamp_ns));
    const double cosine_of_yaw = std::cos(state->yaw), sine_of_yaw = std::sin(state->yaw);
    const double x = state->x + mounted_ahead_ * cosine_of_yaw - mounted_left_ * sine_of_yaw;
    const double y = state->y + mounted_ahead_ * sine_of_yaw + mounted_left_ * cosine_of_yaw;
    char *next = static_cast<char *>(output.data) + sizeof(tasks::PointCloud);
    uint32_t count = 0;
    for (const auto &[ahead, left] : azimuths_) {
      caster.look(x, y, ahead * cosine_of_yaw - left * sine_of_yaw, ahead * sine_of_yaw + left * cosine_of_yaw,
                  standing_);
      for (size_t ring = 0; ring < rings_.size(); ++ring) {
        const auto &[slope, cosine] = rings_[ring];
        double distance = RayCaster::meets(height_, slope, standing_);
        if (distance > range_ * cosine) continue;
        distance += noise_(deviation_) * cosine;
        const tasks::Point point = {static_cast<float>(mounted_ahead_ + distance * ahead),
                                    static_cast<float>(mounted_left_ + distance * left),
                                    static_cast<float>(height_ + distance * slope), static_cast<float>(ring)};
        std::memcpy(next, &point, sizeof point);
        next += sizeof point;
        ++count;
      }
    }
    const tasks::PointCloud cloud = {{tasks::PointCloud::KIND, count, state->prefix.stamp_ns}};
    std::memcpy(output.data, &cloud, sizeof cloud);
    output.publish = 1;
    ++scans_;
    points_ += count;
  }

  void figures(const tasks::Figures &figure) override {
    if (scans_ > 0) figure("points_mean", "", static_cast<double>(points_) / static_cast<double>(scans_));
  }

 private:
  struct Ring {
    double slope, cosine;
  };
  struct Azimuth {
    double ahead, left;  // unit vector of a column, in the car's frame
  };
  std::string world_topic_, state_topic_;
  tasks::Noise noise_;
  size_t columns_;
  double height_, mounted_ahead_, mounted_left_, range_, deviation_;
  std::vector<Ring> rings_;
  std::vector<Azimuth> azimuths_;
  std::vector<Standing> standing_;
  uint64_t scans_ = 0, points_ = 0;
};

}  // namespace

constexpr tacho_task_kind LIDAR =
    tasks::kind<Lidar>("lidar", "a LiDAR by ray casting: ground, walls, obstacles", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace world
