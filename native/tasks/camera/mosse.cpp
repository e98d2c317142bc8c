// SPDX-License-Identifier: Apache-2.0
//
// Follows what the detector found from picture to picture by OpenCV's MOSSE. The detector is slower than the camera: its
// boxes are of an older picture, and re-initialise what they overlap with as it was then.
#include "../fusion/assignment.hpp"
#include "kinds.hpp"

#include <tasks/cameras.hpp>
#include <tasks/pictures.hpp>

// In this order: the last one needs the others.
#include <opencv2/video.hpp>
#include <opencv2/tracking.hpp>
#include <opencv2/tracking/tracking_legacy.hpp>

#include <deque>

namespace camera {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"overlap", "", 0, 1, 0.3, "least overlap of a box with what is followed to be the same"},
    {"trust", "", 0, 1, 0.7, "what overlaps so much with its box is followed on; else it is initialised again"},
    {"patience", "", 0, 1000, 10, "pictures for which it may lose something before it drops it"},
    {"window", "", 1, 5, 2, "edges of the tracked window, as multiples of the box's: MOSSE needs some pixels"},
    {"forget", "", 1, 1000, 5, "sets of boxes without it, after which it drops something"},
};
enum { OVERLAP, TRUST, PATIENCE, WINDOW, FORGET };
constexpr tacho_task_slot INPUTS[] = {tasks::input("picture"), tasks::input("boxes")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("boxes with ids", sizeof(tasks::Boxes))};
enum { PICTURE, BOXES };

// A filter needs some pixels.
constexpr double LEAST_EDGE = 8;

class Mosse : public tasks::Task {
 public:
  explicit Mosse(const tasks::Config &config)
      : picture_topic_(config.topic_of_input(PICTURE)),
        boxes_topic_(config.topic_of_input(BOXES)),
        overlap_(config.value(OVERLAP)),
        trust_(config.value(TRUST)),
        patience_(static_cast<uint64_t>(config.value(PATIENCE))),
        window_(config.value(WINDOW)),
        forget_(static_cast<uint64_t>(config.value(FORGET))) {
    cv::setNumThreads(1);
  }

  void run(const tacho_task_call &call) override {
    const auto boxes = tasks::received<tasks::Boxes>(call, BOXES, boxes_topic_);
    const auto picture = tasks::received_picture(call, PICTURE, picture_topic_);
    if (!picture || !call.inputs[PICTURE].is_new) {
      waiting_ = waiting_ || (boxes && call.inputs[BOXES].is_new);
      return;
    }
    ++pictures_;
    const tasks::Camera &camera = picture->head.camera;
    tasks::Boxes followed{{tasks::Boxes::KIND, 0, picture->head.prefix.stamp_ns}, camera, {}};
    if (picture->is_empty()) {
      ++empty_;
    } else {
      const cv::Mat pixels(static_cast<int>(camera.height), static_cast<int>(camera.width), CV_8UC3,
                           const_cast<unsigned char *>(picture->pixels));
      if (pixels.size() != grey_.size()) followed_.clear();
      cv::cvtColor(pixels, grey_, cv::COLOR_BGR2GRAY);
      follow(picture->head.prefix.stamp_ns);
      if (boxes && (waiting_ || call.inputs[BOXES].is_new)) adopt(*boxes);
      waiting_ = false;
      tell(followed);
    }
    tasks::publish(call, 0, followed);
  }

  void figures(const tasks::Figures &figure) override {
    figure("pictures", "", static_cast<double>(pictures_));
    figure("pictures_empty", "", static_cast<double>(empty_));
    figure("ids", "", static_cast<double>(ids_));
    figure("lost", "", static_cast<double>(lost_));
    figure("initialised_again", "", static_cast<double>(again_));
    if (matched_ > 0) figure("overlap_mean", "", overlaps_ / static_cast<double>(matched_));
  }

 private:
  struct Moment {
    int64_t stamp_ns;
    cv::Rect2d at;
  };
  struct Followed {
    uint32_t id, what;
    float score;
    cv::Ptr<cv::legacy::TrackerMOSSE> tracker;
    cv::Rect2d at;
    std::deque<Moment> before;
    uint64_t lost_for, unseen_for;
  };

  static tasks::Rectangle rectangle(const cv::Rect2d &at) { return {at.x, at.y, at.x + at.width, at.y + at.height}; }

  // The rectangle of this size with the same centre.
  static cv::Rect2d inner(const cv::Rect2d &of, const cv::Size2d &size) {
    return {of.x + (of.width - size.width) / 2, of.y + (of.height - size.height) / 2, size.width, size.height};
  }

  void follow(int64_t stamp_ns) {
    for (Followed &one : followed_) {
      cv::Rect2d window;
      const bool is_there = one.tracker->update(grey_, window);
      if (is_there) one.at = inner(window, one.at.size());
      one.lost_for = is_there ? 0 : one.lost_for + 1;
      one.before.push_back({stamp_ns, one.at});
      if (one.before.size() > 64) one.before.pop_front();
    }
    stamp_ns_ = stamp_ns;
    drop([this](const Followed &one) { return one.lost_for > patience_; });
  }

