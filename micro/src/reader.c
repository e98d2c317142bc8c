/* SPDX-License-Identifier: Apache-2.0
 * Implements the application's readers (RTPS 8.4.10 to 8.4.12).
 *
 * There is no queue: when a message's turn has come, the callback gets it where it lies in the receive buffer. A
 * reliable reader therefore takes only a writer's next message, and after a gap requests the later ones again. Messages
 * in fragments, and those that arrive in several IP fragments, are assembled in the reader's own storage, one at a
 * time. */
#include "rtps.h"

#define PORTION 8u /* messages or fragments requested at a time: about one receive FIFO */
#define ASK_AGAIN_MS 40u
#define ABANDON_MS 200u /* an unfinished message that has not grown is replaced by another writer's */

_Static_assert(sizeof(struct assembly) == 4 * (MICRO_READER_WORDS(0) - 1),
               "MICRO_READER_WORDS: head, then the encapsulation");

static struct assembly *sinking; /* the one that a message is being written into */

/* Returns the entity of a reader of ours, like entity_of but without a lookup. */
static uint32_t reader_entity(const struct match *match) { return (uint32_t)(match->endpoint + 1) << 8 | READER_KIND; }

INLINE bool is_for(const struct match *match, uint8_t peer, uint32_t reader, uint32_t writer) {
  return match->entity == writer && match->peer == peer &&
         (reader == ENTITY_UNKNOWN || reader == reader_entity(match)) && !is_writer(endpoint_of(match));
}

static struct assembly *assembly_of(const struct match *match) {
  return (struct assembly *)(void *)endpoint_of(match)->storage;
}

static uint8_t *body_of(struct assembly *assembly) { return (uint8_t *)(assembly + 1); }

static bool assembles(const struct assembly *assembly, const struct match *match, uint64_t sequence) {
  return assembly && assembly->missing && assembly->peer == match->peer && assembly->entity == match->entity &&
         assembly->sequence_low == (uint32_t)sequence && assembly->sequence_high == (uint32_t)(sequence >> 32);
}

static bool have(const struct assembly *assembly, uint32_t i) { return assembly->have[i / 32] >> (i % 32) & 1; }

static void put_ask_fragments(const struct match *match, const struct assembly *assembly) {
  uint32_t base = 0, word = 0, asked = 0, bits = 0;
  while (have(assembly, base)) base++;
  for (uint32_t i = 0; i < 32 && base + i < assembly->fragments && asked < PORTION; i++)
    if (!have(assembly, base + i)) {
      word |= 0x80000000u >> i;
      bits = i + 1;
      asked++;
    }
  uint32_t mark = open_submessage(NACK_FRAG, 0);
  put_entity(entity_of(match->endpoint));
  put_entity(match->entity);
  put64(match->next);
  put32(base + 1);
  put32(bits);
  put32(word);
  put32(++self.count);
  close_submessage(mark);
  ((struct match *)match)->asked = (uint8_t)asked;
}

/* Acknowledges all messages before `next`, and requests what is missing. Before the writer's first heartbeat, its first
 * number is unknown. Then it only requests that heartbeat (RTPS 8.4.2.3.4; from 0, because Fast DDS answers nothing
 * else). A request for messages that the writer no longer has would get no answer. */
static void ask(struct match *match) {
  const struct peer *peer = &self.peers[match->peer];
  const struct assembly *assembly = assembly_of(match);
  bool partly = MICRO_WITH_FRAGMENTS && assembles(assembly, match, match->next);
  bool first = !match->counted && match->next == 1;
  uint64_t missing = match->last >= match->next && !partly && !first ? match->last - match->next + 1 : 0;
  uint32_t bits = missing < PORTION ? (uint32_t)missing : PORTION;
  begin(peer->prefix);
  uint32_t mark = open_submessage(ACKNACK, bits || first ? 0 : FINAL_FLAG);
  put_entity(entity_of(match->endpoint));
  put_entity(match->entity);
  put64(first ? 0 : match->next);
  put32(bits);
  if (bits) put32(~0u << (32 - bits));
  put32(++self.count);
  close_submessage(mark);
  match->asked = first ? 1 : (uint8_t)bits;
  match->asked_ms = micro_clock_ms();
  if (partly) put_ask_fragments(match, assembly);
  send_to(peer->address, match->port ? match->port : peer->user_port);
}

/* Notes that something requested has come. When the whole portion has come, it requests the next one. */
static void came(struct match *match) {
  if (match->asked && --match->asked == 0 && match->next <= match->last) ask(match);
}

void reader_matched(struct match *match) {
  match->next = 1;
  match->last = 0;
  if (is_reliable(match)) ask(match); /* shows that we are here: the writer answers with a heartbeat */
}

/* Returns whether this message is the expected one. Notes that it exists, and requests missing earlier ones at once. */
static bool awaited(struct match *match, uint64_t sequence) {
  if (sequence < match->next) return false;
  if (!is_reliable(match) || sequence == match->next) return true;
  if (sequence > match->last) match->last = sequence;
  if (!match->asked || due(match->asked_ms, ASK_AGAIN_MS)) ask(match);
  return false;
}

