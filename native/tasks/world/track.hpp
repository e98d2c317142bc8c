// SPDX-License-Identifier: Apache-2.0
//
// The geometry of the closed lane: two long sides, two short sides, four corners of 90 degrees to the left. Its start
// is at the origin, at the beginning of a long side that leads along x.
#ifndef TACHO_TASKS_TRACK_HPP_
#define TACHO_TASKS_TRACK_HPP_

#include <tasks/messages.hpp>

#include <array>

namespace world {

struct Place {
  double x, y, heading, curvature;
};

// A place by the lane.
struct OnLane {
  double distance;  // along the centre line, 0 <= distance < length
  double offset;    // to the left of it
  double heading;   // of the lane there
  double curvature;
};

class Track {
 public:
  Track(double straight, double breadth, double radius);
  explicit Track(const tasks::World &world) : Track(world.straight, world.breadth, world.radius) {}

  double length() const { return length_; }
  // The place on the centre line, or to the left of it.
  Place at(double distance, double offset = 0) const;
  // The nearest place of the lane. The centres of the corners are as near to all of their corner.
  OnLane nearest(double x, double y) const;
  class About;
  // The way from one place along the lane to another, -length / 2 <= way < length / 2.
  double way(double from, double to) const;

 private:
  struct Segment {
    double from, length;
    double x, y, heading;       // of its begin
    double curvature;           // 0, or 1 / radius
    double along_x, along_y;    // unit vector of a straight one
    double centre_x, centre_y;  // of a corner
    double middle_x, middle_y;  // unit vector from the centre to the middle of a corner
    double end_x, end_y;
  };
  struct Near {
    const Segment *segment;
    double way;      // along it
    double squared;  // distance
  };
  Near near(double x, double y) const;
  std::array<Segment, 8> segments_;
  double length_;
};

// Whether places that are `within` of one point are this near to the lane, without where that is.
class Track::About {
 public:
  // The parts of the track that no such place can be near to are left out.
  About(const Track &track, double x, double y, double within, double near);

  bool is_near(double x, double y) const { return may_be_near(x, y) && track_.near(x, y).squared <= near_ * near_; }

 private:
  struct Straight {
    double x, y, along_x, along_y, until;
  };
  struct Corner {
    double x, y, from_squared, to_squared;
  };
  // Whether it lies in a box about a straight part, or in a ring about the centre of a corner.
  bool may_be_near(double x, double y) const;

  const Track &track_;
  double near_;
  double from_, beside_;  // of the boxes
  size_t straights_ = 0, corners_ = 0;
  // Corners of an infinite radius are straight.
  std::array<Straight, 8> straight_;
  std::array<Corner, 8> corner_;
};

}  // namespace world

#endif  // TACHO_TASKS_TRACK_HPP_
