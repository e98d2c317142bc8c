// SPDX-License-Identifier: Apache-2.0
#include "shared_memory.h"

#include <dds/version.h>
#include <stdio.h>
#include <string.h>
#if __has_include(<dds/features.h>)
#include <dds/features.h>
#endif
#ifdef DDS_HAS_SHM
#include <dds/ddsc/dds_loan_api.h>
#endif

#include "roudi.h"

#if defined(DDS_HAS_SHM) || defined(TACHO_PSMX_IOX)
// The limits with which iceoryx 2 was built: messages a queue, letters a name. Cyclone DDS shortens deeper queues
// silently, and longer names end the process.
enum { QUEUE = 256, NAME = 100 };

bool shared_memory_works(char *error) { return roudi_runs(error); }

bool shared_memory_fits(const struct tacho_qos *asked, const char *topic, char *error) {
  // Cyclone DDS 0.10.2 and 11.0.1 accept transient local, but late joiners have been seen to get nothing.
  if (asked->history == TACHO_KEEP_LAST && asked->durability == TACHO_VOLATILE && asked->depth <= QUEUE &&
      strlen(topic) <= NAME)
    return true;
  snprintf(error, TACHO_ERROR_SIZE,
           "cyclonedds: %s: transport \"shm\" cannot carry this: found history %u, depth %u, durability %u; expected "
           "keep last, "
           "volatile, a depth of at most %d and a topic of at most %d letters",
           topic, asked->history, asked->depth, asked->durability, QUEUE, NAME);
  return false;
}
#else
bool shared_memory_works(char *error) {
  snprintf(error, TACHO_ERROR_SIZE,
           "cyclonedds: transport \"shm\" is not built into this Cyclone DDS (%s); expected \"udp\", or "
           "one that was built with iceoryx: apt-get install iceoryx libiceoryx-posh-dev, then setup/cyclonedds and "
           "make build",
           DDS_VERSION);
  return false;
}
#endif

// RouDi connects publishers with subscribers every 100 ms, before or after DDS has matched them, and Cyclone DDS does
// not report it; messages published in between are lost. Three of these intervals were enough on a busy machine.
enum { CONNECTING_NS = 300000000 };

int shared_memory_matched(struct settling *settling, int matched) {
  int64_t now = dds_time();
  if (matched != settling->seen) {
    settling->seen = matched;
    settling->since_ns = now;
  }
  if (matched < settling->settled || now - settling->since_ns > CONNECTING_NS) settling->settled = matched;
  return settling->settled;
}

#if defined(DDS_HAS_SHM)
// Each domain has a prefix, because iceoryx knows no domains and would join those with the same topic name.
void shared_memory_configuration(char *out, size_t size, uint32_t domain) {
  snprintf(out, size,
           "<CycloneDDS><Domain><SharedMemory><Enable>true</Enable><LogLevel>error</LogLevel>"
           "<Prefix>DDS_CYCLONE_%u</Prefix></SharedMemory></Domain></CycloneDDS>",
           domain);
}

bool shared_memory_has(dds_entity_t endpoint) { return dds_is_shared_memory_available(endpoint); }
#elif defined(TACHO_PSMX_IOX)
static const char service[] =
    "DDS_CYCLONE_";  // and the domain, because iceoryx would join domains with the same topic name

void shared_memory_configuration(char *out, size_t size, uint32_t domain) {
  snprintf(out, size,
           "<CycloneDDS><Domain><General><Interfaces><PubSubMessageExchange type=\"iox\" "
           "config=\"SERVICE_NAME=%s%u;LOG_LEVEL=ERROR;\"/></Interfaces></General></Domain></CycloneDDS>",
           service, domain);
}

bool shared_memory_has(dds_entity_t endpoint) {
  dds_qos_t *qos = dds_create_qos();
  uint32_t count = 0;
  char **names = NULL;
  bool found = false;
  if (dds_get_qos(endpoint, qos) >= 0 && dds_qget_psmx_instances(qos, &count, &names))
    for (uint32_t i = 0; i < count; i++) {
      found |= !strncmp(names[i], service, sizeof service - 1);
      dds_free(names[i]);
    }
  dds_free(names);
  dds_delete_qos(qos);
  return found;
}
#else
void shared_memory_configuration(char *out, size_t size, uint32_t domain) {
  (void)size, (void)domain;
  *out = 0;
}

bool shared_memory_fits(const struct tacho_qos *asked, const char *topic, char *error) {
  (void)asked, (void)topic;  // no domain has it
  return shared_memory_works(error);
}

bool shared_memory_has(dds_entity_t endpoint) {
  (void)endpoint;
  return false;
}
#endif
