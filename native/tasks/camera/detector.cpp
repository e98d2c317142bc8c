// SPDX-License-Identifier: Apache-2.0
//
// Finds people, bicycles and vehicles in pictures by a trained network: SSD on MobileNet v2, run by OpenCV's dnn.
#include "anchors.hpp"
#include "files.hpp"
#include "kinds.hpp"

#include <tasks/cameras.hpp>
#include <tasks/pictures.hpp>

#include <opencv2/dnn.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <sstream>

namespace camera {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"score", "", 0.01, 1, 0.4, "least score of a box"},
    {"overlap", "", 0, 1, 0.5, "of two boxes of a kind that overlap more, the better one is kept"},
};
enum { SCORE, OVERLAP };
constexpr tacho_task_slot INPUTS[] = {tasks::input("picture")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("boxes", sizeof(tasks::Boxes))};

constexpr int EDGE = 300;
constexpr const char *MEND = ": make perception gets it anew";

class Network {
 public:
  explicit Network(const std::filesystem::path &path) : path_(path) {
    const std::vector<unsigned char> bytes = contents(path);
    std::stringstream labels(text(contents(file("detector.txt"))));
    for (std::string label; std::getline(labels, label);) {
      what_.push_back(label == "Person"                      ? tasks::PERSON
                      : label == "Bicycle"                   ? tasks::BICYCLE
                      : label == "Vehicle" || label == "Car" ? tasks::VEHICLE
                                                             : tasks::UNKNOWN);
    }
    try {
      network_ = cv::dnn::readNetFromONNX(reinterpret_cast<const char *>(bytes.data()), bytes.size());
      names_ = network_.getUnconnectedOutLayersNames();
      check();
    } catch (const cv::Exception &failure) {
      throw std::runtime_error(path.string() + ": found no usable network (" + failure.err + "), expected ONNX" + MEND);
    }
  }

  // The 1917 boxes relative to their anchors, and the scores of each, from a picture of 300 x 300.
  std::pair<cv::Mat, cv::Mat> run(const cv::Mat &picture) {
    network_.setInput(cv::dnn::blobFromImage(picture, 1 / 127.5, cv::Size(), cv::Scalar::all(127.5), true));
    network_.forward(results_, names_);
    const auto rows = [this](int columns) {
      for (const cv::Mat &result : results_) {
        if (result.dims == 3 && result.size[1] == ANCHORS && result.size[2] == columns)
          return result.reshape(1, ANCHORS);
      }
      throw std::runtime_error(path_.string() + ": found no output of 1917 x " + std::to_string(columns) +
                               ", expected one" + MEND);
    };
    return {rows(4), rows(static_cast<int>(what_.size()))};
  }

  uint32_t what(size_t label) const { return what_[label]; }

 private:
  static std::string text(const std::vector<unsigned char> &bytes) { return {bytes.begin(), bytes.end()}; }

  // A file with one wrong byte is still a network. So set-up noted what ONNX Runtime makes of a certain picture.
  void check() {
    const std::filesystem::path path = file("detector.check");
    std::stringstream expected(text(contents(path)));
    double of_boxes = 0, of_scores = 0;
    if (!(expected >> of_boxes >> of_scores)) throw std::runtime_error(path.string() + ": expected two numbers" + MEND);
    cv::Mat picture(EDGE, EDGE, CV_8UC3);
    for (int row = 0; row < EDGE; ++row) {
      for (int column = 0; column < EDGE; ++column) {
        for (int channel = 0; channel < 3; ++channel) {
          picture.at<cv::Vec3b>(row, column)[channel] = static_cast<uchar>((7 * row + 3 * column + 50 * channel) % 256);
        }
      }
    }
    const auto [boxes, scores] = run(picture);
    const auto mean = [](const cv::Mat &values) {
      return cv::norm(values, cv::NORM_L1) / static_cast<double>(values.total());
    };
    const double found[2] = {mean(boxes), mean(scores)};
    if (std::abs(found[0] - of_boxes) < 1e-3 * of_boxes && std::abs(found[1] - of_scores) < 1e-3 * of_scores) return;
    throw std::runtime_error(path_.string() + ": found a network that gives " + std::to_string(found[0]) + " and " +
                             std::to_string(found[1]) + ", expected " + std::to_string(of_boxes) + " and " +
                             std::to_string(of_scores) + MEND);
  }

  std::filesystem::path path_;
  std::vector<uint32_t> what_;
  cv::dnn::Net network_;
  std::vector<cv::String> names_;
  std::vector<cv::Mat> results_;
};

