// SPDX-License-Identifier: Apache-2.0
//
// The ros2 plugin: rcl on the rmw that it was built with. A session has one context, so it is one DDS participant. rcl,
// rmw and DDS emit their own trace events; the returned handles are the rcl structures that those events name.
#include <pthread.h>
#include <rcl/error_handling.h>
#include <rcl/rcl.h>
#include <rmw/rmw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "loans.h"
#include "qos.h"
#include "transport.h"
#include "types.h"
#include "versions.h"

#define EXPORT __attribute__((visibility("default")))

struct ros2_node {
  struct seam_node seam;
  rcl_node_t rcl;
};

struct tacho_publisher {
  rcl_publisher_t rcl;
  struct ros2_node *node;
  const struct ros2_type *type;
  size_t size;
  void *message;  // one typed message, filled by the caller and published repeatedly; NULL if messages are lent
  bool filled;
  struct loans *loans;  // NULL if none are lent
  struct tacho_publisher *next;
};

struct tacho_subscription {
  rcl_subscription_t rcl;
  struct ros2_node *node;
  const struct ros2_type *type;
  size_t size;
  void *message;  // taken into, lent to the caller; or lent by the middleware, while the caller has it
  bool lent;
  char *topic;
  tacho_on_data on_data;
  void *context;
  struct tacho_subscription *next;
};

struct tacho_session {
  pthread_mutex_t mutex;  // of the lists; rcl's own init functions are not thread-safe on one context either
  rcl_context_t context;
  struct seam_node *nodes;  // each a ros2_node
  struct tacho_publisher *publishers;
  struct tacho_subscription *subscriptions;
};

// Session

static struct tacho_session *ros2_open(const struct tacho_session_config *config, char *error) {
  if (config->domain > 232) {  // DDSI-RTPS 2.5, 9.6.2.3: higher domains have no ports
    say(error, "ros2: domain %u is too high; expected 0 to 232", config->domain);
    return NULL;
  }
  struct tacho_session *session = calloc(1, sizeof *session);
  if (!session) {
    say(error, "ros2: no memory for a session");
    return NULL;
  }
  pthread_mutex_init(&session->mutex, NULL);
  session->context = rcl_get_zero_initialized_context();
  rcl_init_options_t options = rcl_get_zero_initialized_init_options();
  rcl_ret_t code = rcl_init_options_init(&options, rcl_get_default_allocator());
  if (code != RCL_RET_OK) {
    say_rcl(error, code, "ros2: rcl_init_options_init");
  } else {
    if (!ros2_transport_set_up(config, rcl_init_options_get_rmw_init_options(&options), error)) {
      code = RCL_RET_ERROR;
    } else {
      code = rcl_init_options_set_domain_id(&options, config->domain);
      if (code == RCL_RET_OK) code = rcl_init(0, NULL, &options, &session->context);
      if (code != RCL_RET_OK) say_rcl(error, code, "ros2: rcl_init in domain %u", config->domain);
    }
    if (rcl_init_options_fini(&options) != RCL_RET_OK) rcl_reset_error();
  }
  if (code != RCL_RET_OK) {
    pthread_mutex_destroy(&session->mutex);
    free(session);
    return NULL;
  }
  return session;
}

static void free_publisher(struct tacho_publisher *publisher) {
  loans_free(publisher->loans, &publisher->rcl);
  if (publisher->rcl.impl) closed(rcl_publisher_fini(&publisher->rcl, &publisher->node->rcl), "rcl_publisher_fini");
  if (publisher->message) publisher->type->destroy(publisher->message);
  free(publisher);
}

static void free_subscription(struct tacho_subscription *subscription) {
  if (subscription->rcl.impl) {
    if (subscription->on_data)
      closed(rcl_subscription_set_on_new_message_callback(&subscription->rcl, NULL, NULL), "taking back on_data");
    if (subscription->lent) loans_return(&subscription->rcl, &subscription->message);
    closed(rcl_subscription_fini(&subscription->rcl, &subscription->node->rcl), "rcl_subscription_fini");
  }
  if (subscription->message) subscription->type->destroy(subscription->message);
  free(subscription->topic);
  free(subscription);
}

