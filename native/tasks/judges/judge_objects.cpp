// SPDX-License-Identifier: Apache-2.0
//
// Compares what was found with the obstacles that stand in the world: clusters, detections, objects or tracks.
#include "../world/posts.hpp"
#include "kinds.hpp"
#include "recall.hpp"
#include "true_poses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace judges {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"range", "m", 1, 1000, 30, "obstacles this near are due"},
    {"view", "rad", 0.01, 3.2, 3.2, "obstacles within this angle of straight ahead, to either side, are due"},
    {"after", "s", 0, 100, 0.5, "how long an obstacle was in sight before it is due"},
    {"within", "m", 0.05, 10, 1, "most distance of what was found from its obstacle"},
    {"recognised", "", 0, 1, 0, "1: what was recognised as no person is not counted"},
};
enum { RANGE, VIEW, AFTER, WITHIN, RECOGNISED };
constexpr tacho_task_slot INPUTS[] = {tasks::input("clusters, detections, objects or tracks"), tasks::input("world"),
                                      tasks::input("vehicle state")};
enum { OBJECTS, WORLD, STATE };

// One thing that was found, in the map's frame.
struct Found {
  double x, y;
  uint32_t id;
};

struct Finding {
  tasks::Prefix prefix;
  bool in_vehicle_frame;
  std::vector<Found> found;
};

class JudgeObjects : public tasks::Task {
 public:
  explicit JudgeObjects(const tasks::Config &config)
      : objects_topic_(config.topic_of_input(OBJECTS)),
        world_topic_(config.topic_of_input(WORLD)),
        state_topic_(config.topic_of_input(STATE)),
        range_(config.value(RANGE)),
        view_(config.value(VIEW)),
        within_(config.value(WITHIN)),
        after_ns_(static_cast<int64_t>(config.value(AFTER) * 1e9)),
        only_recognised_(config.value(RECOGNISED) != 0) {}

  void run(const tacho_task_call &call) override {
    const auto world = tasks::received<tasks::World>(call, WORLD, world_topic_);
    const auto state = tasks::received<tasks::VehicleState>(call, STATE, state_topic_);
    if (state && call.inputs[STATE].is_new) truth_.hear(*state);
    const auto prefix = tasks::received_prefix(call, OBJECTS, objects_topic_);
    if (prefix && call.inputs[OBJECTS].is_new) waiting_.push(read(call, prefix->kind));
    if (!world) return;
    waiting_.settle(truth_, [&](auto &message, const auto &pose) {
      if (pose) judge(message, tasks::at_instant(*world, message.prefix.stamp_ns), *pose);
    });
  }

  void figures(const tasks::Figures &figure) override {
    recall_.report(figure);
    if (recall_.matched > 0) {
      const double matched = static_cast<double>(recall_.matched);
      figure("position_error_rms", "m", std::sqrt(squares_ / matched));
      figure("distance_error_rms", "m", std::sqrt(distance_squares_ / matched));
    }
    if (!has_ids_) return;
    figure("ids", "", static_cast<double>(ids_.size()));
    figure("id_changes", "", static_cast<double>(id_changes_));
  }

 private:
  Finding read(const tacho_task_call &call, uint32_t kind) {
    Finding finding{};
    const auto each = [&](const auto &message, const auto &entries, size_t most, auto take) {
      finding.prefix = message.prefix;
      for (size_t i = 0; i < std::min<size_t>(message.prefix.count, most); ++i) take(entries[i]);
    };
    const auto add = [&](double x, double y, uint32_t id) { finding.found.push_back({x, y, id}); };
    if (kind == tasks::Objects::KIND) {
      const auto message = *tasks::received<tasks::Objects>(call, OBJECTS, objects_topic_);
      each(message, message.objects, message.MOST, [&](const tasks::Object &o) { add(o.x, o.y, 0); });
    } else if (kind == tasks::Tracks::KIND) {
      has_ids_ = true;
      const auto message = *tasks::received<tasks::Tracks>(call, OBJECTS, objects_topic_);
      each(message, message.tracks, message.MOST, [&](const tasks::Track &t) {
        if (counts(t.what)) add(t.x, t.y, t.id);
      });
    } else if (kind == tasks::Detections::KIND) {
      finding.in_vehicle_frame = true;
      const auto message = *tasks::received<tasks::Detections>(call, OBJECTS, objects_topic_);
      each(message, message.detections, message.MOST, [&](const tasks::Detection &d) {
        if (counts(d.what)) add(d.cluster.x, d.cluster.y, 0);
      });
    } else {
      finding.in_vehicle_frame = true;
      const auto message = *tasks::received<tasks::Clusters>(call, OBJECTS, objects_topic_);
      each(message, message.clusters, message.MOST, [&](const tasks::Cluster &c) { add(c.x, c.y, 0); });
    }
    return finding;
  }

