// SPDX-License-Identifier: Apache-2.0
//
// The cyclonedds plugin: Cyclone DDS below any ROS layer. A session is one participant; a node is only a name in it.
#include <dds/dds.h>
#include <dds/version.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <seam/nodes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/middleware.h>

#include "domains.h"
#include "qos.h"
#include "shared_memory.h"
#include "types.h"

#define EXPORT __attribute__((visibility("default")))

struct tacho_publisher {
  dds_entity_t writer;
  const struct dds_type *type;
  void *sample;  // one typed sample, filled by the caller and written again and again
  bool filled;
  bool shared_memory;
  struct settling settling;  // of its peers there
  struct tacho_publisher *next;
};

struct tacho_subscription {
  dds_entity_t reader;
  const struct dds_type *type;
  void *sample;  // taken into, lent to the caller; its buffer grows to the largest message
  bool lent;
  bool shared_memory;
  struct settling settling;    // of its peers there
  _Atomic dds_entity_t alive;  // condition: there are samples of writers that live
  tacho_on_data on_data;
  void *context;
  struct tacho_subscription *next;
};

struct tacho_session {
  pthread_mutex_t mutex;  // of the lists
  struct domain *domain;
  dds_entity_t participant;
  struct seam_node *nodes;
  struct tacho_publisher *publishers;
  struct tacho_subscription *subscriptions;
};

// Session

// Only the name of the library's file contains its version: libddsc.so.0.10.2.
static int cyclonedds_version(char *out, size_t size, char *error) {
  dds_entity_t (*create)(dds_domainid_t, const dds_qos_t *, const dds_listener_t *) = dds_create_participant;
  const void *symbol;
  memcpy(&symbol, &create, sizeof symbol);  // ISO C has no cast from a function to an object pointer
  char path[PATH_MAX];
  Dl_info info;
  if (!dladdr(symbol, &info) || !info.dli_fname || !realpath(info.dli_fname, path)) {
    say(error, "cyclonedds: no path is known of libddsc");
    return -1;
  }
  const char *version = strstr(path, ".so.");
  if (version)
    snprintf(out, size, "cyclonedds %s", version + strlen(".so."));
  else
    snprintf(out, size, "cyclonedds (headers %s)", DDS_VERSION);
  return 0;
}

static struct tacho_session *cyclonedds_open(const struct tacho_session_config *config, char *error) {
  struct tacho_session *session = calloc(1, sizeof *session);
  if (!session) {
    say(error, "cyclonedds: no memory for a session");
    return NULL;
  }
  if ((session->domain = domain_join(config->domain, config->transport, config->address, error))) {
    session->participant = dds_create_participant(config->domain, NULL, NULL);
    if (session->participant > 0) {
      pthread_mutex_init(&session->mutex, NULL);
      return session;
    }
    say(error, "cyclonedds: participant in domain %u: %s", config->domain, dds_strretcode(session->participant));
    domain_leave(session->domain);
  }
  free(session);
  return NULL;
}

static void free_publisher(struct tacho_publisher *publisher) {
  if (publisher->sample) dds_type_destroy(publisher->type, publisher->sample);
  free(publisher);
}

static void free_subscription(struct tacho_subscription *subscription) {
  if (subscription->sample) dds_type_destroy(subscription->type, subscription->sample);
  free(subscription);
}

static void cyclonedds_close(struct tacho_session *session) {
  // Deletes readers and writers with it, and waits for running listeners, so that on_data is no longer called.
  dds_return_t code = dds_delete(session->participant);
  if (code < 0) fprintf(stderr, "cyclonedds: closing a participant: %s\n", dds_strretcode(code));
  domain_leave(session->domain);
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
  while (session->nodes) seam_node_remove(&session->nodes);
  pthread_mutex_destroy(&session->mutex);
  free(session);
}

// Nodes

static int cyclonedds_node(struct tacho_session *session, const char *name, const void **handle, int *traced,
                           char *error) {
  pthread_mutex_lock(&session->mutex);
  *handle = seam_node_add(&session->nodes, name, sizeof *session->nodes, "cyclonedds", error);
  pthread_mutex_unlock(&session->mutex);
  *traced = 0;
  return *handle ? 0 : -1;
}

// Endpoints

