// SPDX-License-Identifier: Apache-2.0
//
// The connext plugin: RTI Connext 7 below any ROS layer, on its built-in type DDS::Octets. A session is one
// participant; a node is only a name in it.
//
// Our tests run all of this up to the check of its licence. The rest follows the documented C API, and nobody without a
// licence has run it: the conformance suite runs if RTI_LICENSE_FILE is set when the build is configured.
#include <pthread.h>
#include <seam/nodes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/middleware.h>

#include "library.h"
#include "profile.h"

struct tacho_publisher {
  const struct connext *connext;
  void *writer;
  struct connext_octets octets;  // the header, then the data; filled by the caller and written again and again
  bool filled;
  struct tacho_publisher *next;
};

struct tacho_subscription {
  const struct connext *connext;
  void *reader;
  tacho_on_data on_data;
  void *context;
  struct connext_sequence samples, infos;  // one message, lent by Connext
  bool lent;
  struct tacho_subscription *next;
};

struct tacho_session {
  const struct connext *connext;
  pthread_mutex_t mutex;  // of the lists
  void *participant;
  struct seam_node *nodes;
  struct tacho_publisher *publishers;
  struct tacho_subscription *subscriptions;
};

static const char *const types[] = {"Bytes", NULL};

// Session

static int connext_version(char *out, size_t size, char *error) {
  const struct connext *connext = connext_library(error);
  if (!connext) return -1;
  const unsigned char *version = connext->NDDS_Config_Version_get_product_version();
  snprintf(out, size, "RTI Connext %u.%u.%u", version[0], version[1], version[2]);
  return 0;
}

// Connext reports the cause only in its log, which otherwise goes to stdout.
static void *participant(const struct connext *connext, uint32_t domain, char *error) {
  char *log = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&log, &length);
  void *logger = connext->NDDS_Config_Logger_get_instance();
  connext->NDDS_Config_Logger_set_output_file(logger, file ? file : stderr);
  void *made = connext->DDS_DomainParticipantFactory_create_participant_with_profile(
      connext->DDS_DomainParticipantFactory_get_instance(), (int)domain, PROFILE_LIBRARY, PROFILE, NULL, 0);
  connext->NDDS_Config_Logger_set_output_file(logger, stderr);
  if (file) fclose(file);
  for (char *at = log; at && *at; at++)
    if (*at == '\n') *at = ' ';
  const char *said = log ? log : "";
  if (!made && strstr(said, "LICENSE"))
    say(error,
        "connext: RTI Connext has no valid licence here; it needs RTI's licence file, which RTI gives to those who "
        "register "
        "or buy. Put its path into RTI_LICENSE_FILE (found: %s). Connext says: %.500s",
        getenv("RTI_LICENSE_FILE") ? getenv("RTI_LICENSE_FILE") : "not set", said);
  else if (!made)
    say(error, "connext: no participant in domain %u; Connext says: %.700s", domain, said);
  free(log);
  return made;
}

static struct tacho_session *connext_open(const struct tacho_session_config *config, char *error) {
  const struct connext *connext = connext_library(error);
  if (!connext) return NULL;
  enum transport transport = UDP;
  if (!strcmp(config->transport, transport_names[SHM]))
    transport = SHM;
  else if (*config->transport && strcmp(config->transport, transport_names[UDP])) {
    say(error, "connext: transport \"%s\" is not known; expected \"udp\" or \"shm\"", config->transport);
    return NULL;
  }
  if (config->domain > 232) {  // DDSI-RTPS 2.5, 9.6.2.3: higher domains have no ports
    say(error, "connext: domain %u is too high; expected 0 to 232", config->domain);
    return NULL;
  }
  if (transport == SHM && *config->address) {
    say(error,
        "connext: transport \"shm\" does not leave this machine, but an address (%s) was given; expected \"udp\"",
        config->address);
    return NULL;
  }
  if (strspn(config->address, "0123456789.") != strlen(config->address)) {
    say(error, "connext: address \"%s\" is no IPv4 address", config->address);
    return NULL;
  }
  struct tacho_session *session = calloc(1, sizeof *session);
  if (!session) {
    say(error, "connext: no memory for a session");
    return NULL;
  }
  session->connext = connext;
  char profile[PROFILE_SIZE];
  profile_of_participant(profile, transport, config->address);
  if (profile_use(connext, profile, error) == 0) session->participant = participant(connext, config->domain, error);
  profile_done();
  if (session->participant && connext->DDS_OctetsTypeSupport_register_type(
                                  session->participant, connext->DDS_OctetsTypeSupport_get_type_name()) == CONNEXT_OK) {
    pthread_mutex_init(&session->mutex, NULL);
    return session;
  }
  if (session->participant) {
    say(error, "connext: type %s cannot be registered", connext->DDS_OctetsTypeSupport_get_type_name());
    connext->DDS_DomainParticipantFactory_delete_participant(connext->DDS_DomainParticipantFactory_get_instance(),
                                                             session->participant);
  }
  free(session);
  return NULL;
}