static void ros2_close(struct tacho_session *session) {
  while (session->subscriptions) {
    struct tacho_subscription *first = session->subscriptions;
    session->subscriptions = first->next;
    free_subscription(first);
  }
  while (session->publishers) {
    struct tacho_publisher *first = session->publishers;
    session->publishers = first->next;
    free_publisher(first);
  }
  while (session->nodes) {
    closed(rcl_node_fini(&((struct ros2_node *)session->nodes)->rcl), "rcl_node_fini");
    seam_node_remove(&session->nodes);
  }
  closed(rcl_shutdown(&session->context), "rcl_shutdown");
  closed(rcl_context_fini(&session->context), "rcl_context_fini");
  pthread_mutex_destroy(&session->mutex);
  free(session);
}

// Nodes

// Lets rcl make it: "/localisation/ndt" is node ndt in namespace /localisation.
static bool open_node(struct tacho_session *session, struct ros2_node *node, const char *name, char *error) {
  const char *slash = strrchr(name, '/');
  char *space = slash && slash != name ? strndup(name, (size_t)(slash - name)) : strdup("/");
  if (!space) {
    say(error, "ros2: no memory for node \"%s\"", name);
    return false;
  }
  rcl_node_options_t options = rcl_node_get_default_options();
  options.enable_rosout = false;  // its publisher would be traffic that no workload names
  node->rcl = rcl_get_zero_initialized_node();
  rcl_ret_t code = rcl_node_init(&node->rcl, slash ? slash + 1 : name, space, &session->context, &options);
  ros2_transport_read();
  free(space);
  if (code != RCL_RET_OK) say_rcl(error, code, "ros2: node \"%s\"", name);
  return code == RCL_RET_OK;
}

static int ros2_node(struct tacho_session *session, const char *name, const void **handle, int *traced, char *error) {
  pthread_mutex_lock(&session->mutex);
  struct ros2_node *node = (struct ros2_node *)seam_node_add(&session->nodes, name, sizeof *node, "ros2", error);
  if (node && !open_node(session, node, name, error)) {
    seam_node_remove(&session->nodes);
    node = NULL;
  }
  pthread_mutex_unlock(&session->mutex);
  if (!node) return -1;
  *handle = &node->rcl;
  *traced = 1;
  return 0;
}

// Endpoints

static const struct ros2_type *type_of(const struct tacho_endpoint_config *config, bool exact, char *error) {
  const bool shares = ros2_transport_shares_data();
  const struct ros2_type *type = ros2_type(*config->type || !shares ? config->type : "Array", config->size);
  if (!type) {
    say(error, "ros2: %s: message type \"%s\" is not known; expected " ROS2_TYPES, config->topic, config->type);
  } else if (exact && type->only_size && config->size != type->only_size) {
    say(error, "ros2: %s: %s carries %zu bytes of data, not %zu", config->topic, type->name, type->only_size,
        config->size);
  } else if (!type->support(config->size)) {
    say(error, "ros2: %s: there is no Array of %zu bytes; expected " ROS2_ARRAY_SIZES, config->topic, config->size);
  } else if (shares && !type->is_fixed) {
    say(error, "ros2: %s: %s has no fixed size, so it cannot be shared in memory; expected Array with data sharing",
        config->topic, type->name);
  } else if (shares && config->qos.history == TACHO_KEEP_ALL) {
    say(error,
        "ros2: %s: keep all with data sharing, which sets aside the memory of all messages that are kept; expected "
        "keep "
        "last",
        config->topic);
  } else {
    return type;
  }
  return NULL;
}

static bool open_publisher(struct tacho_publisher *publisher, const struct tacho_endpoint_config *config, char *error) {
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  if (!publisher->node || !publisher->type || ros2_qos_profile(&config->qos, &options.qos, config->topic, error) < 0)
    return false;
  const rosidl_message_type_support_t *support = publisher->type->support(config->size);
  publisher->size = config->size;
  if (!ros2_transport_shares_data() && (!(publisher->message = publisher->type->create(config->size)) ||
                                        publisher->type->resize(publisher->message, config->size) < 0)) {
    say(error, "ros2: %s: no memory for a message of %zu bytes", config->topic, config->size);
    return false;
  }
  publisher->rcl = rcl_get_zero_initialized_publisher();
  rcl_ret_t code = rcl_publisher_init(&publisher->rcl, &publisher->node->rcl, support, config->topic, &options);
  if (code != RCL_RET_OK) {
    say_rcl(error, code, "ros2: publisher of %s", config->topic);
    return false;
  }
  if (ros2_qos_honoured(&options.qos, rcl_publisher_get_actual_qos(&publisher->rcl), config->topic, error) < 0)
    return false;
  if (publisher->message) return true;
  publisher->loans = loans_of_publisher(&publisher->rcl, support, config->topic, error);
  return publisher->loans != NULL;
}

