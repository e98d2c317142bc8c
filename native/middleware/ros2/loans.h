/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages that the middleware lends: filled and read in place, in memory that publisher and subscriptions share.
 */
#ifndef TACHO_ROS2_LOANS_H_
#define TACHO_ROS2_LOANS_H_

#include <rcl/publisher.h>
#include <rcl/subscription.h>
#include <rosidl_runtime_c/message_type_support_struct.h>

/* The loans of one publisher. */
struct loans {
  const rosidl_message_type_support_t *support;
  void *out;    /* the message lent now, until it is published */
  void **known; /* messages lent before: the same memory is lent again, as it was filled */
  size_t count;
};

/* Returns NULL if this publisher's messages cannot be lent. */
struct loans *loans_of_publisher(const rcl_publisher_t *publisher, const rosidl_message_type_support_t *support,
                                 const char *topic, char *error);
/* Returns the message to fill in; *kept is whether it was filled before. NULL: there is none. */
void *loans_borrow(struct loans *loans, const rcl_publisher_t *publisher, int *kept, char *error);
/* Gives back what is still lent, and frees this. */
void loans_free(struct loans *loans, const rcl_publisher_t *publisher);

/* Takes a message that the middleware lends into *message; RCL_RET_SUBSCRIPTION_TAKE_FAILED if there is none. */
rcl_ret_t loans_take(const rcl_subscription_t *subscription, void **message);
void loans_return(const rcl_subscription_t *subscription, void **message);

#endif
