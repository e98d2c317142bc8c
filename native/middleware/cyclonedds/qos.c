// SPDX-License-Identifier: Apache-2.0
#include "qos.h"

#include <stdio.h>
#include <string.h>

#include "shared_memory.h"

dds_qos_t *qos_asked(const struct tacho_qos *asked, const char *topic, char *error) {
  if (asked->reliability > TACHO_RELIABLE || asked->durability > TACHO_TRANSIENT_LOCAL ||
      asked->history > TACHO_KEEP_ALL) {
    snprintf(error, TACHO_ERROR_SIZE,
             "cyclonedds: %s: unknown QoS policy: reliability %u, durability %u, history %u; expected 0 or 1 each",
             topic, asked->reliability, asked->durability, asked->history);
    return NULL;
  }
  if (asked->history == TACHO_KEEP_LAST && (asked->depth == 0 || asked->depth > INT32_MAX)) {
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: %s: keep last with depth %u; expected 1 to %d", topic, asked->depth,
             INT32_MAX);
    return NULL;
  }
  dds_history_kind_t history = asked->history == TACHO_KEEP_ALL ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST;
  int32_t depth = asked->history == TACHO_KEEP_ALL ? DDS_LENGTH_UNLIMITED : (int32_t)asked->depth;
  dds_qos_t *qos = dds_create_qos();
  // A writer that must wait for its readers waits, as in ROS 2, and its sends are then late; a limit would lose
  // messages.
  dds_qset_reliability(
      qos, asked->reliability == TACHO_RELIABLE ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_INFINITY);
  dds_qset_history(qos, history, depth);
  if (asked->durability == TACHO_TRANSIENT_LOCAL) {
    dds_qset_durability(qos, DDS_DURABILITY_TRANSIENT_LOCAL);
    // This policy, not the history, determines what a late joiner gets (DDS 1.4, 2.2.3.5); its default is one message.
    dds_qset_durability_service(qos, 0, history, depth, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED,
                                DDS_LENGTH_UNLIMITED);
  } else {
    dds_qset_durability(qos, DDS_DURABILITY_VOLATILE);
  }
  return qos;
}

static const char *found(const dds_qos_t *qos, const struct tacho_qos *asked) {
  dds_reliability_kind_t reliability;
  dds_durability_kind_t durability;
  dds_history_kind_t history;
  int32_t depth;
  if (!dds_qget_reliability(qos, &reliability, NULL) || !dds_qget_durability(qos, &durability) ||
      !dds_qget_history(qos, &history, &depth))
    return "nothing";
  if ((reliability == DDS_RELIABILITY_RELIABLE) != (asked->reliability == TACHO_RELIABLE)) return "another reliability";
  if (durability !=
      (asked->durability == TACHO_TRANSIENT_LOCAL ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE))
    return "another durability";
  if ((history == DDS_HISTORY_KEEP_ALL) != (asked->history == TACHO_KEEP_ALL)) return "another history";
  if (history == DDS_HISTORY_KEEP_LAST && depth != (int32_t)asked->depth) return "another depth";
  return NULL;
}

bool qos_honoured(dds_entity_t endpoint, const struct tacho_qos *asked, bool shared_memory, const char *topic,
                  char *error) {
  dds_qos_t *qos = dds_create_qos();
  dds_return_t code = dds_get_qos(endpoint, qos);
  const char *other = code < 0 ? dds_strretcode(code) : found(qos, asked);
  dds_delete_qos(qos);
  if (other) {
    snprintf(error, TACHO_ERROR_SIZE,
             "cyclonedds: %s: asked for reliability %u, durability %u, history %u, depth %u, but reading back found %s",
             topic, asked->reliability, asked->durability, asked->history, asked->depth, other);
    return false;
  }
  if (!shared_memory || shared_memory_has(endpoint)) return true;
  snprintf(error, TACHO_ERROR_SIZE,
           "cyclonedds: %s: asked for transport \"shm\", but Cyclone DDS put this endpoint on the network", topic);
  return false;
}
