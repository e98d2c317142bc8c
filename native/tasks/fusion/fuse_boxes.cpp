// SPDX-License-Identifier: Apache-2.0
//
// Fuses clusters with what cameras recognised: each cluster gets the box that overlaps best with it in the picture, and
// no two get the same (Hungarian assignment).
#include "assignment.hpp"
#include "kinds.hpp"

#include <tasks/cameras.hpp>

#include <vector>

namespace fusion {
namespace {

constexpr size_t CAMERAS = 7;
constexpr tacho_task_parameter PARAMETERS[] = {
    {"overlap", "", 0.01, 1, 0.25, "least overlap (intersection over union) of a cluster with its box"},
    {"age", "s", 0, 10, 0.3, "boxes that were sensed so much before or after the clusters are left out"},
    {"foot", "m", 0, 5, 0.6, "a cluster that begins up to here stands on the ground, which was removed below it"},
    {"unrecognised", "", 0, 1, 1, "0: clusters without a box are left out"},
};
enum { OVERLAP, AGE, FOOT, UNRECOGNISED };
constexpr tacho_task_slot INPUTS[1 + CAMERAS] = {tasks::input("clusters"),
                                                 tasks::input("boxes"),
                                                 tasks::optional_input("boxes of a second camera"),
                                                 tasks::optional_input("boxes of a third camera"),
                                                 tasks::optional_input("boxes of a fourth camera"),
                                                 tasks::optional_input("boxes of a fifth camera"),
                                                 tasks::optional_input("boxes of a sixth camera"),
                                                 tasks::optional_input("boxes of a seventh camera")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("detections", sizeof(tasks::Detections))};

class FuseBoxes : public tasks::Task {
 public:
  explicit FuseBoxes(const tasks::Config &config)
      : overlap_(config.value(OVERLAP)),
        foot_(config.value(FOOT)),
        age_ns_(static_cast<int64_t>(config.value(AGE) * 1e9)),
        all_(config.value(UNRECOGNISED) != 0) {
    for (size_t i = 0; i < config.raw.input_count; ++i) topics_.push_back(config.topic_of_input(i));
  }

  void run(const tacho_task_call &call) override {
    const auto clusters = tasks::received<tasks::Clusters>(call, 0, topics_[0]);
    if (!clusters) return;
    ++sets_;
    const size_t count = std::min<size_t>(clusters->prefix.count, tasks::Clusters::MOST);
    std::vector<tasks::Detection> found(count);
    for (size_t i = 0; i < count; ++i) found[i] = {clusters->clusters[i], tasks::UNKNOWN, 0};
    for (size_t i = 1; i < topics_.size(); ++i) {
      const auto boxes = tasks::received<tasks::Boxes>(call, i, topics_[i]);
      if (!boxes) continue;
      const int64_t age = std::abs(boxes->prefix.stamp_ns - clusters->prefix.stamp_ns);
      if (age > age_ns_) {
        ++too_old_;
        continue;
      }
      most_age_ns_ = std::max(most_age_ns_, age);
      fuse(*boxes, found);
    }
    tasks::Detections detections{{tasks::Detections::KIND, 0, clusters->prefix.stamp_ns}, {}};
    for (const tasks::Detection &one : found) {
      one.what == tasks::UNKNOWN ? ++unrecognised_ : ++recognised_;
      if (all_ || one.what != tasks::UNKNOWN) detections.detections[detections.prefix.count++] = one;
    }
    tasks::publish(call, 0, detections);
  }

  void figures(const tasks::Figures &figure) override {
    figure("sets", "", static_cast<double>(sets_));
    figure("recognised", "", static_cast<double>(recognised_));
    figure("unrecognised", "", static_cast<double>(unrecognised_));
    figure("boxes_without_cluster", "", static_cast<double>(alone_));
    figure("boxes_too_old", "", static_cast<double>(too_old_));
    figure("age_difference_max", "ms", static_cast<double>(most_age_ns_) * 1e-6);
    if (matched_ > 0) figure("overlap_mean", "", overlaps_ / static_cast<double>(matched_));
  }

 private:
  void fuse(const tasks::Boxes &boxes, std::vector<tasks::Detection> &found) {
    const size_t count = std::min<size_t>(boxes.prefix.count, tasks::Boxes::MOST);
    Costs costs(found.size(), count);
    for (size_t i = 0; i < found.size(); ++i) {
      const tasks::Cluster &cluster = found[i].cluster;
      const double bottom = cluster.bottom <= foot_ ? 0 : cluster.bottom;
      const auto shown = tasks::projected(boxes.camera, cluster.x, cluster.y, cluster.radius, bottom, cluster.top);
      for (size_t j = 0; j < count; ++j) {
        costs(i, j) = shown ? 1 - tasks::overlap(*shown, tasks::rectangle(boxes.boxes[j])) : 1;
      }
    }
    const auto box_of = assign(costs, 1 - overlap_);
    size_t paired = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      if (!box_of[i]) continue;
      ++paired, ++matched_;
      overlaps_ += 1 - costs(i, *box_of[i]);
      const tasks::Box &box = boxes.boxes[*box_of[i]];
      if (box.score > found[i].score) found[i].what = box.what, found[i].score = box.score;
    }
    alone_ += count - paired;
  }

  double overlap_, foot_;
  int64_t age_ns_;
  bool all_;
  std::vector<std::string> topics_;
  uint64_t sets_ = 0, recognised_ = 0, unrecognised_ = 0, alone_ = 0, too_old_ = 0, matched_ = 0;
  int64_t most_age_ns_ = 0;
  double overlaps_ = 0;
};

}  // namespace

constexpr tacho_task_kind FUSE_BOXES = tasks::kind<FuseBoxes>(
    "fuse_boxes", "clusters with what up to seven cameras recognised", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace fusion
