/* SPDX-License-Identifier: Apache-2.0
 *
 * QoS asked for, as rmw says it, and what was set up.
 */
#ifndef TACHO_ROS2_QOS_H_
#define TACHO_ROS2_QOS_H_

#include <rmw/types.h>
#include <tacho/middleware.h>

/* Negative: no such QoS. */
int ros2_qos_profile(const struct tacho_qos *asked, rmw_qos_profile_t *qos, const char *topic, char *error);

/* What the middleware really set up must be what was asked for; negative: it is not. */
int ros2_qos_honoured(const rmw_qos_profile_t *asked, const rmw_qos_profile_t *actual, const char *topic, char *error);

#endif
