// SPDX-License-Identifier: Apache-2.0
//
// Where rays from a point meet the ground, the walls and the obstacles of a world, in closed form. All that stands is
// upright, so the rays of one azimuth share their horizontal intersections.
#ifndef TACHO_TASKS_RAY_CASTER_HPP_
#define TACHO_TASKS_RAY_CASTER_HPP_

#include "track.hpp"

#include <vector>

namespace world {

// What a vertical plane through a ray passes, from the ray's begin on.
struct Standing {
  double from;   // horizontal distance where it begins
  double until;  // and ends; a wall has no depth
  double height;
};

class RayCaster {
 public:
  explicit RayCaster(const tasks::World &world);

  // All that stands in the direction of this unit vector, from this point, the nearest first.
  void look(double x, double y, double along_x, double along_y, std::vector<Standing> &found) const;

  // The horizontal distance at which a ray of this slope from this height meets the ground or something that stands;
  // infinite if it meets nothing.
  static double meets(double height, double slope, const std::vector<Standing> &standing);

 private:
  struct Line {
    double x, y, along_x, along_y, length;
  };
  struct Arc {
    double x, y, radius;
    double from_x, from_y;  // the corner's middle, from its centre: within 45 degrees of it is the arc
  };
  struct Cylinder {
    double x, y, radius, height;
  };
  std::vector<Line> lines_;
  std::vector<Arc> arcs_;
  std::vector<Cylinder> cylinders_;
  double wall_height_;
};

}  // namespace world

#endif  // TACHO_TASKS_RAY_CASTER_HPP_