static const struct dds_type *type_of(struct tacho_session *session, const struct tacho_endpoint_config *config,
                                      bool exact, char *error) {
  const struct dds_type *type = dds_type(config->type);
  if (!seam_node_of(session->nodes, config, "cyclonedds", error)) return NULL;
  if (!type) {
    say(error,
        "cyclonedds: %s: message type \"%s\" is not known; expected Bytes, PointCloud2, PointCloud1m, Image or "
        "TwistStamped",
        config->topic, config->type);
  } else if (exact && type->only_size && config->size != type->only_size) {
    say(error, "cyclonedds: %s: %s carries %zu bytes of data, not %zu", config->topic, type->name, type->only_size,
        config->size);
  } else {
    return type;
  }
  return NULL;
}

// Makes a reader (with its listener) or a writer, and reads its QoS back; 0 if it is refused.
static dds_entity_t endpoint(const struct tacho_session *session, const struct tacho_endpoint_config *config,
                             const struct dds_type *type, const dds_listener_t *listener, bool writes, char *error) {
  dds_qos_t *qos = qos_asked(&config->qos, config->topic, error);
  if (!qos) return 0;
  bool shared_memory = domain_is_shared_memory(session->domain);
  if (shared_memory && !shared_memory_fits(&config->qos, config->topic, error)) {
    dds_delete_qos(qos);
    return 0;
  }
  dds_entity_t topic = dds_create_topic(session->participant, type->descriptor, config->topic, NULL, NULL);
  dds_entity_t made = topic;
  if (topic > 0) {
    made = writes ? dds_create_writer(session->participant, topic, qos, NULL)
                  : dds_create_reader(session->participant, topic, qos, listener);
    dds_delete(topic);  // the endpoint holds it for as long as it lives
  }
  dds_delete_qos(qos);
  if (made < 0) {
    say(error, "cyclonedds: %s %s, type %s: %s",
        topic < 0 ? "topic"
        : writes  ? "writer of"
                  : "reader of",
        config->topic, type->descriptor->m_typename, dds_strretcode(made));
    return 0;
  }
  if (qos_honoured(made, &config->qos, shared_memory, config->topic, error)) return made;
  dds_delete(made);
  return 0;
}

static struct tacho_publisher *cyclonedds_advertise(struct tacho_session *session,
                                                    const struct tacho_endpoint_config *config, const void **handle,
                                                    char *error) {
  struct tacho_publisher *publisher = calloc(1, sizeof *publisher);
  if (!publisher) {
    say(error, "cyclonedds: no memory for a publisher of %s", config->topic);
    return NULL;
  }
  pthread_mutex_lock(&session->mutex);
  publisher->type = type_of(session, config, true, error);
  if (publisher->type) {
    publisher->sample = dds_type_create(publisher->type, config->size);
    if (publisher->sample)
      publisher->writer = endpoint(session, config, publisher->type, NULL, true, error);
    else
      say(error, "cyclonedds: %s: no memory for a message of %zu bytes", config->topic, config->size);
  }
  if (publisher->writer) {
    publisher->shared_memory = domain_is_shared_memory(session->domain);
    publisher->next = session->publishers;
    session->publishers = publisher;
    *handle = publisher;
  }
  pthread_mutex_unlock(&session->mutex);
  if (publisher->writer) return publisher;
  free_publisher(publisher);
  return NULL;
}

// Finds out whether a message is there, at the price of deserialising it.
static bool holds_message(dds_entity_t reader) {
  void *loan = NULL;
  dds_sample_info_t info;
  dds_return_t count = dds_read(reader, &loan, &info, 1, 1);
  bool message = count > 0 && info.valid_data;
  if (count > 0) dds_return_loan(reader, &loan, count);
  return message;
}

// Cyclone DDS also calls it when the last writer goes, which is no message.
static void data_available(dds_entity_t reader, void *argument) {
  const struct tacho_subscription *self = argument;
  if (dds_triggered(self->alive) > 0 || holds_message(reader)) self->on_data(self->context);
}