static void give_back(struct tacho_subscription *subscription) {
  if (subscription->lent)
    subscription->connext->DDS_OctetsDataReader_return_loan(subscription->reader, &subscription->samples,
                                                            &subscription->infos);
  subscription->lent = false;
}

static void connext_close(struct tacho_session *session) {
  const struct connext *connext = session->connext;
  for (struct tacho_subscription *each = session->subscriptions; each; each = each->next) {
    connext->DDS_DataReader_set_listener(each->reader, NULL, 0);
    give_back(each);
  }
  int code = connext->DDS_DomainParticipant_delete_contained_entities(session->participant);
  if (code == CONNEXT_OK)
    code = connext->DDS_DomainParticipantFactory_delete_participant(
        connext->DDS_DomainParticipantFactory_get_instance(), session->participant);
  if (code != CONNEXT_OK) fprintf(stderr, "connext: closing a participant: code %d\n", code);
  while (session->subscriptions) {
    struct tacho_subscription *first = session->subscriptions;
    session->subscriptions = first->next;
    free(first);
  }
  while (session->publishers) {
    struct tacho_publisher *first = session->publishers;
    session->publishers = first->next;
    free(first->octets.value);
    free(first);
  }
  while (session->nodes) seam_node_remove(&session->nodes);
  pthread_mutex_destroy(&session->mutex);
  free(session);
}

static int connext_node(struct tacho_session *session, const char *name, const void **handle, int *traced,
                        char *error) {
  pthread_mutex_lock(&session->mutex);
  *handle = seam_node_add(&session->nodes, name, sizeof *session->nodes, "connext", error);
  pthread_mutex_unlock(&session->mutex);
  *traced = 0;
  return *handle ? 0 : -1;
}

// Endpoints

static bool acceptable(const struct tacho_session *session, const struct tacho_endpoint_config *config, char *error) {
  const struct tacho_qos *qos = &config->qos;
  if (!seam_node_of(session->nodes, config, "connext", error)) return false;
  if (*config->type && strcmp(config->type, types[0])) {
    say(error, "connext: %s: message type \"%s\" is not known; expected Bytes", config->topic, config->type);
  } else if (config->size > PROFILE_LARGEST) {
    say(error, "connext: %s: %zu bytes; expected at most %d", config->topic, config->size, PROFILE_LARGEST);
  } else if (qos->reliability > TACHO_RELIABLE || qos->durability > TACHO_TRANSIENT_LOCAL ||
             qos->history > TACHO_KEEP_ALL) {
    say(error, "connext: %s: unknown QoS policy: reliability %u, durability %u, history %u; expected 0 or 1 each",
        config->topic, qos->reliability, qos->durability, qos->history);
  } else if (qos->history == TACHO_KEEP_LAST && (qos->depth == 0 || qos->depth > INT32_MAX)) {
    say(error, "connext: %s: keep last with depth %u; expected 1 to %d", config->topic, qos->depth, INT32_MAX);
  } else {
    return true;
  }
  return false;
}

