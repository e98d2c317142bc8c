/* SPDX-License-Identifier: Apache-2.0
 * The participant has the state, the timers, and the public calls that are not about messages. */
#include "rtps.h"

#define ANNOUNCE_FIRST_MS 100u /* for the first ten announcements, for nodes that start together with us */
#define ANNOUNCE_MS 3000u      /* a fifth of the lease: four in a row may be lost */
/* Without multicast, a peer that starts later cannot call us. */
#define ANNOUNCE_UNICAST_MS 500u
#define PEER_ROUND_MS 250u /* each peer's built-in readers and writers are serviced this often */

struct participant self;

bool micro_init(const struct micro_node *node) {
  memset(&self, 0, sizeof self);
  self.node = node;
  self.base = (uint16_t)(7400 + 250 * node->domain);
  int index = micro_udp_open(self.base, 0xefff0001u);
  if (index < 0) return false;
  self.metatraffic = (uint16_t)(self.base + 10 + 2 * index);
  self.user = (uint16_t)(self.metatraffic + 1);
  /* GUID prefix (RTPS 9.3.1.5): vendor, address, then a part that differs from start to start. */
  uint32_t address = micro_udp_address(), entropy = micro_entropy();
  uint8_t prefix[12] = {MICRO_VENDOR >> 8,         MICRO_VENDOR & 0xff,     (uint8_t)(address >> 24),
                        (uint8_t)(address >> 16),  (uint8_t)(address >> 8), (uint8_t)address,
                        (uint8_t)(self.user >> 8), (uint8_t)self.user};
  memcpy(prefix + 8, &entropy, 4);
  memcpy(self.prefix, prefix, 12);
  event(MICRO_EVENT_INIT, 0, self.prefix, ENTITY_PARTICIPANT, 0);
  spdp_announce();
  self.announced_ms = micro_clock_ms();
  return true;
}

void micro_close(void) {
  spdp_farewell();
  micro_udp_close();
}

static void service(void) {
  uint32_t now = micro_clock_ms();
  uint32_t usual = self.node->peers ? ANNOUNCE_UNICAST_MS : ANNOUNCE_MS;
  if (now - self.announced_ms >= (self.announcements < 10 ? ANNOUNCE_FIRST_MS : usual)) {
    self.announced_ms = now;
    if (self.announcements < 10) self.announcements++;
    spdp_announce();
  }
  /* One peer at a time, so that many peers cause no bursts of time or frames. */
  if (now - self.serviced_ms >= PEER_ROUND_MS / MICRO_PEERS) {
    self.serviced_ms = now;
    self.serviced = (uint8_t)((self.serviced + 1) % MICRO_PEERS);
    if (self.serviced == 0) self.rounds++;
    struct peer *peer = &self.peers[self.serviced];
    if (peer->used && due(peer->heard_ms, peer->lease_ms)) peer_forget(peer);
    if (peer->used) sedp_service(peer);
    if (peer->used && !peer->multicast && self.rounds % (ANNOUNCE_MS / PEER_ROUND_MS) == 0) spdp_announce_to(peer);
  }
  for (unsigned i = 0; i < self.matches; i++) {
    if (is_writer(endpoint_of(&self.match[i])))
      writer_service(&self.match[i]);
    else
      reader_service(&self.match[i]);
  }
}

void micro_spin(void) {
  while (micro_udp_poll()) {
  }
  service();
}

struct peer *find_peer(const uint8_t *prefix) {
  for (struct peer *peer = self.peers; peer < self.peers + MICRO_PEERS; peer++)
    if (peer->used && same_prefix(peer->prefix, prefix)) return peer;
  return NULL;
}

void peer_forget(struct peer *peer) {
  peer->used = false;
  for (unsigned i = self.matches; i-- > 0;)
    if (&self.peers[self.match[i].peer] == peer) match_remove(&self.match[i]);
}

/* Returns a match whose peer has never acknowledged anything, or NULL. Its peer may be invented, so it is the first to
 * be replaced; of several, the one whose peer was silent for longest. */
static struct match *match_doubtful(void) {
  struct match *found = NULL;
  for (struct match *m = self.match; m < self.match + self.matches; m++) {
    const struct peer *peer = &self.peers[m->peer];
    if (!peer->spoke && (!found || (int32_t)(peer->heard_ms - self.peers[found->peer].heard_ms) < 0)) found = m;
  }
  return found;
}

bool match_room(void) { return self.matches < MICRO_MATCHES || match_doubtful(); }

/* Returns a new match, or NULL if it existed already or there is no room. */
struct match *match_add(uint8_t endpoint, struct peer *peer, uint32_t entity) {
  uint8_t index = (uint8_t)(peer - self.peers);
  for (struct match *m = self.match; m < self.match + self.matches; m++)
    if (m->endpoint == endpoint && m->peer == index && m->entity == entity) return NULL;
  struct match *match;
  if (self.matches < MICRO_MATCHES) {
    match = &self.match[self.matches++];
  } else {
    self.counters.matches_refused++;
    match = match_doubtful();
    if (!match || match->peer == index) {
      peer->refused = true;
      return NULL;
    }
    self.peers[match->peer].refused = true;
  }
  memset(match, 0, sizeof *match);
  match->endpoint = endpoint;
  match->peer = index;
  match->entity = entity;
  return match;
}

void match_remove(struct match *match) { *match = self.match[--self.matches]; }

unsigned matches_of(unsigned endpoint) {
  unsigned n = 0;
  for (unsigned i = 0; i < self.matches; i++) n += self.match[i].endpoint == endpoint;
  return n;
}

unsigned micro_matched(unsigned endpoint) {
  unsigned n = 0;
  /* A peer that has not acknowledged our announcement may not know us yet, and some drop messages from strangers. */
  for (unsigned i = 0; i < self.matches; i++)
    n += self.match[i].endpoint == endpoint && sedp_told(&self.peers[self.match[i].peer], endpoint);
  return n;
}

void micro_extended(void) {
  /* We do not keep what we received about others' endpoints. We request it again and match it with the new rows, too. */
  for (struct peer *peer = self.peers; peer < self.peers + MICRO_PEERS; peer++) peer->refused = true;
}

bool micro_acknowledged(unsigned endpoint) {
  for (unsigned i = 0; i < self.matches; i++)
    if (self.match[i].endpoint == endpoint && is_reliable(&self.match[i]) &&
        self.match[i].next <= self.published[endpoint])
      return false;
  return true;
}

unsigned micro_peers(void) {
  unsigned n = 0;
  for (unsigned i = 0; i < MICRO_PEERS; i++) n += self.peers[i].used;
  return n;
}

void micro_guid(unsigned endpoint, uint8_t guid[16]) {
  uint32_t entity = entity_of(endpoint);
  memcpy(guid, self.prefix, 12);
  for (int i = 0; i < 4; i++) guid[12 + i] = (uint8_t)(entity >> (24 - 8 * i));
}

const struct micro_counters *micro_counters(void) { return &self.counters; }