  bool counts(uint32_t what) const { return !only_recognised_ || what == tasks::PERSON; }

  bool is_in_sight(const TruePose &pose, double x, double y) const {
    const double dx = x - pose.x, dy = y - pose.y;
    return std::hypot(dx, dy) <= range_ && std::abs(std::remainder(std::atan2(dy, dx) - pose.yaw, 2 * M_PI)) <= view_;
  }

  void judge(Finding &finding, const tasks::World &world, const TruePose &pose) {
    const world::Track track(world);
    if (finding.in_vehicle_frame) {
      const double cosine = std::cos(pose.yaw), sine = std::sin(pose.yaw);
      for (Found &one : finding.found) {
        one = {pose.x + one.x * cosine - one.y * sine, pose.y + one.x * sine + one.y * cosine, one.id};
      }
    }
    ++recall_.messages;
    std::vector<bool> is_matched(finding.found.size(), false);
    for (uint32_t i = 0; i < tasks::World::MOST; ++i) {
      const world::Place at = track.at(world.obstacles[i].distance, world.obstacles[i].offset);
      if (i >= world.prefix.count || !is_in_sight(pose, at.x, at.y)) {
        since_.erase(i);
        continue;
      }
      const int64_t since = since_.try_emplace(i, finding.prefix.stamp_ns).first->second;
      const auto nearest = match(finding.found, is_matched, at);
      if (nearest) is_matched[*nearest] = true;
      if (finding.prefix.stamp_ns - since < after_ns_) continue;
      ++recall_.due;
      if (nearest) score(i, finding.found[*nearest], at, pose);
    }
    const std::vector<tasks::Obstacle> posts = world::posts_of(world, track);
    for (size_t i = 0; i < finding.found.size(); ++i) {
      if (!is_matched[i] && is_nothing(finding.found[i], world, track, posts, pose)) ++recall_.wrong;
    }
  }

  // The nearest of those that are of no other obstacle.
  std::optional<size_t> match(const std::vector<Found> &found, const std::vector<bool> &is_matched,
                              const world::Place &at) const {
    std::optional<size_t> best;
    double least = within_;
    for (size_t i = 0; i < found.size(); ++i) {
      const double apart = std::hypot(found[i].x - at.x, found[i].y - at.y);
      if (is_matched[i] || apart > least) continue;
      least = apart, best = i;
    }
    return best;
  }

  void score(uint32_t obstacle, const Found &found, const world::Place &at, const TruePose &pose) {
    ++recall_.matched;
    const double dx = found.x - at.x, dy = found.y - at.y;
    squares_ += dx * dx + dy * dy;
    const double longer = std::hypot(found.x - pose.x, found.y - pose.y) - std::hypot(at.x - pose.x, at.y - pose.y);
    distance_squares_ += longer * longer;
    ids_.insert(found.id);
    const auto [of, is_first] = id_of_.try_emplace(obstacle, found.id);
    if (is_first || of->second == found.id) return;
    of->second = found.id;
    ++id_changes_;
  }

  // Whether nothing stands there: no obstacle, no post, no wall.
  bool is_nothing(const Found &one, const tasks::World &world, const world::Track &track,
                  const std::vector<tasks::Obstacle> &posts, const TruePose &pose) const {
    if (!is_in_sight(pose, one.x, one.y)) return false;
    if (std::abs(track.nearest(one.x, one.y).offset) > world.wall - within_) return false;
    const auto stands = [&](const tasks::Obstacle &of) {
      const world::Place at = track.at(of.distance, of.offset);
      return std::hypot(one.x - at.x, one.y - at.y) <= within_ + of.radius;
    };
    return std::none_of(posts.begin(), posts.end(), stands) &&
           std::none_of(world.obstacles, world.obstacles + world.prefix.count, stands);
  }

  std::string objects_topic_, world_topic_, state_topic_;
  double range_, view_, within_;
  int64_t after_ns_;
  bool only_recognised_;
  TruePoses truth_;
  Waiting<Finding> waiting_;
  std::map<uint32_t, int64_t> since_;   // when each obstacle came into sight
  std::map<uint32_t, uint32_t> id_of_;  // the latest id of each obstacle
  std::set<uint32_t> ids_;
  bool has_ids_ = false;
  Recall recall_;
  uint64_t id_changes_ = 0;
  double squares_ = 0, distance_squares_ = 0;
};

}  // namespace

constexpr tacho_task_kind JUDGE_OBJECTS = tasks::judge<JudgeObjects>(
    "judge_objects", "compares what was found with the obstacles of the world", PARAMETERS, INPUTS);

}  // namespace judges
