// SPDX-License-Identifier: Apache-2.0
//
// A spline along the path with the times at which the vehicle is to be where, within its limits, and a stop before
// objects on the lane.
#include "kinds.hpp"
#include "speed_profile.hpp"
#include "spline.hpp"
#include "../vehicle/single_track.hpp"

#include <tasks/messages.hpp>

#include <algorithm>
#include <cmath>

namespace planning {
namespace {

constexpr double SAMPLES = 0.1;  // m, for lengths along the spline

constexpr tacho_task_parameter PARAMETERS[] = {
    {"speed", "m/s", 0, 50, 5, "the speed that it aims at"},
    {"lateral", "m/s^2", 0.1, 10, 4, "most lateral acceleration"},
    {"acceleration", "m/s^2", 0.1, 10, 2, "most acceleration"},
    {"braking", "m/s^2", 0.1, 10, 3, "most braking for bends, and for objects as long as that suffices"},
    {"emergency", "m/s^2", 0.1, 11, 8, "most braking for objects"},
    {"stop_distance", "m", 0, 50, 3, "between the front of the body and an object, when it stands"},
    {"side_distance", "m", 0, 5, 0.3, "between the side of the body and an object that it passes"},
    {"step", "m", 0.1, 10, 1, "between the points of the trajectory"},
    {"objects_timeout", "s", 0.01, 3600, 0.5, "it stops if the objects are older than the path by more than this"},
};
enum { SPEED, LATERAL, ACCELERATION, BRAKING, EMERGENCY, STOP_DISTANCE, SIDE_DISTANCE, STEP, OBJECTS_TIMEOUT };

constexpr tacho_task_slot INPUTS[] = {tasks::input("path"), tasks::optional_input("objects"),
                                      tasks::optional_input("objects of others")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("trajectory", sizeof(tasks::Trajectory))};
constexpr tacho_task_signal SIGNALS[] = {
    tasks::list("trajectory_x", "m", "up to 9 points of the trajectory, from its begin to its end"),
    tasks::list("trajectory_y", "m", "up to 9 points of the trajectory, from its begin to its end"),
    tasks::signal("trajectory_time", "s", "from the sensing of the vehicle to the end of the trajectory"),
    tasks::signal("stops", "", "whether it stops for an object, or blind"),
};
enum { S_X, S_Y, S_TIME, S_STOPS };
constexpr uint32_t REPORTED = 9;

// The spline from the vehicle on, at equal ways.
struct Course {
  std::vector<double> distances, curvatures;
  std::vector<OnCurve> places;
};

class Trajectory : public tasks::Task {
 public:
  explicit Trajectory(const tasks::Config &config)
      : path_topic_(config.topic_of_input(0)),
        objects_topic_(config.raw.input_count > 1 ? config.topic_of_input(1) : ""),
        others_topic_(config.raw.input_count > 2 ? config.topic_of_input(2) : ""),
        limits_{config.value(SPEED), config.value(LATERAL), config.value(ACCELERATION), config.value(BRAKING),
                std::max(config.value(EMERGENCY), config.value(BRAKING))},
        stop_distance_(config.value(STOP_DISTANCE)),
        side_distance_(config.value(SIDE_DISTANCE)),
        step_(config.value(STEP)),
        objects_timeout_(config.value(OBJECTS_TIMEOUT)) {}

