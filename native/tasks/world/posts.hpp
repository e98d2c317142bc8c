// SPDX-License-Identifier: Apache-2.0
//
// Where the posts beside the lane stand.
#ifndef TACHO_TASKS_POSTS_HPP_
#define TACHO_TASKS_POSTS_HPP_

#include "track.hpp"

#include <vector>

namespace world {

// All posts, in their order along the lane. Their distances differ, so that no place looks like another.
std::vector<tasks::Obstacle> posts_of(const tasks::World &world, const Track &track);

}  // namespace world

#endif  // TACHO_TASKS_POSTS_HPP_
