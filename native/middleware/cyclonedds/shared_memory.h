/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory by iceoryx: built into Cyclone DDS 0.10 (DDS_HAS_SHM), a PSMX plugin of its own from 11 on.
 */
#ifndef TACHO_CYCLONEDDS_SHARED_MEMORY_H_
#define TACHO_CYCLONEDDS_SHARED_MEMORY_H_

#include <dds/dds.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacho/middleware.h>

/* Whether Cyclone DDS can be asked for it; else the cause is in `error`. Asked first, because iceoryx ends the process. */
bool shared_memory_works(char *error);

/* Writes what a configuration says of it in a domain, to stand behind the rest of the configuration. */
void shared_memory_configuration(char *out, size_t size, uint32_t domain);

/* Whether it can carry this QoS; asked before the endpoint is made, because Cyclone DDS falls back to the network without a
 * word, and iceoryx ends the process. */
bool shared_memory_fits(const struct tacho_qos *asked, const char *topic, char *error);

/* What is known of an endpoint's peers; zero to begin with. */
struct settling {
  int seen, settled;
  int64_t since_ns;
};

/* Of the peers that DDS has matched, those to which messages get through. */
int shared_memory_matched(struct settling *settling, int matched);

/* Whether a reader or writer really is in it. */
bool shared_memory_has(dds_entity_t endpoint);

#endif