static void deliver(const struct receiver *receiver, struct match *match, uint64_t sequence, const uint8_t *payload,
                    uint32_t size) {
  const struct micro_endpoint *endpoint = endpoint_of(match);
  match->next = sequence + 1;
  if (sequence > match->last) match->last = sequence;
  if (size < 4 || payload[0] != 0 || payload[1] > 1) { /* XTypes 7.6.3.1.2: CDR_BE, CDR_LE */
    self.counters.unsupported++;
    return;
  }
  uint8_t guid[16];
  memcpy(guid, self.peers[match->peer].prefix, 12);
  for (int i = 0; i < 4; i++) guid[12 + i] = (uint8_t)(match->entity >> (24 - 8 * i));
  struct micro_message message = {
      .cdr = {.body = payload + 4, .at = 0, .size = size - 4, .little_endian = payload[1] & 1, .bad = false},
      .writer_guid = guid,
      .sequence = sequence,
      .source_ns =
          receiver->timed ? receiver->seconds * 1000000000ull + ((uint64_t)receiver->fraction * 1000000000u >> 32) : 0,
  };
  event(MICRO_EVENT_TAKE, match->endpoint, guid, match->entity, sequence);
  endpoint->on_message(&message);
}

/* Skips a message that we cannot hold. Otherwise we would request it for ever. */
static struct assembly *pass_over(struct match *match, uint64_t sequence, uint32_t *counter) {
  ++*counter;
  match->next = sequence + 1;
  return NULL;
}

/* Returns the assembly of an expected message, or NULL if we cannot take it, or not now. */
static struct assembly *assemble(struct match *match, uint64_t sequence, uint32_t size, uint32_t fragment_size) {
  const struct micro_endpoint *endpoint = endpoint_of(match);
  struct assembly *assembly = assembly_of(match);
  uint32_t capacity = assembly ? 4 + ((endpoint->size + 3) & ~3u) : 0;
  if (size > capacity) return pass_over(match, sequence, &self.counters.oversized);
  uint32_t fragments = (size - 1) / fragment_size + 1;
  if (fragments > MICRO_FRAGMENTS) return pass_over(match, sequence, &self.counters.unsupported);
  if (assembles(assembly, match, sequence))
    return assembly->size == size && assembly->fragment_size == fragment_size ? assembly : NULL;
  bool other = assembly->missing && (assembly->peer != match->peer || assembly->entity != match->entity);
  if (other && !due(assembly->touched_ms, ABANDON_MS)) return NULL;
  if (sinking == assembly) {
    revoke_sink();
    sinking = NULL;
  }
  memset(assembly, 0, sizeof *assembly);
  assembly->sequence_high = (uint32_t)(sequence >> 32);
  assembly->sequence_low = (uint32_t)sequence;
  assembly->peer = match->peer;
  assembly->entity = match->entity;
  assembly->size = size;
  assembly->fragment_size = (uint16_t)fragment_size;
  assembly->fragments = assembly->missing = (uint16_t)fragments;
  return assembly;
}

/* Notes that fragments `first` to `first + n - 1` (from 0) are in place. */
static void arrived(const struct receiver *receiver, struct match *match, struct assembly *assembly, uint64_t sequence,
                    uint32_t first, uint32_t n) {
  assembly->touched_ms = micro_clock_ms();
  for (uint32_t i = first; i < first + n; i++) {
    if (have(assembly, i)) continue;
    assembly->have[i / 32] |= 1u << (i % 32);
    assembly->missing--;
  }
  if (assembly->missing == 0) deliver(receiver, match, sequence, body_of(assembly), assembly->size);
  came(match);
}

/* Returns the bytes in the fragments of this submessage, or 0 if they are not fragments of such a message. */
static uint32_t fragment_bytes(const struct data *data) {
  uint64_t offset = (uint64_t)(data->fragment - 1) * data->fragment_size;
  if (offset >= data->sample_size) return 0;
  uint32_t left = data->sample_size - (uint32_t)offset, full = (uint32_t)data->fragments * data->fragment_size;
  return left < full ? left : full;
}

static void take_fragments(const struct receiver *receiver, struct match *match, const struct data *data) {
  uint32_t size = fragment_bytes(data);
  if (size == 0 || size > data->available) {
    self.counters.malformed++;
    return;
  }
  struct assembly *assembly = assemble(match, data->sequence, data->sample_size, data->fragment_size);
  if (!assembly) return;
  memcpy(body_of(assembly) + (data->fragment - 1) * data->fragment_size, data->payload, size);
  arrived(receiver, match, assembly, data->sequence, data->fragment - 1, (size - 1) / data->fragment_size + 1);
}

