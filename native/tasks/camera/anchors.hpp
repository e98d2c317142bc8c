// SPDX-License-Identifier: Apache-2.0
//
// The anchors of SSD (Liu et al. 2016, section 2.2), as the TensorFlow object detection API lays them out for six layers
// of a picture of 300 x 300: the network gives boxes relative to them.
#ifndef TACHO_TASKS_CAMERA_ANCHORS_HPP_
#define TACHO_TASKS_CAMERA_ANCHORS_HPP_

#include <tasks/cameras.hpp>

#include <cmath>
#include <vector>

namespace camera {

constexpr int ANCHORS = 1917;

class Anchors {
 public:
  Anchors() {
    constexpr int CELLS[] = {19, 10, 5, 3, 2, 1};
    const auto scale = [](int layer) { return layer == 6 ? 1.0 : 0.2 + (0.95 - 0.2) * layer / 5; };
    for (int layer = 0; layer < 6; ++layer) {
      std::vector<std::pair<double, double>> shapes;  // scale, width to height
      if (layer == 0) {
        shapes = {{0.1, 1}, {scale(0), 2}, {scale(0), 0.5}};
      } else {
        for (const double ratio : {1.0, 2.0, 0.5, 3.0, 1 / 3.0}) shapes.emplace_back(scale(layer), ratio);
        shapes.emplace_back(std::sqrt(scale(layer) * scale(layer + 1)), 1);
      }
      const int cells = CELLS[layer];
      for (int row = 0; row < cells; ++row) {
        for (int column = 0; column < cells; ++column) {
          for (const auto &[size, ratio] : shapes) {
            anchors_.push_back(
                {(column + 0.5) / cells, (row + 0.5) / cells, size * std::sqrt(ratio), size / std::sqrt(ratio)});
          }
        }
      }
    }
  }

  size_t size() const { return anchors_.size(); }

  // The box of an anchor, by what the network gives for it: y, x, height, width. `edge` is that of the square picture.
  tasks::Rectangle place(int index, const float *given, double edge) const {
    const Anchor &anchor = anchors_[static_cast<size_t>(index)];
    const double x = anchor.x + given[1] / 10.0 * anchor.width, y = anchor.y + given[0] / 10.0 * anchor.height;
    const double width = anchor.width * std::exp(given[3] / 5.0), height = anchor.height * std::exp(given[2] / 5.0);
    return {(x - width / 2) * edge, (y - height / 2) * edge, (x + width / 2) * edge, (y + height / 2) * edge};
  }

 private:
  struct Anchor {
    double x, y, width, height;
  };
  std::vector<Anchor> anchors_;
};

}  // namespace camera

#endif  // TACHO_TASKS_CAMERA_ANCHORS_HPP_
