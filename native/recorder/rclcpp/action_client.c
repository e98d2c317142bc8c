/* SPDX-License-Identifier: Apache-2.0
 *
 * Records when an executor starts and ends handling an action's response. An action client is a waitable, and executors
 * call it in two steps: one takes the data, the other handles it. This function is virtual; the loader fills the
 * vtables with ours because ours has the same name and is loaded first.
 */
#include <stddef.h>

#include "../dds/original.h"
#include "../thread.h"
#include "executor.h"

#define EXPORT __attribute__((visibility("default")))
#define NAMED(symbol) __asm__(symbol)
#define LIBRARY "librclcpp_action."

typedef void execute(void *client, struct shared_ptr *data);

#define EXECUTE(name, symbol)                                                                     \
  EXPORT execute action_client_##name NAMED(symbol);                                              \
  static struct original original_##name = {symbol, LIBRARY, (void *)action_client_##name, NULL}; \
  EXPORT void action_client_##name(void *client, struct shared_ptr *data) {                       \
    if (thread_recording()) thread_put(TACHO_RCLCPP_CLIENT_EXECUTE, NULL, 0);                     \
    ((execute *)original_of(&original_##name))(client, data);                                     \
    if (thread_recording()) thread_put(TACHO_RCLCPP_EXECUTED, NULL, 0);                           \
  }

EXECUTE(from_jazzy, "_ZN13rclcpp_action10ClientBase7executeERKSt10shared_ptrIvE")
EXECUTE(up_to_iron, "_ZN13rclcpp_action10ClientBase7executeERSt10shared_ptrIvE")
