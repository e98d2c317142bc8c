// SPDX-License-Identifier: Apache-2.0
//
// Publishes the truth about the world.
#include "kinds.hpp"
#include "track.hpp"

#include <tasks/messages.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace world {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"straight", "m", 1, 1e4, 100, "length of the two long sides between their corners"},
    {"breadth", "m", 1, 1e4, 50, "length of the two short sides between their corners"},
    {"radius", "m", 5, 1e4, 60, "of the centre line in the four corners"},
    {"lane_width", "m", 1.7, 20, 3.5, "between the borders of the lane"},
    {"wall", "m", 1, 100, 6, "distance of the walls from the centre line"},
    {"wall_height", "m", 0.1, 20, 2, "of the walls"},
    {"obstacles", "", 0, tasks::World::MOST, 0, "number of obstacles on the lane"},
    {"obstacle_at", "m", 0, 1e5, 80, "where along the lane the first one stands"},
    {"obstacle_spacing", "m", 1, 1e5, 100, "from one to the next"},
    {"obstacle_offset", "m", -50, 50, 0, "of their centres to the left of the centre line"},
    {"obstacle_radius", "m", 0.05, 5, 0.4, "of these upright cylinders"},
    {"obstacle_height", "m", 0.1, 10, 1.2, "of these upright cylinders"},
    {"obstacle_from", "s", 0, 1e6, 0, "when they appear, after the start"},
    {"obstacle_until", "s", 0, 1e6, 1e6, "when they are gone, after the start"},
    {"obstacle_near", "m", 0, 1000, 0, "each appears when the vehicle is so near to its place; 0: wherever it is"},
    {"obstacle_speed", "m/s", -50, 50, 0, "along the lane, from when it appears"},
    {"obstacle_crossing", "m/s", -10, 10, 0, "to the left, from when it appears, up to the wall"},
    {"posts", "m", 0, 1e4, 0, "way from one post beside the lane to the next, on average; 0: none"},
    {"post_offset", "m", 1, 100, 5, "of their centres from the centre line"},
    {"post_radius", "m", 0.02, 2, 0.15, "of these upright cylinders"},
    {"post_height", "m", 0.1, 20, 3, "of these upright cylinders"},
};
enum {
  STRAIGHT,
  BREADTH,
  RADIUS,
  LANE_WIDTH,
  WALL,
  WALL_HEIGHT,
  OBSTACLES,
  AT,
  SPACING,
  OFFSET,
  OBSTACLE_RADIUS,
  HEIGHT,
  FROM,
  UNTIL,
  NEAR,
  SPEED,
  CROSSING,
  POSTS,
  POST_OFFSET,
  POST_RADIUS,
  POST_HEIGHT
};

constexpr tacho_task_slot INPUTS[] = {tasks::optional_input("vehicle state")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("world", sizeof(tasks::World))};
constexpr tacho_task_signal SIGNALS[] = {
    tasks::list("lane_x", "m", "points of the centre line, in their order; once"),
    tasks::list("lane_y", "m", "points of the centre line, in their order; once"),
    tasks::signal("lane_width", "m", "between the borders of the lane; once"),
    tasks::signal("obstacles", "", "number of obstacles; when they change"),
    tasks::list("obstacle_x", "m", "true place of each obstacle; when they change"),
    tasks::list("obstacle_y", "m", "true place of each obstacle; when they change"),
    tasks::list("obstacle_radius", "m", "of each obstacle; when they change"),
};
enum { S_LANE_X, S_LANE_Y, S_LANE_WIDTH, S_OBSTACLES, S_OBSTACLE_X, S_OBSTACLE_Y, S_OBSTACLE_RADIUS };
constexpr double LANE_STEP = 4;       // m, between reported points of the centre line
constexpr double MOST_POINTS = 5000;  // of them

class World : public tasks::Task {
 public:
  explicit World(const tasks::Config &config)
      : state_topic_(config.raw.input_count > 0 ? config.topic_of_input(0) : ""),
        from_(config.value(FROM)),
        until_(config.value(UNTIL)),
        near_(config.value(NEAR)),
        speed_(config.value(SPEED)),
        crossing_(config.value(CROSSING)) {
    world_ = {{tasks::World::KIND, 0, 0},
              config.value(STRAIGHT),
              config.value(BREADTH),
              config.value(RADIUS),
              config.value(LANE_WIDTH),
              config.value(WALL),
              config.value(WALL_HEIGHT),
              {},
              config.value(POSTS),
              config.value(POST_OFFSET),
              config.value(POST_RADIUS),
              config.value(POST_HEIGHT),
              {},
              {}};
    if (world_.wall < world_.lane_width / 2) refuse("wall", world_.wall, "at least half of the lane's width");
    if (world_.radius <= world_.wall) refuse("radius", world_.radius, "more than the distance of the walls");
    if (world_.post_spacing > 0 && world_.post_offset - world_.post_radius < world_.lane_width / 2) {
      refuse("post_offset", world_.post_offset, "posts beside the lane");
    }
    if (world_.post_spacing > 0 && world_.post_spacing < 1)
      refuse("posts", world_.post_spacing, "0 m, or at least 1 m");
    if (near_ > 0 && state_topic_.empty()) {
      throw std::runtime_error("found obstacle_near without the vehicle's state, expected a subscription to it");
    }
    if (crossing_ != 0 && std::abs(config.value(OFFSET)) > world_.wall) {
      refuse("obstacle_offset", config.value(OFFSET), "a place between the walls, because obstacles cross the lane");
    }
    count_ = static_cast<uint32_t>(config.value(OBSTACLES));
    for (uint32_t i = 0; i < count_; ++i) {
      places_[i] = {config.value(AT) + i * config.value(SPACING), config.value(OFFSET), config.value(OBSTACLE_RADIUS),
                    config.value(HEIGHT)};
    }
  }

