/* SPDX-License-Identifier: Apache-2.0
 *
 * Transports of the ros2 plugin. rcl and rmw leave them to the middleware below: where that is Fast DDS they are set up by an
 * XML profile, given in the variable that Fast DDS reads when the first node of the process is made. The user's own profile
 * stands alone where there is one. With another rmw there is only its default.
 */
#ifndef TACHO_ROS2_TRANSPORT_H_
#define TACHO_ROS2_TRANSPORT_H_

#include <rmw/init_options.h>
#include <stdbool.h>
#include <tacho/middleware.h>

/* NULL-terminated, default first; and besides, the name of an rmw ("rmw_cyclonedds_cpp") where ROS 2 chooses it at run time. */
extern const char *const ros2_transports[];

/* Sets up the process for the transport and the interface, and the options for who is looked for; false: it cannot be. Fast DDS
 * reads profiles once, so all sessions of a process have one transport and one address. */
bool ros2_transport_set_up(const struct tacho_session_config *config, rmw_init_options_t *options, char *error);

/* A node was made: the profile has been read. */
void ros2_transport_read(void);

/* Whether messages go by data sharing, which needs loans and so types of a fixed size. */
bool ros2_transport_shares_data(void);

#endif
