// SPDX-License-Identifier: Apache-2.0
//
// A camera of the world: the lane's borders, walls and posts are drawn, and the obstacles are pictures of real people,
// whom a trained detector finds. It takes its picture at one instant.
#include "../world/posts.hpp"
#include "files.hpp"
#include "kinds.hpp"
#include "people.hpp"

#include <tasks/cameras.hpp>
#include <tasks/pictures.hpp>

#include <opencv2/imgproc.hpp>

namespace camera {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    tasks::MOUNTED[0], tasks::MOUNTED[1], tasks::MOUNTED[2], tasks::MOUNTED[3],
    tasks::MOUNTED[4], tasks::MOUNTED[5], tasks::MOUNTED[6], {"range", "m", 5, 500, 60, "how far it sees"},
};
enum { RANGE = std::size(tasks::MOUNTED) };
constexpr tacho_task_slot INPUTS[] = {tasks::input("world"), tasks::input("vehicle state")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("picture", sizeof(tasks::Picture))};

const cv::Scalar SKY(200, 180, 160), ROAD(100, 100, 95), LINE(230, 230, 230), POST(60, 90, 140);
constexpr double STEP = 1, LINE_WIDTH = 0.12;

class DrawnCamera : public tasks::Task {
 public:
  explicit DrawnCamera(const tasks::Config &config)
      : world_topic_(config.topic_of_input(0)), state_topic_(config.topic_of_input(1)), range_(config.value(RANGE)) {
    cv::setNumThreads(1);
    camera_ = tasks::mounted(config);
    tasks::require_room(config.raw.outputs[0], camera_);
    for (const auto &path : files_of(file("people"), ".pam")) people_.push_back(read_pam(path));
    // The grain of a sensor, always the same. Without it, planes are too smooth for a real picture.
    empty_ = cv::Mat(static_cast<int>(camera_.height), static_cast<int>(camera_.width), CV_8UC3, ROAD);
    empty_.rowRange(0, static_cast<int>(camera_.centre_y)).setTo(SKY);
    cv::Mat grain(empty_.size(), CV_16SC3), sum;
    cv::RNG random(1);
    random.fill(grain, cv::RNG::NORMAL, 0, 4);
    cv::add(empty_, grain, sum, cv::noArray(), CV_8U);
    empty_ = sum;
  }

  void run(const tacho_task_call &call) override {
    const auto world = tasks::received<tasks::World>(call, 0, world_topic_);
    const auto state = tasks::received<tasks::VehicleState>(call, 1, state_topic_);
    tacho_task_output &output = call.outputs[0];
    if (!world || !state || !output.data) return;
    const tasks::Picture head = {{tasks::Picture::KIND, static_cast<uint32_t>(pictures_), state->prefix.stamp_ns},
                                 camera_};
    std::memcpy(output.data, &head, sizeof head);
    cv::Mat picture(empty_.size(), CV_8UC3, static_cast<char *>(output.data) + sizeof head);
    empty_.copyTo(picture);
    draw(tasks::at_instant(*world, state->prefix.stamp_ns), *state, picture);
    output.publish = 1;
    ++pictures_;
  }

  void figures(const tasks::Figures &figure) override { figure("pictures", "", static_cast<double>(pictures_)); }

 private:
  // Something that stands, with the person that it is, or none for a post.
  struct Thing {
    double ahead, x, y, radius, height;
    const cv::Mat *person;
  };

