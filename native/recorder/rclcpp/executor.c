/* SPDX-License-Identifier: Apache-2.0
 *
 * Records what rclcpp's executors know and tracetools has no event for: which callbacks share a callback group, so that
 * one of them waits for another; when the handling of a response ends; and, up to 28 (Jazzy), when a service callback
 * that answers later ends. librclcpp exports these functions and calls them through its procedure linkage table, under
 * the same names from Humble to Rolling. If a build does not, these events are not recorded.
 *
 * Member functions take `this` first, and a shared_ptr by value is passed as its address (Itanium C++ ABI).
 */
#include "executor.h"

#include <stdint.h>

#include "../callbacks.h"
#include "../dds/original.h"
#include "../thread.h"

#define EXPORT __attribute__((visibility("default")))
#define NAMED(symbol) __asm__(symbol)
#define LIBRARY "librclcpp.so"

#define TYPE "_ZNK6rclcpp13CallbackGroup4typeEv"
static struct original original_type = {TYPE, LIBRARY, NULL, NULL};

/* MutuallyExclusive is the first value of rclcpp::CallbackGroupType. */
static uint64_t is_exclusive(const void *group) {
  const int *type = ((const int *(*)(const void *))original_of(&original_type))(group);
  return *type == 0;
}

/* The callback is already known here: rclcpp creates each callback before it adds it to a group. */
static void put_member(const void *group, const struct shared_ptr *member, uint64_t what) {
  if (!thread_recording()) return;
  const uint64_t words[] = {(uintptr_t)group, (uintptr_t)member->object, what, is_exclusive(group)};
  thread_put(TACHO_RCLCPP_CALLBACK_GROUP_ADD, words, 4);
}

#define ADD(name, what, symbol)                                                                   \
  EXPORT void group_add_##name(void *group, struct shared_ptr *member) NAMED(symbol);             \
  static struct original original_add_##name = {symbol, LIBRARY, (void *)group_add_##name, NULL}; \
  EXPORT void group_add_##name(void *group, struct shared_ptr *member) {                          \
    put_member(group, member, what);                                                              \
    ((void (*)(void *, struct shared_ptr *))original_of(&original_add_##name))(group, member);    \
  }

ADD(subscription, 1, "_ZN6rclcpp13CallbackGroup16add_subscriptionESt10shared_ptrINS_16SubscriptionBaseEE")
ADD(timer, 2, "_ZN6rclcpp13CallbackGroup9add_timerESt10shared_ptrINS_9TimerBaseEE")
ADD(service, 3, "_ZN6rclcpp13CallbackGroup11add_serviceESt10shared_ptrINS_11ServiceBaseEE")
ADD(waitable, 4, "_ZN6rclcpp13CallbackGroup12add_waitableESt10shared_ptrINS_8WaitableEE")
ADD(client, 5, "_ZN6rclcpp13CallbackGroup10add_clientESt10shared_ptrINS_10ClientBaseEE")

#define EXECUTE_CLIENT "_ZN6rclcpp8Executor14execute_clientESt10shared_ptrINS_10ClientBaseEE"
EXPORT void executor_execute_client(struct shared_ptr *client) NAMED(EXECUTE_CLIENT);
static struct original original_execute_client = {EXECUTE_CLIENT, LIBRARY, (void *)executor_execute_client, NULL};

EXPORT void executor_execute_client(struct shared_ptr *client) {
  if (thread_recording()) thread_put(TACHO_RCLCPP_CLIENT_EXECUTE, NULL, 0);
  ((void (*)(struct shared_ptr *))original_of(&original_execute_client))(client);
  if (thread_recording()) thread_put(TACHO_RCLCPP_EXECUTED, NULL, 0);
}

_Thread_local struct service_callback service_callback __attribute__((tls_model("initial-exec")));

#define EXECUTE_SERVICE "_ZN6rclcpp8Executor15execute_serviceESt10shared_ptrINS_11ServiceBaseEE"
EXPORT void executor_execute_service(struct shared_ptr *service) NAMED(EXECUTE_SERVICE);
static struct original original_execute_service = {EXECUTE_SERVICE, LIBRARY, (void *)executor_execute_service, NULL};

EXPORT void executor_execute_service(struct shared_ptr *service) {
  /* A callback may spin an executor of its own, which may execute services too. */
  const struct service_callback outer = service_callback;
  service_callback = (struct service_callback){.is_next = true};
  ((void (*)(struct shared_ptr *))original_of(&original_execute_service))(service);
  if (service_callback.started != NULL) tracepoints_callback_end(service_callback.started);
  service_callback = outer;
}