static struct tacho_publisher *ros2_advertise(struct tacho_session *session, const struct tacho_endpoint_config *config,
                                              const void **handle, char *error) {
  struct tacho_publisher *publisher = calloc(1, sizeof *publisher);
  if (!publisher) {
    say(error, "ros2: no memory for a publisher of %s", config->topic);
    return NULL;
  }
  pthread_mutex_lock(&session->mutex);
  publisher->node = (struct ros2_node *)seam_node_of(session->nodes, config, "ros2", error);
  if (publisher->node) publisher->type = type_of(config, true, error);
  if (open_publisher(publisher, config, error)) {
    publisher->next = session->publishers;
    session->publishers = publisher;
    *handle = &publisher->rcl;
  } else {
    free_publisher(publisher);
    publisher = NULL;
  }
  pthread_mutex_unlock(&session->mutex);
  return publisher;
}

static void new_message(const void *subscription, size_t count) {
  (void)count;
  const struct tacho_subscription *self = subscription;
  self->on_data(self->context);
}

static bool open_subscription(struct tacho_subscription *subscription, const struct tacho_endpoint_config *config,
                              char *error) {
  rcl_subscription_options_t options = rcl_subscription_get_default_options();
  if (!subscription->node || !subscription->type ||
      ros2_qos_profile(&config->qos, &options.qos, config->topic, error) < 0)
    return false;
  subscription->size = config->size;
  subscription->lent = ros2_transport_shares_data();
  if (subscription->lent) options.disable_loaned_message = false;
  if ((!subscription->lent && !(subscription->message = subscription->type->create(config->size))) ||
      !(subscription->topic = strdup(config->topic))) {
    say(error, "ros2: %s: no memory for a message", config->topic);
    return false;
  }
  subscription->rcl = rcl_get_zero_initialized_subscription();
  rcl_ret_t code = rcl_subscription_init(&subscription->rcl, &subscription->node->rcl,
                                         subscription->type->support(config->size), config->topic, &options);
  if (rcl_subscription_options_fini(&options) != RCL_RET_OK) rcl_reset_error();
  if (code != RCL_RET_OK) {
    say_rcl(error, code, "ros2: subscription to %s", config->topic);
    return false;
  }
  if (ros2_qos_honoured(&options.qos, rcl_subscription_get_actual_qos(&subscription->rcl), config->topic, error) < 0)
    return false;
  if (subscription->lent && !rcl_subscription_can_loan_messages(&subscription->rcl)) {
    say(error,
        "ros2: %s: messages are not lent to this subscription; expected ROS_DISABLE_LOANED_MESSAGES unset or 0, or "
        "another "
        "transport than data-sharing",
        config->topic);
    return false;
  }
  if (subscription->on_data) {
    code = rcl_subscription_set_on_new_message_callback(&subscription->rcl, new_message, subscription);
    if (code != RCL_RET_OK) {
      say_rcl(error, code, "ros2: on_data of %s", config->topic);
      subscription->on_data = NULL;
      return false;
    }
  }
  return true;
}

static struct tacho_subscription *ros2_subscribe(struct tacho_session *session,
                                                 const struct tacho_endpoint_config *config, tacho_on_data on_data,
                                                 void *context, const void **handle, char *error) {
  struct tacho_subscription *subscription = calloc(1, sizeof *subscription);
  if (!subscription) {
    say(error, "ros2: no memory for a subscription to %s", config->topic);
    return NULL;
  }
  subscription->on_data = on_data;
  subscription->context = context;
  pthread_mutex_lock(&session->mutex);
  subscription->node = (struct ros2_node *)seam_node_of(session->nodes, config, "ros2", error);
  if (subscription->node) subscription->type = type_of(config, false, error);
  if (open_subscription(subscription, config, error)) {
    subscription->next = session->subscriptions;
    session->subscriptions = subscription;
    *handle = &subscription->rcl;
  } else {
    free_subscription(subscription);
    subscription = NULL;
  }
  pthread_mutex_unlock(&session->mutex);
  return subscription;
}