  void run(const tacho_task_call &call) override {
    if (!start_ns_) start_ns_ = call.now_ns;
    const double since = tasks::seconds(call.now_ns - *start_ns_);
    const auto state =
        state_topic_.empty() ? std::nullopt : tasks::received<tasks::VehicleState>(call, 0, state_topic_);
    world_.prefix.stamp_ns = call.now_ns;
    world_.prefix.count = 0;
    if (since >= from_ && since < until_) {
      // They appear in their order, so that one that is there keeps its number.
      for (; appeared_ < count_ && appears(places_[appeared_], state); ++appeared_) since_[appeared_] = since;
      for (uint32_t i = 0; i < appeared_; ++i) place(i, since - since_[i]);
      world_.prefix.count = appeared_;
    }
    tasks::publish(call, 0, world_);
    if (call.report) report(call);
  }

 private:
  void report(const tacho_task_call &call) {
    const auto one = [&](uint32_t signal, double value, uint32_t entry = 0) {
      tasks::report(call, signal, call.now_ns, value, entry);
    };
    // The instant alone is no change.
    tasks::World now = world_;
    now.prefix.stamp_ns = 0;
    const Track track(world_);
    if (!is_told_) {
      const auto points = static_cast<uint32_t>(std::min(std::ceil(track.length() / LANE_STEP), MOST_POINTS));
      for (uint32_t i = 0; i < points; ++i) {
        const Place place = track.at(track.length() * i / points);
        one(S_LANE_X, place.x, i), one(S_LANE_Y, place.y, i);
      }
      one(S_LANE_WIDTH, world_.lane_width);
    } else if (std::memcmp(&told_, &now, sizeof told_) == 0) {
      return;
    }
    one(S_OBSTACLES, world_.prefix.count);
    for (uint32_t i = 0; i < world_.prefix.count; ++i) {
      const Place place = track.at(world_.obstacles[i].distance, world_.obstacles[i].offset);
      one(S_OBSTACLE_X, place.x, i), one(S_OBSTACLE_Y, place.y, i);
      one(S_OBSTACLE_RADIUS, world_.obstacles[i].radius, i);
    }
    is_told_ = true;
    told_ = now;
  }

  // Whether the vehicle is near enough before the place of an obstacle.
  bool appears(const tasks::Obstacle &obstacle, const std::optional<tasks::VehicleState> &state) const {
    if (near_ <= 0) return true;
    if (!state) return false;
    const Track track(world_);
    const double way = track.way(track.nearest(state->x, state->y).distance, obstacle.distance);
    return way >= 0 && way <= near_;
  }

  // Puts an obstacle where it is so long after it appeared.
  void place(uint32_t i, double passed) {
    tasks::Obstacle &obstacle = world_.obstacles[i] = places_[i];
    obstacle.distance += speed_ * passed;
    world_.speed_along[i] = speed_, world_.speed_left[i] = 0;
    if (crossing_ == 0) return;
    const double end = std::copysign(world_.wall - obstacle.radius, crossing_);
    const double offset = obstacle.offset + crossing_ * passed;
    const bool is_there = crossing_ > 0 ? offset >= end : offset <= end;
    obstacle.offset = is_there ? end : offset;
    if (!is_there) world_.speed_left[i] = crossing_;
  }

  [[noreturn]] static void refuse(const char *what, double found, const char *expected) {
    throw std::runtime_error(std::string("found ") + std::to_string(found) + " m as " + what + ", expected " +
                             expected);
  }

  std::string state_topic_;
  double from_, until_, near_, speed_, crossing_;
  uint32_t count_, appeared_ = 0;
  tasks::Obstacle places_[tasks::World::MOST]{};  // where they appear
  double since_[tasks::World::MOST]{};            // when they did, in s after the start
  tasks::World world_;
  bool is_told_ = false;
  tasks::World told_{};  // what was reported last
  std::optional<int64_t> start_ns_;
};

}  // namespace

constexpr tacho_task_kind WORLD = tasks::with_signals(
    tasks::kind<World>("world", "a closed lane with four corners, walls, and obstacles", PARAMETERS, INPUTS, OUTPUTS),
    SIGNALS);

}  // namespace world