  template <class Of>
  void drop(Of of) {
    const auto gone = std::remove_if(followed_.begin(), followed_.end(), of);
    lost_ += static_cast<uint64_t>(followed_.end() - gone);
    followed_.erase(gone, followed_.end());
  }

  // Where it was in the picture of that instant; where it was first if it is younger.
  static cv::Rect2d then(const Followed &one, int64_t stamp_ns) {
    for (auto moment = one.before.rbegin(); moment != one.before.rend(); ++moment) {
      if (moment->stamp_ns <= stamp_ns) return moment->at;
    }
    return one.before.front().at;
  }

  void adopt(const tasks::Boxes &boxes) {
    const size_t count = std::min<size_t>(boxes.prefix.count, tasks::Boxes::MOST);
    fusion::Costs costs(followed_.size(), count);
    for (size_t i = 0; i < followed_.size(); ++i) {
      const tasks::Rectangle was = rectangle(then(followed_[i], boxes.prefix.stamp_ns));
      for (size_t j = 0; j < count; ++j) {
        const bool same = followed_[i].what == boxes.boxes[j].what;
        costs(i, j) = same ? 1 - tasks::overlap(was, tasks::rectangle(boxes.boxes[j])) : 1;
      }
    }
    const auto box_of = fusion::assign(costs, 1 - overlap_);
    std::vector<bool> is_taken(count, false);
    for (size_t i = 0; i < followed_.size(); ++i) {
      Followed &one = followed_[i];
      if (!box_of[i]) {
        ++one.unseen_for;
        continue;
      }
      const tasks::Box &box = boxes.boxes[*box_of[i]];
      is_taken[*box_of[i]] = true;
      const double overlap = 1 - costs(i, *box_of[i]);
      overlaps_ += overlap;
      ++matched_;
      one.score = box.score, one.unseen_for = 0;
      // A filter that has learnt from several pictures is better than a new one.
      if (one.lost_for == 0 && overlap >= trust_) continue;
      ++again_;
      // It has moved since the detector's picture.
      const cv::Rect2d was = then(one, boxes.prefix.stamp_ns);
      const cv::Rect2d at(box.x + one.at.x - was.x + (one.at.width - was.width) / 2,
                          box.y + one.at.y - was.y + (one.at.height - was.height) / 2, box.width, box.height);
      if (begin(one, at)) one.lost_for = 0;
    }
    drop([this](const Followed &one) { return one.unseen_for >= forget_; });
    for (size_t j = 0; j < count; ++j) {
      const tasks::Box &box = boxes.boxes[j];
      Followed one{ids_ + 1, box.what, box.score, nullptr, {}, {}, 0, 0};
      if (is_taken[j] || !begin(one, cv::Rect2d(box.x, box.y, box.width, box.height))) continue;
      one.before.push_back({stamp_ns_, one.at});
      followed_.push_back(std::move(one));
      ++ids_;
    }
  }

  // Initialises its tracker with the part of the present picture; false if too little of it is in there.
  bool begin(Followed &one, const cv::Rect2d &at) {
    const cv::Rect2d inside = at & cv::Rect2d(0, 0, grey_.cols, grey_.rows);
    if (!(inside.width >= LEAST_EDGE) || !(inside.height >= LEAST_EDGE)) return false;
    one.tracker = cv::legacy::TrackerMOSSE::create();
    one.at = inside;
    if (!one.before.empty()) one.before.back().at = inside;
    return one.tracker->init(grey_, inner(inside, inside.size() * window_));
  }

  void tell(tasks::Boxes &message) const {
    for (const Followed &one : followed_) {
      if (one.lost_for > 0 || message.prefix.count == tasks::Boxes::MOST) continue;
      message.boxes[message.prefix.count++] = {static_cast<float>(one.at.x),
                                               static_cast<float>(one.at.y),
                                               static_cast<float>(one.at.width),
                                               static_cast<float>(one.at.height),
                                               one.score,
                                               one.what,
                                               one.id,
                                               0};
    }
  }

  std::string picture_topic_, boxes_topic_;
  double overlap_, trust_;
  uint64_t patience_;
  double window_;
  uint64_t forget_;
  cv::Mat grey_;
  int64_t stamp_ns_ = 0;
  bool waiting_ = false;  // whether boxes came without a new picture
  std::vector<Followed> followed_;
  uint32_t ids_ = 0;
  uint64_t pictures_ = 0, empty_ = 0, lost_ = 0, matched_ = 0, again_ = 0;
  double overlaps_ = 0;
};

}  // namespace

constexpr tacho_task_kind MOSSE =
    tasks::kind<Mosse>("mosse", "what the detector found, followed from picture to picture by OpenCV's MOSSE",
                       PARAMETERS, INPUTS, OUTPUTS);

}  // namespace camera
