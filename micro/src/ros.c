/* SPDX-License-Identifier: Apache-2.0
 * Reports the ROS graph: one message on ros_discovery_info says which node this participant is and which endpoints it
 * has
 * (rmw_dds_common/msg/ParticipantEntitiesInfo, from ROS 2 Iron on, where a GID has 16 bytes). */
#include "rtps.h"

/* The hash of the type in rmw_dds_common 2.0 (Iron) to 4.0 (Kilted). */
#define ENTITIES_INFO_HASH "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e"

static const struct micro_type entities_info = {.name = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
                                                .hash = ENTITIES_INFO_HASH};
const struct micro_endpoint graph_endpoint = {
    .topic = "ros_discovery_info", .type = &entities_info, .qos = MICRO_RELIABLE | MICRO_TRANSIENT_LOCAL, .depth = 1};

static void put_text(const char *text) {
  uint32_t size = (uint32_t)strlen(text) + 1;
  put32(size);
  put_bytes(text, size);
  put_zeros(-size & 3u);
}

static void put_gids(bool of_writers) {
  uint32_t n = 0;
  for (unsigned i = 0; i < self.node->endpoint_count; i++) n += is_writer(&self.node->endpoints[i]) == of_writers;
  put32(n);
  for (unsigned i = 0; i < self.node->endpoint_count; i++) {
    if (is_writer(&self.node->endpoints[i]) != of_writers) continue;
    put_bytes(self.prefix, 12);
    put_entity(entity_of(i));
  }
}

void put_graph(void) {
  put_bytes(self.prefix, 12);
  put_entity(ENTITY_PARTICIPANT);
  put32(1); /* one node */
  put_text(self.node->ns);
  put_text(self.node->name);
  put_gids(false);
  put_gids(true);
}
