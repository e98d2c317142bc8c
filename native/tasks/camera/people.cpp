// SPDX-License-Identifier: Apache-2.0
#include "people.hpp"

#include "files.hpp"

#include <opencv2/imgproc.hpp>
#include <sstream>

namespace camera {

cv::Mat read_pam(const std::filesystem::path &path) {
  const std::vector<unsigned char> bytes = contents(path);
  const std::string text(bytes.begin(), bytes.end());
  const std::string end = "ENDHDR\n";
  const size_t head = text.find(end);
  int width = 0, height = 0, depth = 0, most = 0;
  std::istringstream lines(text.substr(0, head == std::string::npos ? 0 : head));
  for (std::string word; lines >> word;) {
    if (word == "WIDTH") lines >> width;
    if (word == "HEIGHT") lines >> height;
    if (word == "DEPTH") lines >> depth;
    if (word == "MAXVAL") lines >> most;
  }
  constexpr int LARGEST = 4096;
  const bool is_known = text.rfind("P7\n", 0) == 0 && depth == 4 && most == 255;
  if (!is_known || width < 1 || height < 1 || width > LARGEST || height > LARGEST ||
      bytes.size() != head + end.size() + size_t{4} * static_cast<size_t>(width) * static_cast<size_t>(height)) {
    throw std::runtime_error(
        path.string() + ": found no PAM picture with red, green, blue and opacity, expected one: " + "make perception");
  }
  cv::Mat person(height, width, CV_8UC4);
  const cv::Mat read(height, width, CV_8UC4, const_cast<unsigned char *>(bytes.data()) + head + end.size());
  cv::cvtColor(read, person, cv::COLOR_RGBA2BGRA);
  return person;
}

void paste(const cv::Mat &person, const cv::Rect &at, cv::Mat &picture) {
  const cv::Rect shown = at & cv::Rect(cv::Point(), picture.size());
  if (shown.area() == 0) return;
  cv::Mat scaled;
  cv::resize(person, scaled, at.size(), 0, 0, cv::INTER_AREA);
  for (int row = 0; row < shown.height; ++row) {
    const auto *from = scaled.ptr<cv::Vec4b>(row + shown.y - at.y) + (shown.x - at.x);
    auto *to = picture.ptr<cv::Vec3b>(row + shown.y) + shown.x;
    for (int column = 0; column < shown.width; ++column) {
      const int opacity = from[column][3];
      for (int channel = 0; channel < 3; ++channel) {
        to[column][channel] =
            static_cast<uchar>((to[column][channel] * (255 - opacity) + from[column][channel] * opacity + 127) / 255);
      }
    }
  }
}

}  // namespace camera
