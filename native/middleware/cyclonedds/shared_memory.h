/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory by iceoryx: built into Cyclone DDS 0.10 (DDS_HAS_SHM), and a PSMX plugin from 11 on.
 */
#ifndef TACHO_CYCLONEDDS_SHARED_MEMORY_H_
#define TACHO_CYCLONEDDS_SHARED_MEMORY_H_

#include <dds/dds.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tacho/middleware.h>

/* Whether this Cyclone DDS has it; else the cause is in `error`. Call it first, because iceoryx ends the process. */
bool shared_memory_works(char *error);

/* Writes its part of a domain's configuration, which follows the rest of the configuration. */
void shared_memory_configuration(char *out, size_t size, uint32_t domain);

/* Whether it can carry this QoS. Call it before the endpoint is made, because Cyclone DDS falls back to the network
 * silently, and iceoryx ends the process. */
bool shared_memory_fits(const struct tacho_qos *asked, const char *topic, char *error);

/* The known peers of an endpoint; begin with zeros. */
struct settling {
  int seen, settled;
  int64_t since_ns;
};

/* Of the peers that DDS has matched, returns the number that messages reach. */
int shared_memory_matched(struct settling *settling, int matched);

/* Whether a reader or writer really uses it. */
bool shared_memory_has(dds_entity_t endpoint);

#endif