// Makes a writer, or a reader with its listener; NULL if it is refused. Call with the session's mutex held.
static void *endpoint(struct tacho_session *session, const struct tacho_endpoint_config *config, bool writes,
                      const struct connext_listener *listener, char *error) {
  if (!acceptable(session, config, error)) return NULL;
  const struct connext *connext = session->connext;
  void *factory = connext->DDS_DomainParticipantFactory_get_instance(), *made = NULL;
  char profile[PROFILE_SIZE];
  profile_of_endpoint(profile, writes, &config->qos, config->size);
  static struct connext_qos qos;  // guarded by the profile
  if (profile_use(connext, profile, error) == 0) {
    void *topic = connext->DDS_DomainParticipant_lookup_topicdescription(session->participant, config->topic);
    if (!topic)
      topic = connext->DDS_DomainParticipant_create_topic_with_profile(session->participant, config->topic,
                                                                       connext->DDS_OctetsTypeSupport_get_type_name(),
                                                                       PROFILE_LIBRARY, PROFILE, NULL, 0);
    (writes ? connext->DDS_DataWriterQos_initialize : connext->DDS_DataReaderQos_initialize)(&qos);
    int code = (writes ? connext->DDS_DomainParticipantFactory_get_datawriter_qos_from_profile
                       : connext->DDS_DomainParticipantFactory_get_datareader_qos_from_profile)(
        factory, &qos, PROFILE_LIBRARY, PROFILE);
    if (topic && code == CONNEXT_OK)
      made = writes ? connext->DDS_DomainParticipant_create_datawriter(session->participant, topic, &qos, NULL, 0)
                    : connext->DDS_DomainParticipant_create_datareader(session->participant, topic, &qos, listener,
                                                                       listener ? CONNEXT_DATA_AVAILABLE : 0);
    (writes ? connext->DDS_DataWriterQos_finalize : connext->DDS_DataReaderQos_finalize)(&qos);
    if (!made) say(error, "connext: no %s of %s; Connext says why above", writes ? "writer" : "reader", config->topic);
  }
  profile_done();
  return made;
}

static struct tacho_publisher *connext_advertise(struct tacho_session *session,
                                                 const struct tacho_endpoint_config *config, const void **handle,
                                                 char *error) {
  struct tacho_publisher *publisher = calloc(1, sizeof *publisher);
  unsigned char *room = config->size <= PROFILE_LARGEST ? calloc(1, sizeof(struct tacho_header) + config->size) : NULL;
  pthread_mutex_lock(&session->mutex);
  if (publisher && room)
    publisher->writer = endpoint(session, config, true, NULL, error);
  else
    say(error, "connext: %s: no memory for a message of %zu bytes", config->topic, config->size);
  if (publisher && publisher->writer) {
    publisher->connext = session->connext;
    publisher->octets = (struct connext_octets){(int32_t)(sizeof(struct tacho_header) + config->size), room};
    publisher->next = session->publishers;
    session->publishers = publisher;
    *handle = publisher;
  }
  pthread_mutex_unlock(&session->mutex);
  if (publisher && publisher->writer) return publisher;
  free(room);
  free(publisher);
  return NULL;
}

static bool is_valid(const struct connext *connext, void *infos) {
  const unsigned char *info = connext->DDS_SampleInfoSeq_get_reference(infos, 0);
  return info && info[CONNEXT_VALID_DATA];
}

// Connext also calls it when the last writer goes, which is no message.
static void data_available(void *data, void *reader) {
  const struct tacho_subscription *self = data;
  const struct connext *connext = self->connext;
  struct connext_sequence samples, infos;
  connext->DDS_OctetsSeq_initialize(&samples);
  connext->DDS_SampleInfoSeq_initialize(&infos);
  if (connext->DDS_OctetsDataReader_read(reader, &samples, &infos, 1, CONNEXT_ANY_STATE, CONNEXT_ANY_STATE,
                                         CONNEXT_ANY_STATE) != CONNEXT_OK)
    return;
  bool message = is_valid(connext, &infos);
  connext->DDS_OctetsDataReader_return_loan(reader, &samples, &infos);
  if (message) self->on_data(self->context);
}

static struct tacho_subscription *connext_subscribe(struct tacho_session *session,
                                                    const struct tacho_endpoint_config *config, tacho_on_data on_data,
                                                    void *context, const void **handle, char *error) {
  struct tacho_subscription *subscription = calloc(1, sizeof *subscription);
  if (!subscription) {
    say(error, "connext: no memory for a subscription to %s", config->topic);
    return NULL;
  }
  subscription->connext = session->connext;
  subscription->on_data = on_data;
  subscription->context = context;
  session->connext->DDS_OctetsSeq_initialize(&subscription->samples);
  session->connext->DDS_SampleInfoSeq_initialize(&subscription->infos);
  // Given with the reader and not set afterwards, because the first message may be there before the reader's handle is.
  const struct connext_listener listener = {.data = subscription, .on_data_available = data_available};
  pthread_mutex_lock(&session->mutex);
  subscription->reader = endpoint(session, config, false, on_data ? &listener : NULL, error);
  if (subscription->reader) {
    subscription->next = session->subscriptions;
    session->subscriptions = subscription;
    *handle = subscription;
  }
  pthread_mutex_unlock(&session->mutex);
  if (subscription->reader) return subscription;
  free(subscription);
  return NULL;
}

