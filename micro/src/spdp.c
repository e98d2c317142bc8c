/* SPDX-License-Identifier: Apache-2.0
 * Announces our participant, admits others and forgets them (SPDP, RTPS 8.5.3, 9.6.2.2). */
#include "rtps.h"

#define DISCOVERY_GROUP 0xefff0001u /* 239.255.0.1, RTPS 9.6.1.4.1 */
#define LEASE_S 16u
#define LEASE_MAX_S 300u /* the lease of a peer that claims more */

static uint32_t public_address(void) {
  return self.node->public_address ? self.node->public_address : micro_udp_address();
}

static void put_locator(uint16_t id, uint16_t port) {
  uint32_t address = public_address();
  put_parameter(id, 24);
  put32(1); /* LOCATOR_KIND_UDPv4 */
  put32((uint32_t)port + self.node->public_port_offset);
  put_zeros(12);
  put_entity(address); /* as octets, highest first */
}

static void put_participant_guid(void) {
  put_parameter(PID_PARTICIPANT_GUID, 16);
  put_bytes(self.prefix, 12);
  put_entity(ENTITY_PARTICIPANT);
}

static void announce_to(const uint8_t *prefix, uint32_t address, uint16_t port) {
  static const char enclave[12] = "enclave=/;"; /* by this text alone, rmw recognises a participant of ROS 2 */
  begin(prefix);
  uint32_t mark = open_data(ENTITY_UNKNOWN, SPDP_WRITER, 1, DATA_FLAG);
  put32(0x0300); /* PL_CDR_LE */
  put_parameter(PID_PROTOCOL_VERSION, 4);
  put32(0x0302);
  put_parameter(PID_VENDOR_ID, 4);
  put32((MICRO_VENDOR & 0xffu) << 8 | MICRO_VENDOR >> 8);
  put_participant_guid();
  put_locator(PID_METATRAFFIC_UNICAST_LOCATOR, self.metatraffic);
  put_locator(PID_DEFAULT_UNICAST_LOCATOR, self.user);
  put_parameter(PID_BUILTIN_ENDPOINT_SET, 4);
  put32(0x3f); /* announcer and detector of participants, publications, subscriptions (RTPS 9.3.2) */
  put_parameter(PID_PARTICIPANT_LEASE_DURATION, 8);
  put32(LEASE_S);
  put32(0);
  put_parameter(PID_USER_DATA, 16);
  put32(10);
  put_bytes(enclave, 12);
  put_string(PID_ENTITY_NAME, self.node->name, "");
  put_parameter(PID_SENTINEL, 0);
  close_submessage(mark);
  send_to(address, port);
}

void spdp_announce(void) {
  announce_to(NULL, DISCOVERY_GROUP, self.base);
  /* Unicast discovery reaches the first participants of a host (RTPS 9.6.1.1: two ports each). */
  for (const uint32_t *peer = self.node->peers; peer && *peer; peer++)
    for (uint16_t i = 0; i < 8; i += 2) announce_to(NULL, *peer, (uint16_t)(self.base + 10 + i));
}

void spdp_announce_to(const struct peer *peer) { announce_to(peer->prefix, peer->address, peer->metatraffic_port); }

/* Announces that the participant is gone: disposed and unregistered, with the key in the inline QoS (RTPS 8.5.3.3). */
static void farewell_to(const uint8_t *prefix, uint32_t address, uint16_t port) {
  begin(prefix);
  uint32_t mark = open_data(ENTITY_UNKNOWN, SPDP_WRITER, 2, INLINE_QOS_FLAG | KEY_FLAG);
  put_parameter(PID_KEY_HASH, 16);
  put_bytes(self.prefix, 12);
  put_entity(ENTITY_PARTICIPANT);
  put_parameter(PID_STATUS_INFO, 4);
  put32(3u << 24);
  put_parameter(PID_SENTINEL, 0);
  put32(0x0300);
  put_participant_guid();
  put_parameter(PID_SENTINEL, 0);
  close_submessage(mark);
  send_to(address, port);
}

void spdp_farewell(void) {
  farewell_to(NULL, DISCOVERY_GROUP, self.base);
  for (struct peer *peer = self.peers; peer < self.peers + MICRO_PEERS; peer++)
    if (peer->used) farewell_to(peer->prefix, peer->address, peer->metatraffic_port);
}

/* Returns a place for a new peer. If all are used, it replaces a peer that has announced itself and never sent us
 * anything else, the one that was silent for longest first. So a flood of invented participants cannot keep real ones
 * out. */
static struct peer *admit(void) {
  struct peer *silent = NULL;
  for (struct peer *peer = self.peers; peer < self.peers + MICRO_PEERS; peer++) {
    if (!peer->used) return peer;
    if (peer->spoke) continue;
    if (!silent || (int32_t)(peer->heard_ms - silent->heard_ms) < 0) silent = peer;
  }
  if (silent) peer_forget(silent);
  self.counters.peers_refused++;
  return silent;
}

void spdp_receive(struct receiver *receiver, const struct data *data) {
  struct peer *peer = find_peer(receiver->prefix);
  if (!data->alive) {
    if (peer) peer_forget(peer);
    return;
  }
  if (!data->has_payload || data->available < 4 || data->payload[0] != 0 || (data->payload[1] & 0xfe) != 2) return;
  bool little = data->payload[1] & 1;
  uint32_t lease = 100, metatraffic = 0, user = 0;
  const uint8_t *at = data->payload + 4;
  for (uint32_t left = data->available - 4; left >= 4;) {
    uint32_t id = get16(at, little), size = get16(at + 2, little);
    at += 4;
    left -= 4;
    if (id == PID_SENTINEL) break;
    if (size > left) {
      self.counters.malformed++;
      return;
    }
    if (id == PID_PARTICIPANT_GUID && size >= 12 && !same_prefix(at, receiver->prefix)) return;
    if (id == PID_DOMAIN_ID && size >= 4 && get32(at, little) != self.node->domain) return;
    if (id == PID_PARTICIPANT_LEASE_DURATION && size >= 8) lease = get32(at, little);
    /* Read only the port: some of a host's addresses may not be reachable from here, but the address it sent from is. */
    if ((id == PID_METATRAFFIC_UNICAST_LOCATOR || id == PID_DEFAULT_UNICAST_LOCATOR) && size >= 24 &&
        get32(at, little) == 1) {
      uint32_t port = get32(at + 4, little), *to = id == PID_DEFAULT_UNICAST_LOCATOR ? &user : &metatraffic;
      if (port <= 0xffff && !*to) *to = port;
    }
    at += size;
    left -= size;
  }
  if (!metatraffic) return; /* it is reachable only by multicast, or over a transport that we do not have */
  bool is_new = !peer;
  if (is_new) {
    if (!(peer = admit())) return;
    memset(peer, 0, sizeof *peer);
    memcpy(peer->prefix, receiver->prefix, 12);
    peer->used = true;
    peer->in[0].next = peer->in[1].next = 1;
  }
  peer->address = receiver->address;
  peer->metatraffic_port = (uint16_t)metatraffic;
  peer->user_port = (uint16_t)(user ? user : metatraffic);
  peer->heard_ms = micro_clock_ms();
  peer->lease_ms = (lease < LEASE_MAX_S ? lease + 1 : LEASE_MAX_S) * 1000u;
  peer->multicast |= receiver->multicast;
  /* It may have missed our announcements, and even the answer: a participant may send before it can receive. */
  if (!peer->spoke) spdp_announce_to(peer);
  if (is_new) sedp_greet(peer);
}
