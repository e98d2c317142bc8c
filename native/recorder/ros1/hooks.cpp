// SPDX-License-Identifier: Apache-2.0
//
// This is the table of hooks, in the order of hooks.h.
#include "hooks.h"

#include <ros/steady_timer.h>
#include <ros/timer.h>
#include <ros/wall_timer.h>

#include "links.h"
#include "nodes.h"
#include "originals.h"
#include "publishing.h"
#include "queues.h"
#include "subscribing.h"
#include "timers.h"

void *const *originals = nullptr;

namespace {

constexpr auto hook_timer_add = ::hook_timer_add<ROS1_timer_add, ros::Duration, ros::TimerEvent>;
constexpr auto hook_wall_timer_add = ::hook_timer_add<ROS1_wall_timer_add, ros::WallDuration, ros::WallTimerEvent>;
constexpr auto hook_steady_timer_add =
    ::hook_timer_add<ROS1_steady_timer_add, ros::WallDuration, ros::SteadyTimerEvent>;
constexpr auto hook_timer_set_period = ::hook_timer_set_period<ROS1_timer_set_period, ros::Duration>;
constexpr auto hook_wall_timer_set_period = ::hook_timer_set_period<ROS1_wall_timer_set_period, ros::WallDuration>;
constexpr auto hook_steady_timer_set_period = ::hook_timer_set_period<ROS1_steady_timer_set_period, ros::WallDuration>;
constexpr auto hook_timer_call = hook_call<ROS1_timer_call>;
constexpr auto hook_wall_timer_call = hook_call<ROS1_wall_timer_call>;
constexpr auto hook_steady_timer_call = hook_call<ROS1_steady_timer_call>;
constexpr auto hook_service_call = hook_call<ROS1_service_call>;

#define HOOK(name, symbol) reinterpret_cast<void *>(hook_##name),
void *const hooks[] = {ROS1_HOOKS(HOOK)};
#undef HOOK

}  // namespace

extern "C" __attribute__((visibility("default"))) void *const *tacho_ros1_hooks(void *const *found) {
  originals = found;
  return hooks;
}
