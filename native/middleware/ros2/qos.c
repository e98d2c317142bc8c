// SPDX-License-Identifier: Apache-2.0
#include "qos.h"

#include <rmw/qos_profiles.h>
#include <rmw/qos_string_conversions.h>
#include <stdbool.h>

#include "failure.h"

int ros2_qos_profile(const struct tacho_qos *asked, rmw_qos_profile_t *qos, const char *topic, char *error) {
  *qos = rmw_qos_profile_default;
  if (asked->reliability > TACHO_RELIABLE || asked->durability > TACHO_TRANSIENT_LOCAL ||
      asked->history > TACHO_KEEP_ALL) {
    say(error, "ros2: %s: unknown QoS policy: reliability %u, durability %u, history %u; expected 0 or 1 each", topic,
        asked->reliability, asked->durability, asked->history);
    return -1;
  }
  if (asked->history == TACHO_KEEP_LAST && asked->depth == 0) {
    say(error, "ros2: %s: keep last with depth 0; expected at least 1", topic);
    return -1;
  }
  qos->reliability = asked->reliability == TACHO_RELIABLE ? RMW_QOS_POLICY_RELIABILITY_RELIABLE
                                                          : RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  qos->durability = asked->durability == TACHO_TRANSIENT_LOCAL ? RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL
                                                               : RMW_QOS_POLICY_DURABILITY_VOLATILE;
  qos->history = asked->history == TACHO_KEEP_ALL ? RMW_QOS_POLICY_HISTORY_KEEP_ALL : RMW_QOS_POLICY_HISTORY_KEEP_LAST;
  qos->depth = asked->depth;
  return 0;
}

int ros2_qos_honoured(const rmw_qos_profile_t *asked, const rmw_qos_profile_t *actual, const char *topic, char *error) {
  if (!actual) {
    say_rcl(error, RCL_RET_ERROR, "ros2: %s: reading back the QoS", topic);
    return -1;
  }
  bool depth = asked->history == RMW_QOS_POLICY_HISTORY_KEEP_ALL || asked->depth == actual->depth;
  if (asked->reliability == actual->reliability && asked->durability == actual->durability &&
      asked->history == actual->history && depth)
    return 0;
  say(error,
      "ros2: %s: the middleware set up other QoS than asked for: reliability %s, durability %s, history %s, depth %zu; "
      "asked for %s, %s, %s, %zu",
      topic, rmw_qos_reliability_policy_to_str(actual->reliability),
      rmw_qos_durability_policy_to_str(actual->durability), rmw_qos_history_policy_to_str(actual->history),
      actual->depth, rmw_qos_reliability_policy_to_str(asked->reliability),
      rmw_qos_durability_policy_to_str(asked->durability), rmw_qos_history_policy_to_str(asked->history), asked->depth);
  return -1;
}
