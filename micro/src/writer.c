/* SPDX-License-Identifier: Apache-2.0
 * Implements the application's writers (RTPS 8.4.7 to 8.4.9): a history of fixed depth, and the answers to readers'
 * requests. */
#include "rtps.h"

#define FRAGMENT 1344u /* payload bytes of one DATA_FRAG; larger messages are cut (RTPS 8.4.14.1) */
#define HEARTBEAT_MS 100u

_Static_assert(sizeof(struct slot) == 4 * (MICRO_SLOT_WORDS(0) - 1), "MICRO_SLOT_WORDS: head, then the encapsulation");

/* Bytes before a message without storage in the port's buffer: header, INFO_DST, INFO_TS, DATA, encapsulation. */
#define HEADROOM(timed) (20u + 16u + ((timed) ? 12u : 0u) + 24u + 4u)
static struct slot unstored; /* its time; the payload is in the buffer */

static struct slot *slot_of(unsigned endpoint, uint64_t sequence) {
  const struct micro_endpoint *e = &self.node->endpoints[endpoint];
  /* 32 bits suffice for the place. When they wrap, a message may be overwritten early, which sequence_low shows. */
  return (struct slot *)(void *)(e->storage + (uint32_t)sequence % e->depth * MICRO_SLOT_WORDS(e->size));
}

static const uint8_t *payload_of(const struct slot *slot) { return (const uint8_t *)(slot + 1); }

static uint64_t oldest(unsigned endpoint) {
  uint64_t last = self.published[endpoint], depth = self.node->endpoints[endpoint].depth;
  return last > depth ? last - depth + 1 : 1;
}

/* Returns the first message that this reader may still get. */
static uint64_t first_for(const struct match *match) {
  uint64_t first = oldest(match->endpoint);
  return first > match->last ? first : match->last;
}

/* Returns the entity of a writer of ours, like entity_of but without a lookup. */
static uint32_t writer_entity(const struct match *match) { return (uint32_t)(match->endpoint + 1) << 8 | WRITER_KIND; }

static void put_heartbeat_of(struct match *match) {
  put_heartbeat(match->entity, writer_entity(match), first_for(match), self.published[match->endpoint]);
  match->asked_ms = micro_clock_ms();
}

static void send(const struct match *match) {
  const struct peer *peer = &self.peers[match->peer];
  send_to(peer->address, match->port ? match->port : peer->user_port);
}

static void send_heartbeat(struct match *match) {
  begin(self.peers[match->peer].prefix);
  put_heartbeat_of(match);
  send(match);
}

static void send_fragment(struct match *match, uint64_t sequence, const struct slot *slot, uint32_t i, bool is_last) {
  uint32_t offset = i * FRAGMENT, size = slot->size - offset < FRAGMENT ? slot->size - offset : FRAGMENT;
  begin(self.peers[match->peer].prefix);
  put_time(slot->seconds, slot->fraction);
  uint32_t mark = open_submessage(DATA_FRAG, 0);
  put32(28u << 16);
  put_entity(match->entity);
  put_entity(writer_entity(match));
  put64(sequence);
  put32(i + 1);
  put32(FRAGMENT << 16 | 1u);
  put32(slot->size);
  put_bytes(payload_of(slot) + offset, size);
  close_submessage(mark);
  if (is_last && is_reliable(match)) put_heartbeat_of(match);
  send(match);
}

/* Sends one message to one reader. */
static void send_message(struct match *match, uint64_t sequence, const struct slot *slot) {
  if (MICRO_WITH_FRAGMENTS && slot->size > FRAGMENT) {
    uint32_t fragments = (slot->size - 1) / FRAGMENT + 1;
    for (uint32_t i = 0; i < fragments; i++) send_fragment(match, sequence, slot, i, i + 1 == fragments);
    return;
  }
  begin(self.peers[match->peer].prefix);
  put_time(slot->seconds, slot->fraction);
  uint32_t mark = open_data(match->entity, writer_entity(match), sequence, DATA_FLAG);
  if (slot == &unstored) {
    put32(0x0100); /* CDR_LE */
    put_nothing(slot->size - 4);
  } else {
    put_bytes(payload_of(slot), slot->size);
  }
  close_submessage(mark);
  if (is_reliable(match)) put_heartbeat_of(match);
  send(match);
}

struct cdr_writer micro_loan(unsigned endpoint) {
  const struct micro_endpoint *e = &self.node->endpoints[endpoint];
  struct slot *slot = &unstored;
  if (e->storage) {
    slot = slot_of(endpoint, self.published[endpoint] + 1);
    slot->size = 0; /* the oldest is replaced */
  }
  if (!micro_unix_time(&slot->seconds, &slot->fraction)) slot->seconds = slot->fraction = 0;
  if (!e->storage)
    return (struct cdr_writer){.body = micro_udp_buffer() + HEADROOM(slot->seconds | slot->fraction),
                               .size = MICRO_UNSTORED_MAX};
  uint8_t *payload = (uint8_t *)(slot + 1);
  memcpy(payload, "\0\1\0", 4); /* CDR_LE */
  return (struct cdr_writer){.body = payload + 4, .size = e->size};
}

