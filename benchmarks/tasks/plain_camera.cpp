// SPDX-License-Identifier: Apache-2.0
//
// What the camera tasks compute, by OpenCV directly on the bytes of a picture: plain_camera TASK CALLS PICTURE [NETWORK]
#include "plain.hpp"

#include <opencv2/dnn.hpp>
#include <opencv2/imgproc.hpp>
// In this order: the last one needs the others.
#include <opencv2/video.hpp>
#include <opencv2/tracking.hpp>
#include <opencv2/tracking/tracking_legacy.hpp>

extern "C" int main(int, char **words) {
  cv::setNumThreads(1);
  const std::string task = words[1];
  const int calls = std::atoi(words[2]);
  std::vector<char> message = read(words[3]);
  tasks::Picture head;
  std::memcpy(&head, message.data(), sizeof head);
  const cv::Mat picture(static_cast<int>(head.camera.height), static_cast<int>(head.camera.width), CV_8UC3,
                        message.data() + sizeof head);
  if (task == "detector") {
    cv::dnn::Net network = cv::dnn::readNetFromONNX(words[4]);
    const std::vector<cv::String> names = network.getUnconnectedOutLayersNames();
    measure(calls, [&] {
      const double scale = 300.0 / std::max(picture.cols, picture.rows);
      cv::Mat box(300, 300, CV_8UC3, cv::Scalar::all(0)), small;
      cv::resize(picture, small, cv::Size(), scale, scale, cv::INTER_AREA);
      small.copyTo(box(cv::Rect(cv::Point(), small.size())));
      network.setInput(cv::dnn::blobFromImage(box, 1 / 127.5, cv::Size(), cv::Scalar::all(127.5), true));
      std::vector<cv::Mat> results;
      network.forward(results, names);
      return cv::norm(results[0], cv::NORM_L1);
    });
  } else if (task == "mosse") {
    cv::Mat grey;
    cv::cvtColor(picture, grey, cv::COLOR_BGR2GRAY);
    const auto tracker = cv::legacy::TrackerMOSSE::create();
    tracker->init(grey, cv::Rect2d(300, 200, 80, 120));
    measure(calls, [&] {
      cv::cvtColor(picture, grey, cv::COLOR_BGR2GRAY);
      cv::Rect2d at;
      tracker->update(grey, at);
      return at.x;
    });
  } else if (task == "lane_detection") {
    const auto row = [&](double ahead) {
      return static_cast<int>(head.camera.centre_y + head.camera.focal * head.camera.z / ahead);
    };
    const int bottom = std::min(row(5), picture.rows);
    measure(calls, [&] {
      cv::Mat grey, edges;
      cv::cvtColor(picture.rowRange(row(14), bottom), grey, cv::COLOR_BGR2GRAY);
      cv::GaussianBlur(grey, grey, {5, 5}, 0);
      cv::Canny(grey, edges, 30, 60);
      std::vector<cv::Vec4i> lines;
      cv::HoughLinesP(edges, lines, 1, CV_PI / 180, 30, 30, 10);
      return static_cast<double>(lines.size());
    });
  } else {
    return 2;
  }
}
