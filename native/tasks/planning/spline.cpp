// SPDX-License-Identifier: Apache-2.0
#include "spline.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace planning {

Spline::Spline(const std::vector<double> &x, const std::vector<double> &y) {
  if (x.size() < 2)
    throw std::runtime_error("found a path of " + std::to_string(x.size()) + " points, expected 2 or more");
  knots_.push_back(0);
  for (size_t i = 1; i < x.size(); ++i) {
    const double apart = std::hypot(x[i] - x[i - 1], y[i] - y[i - 1]);
    if (!(apart > 1e-6) || !std::isfinite(apart)) {
      throw std::runtime_error("found points " + std::to_string(i - 1) + " and " + std::to_string(i) + " of a path " +
                               std::to_string(apart) + " m apart, expected a way between them");
    }
    knots_.push_back(knots_.back() + apart);
  }
  x_ = through(x), y_ = through(y);
}

// Solves the tridiagonal equations of the second derivatives, which are 0 at both ends.
Spline::Coordinate Spline::through(std::vector<double> values) const {
  const size_t n = values.size();
  std::vector<double> bend(n, 0), upper(n, 0);
  for (size_t i = 1; i + 1 < n; ++i) {
    const double before = knots_[i] - knots_[i - 1], after = knots_[i + 1] - knots_[i];
    const double slope_change = (values[i + 1] - values[i]) / after - (values[i] - values[i - 1]) / before;
    const double pivot = 2 * (before + after) - before * upper[i - 1];
    upper[i] = after / pivot;
    bend[i] = (6 * slope_change - before * bend[i - 1]) / pivot;
  }
  for (size_t i = n - 1; i-- > 1;) bend[i] -= upper[i] * bend[i + 1];
  return {std::move(values), std::move(bend)};
}

OnCurve Spline::at(double parameter) const {
  const auto after = std::upper_bound(knots_.begin() + 1, knots_.end() - 1, parameter);
  const size_t i = static_cast<size_t>(after - knots_.begin()) - 1;
  const double width = knots_[i + 1] - knots_[i];
  const double b = (parameter - knots_[i]) / width, a = 1 - b;
  struct Derivatives {
    double value, first, second;
  };
  auto of = [&](const Coordinate &c) -> Derivatives {
    const double to = c.value[i + 1], from = c.value[i];
    return {a * from + b * to + ((a * a * a - a) * c.bend[i] + (b * b * b - b) * c.bend[i + 1]) * width * width / 6,
            (to - from) / width + ((3 * b * b - 1) * c.bend[i + 1] - (3 * a * a - 1) * c.bend[i]) * width / 6,
            a * c.bend[i] + b * c.bend[i + 1]};
  };
  const Derivatives x = of(x_), y = of(y_);
  const double speed = std::hypot(x.first, y.first);
  return {x.value, y.value, std::atan2(y.first, x.first),
          (x.first * y.second - y.first * x.second) / (speed * speed * speed)};
}

}  // namespace planning