static int ros2_publisher_matched(struct tacho_publisher *publisher, char *error) {
  size_t count;
  rcl_ret_t code = rcl_publisher_get_subscription_count(&publisher->rcl, &count);
  if (code == RCL_RET_OK) return (int)count;
  say_rcl(error, code, "ros2: counting subscriptions matched");
  return -1;
}

static int ros2_subscription_matched(struct tacho_subscription *subscription, char *error) {
  size_t count;
  rcl_ret_t code = rcl_subscription_get_publisher_count(&subscription->rcl, &count);
  if (code == RCL_RET_OK) return (int)count;
  say_rcl(error, code, "ros2: counting publishers matched");
  return -1;
}

// Messages

static void *ros2_borrow(struct tacho_publisher *publisher, int *kept, const void **message, char *error) {
  size_t size = publisher->size;
  void *typed = publisher->message;
  if (publisher->loans && !(typed = loans_borrow(publisher->loans, &publisher->rcl, kept, error))) return NULL;
  void *data = publisher->type->data(typed, &size);
  if (!data) say(error, "ros2: the message lost its data");
  if (!publisher->loans) *kept = publisher->filled;
  *message = typed;
  publisher->filled = true;
  return data;
}

static int ros2_publish(struct tacho_publisher *publisher, const struct tacho_header *header, char *error) {
  struct loans *loans = publisher->loans;
  if (loans && !loans->out) {
    say(error, "ros2: publish without a borrowed buffer");
    return -1;
  }
  publisher->type->stamp(loans ? loans->out : publisher->message, header);
  rcl_ret_t code = loans ? rcl_publish_loaned_message(&publisher->rcl, loans->out, NULL)
                         : rcl_publish(&publisher->rcl, publisher->message, NULL);
  if (code == RCL_RET_OK) {
    if (loans) loans->out = NULL;
    return 0;
  }
  say_rcl(error, code, loans ? "ros2: rcl_publish_loaned_message" : "ros2: rcl_publish");
  return -code;
}

static rcl_ret_t take(struct tacho_subscription *subscription) {
  if (subscription->lent) return loans_take(&subscription->rcl, &subscription->message);
  rmw_message_info_t info = rmw_get_zero_initialized_message_info();
  return rcl_take(&subscription->rcl, subscription->message, &info, NULL);
}

static int ros2_take(struct tacho_subscription *subscription, struct tacho_message *message, char *error) {
  if (subscription->lent && subscription->message) {
    say(error, "ros2: %s: take before the last message was given back", subscription->topic);
    return -1;
  }
  rcl_ret_t code = take(subscription);
  if (code == RCL_RET_SUBSCRIPTION_TAKE_FAILED) {
    rcl_reset_error();
    return 0;
  }
  if (code != RCL_RET_OK) {
    say_rcl(error, code, "ros2: rcl_take from %s", subscription->topic);
    return -1;
  }
  message->size = subscription->size;
  message->data = subscription->type->data(subscription->message, &message->size);
  if (!message->data || subscription->type->header(subscription->message, &message->header) < 0) {
    say(error, "ros2: %s: a %s without our header in it: somebody else publishes on this topic", subscription->topic,
        subscription->type->name);
    return -1;
  }
  message->loan = subscription->message;
  return 1;
}

static void ros2_give_back(struct tacho_subscription *subscription, struct tacho_message *message) {
  // Not lent: the only typed message of the subscription is filled again.
  if (subscription->lent) loans_return(&subscription->rcl, &subscription->message);
  message->loan = NULL;
}

static const struct tacho_middleware middleware = {
    .abi = TACHO_MIDDLEWARE_ABI,
    .name = "ros2",
    .transports = ros2_transports,
    .types = ros2_type_names,
    .version = ros2_version,
    .open = ros2_open,
    .close = ros2_close,
    .node = ros2_node,
    .advertise = ros2_advertise,
    .subscribe = ros2_subscribe,
    .publisher_matched = ros2_publisher_matched,
    .subscription_matched = ros2_subscription_matched,
    .borrow = ros2_borrow,
    .publish = ros2_publish,
    .take = ros2_take,
    .give_back = ros2_give_back,
};

EXPORT const struct tacho_middleware *tacho_middleware(void) { return &middleware; }