void reader_data(struct receiver *receiver, uint8_t peer, const struct data *data) {
  for (unsigned i = 0; i < self.matches; i++) {
    struct match *match = &self.match[i];
    if (!is_for(match, peer, data->reader, data->writer) || !awaited(match, data->sequence)) continue;
    if (data->fragment) {
      if (MICRO_WITH_FRAGMENTS)
        take_fragments(receiver, match, data);
      else
        pass_over(match, data->sequence, &self.counters.unsupported);
      continue;
    }
    if (data->has_payload && data->alive && !data->key_only)
      deliver(receiver, match, data->sequence, data->payload, data->available);
    else
      match->next = data->sequence + 1;
    came(match);
  }
}

uint8_t *reader_sink(uint8_t peer, const struct data *data) {
  for (unsigned i = 0; i < self.matches; i++) {
    struct match *match = &self.match[i];
    if (!is_for(match, peer, data->reader, data->writer) || !awaited(match, data->sequence)) continue;
    if (!data->has_payload || data->key_only || !data->length) continue;
    uint32_t offset = 0, size = data->length;
    struct assembly *assembly;
    if (data->fragment && !MICRO_WITH_FRAGMENTS) {
      pass_over(match, data->sequence, &self.counters.unsupported);
      continue;
    }
    if (MICRO_WITH_FRAGMENTS && data->fragment) {
      size = fragment_bytes(data);
      offset = (data->fragment - 1) * data->fragment_size;
      /* Padding after the last fragment of a submessage would run into the next one, so such submessages do not use the
       * sink. */
      if (size == 0 || size != data->length) continue;
      assembly = assemble(match, data->sequence, data->sample_size, data->fragment_size);
    } else {
      assembly = size <= 0xffff ? assemble(match, data->sequence, size, size)
                                : pass_over(match, data->sequence, &self.counters.oversized);
    }
    if (!assembly) continue;
    assembly->touched_ms = micro_clock_ms();
    sinking = assembly;
    return body_of(assembly) + offset;
  }
  return NULL;
}

void reader_sink_done(struct receiver *receiver, uint8_t peer, const struct data *data) {
  for (unsigned i = 0; i < self.matches; i++) {
    struct match *match = &self.match[i];
    struct assembly *assembly = assembly_of(match);
    if (!is_for(match, peer, data->reader, data->writer) || assembly != sinking ||
        !assembles(assembly, match, data->sequence))
      continue;
    uint32_t n = data->fragment ? (fragment_bytes(data) - 1) / data->fragment_size + 1 : 1;
    sinking = NULL;
    arrived(receiver, match, assembly, data->sequence, data->fragment ? data->fragment - 1 : 0, n);
    return;
  }
}

/* Nothing before `to` will come any more. */
static void skip_to(struct match *match, uint64_t to) {
  if (to > match->next) match->next = to;
}

void reader_heartbeat(uint8_t peer, const struct numbers *heartbeat) {
  for (unsigned i = 0; i < self.matches; i++) {
    struct match *match = &self.match[i];
    if (!is_for(match, peer, heartbeat->reader, heartbeat->writer) || !is_reliable(match)) continue;
    if (match->counted && is_old(heartbeat->count, match->count)) continue;
    /* At the first heartbeat, messages that the writer no longer has were sent before we were there. */
    if (match->counted && heartbeat->first > match->next)
      self.counters.lost += (uint32_t)(heartbeat->first - match->next);
    match->counted = true;
    match->count = heartbeat->count;
    skip_to(match, heartbeat->first);
    if (match->next > heartbeat->last + 1) match->next = heartbeat->last + 1; /* another sender moved us there */
    match->last = heartbeat->last;
    if (!heartbeat->final || match->next <= match->last) ask(match);
  }
}

void reader_heartbeat_fragment(uint8_t peer, const struct numbers *heartbeat) {
  if (!MICRO_WITH_FRAGMENTS) return;
  for (unsigned i = 0; i < self.matches; i++) {
    struct match *match = &self.match[i];
    if (!is_for(match, peer, heartbeat->reader, heartbeat->writer) || !is_reliable(match) ||
        heartbeat->base < match->next)
      continue;
    if (heartbeat->base > match->last) match->last = heartbeat->base;
    if (!match->asked) ask(match);
  }
}

void reader_gap(uint8_t peer, const struct numbers *gap) {
  for (unsigned i = 0; i < self.matches; i++) {
    struct match *match = &self.match[i];
    if (!is_for(match, peer, gap->reader, gap->writer)) continue;
    if (gap->first <= match->next) skip_to(match, gap->base);
    while (match->next >= gap->base && match->next - gap->base < gap->bits &&
           set_has(gap, (uint32_t)(match->next - gap->base)))
      match->next++;
    match->asked = 0;
    if (is_reliable(match) && match->next <= match->last) ask(match);
  }
}

void reader_service(struct match *match) {
  if (is_reliable(match) && match->next <= match->last && due(match->asked_ms, ASK_AGAIN_MS)) ask(match);
}