  void run(const tacho_task_call &call) override {
    const auto path = tasks::received<tasks::Path>(call, 0, path_topic_);
    if (!path) return;
    if (path->prefix.count > tasks::Path::MOST) {
      throw std::runtime_error(path_topic_ + ": found " + std::to_string(path->prefix.count) +
                               " points, expected at most " + std::to_string(tasks::Path::MOST));
    }
    const auto objects =
        objects_topic_.empty() ? std::nullopt : tasks::received<tasks::Objects>(call, 1, objects_topic_);
    Course course = course_of(*path);
    const double speed = std::max(path->speed, 0.0);
    std::optional<double> stop = is_blind(*path, objects) ? std::optional(speed * speed / (2 * limits_.braking))
                                 : objects                ? stop_for(*objects, course)
                                                          : std::nullopt;
    // Others may fall silent: what they said last counts for a while, and without them it drives by its own objects.
    const auto others = others_topic_.empty() ? std::nullopt : tasks::received<tasks::Objects>(call, 2, others_topic_);
    has_others_ |= others.has_value();
    const auto for_others =
        others && is_fresh(*path, *others) ? stop_for(*others, course) : std::optional<double>(std::nullopt);
    if (for_others && (!stop || *for_others < *stop)) {
      stop = for_others;
      ++stops_for_others_;
    }
    if (stop) course = with_point(std::move(course), *stop);
    const std::vector<double> speeds = speed_profile(course.distances, course.curvatures, speed, stop, limits_);
    ++plans_;
    stops_ += stop.has_value();
    const tasks::Trajectory trajectory =
        stop && *stop <= 0 ? standing(course, path->prefix.stamp_ns) : timed(course, speeds, path->prefix.stamp_ns);
    tasks::publish(call, 0, trajectory);
    report(call, trajectory, stop.has_value());
  }

  void figures(const tasks::Figures &figure) override {
    figure("plans", "", static_cast<double>(plans_));
    figure("plans_with_stop", "", static_cast<double>(stops_));
    figure("plans_blind", "", static_cast<double>(blind_));
    if (has_others_) figure("plans_with_stop_for_others", "", static_cast<double>(stops_for_others_));
  }

 private:
  static void report(const tacho_task_call &call, const tasks::Trajectory &trajectory, bool stops) {
    const auto one = [&](uint32_t signal, double value, uint32_t entry = 0) {
      tasks::report(call, signal, trajectory.prefix.stamp_ns, value, entry);
    };
    const uint32_t last = trajectory.prefix.count - 1, steps = std::min(last, REPORTED - 1);
    for (uint32_t i = 0; i <= steps; ++i) {
      const auto &point = trajectory.points[steps ? last * i / steps : 0];
      one(S_X, point.x, i), one(S_Y, point.y, i);
    }
    one(S_TIME, trajectory.points[last].time);
    one(S_STOPS, stops);
  }

  Course course_of(const tasks::Path &path) const {
    std::vector<double> x, y;
    for (uint32_t i = 0; i < path.prefix.count; ++i) {
      x.push_back(path.points[i].x), y.push_back(path.points[i].y);
    }
    const Spline spline(x, y);
    double nearest = 0, least = INFINITY;
    for (double at = 0; at < spline.end(); at += SAMPLES) {
      const OnCurve place = spline.at(at);
      const double apart = std::hypot(place.x - path.x, place.y - path.y);
      if (apart < least) least = apart, nearest = at;
    }
    Course course;
    double distance = 0, next = 0;
    OnCurve last = spline.at(nearest);
    for (double at = nearest; at < spline.end() && course.places.size() + 1 < tasks::Trajectory::MOST; at += SAMPLES) {
      const OnCurve place = spline.at(at);
      distance += std::hypot(place.x - last.x, place.y - last.y);
      last = place;
      if (distance + 1e-9 < next) continue;
      course.distances.push_back(distance), course.curvatures.push_back(place.curvature);
      course.places.push_back(place);
      next += step_;
    }
    return course;
  }

  // Whether nobody says what stands on the lane: then it may not drive on.
  bool is_blind(const tasks::Path &path, const std::optional<tasks::Objects> &objects) {
    if (objects_topic_.empty()) return false;
    const bool is_blind = !objects || !is_fresh(path, *objects);
    blind_ += is_blind;
    return is_blind;
  }

  bool is_fresh(const tasks::Path &path, const tasks::Objects &objects) const {
    return tasks::seconds(path.prefix.stamp_ns - objects.prefix.stamp_ns) <= objects_timeout_;
  }

