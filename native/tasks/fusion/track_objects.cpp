// SPDX-License-Identifier: Apache-2.0
//
// The environment model: follows detections over time in the map's frame, each with an id of its own. Kalman filters
// predict where things are, and the Hungarian method says which detection is of which.
#include "assignment.hpp"
#include "kalman.hpp"
#include "kinds.hpp"

#include <tasks/messages.hpp>
#include <tasks/object_signals.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace fusion {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"gate", "m", 0.05, 20, 1.5, "most distance of a detection from where its track is predicted"},
    {"noise", "m", 0.001, 10, 0.15, "standard deviation of a detection's place, in each direction"},
    {"acceleration", "m/s^2", 0, 50, 1, "standard deviation of the acceleration of what is followed"},
    {"first_speed", "m/s", 0, 50, 3, "standard deviation of its speed when it is first seen"},
    {"confirm", "", 1, 100, 3, "detections before a track is told"},
    {"patience", "s", 0, 60, 0.5, "time without a detection after which a track is dropped"},
};
enum { GATE, NOISE, ACCELERATION, FIRST_SPEED, CONFIRM, PATIENCE };
constexpr tacho_task_slot INPUTS[] = {tasks::input("detections"), tasks::input("pose")};
constexpr tacho_task_slot OUTPUTS[] = {
    tasks::output("tracks", sizeof(tasks::Tracks)),
    {"objects", sizeof(tasks::Objects), 1, 0},
};
enum { DETECTIONS, POSE };

struct Followed {
  Kalman x, y;
  double radius;
  uint32_t id;  // 0 until it is confirmed
  uint32_t what;
  uint32_t hits;
  int64_t seen_ns;
};

class TrackObjects : public tasks::Task {
 public:
  explicit TrackObjects(const tasks::Config &config)
      : detections_topic_(config.topic_of_input(DETECTIONS)),
        pose_topic_(config.topic_of_input(POSE)),
        gate_(config.value(GATE)),
        noise_(config.value(NOISE)),
        acceleration_(config.value(ACCELERATION)),
        speed_(config.value(FIRST_SPEED)),
        confirm_(static_cast<uint32_t>(config.value(CONFIRM))),
        patience_ns_(static_cast<int64_t>(config.value(PATIENCE) * 1e9)),
        tells_objects_(config.raw.output_count > 1) {}

  void run(const tacho_task_call &call) override {
    const auto detections = tasks::received<tasks::Detections>(call, DETECTIONS, detections_topic_);
    const auto pose = tasks::received<tasks::Pose>(call, POSE, pose_topic_);
    if (!detections || !pose || !call.inputs[DETECTIONS].is_new) return;
    const int64_t stamp = detections->prefix.stamp_ns;
    if (stamp < now_ns_) {
      ++late_;
      return;
    }
    ++sets_;
    const double passed = now_ns_ == 0 ? 0 : tasks::seconds(stamp - now_ns_);
    now_ns_ = stamp;
    for (Followed &one : followed_) {
      one.x.predict(passed, acceleration_);
      one.y.predict(passed, acceleration_);
    }
    // The pose is carried on to the instant of the detections by its speed.
    const double driven = pose->speed * tasks::seconds(stamp - pose->prefix.stamp_ns);
    const double cosine = std::cos(pose->yaw), sine = std::sin(pose->yaw);
    here_ = {pose->x + driven * cosine, pose->y + driven * sine};
    std::vector<Seen> seen;
    for (size_t i = 0; i < std::min<size_t>(detections->prefix.count, tasks::Detections::MOST); ++i) {
      const tasks::Detection &one = detections->detections[i];
      const double ahead = one.cluster.x, left = one.cluster.y;
      if (!std::isfinite(ahead) || !std::isfinite(left)) continue;
      seen.push_back({{here_.x + ahead * cosine - left * sine, here_.y + ahead * sine + left * cosine},
                      one.cluster.radius,
                      one.what});
    }
    update(seen);
    tell(call);
  }

  void figures(const tasks::Figures &figure) override {
    figure("sets", "", static_cast<double>(sets_));
    figure("sets_late", "", static_cast<double>(late_));
    figure("ids", "", static_cast<double>(ids_));
    figure("dropped", "", static_cast<double>(dropped_));
    if (updates_ > 0) figure("innovation_rms", "m", std::sqrt(squares_ / static_cast<double>(updates_)));
  }

