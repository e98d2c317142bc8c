// SPDX-License-Identifier: Apache-2.0
#include "profile.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

const char *const transport_names[] = {"udp", "shm", NULL};

// DDS::Octets has a bound, which all endpoints of a topic must share.
#define PROPERTY(name, value) "<element><name>" name "</name><value>" value "</value></element>"
#define INTERFACE(value)                                                      \
  PROPERTY("dds.transport.UDPv4.builtin.parent.allow_interfaces_list", value) \
  PROPERTY("dds.transport.UDPv4.builtin.ignore_loopback_interface", "0")
#define PARTICIPANT(mask, peers, multicast, properties)                                                            \
  "<domain_participant_qos><transport_builtin><mask>" mask                                                         \
  "</mask></transport_builtin>"                                                                                    \
  "<discovery><initial_peers><element>" peers                                                                      \
  "</element></initial_peers>"                                                                                     \
  "<multicast_receive_addresses>" multicast                                                                        \
  "</multicast_receive_addresses></discovery>" /* After which a killed peer is taken as gone. */                   \
  "<discovery_config><participant_liveliness_lease_duration><sec>10</sec><nanosec>0</nanosec>"                     \
  "</participant_liveliness_lease_duration><participant_liveliness_assert_period><sec>3</sec><nanosec>0</nanosec>" \
  "</participant_liveliness_assert_period></discovery_config>"                                                     \
  "<property><value>" PROPERTY("dds.builtin_type.octets.max_size", "268435456") properties                         \
      "</value></property>"                                                                                        \
      "</domain_participant_qos>"

void profile_of_participant(char *out, enum transport transport, const char *address) {
  // Connext sends no multicast on 127.0.0.1, so it finds peers there on the ports of their numbers (DDSI-RTPS 2.5,
  // 9.6.2.3), of which a domain has 120.
  if (transport == SHM)
    snprintf(out, PROFILE_SIZE, PARTICIPANT("SHMEM", "119@builtin.shmem://", "", ""));
  else if (!*address)
    snprintf(out, PROFILE_SIZE, PARTICIPANT("UDPv4", "119@builtin.udpv4://127.0.0.1", "", INTERFACE("127.0.0.1")));
  else
    snprintf(out, PROFILE_SIZE,
             PARTICIPANT("UDPv4", "builtin.udpv4://239.255.0.1", "<element>builtin.udpv4://239.255.0.1</element>",
                         INTERFACE("%s")),
             address);
}

// Connext sends reliable messages that exceed a datagram only from a thread of its own, in parts.
enum { ONE_DATAGRAM = 60000 };

void profile_of_endpoint(char *out, int writes, const struct tacho_qos *qos, size_t size) {
  const char *kind = writes ? "datawriter" : "datareader";
  char depth[64] = "";
  if (qos->history == TACHO_KEEP_LAST) snprintf(depth, sizeof depth, "<depth>%u</depth>", qos->depth);
  snprintf(
      out, PROFILE_SIZE,
      "<%s_qos><history><kind>%s</kind>%s</history>"
      // A writer that must wait for its readers waits, and its sends are then late; a limit would lose messages.
      "<reliability><kind>%s</kind><max_blocking_time><sec>DURATION_INFINITE_SEC</sec>"
      "<nanosec>DURATION_INFINITE_NSEC</nanosec></max_blocking_time></reliability>"
      "<durability><kind>%s</kind></durability>%s<property><value>" PROPERTY("dds.builtin_type.octets.alloc_size",
                                                                             "%zu")
      // Otherwise Connext reserves a buffer of the bound for each message.
      PROPERTY("dds.%s.history.memory_manager.fast_pool.pool_buffer_size", "65536") "</value></property></%s_qos>",
      kind, qos->history == TACHO_KEEP_ALL ? "KEEP_ALL_HISTORY_QOS" : "KEEP_LAST_HISTORY_QOS", depth,
      qos->reliability == TACHO_RELIABLE ? "RELIABLE_RELIABILITY_QOS" : "BEST_EFFORT_RELIABILITY_QOS",
      qos->durability == TACHO_TRANSIENT_LOCAL ? "TRANSIENT_LOCAL_DURABILITY_QOS" : "VOLATILE_DURABILITY_QOS",
      writes && size > ONE_DATAGRAM ? "<publish_mode><kind>ASYNCHRONOUS_PUBLISH_MODE_QOS</kind></publish_mode>" : "",
      size + sizeof(struct tacho_header), writes ? "data_writer" : "data_reader", kind);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // the factory has one set of profiles

int profile_use(const struct connext *connext, const char *text, char *error) {
  pthread_mutex_lock(&mutex);
  char whole[PROFILE_SIZE + 256];
  snprintf(whole, sizeof whole,
           "<dds><qos_library name=\"" PROFILE_LIBRARY "\"><qos_profile name=\"" PROFILE
           "\">%s"
           "</qos_profile></qos_library></dds>",
           text);
  const char *const all[] = {whole};
  static struct connext_qos qos;
  void *factory = connext->DDS_DomainParticipantFactory_get_instance();
  connext->DDS_DomainParticipantFactoryQos_initialize(&qos);
  int code = factory ? connext->DDS_DomainParticipantFactory_get_qos(factory, &qos) : 1;
  if (!code && !connext->DDS_StringSeq_from_array(qos.room + CONNEXT_STRING_PROFILE, all, 1)) code = 1;
  if (!code) code = connext->DDS_DomainParticipantFactory_set_qos(factory, &qos);
  if (!code) code = connext->DDS_DomainParticipantFactory_reload_profiles(factory);
  connext->DDS_DomainParticipantFactoryQos_finalize(&qos);
  if (!code) return 0;
  snprintf(error, TACHO_ERROR_SIZE, "connext: code %d for the profile %.700s", code, text);
  return -1;
}

void profile_done(void) { pthread_mutex_unlock(&mutex); }
