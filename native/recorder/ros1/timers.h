// SPDX-License-Identifier: Apache-2.0
//
// Records timers: ros::Timer, ros::WallTimer and ros::SteadyTimer, which differ only in their types of time.
#ifndef TACHO_RECORDER_ROS1_TIMERS_H_
#define TACHO_RECORDER_ROS1_TIMERS_H_

#include <ros/callback_queue_interface.h>
#include <ros/forwards.h>

#include <boost/function.hpp>

#include "functions.h"
#include "nodes.h"
#include "originals.h"
#include "record.h"

// Stores which timer of which manager belongs to a callback, so that a change of the period finds the callback.
void remember_timer(const void *manager, int32_t handle, const void *callback);
const void *timer_callback(const void *manager, int32_t handle);

// Hooks int32_t TimerManager::add. A timer that is stopped and started again is added again. The function object that
// it keeps stays at its address, which is the handle of its callback.
template <ros1_hook Hook, class Period, class Event>
int32_t hook_timer_add(void *manager, const Period &period, const boost::function<void(const Event &)> &callback,
                       ros::CallbackQueueInterface *queue, const ros::VoidConstPtr &tracked_object, bool oneshot) {
  using Add = int32_t(void *, const Period &, const boost::function<void(const Event &)> &,
                      ros::CallbackQueueInterface *, const ros::VoidConstPtr &, bool);
  const uint64_t node = node_of(queue);
  if (node == 0) return original<Add>(Hook, manager, period, callback, queue, tracked_object, oneshot);
  const void *handle = &callback;
  record_text(TACHO_ROS1_TIMER_INIT, name_of_function(callback), handle, node, static_cast<uint64_t>(period.toNSec()),
              uint64_t{oneshot});
  const boost::function<void(const Event &)> recorded = [handle, callback](const Event &event) {
    Execution execution(handle);
    callback(event);
  };
  const int32_t timer = original<Add>(Hook, manager, period, recorded, queue, tracked_object, oneshot);
  remember_timer(manager, timer, handle);
  return timer;
}

// Hooks void TimerManager::setPeriod.
template <ros1_hook Hook, class Period>
void hook_timer_set_period(void *manager, int32_t timer, const Period &period, bool reset) {
  if (const void *callback = timer_callback(manager, timer)) {
    record(TACHO_ROS1_TIMER_PERIOD, callback, static_cast<uint64_t>(period.toNSec()));
  }
  original<void(void *, int32_t, const Period &, bool)>(Hook, manager, timer, period, reset);
}

#endif
