/* SPDX-License-Identifier: Apache-2.0
 *
 * Transports of the ros2 plugin. rcl and rmw leave them to the middleware below. For Fast DDS, an XML profile sets them
 * up, in the variable that Fast DDS reads when the first node of the process is made. If the user has a profile, only
 * that one counts. With another rmw there is only its default.
 */
#ifndef TACHO_ROS2_TRANSPORT_H_
#define TACHO_ROS2_TRANSPORT_H_

#include <rmw/init_options.h>
#include <stdbool.h>
#include <tacho/middleware.h>

/* NULL-terminated, default first. In addition, the name of an rmw ("rmw_cyclonedds_cpp") if ROS 2 chooses it at run
   time. */
extern const char *const ros2_transports[];

/* Sets up the process for the transport and the interface, and the options that restrict discovery; false if it
 * cannot. Fast DDS reads profiles once, so all sessions of a process have one transport and one address. */
bool ros2_transport_set_up(const struct tacho_session_config *config, rmw_init_options_t *options, char *error);

/* Call it when a node was made: the profile has been read. */
void ros2_transport_read(void);

/* Whether messages use data sharing, which needs loans and so types of a fixed size. */
bool ros2_transport_shares_data(void);

#endif
