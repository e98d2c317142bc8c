/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the end of a service callback that keeps its request and answers later. Up to 28 (Jazzy) rclcpp reports only
 * its start (AnyServiceCallback::dispatch). It ends when the executor is done with the service
 * (Executor::execute_service).
 */
#ifndef TACHO_RECORDER_RCLCPP_EXECUTOR_H_
#define TACHO_RECORDER_RCLCPP_EXECUTOR_H_

#include <stdbool.h>
#include <stddef.h>

/* std::shared_ptr of libstdc++ */
struct shared_ptr {
  void *object;
  void *count;
};

struct service_callback {
  const void *started; /* the callback that started and has not ended; NULL: none */
  bool is_next;        /* the callback that this thread starts next belongs to the service being executed */
};

extern _Thread_local struct service_callback service_callback __attribute__((tls_model("initial-exec")));

static inline void service_callback_starts(const void *callback) {
  if (__builtin_expect(service_callback.is_next, 0)) service_callback = (struct service_callback){.started = callback};
}

static inline void service_callback_ends(const void *callback) {
  if (__builtin_expect(service_callback.started == callback, 0)) service_callback.started = NULL;
}

#endif /* TACHO_RECORDER_RCLCPP_EXECUTOR_H_ */
