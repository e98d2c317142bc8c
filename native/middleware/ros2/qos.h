/* SPDX-License-Identifier: Apache-2.0
 *
 * The requested QoS in rmw's terms, and a check of the QoS that was set up.
 */
#ifndef TACHO_ROS2_QOS_H_
#define TACHO_ROS2_QOS_H_

#include <rmw/types.h>
#include <tacho/middleware.h>

/* Returns a negative value if there is no such QoS. */
int ros2_qos_profile(const struct tacho_qos *asked, rmw_qos_profile_t *qos, const char *topic, char *error);

/* Checks that the middleware set up what was asked for; negative if not. */
int ros2_qos_honoured(const rmw_qos_profile_t *asked, const rmw_qos_profile_t *actual, const char *topic, char *error);

#endif