class Detector : public tasks::Task {
 public:
  explicit Detector(const tasks::Config &config)
      : topic_(config.topic_of_input(0)), score_(config.value(SCORE)), overlap_(config.value(OVERLAP)) {
    // A node computes on its own thread, so that its time is that of its callback.
    cv::setNumThreads(1);
    network_ = std::make_unique<Network>(file("detector.onnx"));
  }

  void run(const tacho_task_call &call) override {
    const auto picture = tasks::received_picture(call, 0, topic_);
    if (!picture) return;
    const tasks::Camera &camera = picture->head.camera;
    tasks::Boxes boxes{{tasks::Boxes::KIND, 0, picture->head.prefix.stamp_ns}, camera, {}};
    if (picture->is_empty()) {
      ++empty_;
    } else {
      find(cv::Mat(static_cast<int>(camera.height), static_cast<int>(camera.width), CV_8UC3,
                   const_cast<unsigned char *>(picture->pixels)),
           boxes);
    }
    ++pictures_;
    boxes_ += boxes.prefix.count;
    tasks::publish(call, 0, boxes);
  }

  void figures(const tasks::Figures &figure) override {
    figure("pictures", "", static_cast<double>(pictures_));
    figure("pictures_empty", "", static_cast<double>(empty_));
    if (pictures_ > 0) figure("boxes_mean", "", static_cast<double>(boxes_) / static_cast<double>(pictures_));
  }

 private:
  struct Candidate {
    tasks::Rectangle at;
    float score;
    uint32_t what;
  };

  void find(const cv::Mat &picture, tasks::Boxes &boxes) {
    // Letterbox: the network was trained on things that were not squashed.
    const double scale = static_cast<double>(EDGE) / std::max(picture.cols, picture.rows);
    letterbox_.create(EDGE, EDGE, CV_8UC3);
    letterbox_.setTo(0);
    const cv::Size size(std::max(1, static_cast<int>(std::lround(picture.cols * scale))),
                        std::max(1, static_cast<int>(std::lround(picture.rows * scale))));
    cv::resize(picture, letterbox_(cv::Rect(cv::Point(), size)), size, 0, 0, cv::INTER_AREA);
    const auto [places, scores] = network_->run(letterbox_);
    candidates_.clear();
    for (int row = 0; row < ANCHORS; ++row) {
      const float *of = scores.ptr<float>(row);
      for (int label = 1; label < scores.cols; ++label) {
        const uint32_t what = network_->what(static_cast<size_t>(label));
        if (what == tasks::UNKNOWN || of[label] < least_) continue;
        candidates_.push_back({anchors_.place(row, places.ptr<float>(row), EDGE / scale), logistic(of[label]), what});
      }
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate &a, const Candidate &b) { return a.score > b.score; });
    for (const Candidate &one : candidates_) keep(one, boxes);
  }

  // Keeps a candidate if none that is better is there already; what lies outside of the picture is cut.
  void keep(const Candidate &one, tasks::Boxes &boxes) const {
    if (boxes.prefix.count == tasks::Boxes::MOST) return;
    const double width = boxes.camera.width, height = boxes.camera.height;
    const tasks::Rectangle at = {std::clamp(one.at.left, 0.0, width), std::clamp(one.at.top, 0.0, height),
                                 std::clamp(one.at.right, 0.0, width), std::clamp(one.at.bottom, 0.0, height)};
    if (at.area() <= 0) return;
    for (uint32_t i = 0; i < boxes.prefix.count; ++i) {
      const tasks::Box &better = boxes.boxes[i];
      if (better.what == one.what && tasks::overlap(tasks::rectangle(better), at) > overlap_) return;
    }
    boxes.boxes[boxes.prefix.count++] = {static_cast<float>(at.left),
                                         static_cast<float>(at.top),
                                         static_cast<float>(at.right - at.left),
                                         static_cast<float>(at.bottom - at.top),
                                         one.score,
                                         one.what,
                                         0,
                                         0};
  }

  static float logistic(float value) { return 1 / (1 + std::exp(-value)); }

  std::string topic_;
  double score_, overlap_;
  float least_ = static_cast<float>(std::log(score_ / (1 - std::min(score_, 1 - 1e-6))));
  std::unique_ptr<Network> network_;
  Anchors anchors_;
  cv::Mat letterbox_;
  std::vector<Candidate> candidates_;
  uint64_t pictures_ = 0, empty_ = 0, boxes_ = 0;
};

}  // namespace

constexpr tacho_task_kind DETECTOR = tasks::kind<Detector>(
    "detector", "people, bicycles and vehicles in a picture, by a trained network", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace camera