static int connext_publisher_matched(struct tacho_publisher *publisher, char *error) {
  struct connext_matched status;
  int code = publisher->connext->DDS_DataWriter_get_publication_matched_status(publisher->writer, &status);
  if (code == CONNEXT_OK) return status.current_count;
  say(error, "connext: counting readers matched: code %d", code);
  return -1;
}

static int connext_subscription_matched(struct tacho_subscription *subscription, char *error) {
  struct connext_matched status;
  int code = subscription->connext->DDS_DataReader_get_subscription_matched_status(subscription->reader, &status);
  if (code == CONNEXT_OK) return status.current_count;
  say(error, "connext: counting writers matched: code %d", code);
  return -1;
}

// Messages

static void *connext_borrow(struct tacho_publisher *publisher, int *kept, const void **message, char *error) {
  (void)error;
  *kept = publisher->filled;
  *message = &publisher->octets;
  publisher->filled = true;
  return publisher->octets.value + sizeof(struct tacho_header);
}

static int connext_publish(struct tacho_publisher *publisher, const struct tacho_header *header, char *error) {
  memcpy(publisher->octets.value, header, sizeof *header);
  int code = publisher->connext->DDS_OctetsDataWriter_write(publisher->writer, &publisher->octets,
                                                            publisher->connext->no_instance);
  if (code == CONNEXT_OK) return 0;
  say(error, "connext: DDS_OctetsDataWriter_write: code %d", code);
  return -code;
}

static int connext_take(struct tacho_subscription *subscription, struct tacho_message *message, char *error) {
  if (subscription->lent) {
    say(error, "connext: take before the last message was given back");
    return -1;
  }
  const struct connext *connext = subscription->connext;
  for (;;) {  // a sample without data reports that a writer went
    int code = connext->DDS_OctetsDataReader_take(subscription->reader, &subscription->samples, &subscription->infos, 1,
                                                  CONNEXT_ANY_STATE, CONNEXT_ANY_STATE, CONNEXT_ANY_STATE);
    if (code == CONNEXT_NO_DATA) return 0;
    if (code != CONNEXT_OK) {
      say(error, "connext: DDS_OctetsDataReader_take: code %d", code);
      return -1;
    }
    subscription->lent = true;
    if (is_valid(connext, &subscription->infos)) break;
    give_back(subscription);
  }
  const struct connext_octets *octets = connext->DDS_OctetsSeq_get_reference(&subscription->samples, 0);
  if (!octets || octets->length < (int32_t)sizeof message->header) {
    say(error,
        "connext: took a message of %d bytes, without room for our header: another program's, on the same topic?",
        octets ? (int)octets->length : -1);
    give_back(subscription);
    return -1;
  }
  memcpy(&message->header, octets->value, sizeof message->header);
  message->data = octets->value + sizeof message->header;
  message->size = (size_t)octets->length - sizeof message->header;
  message->loan = octets->value;
  return 1;
}

static void connext_give_back(struct tacho_subscription *subscription, struct tacho_message *message) {
  give_back(subscription);
  message->loan = NULL;
}

static const struct tacho_middleware middleware = {
    .abi = TACHO_MIDDLEWARE_ABI,
    .name = "connext",
    .transports = transport_names,
    .types = types,
    .version = connext_version,
    .open = connext_open,
    .close = connext_close,
    .node = connext_node,
    .advertise = connext_advertise,
    .subscribe = connext_subscribe,
    .publisher_matched = connext_publisher_matched,
    .subscription_matched = connext_subscription_matched,
    .borrow = connext_borrow,
    .publish = connext_publish,
    .take = connext_take,
    .give_back = connext_give_back,
};

__attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) { return &middleware; }