int micro_publish(unsigned endpoint, const struct cdr_writer *message) {
  const struct micro_endpoint *e = &self.node->endpoints[endpoint];
  if (message->overflow || (!MICRO_WITH_FRAGMENTS && message->at > MICRO_UNSTORED_MAX)) {
    self.counters.oversized++;
    return -1;
  }
  uint64_t sequence = ++self.published[endpoint];
  event(MICRO_EVENT_PUBLISH, (uint8_t)endpoint, self.prefix, (uint32_t)(endpoint + 1) << 8 | WRITER_KIND, sequence);
  struct slot *slot = e->storage ? slot_of(endpoint, sequence) : &unstored;
  slot->sequence_low = (uint32_t)sequence;
  slot->size = message->at + 4;
  int readers = 0;
  for (unsigned i = 0; i < self.matches; i++) {
    if (self.match[i].endpoint != endpoint) continue;
    send_message(&self.match[i], sequence, slot);
    readers++;
  }
  return readers;
}

void writer_matched(struct match *match, bool durable) {
  match->last = durable ? oldest(match->endpoint) : self.published[match->endpoint] + 1;
  match->next = match->last;
  if (is_reliable(match)) send_heartbeat(match);
}

static bool is_of(const struct match *match, uint8_t peer, const struct numbers *numbers) {
  return match->peer == peer && match->entity == numbers->reader && is_writer(endpoint_of(match)) &&
         writer_entity(match) == numbers->writer && is_reliable(match);
}

static const struct slot *kept(const struct match *match, uint64_t sequence) {
  if (sequence < first_for(match) || sequence > self.published[match->endpoint]) return NULL;
  const struct slot *slot = slot_of(match->endpoint, sequence);
  return slot->size && slot->sequence_low == (uint32_t)sequence ? slot : NULL;
}

static void resend(struct match *match, const struct numbers *acknack) {
  uint64_t last = self.published[match->endpoint];
  uint64_t gap = 0; /* first of a run of messages that do not exist (any more) */
  for (uint32_t i = 0; i < acknack->bits && acknack->base + i <= last; i++) {
    uint64_t sequence = acknack->base + i;
    if (!set_has(acknack, i) || !sequence) continue;
    const struct slot *slot = kept(match, sequence);
    if (slot) {
      send_message(match, sequence, slot);
    } else if (sequence >= gap) {
      uint64_t first = first_for(match);
      gap = sequence < first ? first : sequence + 1;
      begin(self.peers[match->peer].prefix);
      put_gap(match->entity, writer_entity(match), sequence, gap);
      put_heartbeat_of(match);
      send(match);
    }
  }
}

void writer_acknack(uint8_t peer, const struct numbers *acknack) {
  for (unsigned i = 0; i < self.matches; i++) {
    struct match *match = &self.match[i];
    if (!is_of(match, peer, acknack)) continue;
    if (match->counted && is_old(acknack->count, match->count)) continue;
    match->counted = true;
    match->count = acknack->count;
    self.peers[peer].spoke = true;
    uint64_t last = self.published[match->endpoint];
    if (acknack->base > match->next && acknack->base <= last + 1) match->next = acknack->base;
    if (acknack->bits)
      resend(match, acknack);
    else if (!acknack->final && acknack->base <= last)
      send_heartbeat(match);
  }
}

void writer_nack_fragment(uint8_t peer, const struct numbers *nack) {
  if (!MICRO_WITH_FRAGMENTS) return;
  for (unsigned i = 0; i < self.matches; i++) {
    struct match *match = &self.match[i];
    const struct slot *slot;
    if (!is_of(match, peer, nack) || !(slot = kept(match, nack->base)) || slot->size <= FRAGMENT) continue;
    uint32_t fragments = (slot->size - 1) / FRAGMENT + 1;
    for (uint32_t n = 0; n < nack->bits && nack->fragment + n <= fragments; n++)
      if (set_has(nack, n)) send_fragment(match, nack->base, slot, nack->fragment + n - 1, false);
    begin(self.peers[peer].prefix);
    uint32_t mark = open_submessage(HEARTBEAT_FRAG, 0);
    put_entity(match->entity);
    put_entity(writer_entity(match));
    put64(nack->base);
    put32(fragments);
    put32(++self.count);
    close_submessage(mark);
    send(match);
  }
}

void writer_service(struct match *match) {
  if (is_reliable(match) && match->next <= self.published[match->endpoint] && due(match->asked_ms, HEARTBEAT_MS))
    send_heartbeat(match);
}