  // The nearest distance at which the vehicle must stand for an object; 0 or less if it is as near already.
  std::optional<double> stop_for(const tasks::Objects &objects, const Course &course) const {
    std::optional<double> stop;
    const uint32_t count = std::min<uint32_t>(objects.prefix.count, tasks::Objects::MOST);
    for (uint32_t i = 0; i < count; ++i) {
      const tasks::Object &object = objects.objects[i];
      size_t nearest = 0;
      double least = INFINITY;
      for (size_t k = 0; k < course.places.size(); ++k) {
        const double apart = std::hypot(course.places[k].x - object.x, course.places[k].y - object.y);
        if (apart < least) least = apart, nearest = k;
      }
      const OnCurve &place = course.places[nearest];
      const double dx = object.x - place.x, dy = object.y - place.y;
      const double at = course.distances[nearest] + dx * std::cos(place.heading) + dy * std::sin(place.heading);
      const double beside = std::abs(dy * std::cos(place.heading) - dx * std::sin(place.heading));
      const bool is_beyond = at > course.distances.back() + step_;
      if (at < 0 || is_beyond || beside > vehicle::WIDTH / 2 + object.radius + side_distance_) continue;
      stop = std::min(stop.value_or(INFINITY), at - object.radius - stop_distance_ - vehicle::LENGTH / 2);
    }
    return stop;
  }

  // The course with a point where the vehicle is to stand.
  static Course with_point(Course course, double distance) {
    const auto after = std::lower_bound(course.distances.begin(), course.distances.end(), distance);
    const auto i = after - course.distances.begin();
    if (i == 0 || after == course.distances.end() || *after == distance) return course;
    const OnCurve &from = course.places[i - 1], &to = course.places[i];
    const double part = (distance - *(after - 1)) / (*after - *(after - 1));
    auto between = [part](double a, double b) { return a + part * (b - a); };
    const double turn = std::remainder(to.heading - from.heading, 2 * M_PI);
    const OnCurve place = {between(from.x, to.x), between(from.y, to.y), from.heading + part * turn,
                           between(from.curvature, to.curvature)};
    course.distances.insert(course.distances.begin() + i, distance);
    course.curvatures.insert(course.curvatures.begin() + i, place.curvature);
    course.places.insert(course.places.begin() + i, place);
    return course;
  }

  // Brakes here until it stands.
  tasks::Trajectory standing(const Course &course, int64_t stamp_ns) const {
    tasks::Trajectory trajectory{{tasks::Trajectory::KIND, 1, stamp_ns}, {}};
    const OnCurve &place = course.places[0];
    trajectory.points[0] = {0, 0, place.x, place.y, place.heading, place.curvature, 0, -limits_.emergency};
    return trajectory;
  }

  // Until it stands, or to the end of the course. At its end the vehicle brakes on, if it is to stand there.
  tasks::Trajectory timed(const Course &course, const std::vector<double> &speeds, int64_t stamp_ns) const {
    tasks::Trajectory trajectory{{tasks::Trajectory::KIND, 0, stamp_ns}, {}};
    double time = 0;
    for (size_t i = 0; i < speeds.size(); ++i) {
      double acceleration = speeds[i] > 0 ? 0 : -limits_.braking;
      const bool stands = speeds[i] == 0 && (i + 1 >= speeds.size() || speeds[i + 1] == 0);
      if (!stands && i + 1 < speeds.size()) {
        const double way = course.distances[i + 1] - course.distances[i];
        acceleration = (speeds[i + 1] * speeds[i + 1] - speeds[i] * speeds[i]) / (2 * way);
      }
      const OnCurve &place = course.places[i];
      trajectory.points[trajectory.prefix.count++] = {time,          course.distances[i], place.x,   place.y,
                                                      place.heading, place.curvature,     speeds[i], acceleration};
      if (stands || i + 1 >= speeds.size()) break;
      time += 2 * (course.distances[i + 1] - course.distances[i]) / (speeds[i] + speeds[i + 1]);
    }
    return trajectory;
  }

  std::string path_topic_, objects_topic_, others_topic_;
  Limits limits_;
  double stop_distance_, side_distance_, step_, objects_timeout_;
  uint64_t plans_ = 0, stops_ = 0, blind_ = 0, stops_for_others_ = 0;
  bool has_others_ = false;
};

}  // namespace

constexpr tacho_task_kind TRAJECTORY = tasks::with_signals(
    tasks::kind<Trajectory>("trajectory",
                            "a spline with times within the limits of the vehicle, which stops for objects", PARAMETERS,
                            INPUTS, OUTPUTS),
    SIGNALS);

}  // namespace planning
