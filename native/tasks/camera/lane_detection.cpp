// SPDX-License-Identifier: Apache-2.0
//
// Finds the borders of the lane: edges (Canny) that are straight (Hough), put onto the ground by the camera's model.
#include "kinds.hpp"

#include <tasks/cameras.hpp>
#include <tasks/pictures.hpp>

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <vector>

namespace camera {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"nearest", "m", 1, 100, 5, "the ground from here on before the camera"},
    {"farthest", "m", 2, 200, 14, "up to here is looked at"},
    {"edge", "", 1, 255, 60, "least contrast of an edge"},
    {"lowest_edge", "", 1, 255, 30, "least contrast of what continues an edge"},
    {"votes", "", 1, 1000, 30, "least pixels of a line"},
    {"slope", "", 0.01, 10, 0.4, "most that a border turns from straight ahead"},
    {"half_width", "m", 0.5, 10, 1.75, "distance of a border from the middle of the lane"},
    {"tolerance", "m", 0.1, 10, 1.2, "most that a border's distance from the vehicle differs from that"},
};
enum { NEAREST, FARTHEST, EDGE, LOWEST_EDGE, VOTES, SLOPE, HALF_WIDTH, TOLERANCE };
// How far apart lines of one border may lie, in metres: its paint is 10 to 30 cm wide.
constexpr double PAINT = 0.3;
constexpr tacho_task_slot INPUTS[] = {tasks::input("picture")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("borders of the lane", sizeof(tasks::LaneBorders))};

class LaneDetection : public tasks::Task {
 public:
  explicit LaneDetection(const tasks::Config &config)
      : topic_(config.topic_of_input(0)),
        nearest_(config.value(NEAREST)),
        farthest_(config.value(FARTHEST)),
        edge_(config.value(EDGE)),
        lowest_edge_(config.value(LOWEST_EDGE)),
        votes_(static_cast<int>(config.value(VOTES))),
        slope_(config.value(SLOPE)),
        half_width_(config.value(HALF_WIDTH)),
        tolerance_(config.value(TOLERANCE)) {
    if (farthest_ <= nearest_) {
      throw std::runtime_error("found " + std::to_string(farthest_) + " m as farthest, expected more than nearest");
    }
    cv::setNumThreads(1);
  }

  void run(const tacho_task_call &call) override {
    const auto picture = tasks::received_picture(call, 0, topic_);
    if (!picture) return;
    tasks::LaneBorders borders{{tasks::LaneBorders::KIND, 0, picture->head.prefix.stamp_ns}, {}, {}};
    ++pictures_;
    if (picture->is_empty()) {
      ++empty_;
    } else if (find(*picture, borders)) {
      borders.prefix.count = 1;
      ++found_;
    }
    tasks::publish(call, 0, borders);
  }

  void figures(const tasks::Figures &figure) override {
    figure("pictures", "", static_cast<double>(pictures_));
    figure("pictures_empty", "", static_cast<double>(empty_));
    if (pictures_ > 0) figure("found", "%", 100 * static_cast<double>(found_) / static_cast<double>(pictures_));
  }

 private:
  // A line on the ground that may belong to a border.
  struct Line {
    double length, middle, slope;
  };

  bool find(const tasks::PictureView &picture, tasks::LaneBorders &borders) {
    const tasks::Camera &camera = picture.head.camera;
    const auto row = [&](double ahead) {
      const double y = camera.centre_y + camera.focal * camera.z / ahead;
      return static_cast<int>(std::clamp(y, 0.0, static_cast<double>(camera.height)));
    };
    const int top = row(farthest_), bottom = row(nearest_);
    if (bottom - top < 3) return false;
    const cv::Mat whole(static_cast<int>(camera.height), static_cast<int>(camera.width), CV_8UC3,
                        const_cast<unsigned char *>(picture.pixels));
    cv::cvtColor(whole.rowRange(top, bottom), grey_, cv::COLOR_BGR2GRAY);
    cv::GaussianBlur(grey_, grey_, {5, 5}, 0);
    cv::Canny(grey_, edges_, lowest_edge_, edge_);
    lines_.clear();
    cv::HoughLinesP(edges_, lines_, 1, CV_PI / 180, votes_, votes_, 10);
    left_.clear(), right_.clear();
    const double middle = camera.x + (nearest_ + farthest_) / 2;
    for (const cv::Vec4i &line : lines_) {
      const auto a = tasks::on_ground(camera, line[0], line[1] + top);
      const auto b = tasks::on_ground(camera, line[2], line[3] + top);
      if (!a || !b || std::abs(b->x - a->x) < 0.5) continue;
      const double slope = (b->y - a->y) / (b->x - a->x), at_middle = a->y + slope * (middle - a->x);
      if (std::abs(slope) > slope_) continue;
      // Where the border passes the vehicle decides whose side it is on.
      const double beside = a->y - slope * a->x;
      if (std::abs(std::abs(beside) - half_width_) > tolerance_) continue;
      (beside > 0 ? left_ : right_).push_back({std::hypot(b->x - a->x, b->y - a->y), at_middle, slope});
    }
    if (left_.empty() || right_.empty()) return false;
    borders.left = border(left_, middle), borders.right = border(right_, middle);
    return true;
  }

  // The mean of the lines near the median, both weighted by length. Paint has two edges, of which a median alone would
  // take one; the edges of what stands on the lane lie apart.
  static tasks::LaneBorders::Border border(std::vector<Line> &lines, double middle) {
    std::sort(lines.begin(), lines.end(), [](const Line &a, const Line &b) { return a.middle < b.middle; });
    double whole = 0, before = 0;
    for (const Line &line : lines) whole += line.length;
    const auto median = std::find_if(lines.begin(), lines.end() - 1,
                                     [&](const Line &line) { return (before += line.length) >= whole / 2; });
    Line sum{};
    for (const Line &line : lines) {
      if (std::abs(line.middle - median->middle) > PAINT) continue;
      sum.length += line.length, sum.middle += line.length * line.middle, sum.slope += line.length * line.slope;
    }
    const double slope = sum.slope / sum.length;
    return {sum.middle / sum.length - slope * middle, slope};
  }

  std::string topic_;
  double nearest_, farthest_, edge_, lowest_edge_;
  int votes_;
  double slope_, half_width_, tolerance_;
  cv::Mat grey_, edges_;
  std::vector<cv::Vec4i> lines_;
  std::vector<Line> left_, right_;
  uint64_t pictures_ = 0, empty_ = 0, found_ = 0;
};

}  // namespace

constexpr tacho_task_kind LANE_DETECTION = tasks::kind<LaneDetection>(
    "lane_detection", "the borders of the lane in a picture, by Canny and Hough", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace camera
