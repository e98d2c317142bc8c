/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts our QoS into that of Cyclone DDS, and reads back what it set up.
 */
#ifndef TACHO_CYCLONEDDS_QOS_H_
#define TACHO_CYCLONEDDS_QOS_H_

#include <dds/dds.h>
#include <stdbool.h>
#include <tacho/middleware.h>

/* NULL: unknown policies; the cause is in `error`. The caller deletes it. */
dds_qos_t *qos_asked(const struct tacho_qos *asked, const char *topic, char *error);

/* Whether a reader or writer really has the requested QoS, and is in shared memory if it should. */
bool qos_honoured(dds_entity_t endpoint, const struct tacho_qos *asked, bool shared_memory, const char *topic,
                  char *error);

#endif