 private:
  struct Place {
    double x, y;
  };
  struct Seen {
    Place at;
    double radius;
    uint32_t what;
  };

  void update(const std::vector<Seen> &seen) {
    Costs costs(followed_.size(), seen.size());
    for (size_t i = 0; i < followed_.size(); ++i) {
      for (size_t j = 0; j < seen.size(); ++j) {
        costs(i, j) = std::hypot(seen[j].at.x - followed_[i].x.place(), seen[j].at.y - followed_[i].y.place());
      }
    }
    const auto seen_of = assign(costs, gate_);
    std::vector<bool> is_taken(seen.size(), false);
    for (size_t i = 0; i < followed_.size(); ++i) {
      if (!seen_of[i]) continue;
      is_taken[*seen_of[i]] = true;
      const double apart = costs(i, *seen_of[i]);
      squares_ += apart * apart;
      ++updates_;
      see(followed_[i], seen[*seen_of[i]]);
    }
    const auto gone = std::remove_if(followed_.begin(), followed_.end(),
                                     [this](const Followed &one) { return now_ns_ - one.seen_ns > patience_ns_; });
    for (auto one = gone; one != followed_.end(); ++one) dropped_ += one->id != 0 ? 1 : 0;
    followed_.erase(gone, followed_.end());
    for (size_t j = 0; j < seen.size(); ++j) {
      if (is_taken[j]) continue;
      followed_.push_back({Kalman(seen[j].at.x, noise_, speed_), Kalman(seen[j].at.y, noise_, speed_), seen[j].radius,
                           0, seen[j].what, 1, now_ns_});
      confirm(followed_.back());
    }
  }

  void see(Followed &one, const Seen &seen) {
    one.x.measure(seen.at.x, noise_);
    one.y.measure(seen.at.y, noise_);
    // What is near is seen whole; from afar its width is missed in part.
    one.radius += 0.3 * (seen.radius - one.radius);
    if (seen.what != tasks::UNKNOWN) one.what = seen.what;
    one.seen_ns = now_ns_;
    ++one.hits;
    confirm(one);
  }

  void confirm(Followed &one) {
    if (one.id == 0 && one.hits >= confirm_) one.id = ++ids_;
  }

  // Tells what is confirmed, the nearest first.
  void tell(const tacho_task_call &call) const {
    std::vector<const Followed *> told;
    for (const Followed &one : followed_) {
      if (one.id != 0) told.push_back(&one);
    }
    const auto away = [this](const Followed *one) {
      return std::hypot(one->x.place() - here_.x, one->y.place() - here_.y);
    };
    std::sort(told.begin(), told.end(), [&](const Followed *a, const Followed *b) { return away(a) < away(b); });
    tasks::Tracks tracks{{tasks::Tracks::KIND, 0, now_ns_}, {}};
    tasks::Objects objects{{tasks::Objects::KIND, 0, now_ns_}, {}};
    for (const Followed *one : told) {
      const double x = one->x.place(), y = one->y.place(), speed_x = one->x.speed(), speed_y = one->y.speed();
      if (tracks.prefix.count < tasks::Tracks::MOST) {
        tracks.tracks[tracks.prefix.count++] = {x, y, speed_x, speed_y, one->radius, one->id, one->what};
      }
      if (objects.prefix.count < tasks::Objects::MOST) {
        objects.objects[objects.prefix.count++] = {x, y, one->radius, std::hypot(speed_x, speed_y)};
      }
    }
    tasks::publish(call, 0, tracks);
    tasks::report_objects(call, tracks.tracks, tracks.prefix.count, now_ns_);
    if (tells_objects_) tasks::publish(call, 1, objects);
  }

  std::string detections_topic_, pose_topic_;
  double gate_, noise_, acceleration_, speed_;
  uint32_t confirm_;
  int64_t patience_ns_;
  bool tells_objects_;
  int64_t now_ns_ = 0;
  Place here_{};
  std::vector<Followed> followed_;
  uint32_t ids_ = 0;
  uint64_t sets_ = 0, late_ = 0, dropped_ = 0, updates_ = 0;
  double squares_ = 0;
};

}  // namespace

constexpr tacho_task_kind TRACK_OBJECTS = tasks::with_signals(
    tasks::kind<TrackObjects>("track_objects", "detections followed over time, each with an id of its own", PARAMETERS,
                              INPUTS, OUTPUTS),
    tasks::OBJECT_SIGNALS);

}  // namespace fusion