static struct tacho_subscription *cyclonedds_subscribe(struct tacho_session *session,
                                                       const struct tacho_endpoint_config *config,
                                                       tacho_on_data on_data, void *context, const void **handle,
                                                       char *error) {
  struct tacho_subscription *subscription = calloc(1, sizeof *subscription);
  if (!subscription) {
    say(error, "cyclonedds: no memory for a subscription to %s", config->topic);
    return NULL;
  }
  subscription->on_data = on_data;
  subscription->context = context;
  // Given with the reader and not set afterwards, because the first message may be there before the reader's handle is.
  dds_listener_t *listener = dds_create_listener(subscription);
  if (on_data) dds_lset_data_available(listener, data_available);
  pthread_mutex_lock(&session->mutex);
  subscription->type = type_of(session, config, false, error);
  if (subscription->type) {
    subscription->sample = dds_alloc(subscription->type->descriptor->m_size);
    subscription->reader = endpoint(session, config, subscription->type, listener, false, error);
  }
  if (subscription->reader) {
    // Until the condition exists, data_available looks for itself.
    dds_entity_t alive = dds_create_readcondition(subscription->reader,
                                                  DDS_ANY_SAMPLE_STATE | DDS_ANY_VIEW_STATE | DDS_ALIVE_INSTANCE_STATE);
    if (alive > 0) {
      subscription->alive = alive;
    } else {
      say(error, "cyclonedds: condition on the reader of %s: %s", config->topic, dds_strretcode(alive));
      dds_delete(subscription->reader);
      subscription->reader = 0;
    }
  }
  if (subscription->reader) {
    subscription->shared_memory = domain_is_shared_memory(session->domain);
    subscription->next = session->subscriptions;
    session->subscriptions = subscription;
    *handle = subscription;
  }
  pthread_mutex_unlock(&session->mutex);
  dds_delete_listener(listener);
  if (subscription->reader) return subscription;
  free_subscription(subscription);
  return NULL;
}

static int cyclonedds_publisher_matched(struct tacho_publisher *publisher, char *error) {
  dds_publication_matched_status_t status;
  dds_return_t code = dds_get_publication_matched_status(publisher->writer, &status);
  int count = (int)status.current_count;
  if (code >= 0) return publisher->shared_memory ? shared_memory_matched(&publisher->settling, count) : count;
  say(error, "cyclonedds: counting readers matched: %s", dds_strretcode(code));
  return -1;
}

static int cyclonedds_subscription_matched(struct tacho_subscription *subscription, char *error) {
  dds_subscription_matched_status_t status;
  dds_return_t code = dds_get_subscription_matched_status(subscription->reader, &status);
  int count = (int)status.current_count;
  if (code >= 0) return subscription->shared_memory ? shared_memory_matched(&subscription->settling, count) : count;
  say(error, "cyclonedds: counting writers matched: %s", dds_strretcode(code));
  return -1;
}

// Messages

static void *cyclonedds_borrow(struct tacho_publisher *publisher, int *kept, const void **message, char *error) {
  (void)error;
  size_t size;
  *kept = publisher->filled;
  *message = publisher->sample;
  publisher->filled = true;
  return dds_type_data(publisher->type, publisher->sample, &size);
}

static int cyclonedds_publish(struct tacho_publisher *publisher, const struct tacho_header *header, char *error) {
  *dds_type_header(publisher->sample) = *header;
  dds_return_t code = dds_write(publisher->writer, publisher->sample);
  if (code >= 0) return 0;
  say(error, "cyclonedds: dds_write: %s", dds_strretcode(code));
  return code;
}

static int cyclonedds_take(struct tacho_subscription *subscription, struct tacho_message *message, char *error) {
  if (subscription->lent) {
    say(error, "cyclonedds: take before the last message was given back");
    return -1;
  }
  dds_sample_info_t info;
  do {  // a sample without data reports that a writer went
    dds_return_t code = dds_take(subscription->reader, &subscription->sample, &info, 1, 1);
    if (code == 0) return 0;
    if (code < 0) {
      say(error, "cyclonedds: dds_take: %s", dds_strretcode(code));
      return -1;
    }
  } while (!info.valid_data);
  message->header = *dds_type_header(subscription->sample);
  message->data = dds_type_data(subscription->type, subscription->sample, &message->size);
  message->loan = subscription->sample;
  subscription->lent = true;
  return 1;
}

static void cyclonedds_give_back(struct tacho_subscription *subscription, struct tacho_message *message) {
  subscription->lent = false;  // the one sample of the subscription is taken into again
  message->loan = NULL;
}

static const struct tacho_middleware middleware = {
    .abi = TACHO_MIDDLEWARE_ABI,
    .name = "cyclonedds",
    .transports = domain_transports,
    .types = dds_type_names,
    .version = cyclonedds_version,
    .open = cyclonedds_open,
    .close = cyclonedds_close,
    .node = cyclonedds_node,
    .advertise = cyclonedds_advertise,
    .subscribe = cyclonedds_subscribe,
    .publisher_matched = cyclonedds_publisher_matched,
    .subscription_matched = cyclonedds_subscription_matched,
    .borrow = cyclonedds_borrow,
    .publish = cyclonedds_publish,
    .take = cyclonedds_take,
    .give_back = cyclonedds_give_back,
};

EXPORT const struct tacho_middleware *tacho_middleware(void) { return &middleware; }
