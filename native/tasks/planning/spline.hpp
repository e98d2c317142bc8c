// SPDX-License-Identifier: Apache-2.0
//
// A natural cubic spline through points of the plane, over the length of the polygon through them. Place, heading and
// curvature are continuous along it.
#ifndef TACHO_TASKS_SPLINE_HPP_
#define TACHO_TASKS_SPLINE_HPP_

#include <vector>

namespace planning {

struct OnCurve {
  double x, y, heading, curvature;
};

class Spline {
 public:
  // At least two points, each apart from the one before.
  Spline(const std::vector<double> &x, const std::vector<double> &y);

  // The end of the parameter, which begins at 0.
  double end() const { return knots_.back(); }
  OnCurve at(double parameter) const;

 private:
  // A coordinate: its values at the knots and its second derivatives there.
  struct Coordinate {
    std::vector<double> value, bend;
  };
  Coordinate through(std::vector<double> values) const;

  std::vector<double> knots_;
  Coordinate x_, y_;
};

}  // namespace planning

#endif  // TACHO_TASKS_SPLINE_HPP_
