// SPDX-License-Identifier: Apache-2.0
#include "loans.h"

#include <rmw/rmw.h>
#include <stdlib.h>

#include "failure.h"

struct loans *loans_of_publisher(const rcl_publisher_t *publisher, const rosidl_message_type_support_t *support,
                                 const char *topic, char *error) {
  if (!rcl_publisher_can_loan_messages(publisher)) {
    say(error, "ros2: %s: %s lends no messages of this type; expected another transport than data-sharing", topic,
        rmw_get_implementation_identifier());
    return NULL;
  }
  struct loans *loans = calloc(1, sizeof *loans);
  if (loans)
    loans->support = support;
  else
    say(error, "ros2: no memory for the loans of %s", topic);
  return loans;
}

void *loans_borrow(struct loans *loans, const rcl_publisher_t *publisher, int *kept, char *error) {
  *kept = 1;
  if (loans->out) return loans->out;
  rcl_ret_t code = rcl_borrow_loaned_message(publisher, loans->support, &loans->out);
  if (code != RCL_RET_OK) {
    say_rcl(error, code, "ros2: rcl_borrow_loaned_message");
    loans->out = NULL;
    return NULL;
  }
  for (size_t i = 0; i < loans->count; i++)
    if (loans->known[i] == loans->out) return loans->out;
  void **more = realloc(loans->known, (loans->count + 1) * sizeof *more);
  if (more) {  // if not, it is filled once more
    loans->known = more;
    loans->known[loans->count++] = loans->out;
  }
  *kept = 0;
  return loans->out;
}

void loans_free(struct loans *loans, const rcl_publisher_t *publisher) {
  if (!loans) return;
  if (loans->out) closed(rcl_return_loaned_message_from_publisher(publisher, loans->out), "returning a loan");
  free(loans->known);
  free(loans);
}

rcl_ret_t loans_take(const rcl_subscription_t *subscription, void **message) {
  rmw_message_info_t info = rmw_get_zero_initialized_message_info();
  return rcl_take_loaned_message(subscription, message, &info, NULL);
}

void loans_return(const rcl_subscription_t *subscription, void **message) {
  if (*message) closed(rcl_return_loaned_message_from_subscription(subscription, *message), "returning a loan");
  *message = NULL;
}