  void draw(const tasks::World &world, const tasks::VehicleState &state, cv::Mat &picture) const {
    const world::Track track(world);
    const double here = track.nearest(state.x, state.y).distance;
    const double cosine = std::cos(state.yaw), sine = std::sin(state.yaw);
    const auto relative = [&](const world::Place &at) {
      const double dx = at.x - state.x, dy = at.y - state.y;
      return tasks::Pixel{dx * cosine + dy * sine, dy * cosine - dx * sine};
    };
    // From afar, so that what is near hides what is behind.
    for (double way = range_; way > -range_; way -= STEP) {
      for (const double side : {1.0, -1.0}) {
        const auto strip = [&](double offset_a, double offset_b, double low, double high, const cv::Scalar &colour) {
          const tasks::Pixel near_a = relative(track.at(here + way - STEP, offset_a)),
                             far_b = relative(track.at(here + way, offset_b));
          const tasks::Pixel far_a = low == high ? relative(track.at(here + way, offset_a)) : far_b;
          const tasks::Pixel near_b = low == high ? relative(track.at(here + way - STEP, offset_b)) : near_a;
          fill(picture, {{near_a, low}, {far_a, low}, {far_b, high}, {near_b, high}}, colour);
        };
        const double grey = std::fmod(std::floor((here + way) / STEP), 2) == 0 ? 120 : 135;
        strip(side * world.wall, side * world.wall, 0, world.wall_height, cv::Scalar::all(grey));
        const double border = side * world.lane_width / 2;
        strip(border - LINE_WIDTH / 2, border + LINE_WIDTH / 2, 0, 0, LINE);
      }
    }
    for (const Thing &thing : things(world, track, relative)) draw(thing, picture);
  }

  template <class Relative>
  std::vector<Thing> things(const tasks::World &world, const world::Track &track, Relative relative) const {
    std::vector<Thing> all;
    const auto add = [&](const tasks::Obstacle &of, const cv::Mat *person) {
      const tasks::Pixel at = relative(track.at(of.distance, of.offset));
      const double ahead = tasks::seen(camera_, at.x, at.y).ahead;
      if (ahead >= tasks::NEAREST && ahead <= range_) all.push_back({ahead, at.x, at.y, of.radius, of.height, person});
    };
    for (uint32_t i = 0; i < world.prefix.count; ++i) add(world.obstacles[i], &people_[i % people_.size()]);
    for (const tasks::Obstacle &post : world::posts_of(world, track)) add(post, nullptr);
    std::sort(all.begin(), all.end(), [](const Thing &a, const Thing &b) { return a.ahead > b.ahead; });
    return all;
  }

  void draw(const Thing &thing, cv::Mat &picture) const {
    const auto foot = tasks::projected(camera_, thing.x, thing.y, 0);
    const auto head = tasks::projected(camera_, thing.x, thing.y, thing.height);
    const int height = static_cast<int>(std::lround(foot->y - head->y));
    // Nearer than that, it would fill the picture many times.
    if (height < 1 || height > 4 * picture.rows) return;
    const double half = thing.person ? height * thing.person->cols / 2.0 / thing.person->rows
                                     : camera_.focal * thing.radius / thing.ahead;
    const cv::Rect at(static_cast<int>(std::lround(foot->x - half)), static_cast<int>(std::lround(head->y)),
                      std::max(1, static_cast<int>(std::lround(2 * half))), height);
    if (thing.person) {
      paste(*thing.person, at, picture);
    } else {
      cv::rectangle(picture, at, POST, cv::FILLED);
    }
  }

  struct Corner {
    tasks::Pixel at;
    double z;
  };

  void fill(cv::Mat &picture, std::initializer_list<Corner> corners, const cv::Scalar &colour) const {
    constexpr int SHIFT = 4;
    std::vector<cv::Point> points;
    for (const Corner &corner : corners) {
      const auto pixel = tasks::projected(camera_, corner.at.x, corner.at.y, corner.z);
      if (!pixel || std::abs(pixel->x) > 1e5 || std::abs(pixel->y) > 1e5) return;
      points.emplace_back(static_cast<int>(std::lround(pixel->x * (1 << SHIFT))),
                          static_cast<int>(std::lround(pixel->y * (1 << SHIFT))));
    }
    cv::fillConvexPoly(picture, points, colour, cv::LINE_AA, SHIFT);
  }

  std::string world_topic_, state_topic_;
  double range_;
  tasks::Camera camera_{};
  std::vector<cv::Mat> people_;
  cv::Mat empty_;
  uint64_t pictures_ = 0;
};

}  // namespace

constexpr tacho_task_kind DRAWN_CAMERA = tasks::kind<DrawnCamera>(
    "drawn_camera", "a camera of the world, whose obstacles are pictures of real people", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace camera
