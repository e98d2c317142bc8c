/* SPDX-License-Identifier: Apache-2.0
 * Announces our endpoints and matches those of others (SEDP, RTPS 8.5.4), and sends the one sample of
 * ros_discovery_info.
 *
 * Our built-in writers have no history except the table. Sample 1 of PUBLICATIONS is the graph's writer, sample n + 1
 * the nth writer of the table, sample n of SUBSCRIPTIONS its nth reader. So a lost sample is simply written again, and
 * rows appended to the table are new samples. Of ros_discovery_info only the last sample exists; its number is the
 * number of rows that it lists. We take a remote writer's samples in any order and note them in a bitmap: waiting for
 * order costs seconds if a burst overruns a small receive FIFO. For the same reason we request missing samples in small
 * portions. */
#include "rtps.h"

#define PORTION 7u /* samples requested at a time: about one receive FIFO */
#define ASK_AGAIN_MS 120u
#define GRAPH_TOPIC "ros_discovery_info"

static const uint32_t writers[BUILTINS] = {PUBLICATIONS_WRITER, SUBSCRIPTIONS_WRITER, 0xff00u | WRITER_KIND};
static const uint32_t readers[BUILTINS] = {PUBLICATIONS_READER, SUBSCRIPTIONS_READER, ENTITY_UNKNOWN};

/* ---- Ours ---- */

static unsigned samples(unsigned builtin) {
  if (builtin == GRAPH) return self.node->endpoint_count + 1u;
  unsigned n = MICRO_WITH_GRAPH && builtin == PUBLICATIONS; /* the graph's own writer */
  for (unsigned i = 0; i < self.node->endpoint_count; i++)
    n += is_writer(&self.node->endpoints[i]) == (builtin == PUBLICATIONS);
  return n;
}

static unsigned oldest(unsigned builtin) { return builtin == GRAPH ? samples(GRAPH) : 1; }

bool sedp_told(const struct peer *peer, unsigned endpoint) {
  unsigned builtin = is_writer(&self.node->endpoints[endpoint]) ? PUBLICATIONS : SUBSCRIPTIONS,
           number = MICRO_WITH_GRAPH && builtin == PUBLICATIONS;
  for (unsigned i = 0; i <= endpoint; i++) number += is_writer(&self.node->endpoints[i]) == (builtin == PUBLICATIONS);
  return peer->acked[builtin] >= number;
}

static void put_guid(uint16_t id, uint32_t entity) {
  put_parameter(id, 16);
  put_bytes(self.prefix, 12);
  put_entity(entity);
}

/* Returns the offered or requested QoS: the table's QoS without the parts that were left out. */
static uint8_t qos_of(const struct micro_endpoint *endpoint) {
  uint8_t with = (MICRO_WITH_RELIABLE ? MICRO_RELIABLE : 0) | (MICRO_WITH_TRANSIENT_LOCAL ? MICRO_TRANSIENT_LOCAL : 0);
  return endpoint == &graph_endpoint ? endpoint->qos : endpoint->qos & with;
}

static void put_endpoint(const struct micro_endpoint *endpoint, uint32_t entity, uint64_t sequence) {
  static const char key[] = "typehash="; /* REP-2011: rmw publishes the type's hash this way */
  unsigned builtin = is_writer(endpoint) ? PUBLICATIONS : SUBSCRIPTIONS;
  uint32_t mark = open_data(readers[builtin], writers[builtin], sequence, DATA_FLAG);
  put32(0x0300); /* PL_CDR_LE */
  put_guid(PID_ENDPOINT_GUID, entity);
  put_guid(PID_PARTICIPANT_GUID, ENTITY_PARTICIPANT);
  put_string(PID_TOPIC_NAME, endpoint->topic, "");
  put_string(PID_TYPE_NAME, endpoint->type->name, "");
  put_parameter(PID_RELIABILITY, 12);
  put32(qos_of(endpoint) & MICRO_RELIABLE ? 2 : 1);
  put32(0);
  put32(0x19999999); /* max_blocking_time 0.1 s, the default */
  put_parameter(PID_DURABILITY, 4);
  put32(qos_of(endpoint) & MICRO_TRANSIENT_LOCAL ? 1 : 0);
  if (MICRO_WITH_TYPE_HASHES && endpoint->type->hash) {
    uint32_t size = (uint32_t)(strlen(endpoint->type->hash) + sizeof key);
    put_parameter(PID_USER_DATA, (uint16_t)(4 + ((size + 3) & ~3u)));
    put32(size);
    put_bytes(key, sizeof key - 1);
    put_bytes(endpoint->type->hash, size - (uint32_t)sizeof key);
    put8(';');
    put_zeros(-size & 3u);
  }
  put_parameter(PID_SENTINEL, 0);
  close_submessage(mark);
}

static void put_sample(unsigned builtin, unsigned number, uint32_t graph_reader) {
  if (MICRO_WITH_GRAPH && builtin == GRAPH) {
    uint32_t mark = open_data(graph_reader, writers[GRAPH], number, DATA_FLAG);
    put32(0x0100); /* CDR_LE */
    put_graph();
    return close_submessage(mark);
  }
  unsigned at = MICRO_WITH_GRAPH && builtin == PUBLICATIONS;
  if (at && at == number) return put_endpoint(&graph_endpoint, writers[GRAPH], number);
  for (unsigned i = 0; i < self.node->endpoint_count; i++)
    if (is_writer(&self.node->endpoints[i]) == (builtin == PUBLICATIONS) && ++at == number)
      return put_endpoint(&self.node->endpoints[i], entity_of(i), number);
}

/* Sends the samples of a built-in writer from `first` on that `wanted` (bit n - first; NULL: all) names, and a
 * heartbeat. */
static void send_samples(struct peer *peer, unsigned builtin, unsigned first, const struct numbers *wanted) {
  unsigned last = samples(builtin);
  uint32_t reader = builtin == GRAPH ? peer->graph_reader : readers[builtin];
  uint16_t port = builtin == GRAPH ? peer->graph_port : peer->metatraffic_port;
  begin(peer->prefix);
  for (unsigned n = first < oldest(builtin) ? oldest(builtin) : first; n <= last; n++) {
    if (wanted && !set_has(wanted, n - first)) continue;
    if (composed() > UDP_PAYLOAD / 2) {
      send_to(peer->address, port);
      begin(peer->prefix);
    }
    put_sample(builtin, n, reader);
  }
  put_heartbeat(reader, writers[builtin], oldest(builtin), last);
  send_to(peer->address, port);
}

bool sedp_acknack(struct peer *peer, const struct numbers *acknack) {
  unsigned builtin = 0;
  while (builtin < BUILTINS && writers[builtin] != acknack->writer) builtin++;
  if (builtin == BUILTINS) return false;
  unsigned all = samples(builtin);
  if (builtin == GRAPH && (!MICRO_WITH_GRAPH || acknack->reader != peer->graph_reader)) return true;
  peer->spoke = true;
  if (acknack->base > (uint64_t)all + 1) return true; /* it is about our former self */
  unsigned base =
      acknack->base ? (unsigned)acknack->base : 1; /* some readers request from 0 if they have nothing yet */
  if (base > peer->acked[builtin] + 1u) peer->acked[builtin] = (uint8_t)(base - 1);
  bool asks = false;
  for (uint32_t i = 0; i < acknack->bits && !asks; i++)
    asks = set_has(acknack, i) && acknack->base + i <= all && acknack->base + i;
  if (asks && acknack->base) send_samples(peer, builtin, base, acknack);
  /* A reader's first ACKNACK shows that it is there, and requests nothing yet (RTPS 8.4.2.3.4): it wants a heartbeat at
   * once. */
  else if (base <= all && !acknack->final)
    send_samples(peer, builtin, all + 1, NULL);
  return true;
}

/* ---- Others' ---- */

/* The parts of a remote endpoint's announcement that we need. Strings point into the announcement. */
struct announced {
  const uint8_t *guid;
  const char *topic, *type;
  uint32_t topic_size, type_size; /* with NUL */
  bool reliable, transient_local;
  /* It requests or offers a QoS that we do not have: deadline, manual liveliness, exclusive ownership, partition. */
  bool demanding;
  uint16_t port;
};

static bool read_string(const uint8_t *at, uint32_t size, bool little, const char **text, uint32_t *length) {
  if (size < 5) return false;
  *length = get32(at, little);
  *text = (const char *)at + 4;
  return *length > 0 && *length <= size - 4 && at[3 + *length] == 0;
}

static bool read_announced(struct announced *out, const struct data *data, bool is_remote_reader) {
  memset(out, 0, sizeof *out);
  out->guid = data->key_hash;
  out->reliable = !is_remote_reader; /* the defaults of DDS 2.2.3: a writer is reliable, a reader best effort */
  if (data->available < 4 || data->payload[0] != 0 || (data->payload[1] & 0xfe) != 2) return data->key_hash != NULL;
  bool little = data->payload[1] & 1;
  const uint8_t *at = data->payload + 4;
  for (uint32_t left = data->available - 4; left >= 4;) {
    uint32_t id = get16(at, little), size = get16(at + 2, little);
    at += 4;
    left -= 4;
    if (id == PID_SENTINEL) break;
    if (size > left) return data->available < data->length; /* the carry cut it; if it is whole, it is malformed */
    uint32_t first = size >= 4 ? get32(at, little) : 0;
    switch (id) {
      case PID_ENDPOINT_GUID:
        if (size >= 16) out->guid = at;
        break;
      case PID_TOPIC_NAME:
        if (!read_string(at, size, little, &out->topic, &out->topic_size)) return false;
        break;
      case PID_TYPE_NAME:
        if (!read_string(at, size, little, &out->type, &out->type_size)) return false;
        break;
      case PID_RELIABILITY:
        out->reliable = first == 2;
        break;
      case PID_DURABILITY:
        out->transient_local = first >= 1;
        break;
      case PID_LIVELINESS: /* we offer automatic liveliness without a lease */
        if (is_remote_reader && (first > 0 || (size >= 12 && get32(at + 4, little) != 0x7fffffff)))
          out->demanding = true;
        break;
      case PID_DEADLINE:
        if (is_remote_reader && first != 0x7fffffff) out->demanding = true;
        break;
      case PID_OWNERSHIP:
        if (first) out->demanding = true;
        break;
      case PID_PARTITION: /* a list of names; ours is the unnamed one */
        if (first && size >= 8 && get32(at + 4, little) > 1) out->demanding = true;
        break;
      case PID_UNICAST_LOCATOR:
        if (size >= 24 && first == 1 && !out->port) out->port = (uint16_t)get32(at + 4, little);
        break;
      default:
        break;
    }
    at += size;
    left -= size;
  }
  return out->guid != NULL;
}

static bool same(const void *a, const void *b, uint32_t size) {
  const uint8_t *x = a, *y = b;
  while (size && *x == *y) x++, y++, size--;
  return size == 0;
}

static bool text_is(const char *text, uint32_t size, const char *expected) {
  return text && size == strlen(expected) + 1 && same(text, expected, size);
}

static void match_up(struct peer *peer, const struct announced *remote, bool is_remote_writer) {
  uint32_t entity = get_entity(remote->guid + 12);
  if (MICRO_WITH_GRAPH && !is_remote_writer && text_is(remote->topic, remote->topic_size, GRAPH_TOPIC) &&
      text_is(remote->type, remote->type_size, graph_endpoint.type->name) && peer->graph_reader != entity) {
    peer->graph_reader = entity;
    peer->graph_port = remote->port ? remote->port : peer->user_port;
    peer->acked[GRAPH] = 0;
    graph_send(peer);
  }
  for (uint8_t i = 0; i < self.node->endpoint_count; i++) {
    const struct micro_endpoint *ours = &self.node->endpoints[i];
    if (is_writer(ours) == is_remote_writer || !text_is(remote->topic, remote->topic_size, ours->topic) ||
        !text_is(remote->type, remote->type_size, ours->type->name))
      continue;
    bool we_reliable = qos_of(ours) & MICRO_RELIABLE, we_durable = qos_of(ours) & MICRO_TRANSIENT_LOCAL;
    /* Requested against offered (DDS 2.2.3): the reader must not request more than the writer offers. */
    bool goes = is_remote_writer ? we_reliable <= remote->reliable && we_durable <= remote->transient_local
                                 : remote->reliable <= we_reliable && remote->transient_local <= we_durable;
    if (!goes || remote->demanding) {
      self.counters.incompatible++;
      continue;
    }
    struct match *match = match_add(i, peer, entity);
    if (!match) continue;
    match->port = remote->port;
    match->reliable = we_reliable && remote->reliable;
    event(MICRO_EVENT_MATCHED, i, peer->prefix, entity, matches_of(i));
    if (is_remote_writer)
      reader_matched(match);
    else
      writer_matched(match, remote->transient_local);
  }
}

static void unmatch(struct peer *peer, uint32_t entity) {
  if (peer->graph_reader == entity) peer->graph_reader = 0;
  for (unsigned i = self.matches; i-- > 0;)
    if (&self.peers[self.match[i].peer] == peer && self.match[i].entity == entity) match_remove(&self.match[i]);
}

/* Acknowledges what has come and requests what is missing. `final`: the writer need not answer with a heartbeat. */
static void ask(struct peer *peer, unsigned k, bool final) {
  uint32_t next = peer->in[k].next, last = peer->in[k].last;
  uint32_t bits = last >= next ? last - next + 1 : 0;
  if (bits > PORTION) bits = PORTION;
  begin(peer->prefix);
  uint32_t mark = open_submessage(ACKNACK, final && !bits ? FINAL_FLAG : 0);
  put_entity(readers[k]);
  put_entity(writers[k]);
  put64(next);
  put32(bits);
  uint32_t word = 0;
  for (uint32_t i = 0; i < bits; i++)
    if (!(peer->in[k].received >> i & 1)) word |= 0x80000000u >> i;
  if (bits) put32(word);
  put32(++self.count);
  close_submessage(mark);
  peer->in[k].asked = next + bits;
  peer->asked_ms = micro_clock_ms();
  send_to(peer->address, peer->metatraffic_port);
}

/* Requests a heartbeat until there has been one. The peer may have sent us everything before, and we have forgotten it
 * since. */
static void introduce(struct peer *peer, unsigned k) {
  ask(peer, k, false);
  peer->in[k].asked = 0;
}

void sedp_greet(struct peer *peer) {
  for (unsigned builtin = PUBLICATIONS; builtin <= SUBSCRIPTIONS; builtin++) send_samples(peer, builtin, 1, NULL);
  for (unsigned k = 0; k < 2; k++) introduce(peer, k);
}

/* Marks all samples below `to` as done, and those adjoining that have come. */
static void advance(struct peer *peer, unsigned k, uint32_t to) {
  uint32_t gone = to > peer->in[k].next ? to - peer->in[k].next : 0;
  peer->in[k].received = gone < 32 ? peer->in[k].received >> gone : 0;
  peer->in[k].next += gone;
  while (peer->in[k].received & 1) {
    peer->in[k].received >>= 1;
    peer->in[k].next++;
  }
}

static int reader_of(uint32_t writer) {
  return writer == PUBLICATIONS_WRITER ? 0 : writer == SUBSCRIPTIONS_WRITER ? 1 : -1;
}

bool sedp_data(struct peer *peer, const struct data *data) {
  int k = reader_of(data->writer);
  if (k < 0) return false;
  if (data->sequence > 0xfffffff0u || data->fragment) {
    self.counters.unsupported++;
    return true;
  }
  uint32_t number = (uint32_t)data->sequence, ahead = number - peer->in[k].next;
  if (number < peer->in[k].next || ahead >= 32 || peer->in[k].received >> ahead & 1) return true;
  struct announced remote;
  if (!read_announced(&remote, data, k == SUBSCRIPTIONS) || !same_prefix(remote.guid, peer->prefix))
    self.counters.malformed++; /* treated as received: a new request would bring the same */
  else if (data->alive)
    match_up(peer, &remote, k == PUBLICATIONS);
  else
    unmatch(peer, get_entity(remote.guid + 12));
  if (number > peer->in[k].last) peer->in[k].last = number;
  peer->in[k].received |= 1u << ahead;
  advance(peer, (unsigned)k, peer->in[k].next);
  peer->asked_ms = micro_clock_ms();
  /* The requested portion is complete: request the next one now, not at the timer. */
  if (peer->in[k].asked && peer->in[k].next >= peer->in[k].asked && peer->in[k].next <= peer->in[k].last)
    ask(peer, (unsigned)k, true);
  return true;
}

bool sedp_heartbeat(struct peer *peer, const struct numbers *heartbeat) {
  int k = reader_of(heartbeat->writer);
  if (k < 0) return false;
  if (heartbeat->last > 0xfffffff0u) {
    self.counters.unsupported++;
    return true;
  }
  if (peer->in[k].next > (uint32_t)heartbeat->last + 1) { /* another sender moved us there: start again */
    peer->in[k].next = 1;
    peer->in[k].received = 0;
  }
  advance(peer, (unsigned)k, (uint32_t)heartbeat->first);
  peer->in[k].last = (uint32_t)heartbeat->last;
  if (!peer->in[k].asked) peer->in[k].asked = 1;
  if (!heartbeat->final || peer->in[k].next <= peer->in[k].last) ask(peer, (unsigned)k, true);
  return true;
}

bool sedp_gap(struct peer *peer, const struct numbers *gap) {
  int k = reader_of(gap->writer);
  if (k < 0) return false;
  if (gap->base > 0xfffffff0u) return true;
  if (gap->first <= peer->in[k].next) advance(peer, (unsigned)k, (uint32_t)gap->base);
  for (uint32_t i = 0; i < gap->bits; i++) {
    uint32_t ahead = (uint32_t)gap->base + i - peer->in[k].next;
    if (ahead < 32 && set_has(gap, i)) peer->in[k].received |= 1u << ahead;
  }
  advance(peer, (unsigned)k, peer->in[k].next);
  return true;
}

void graph_send(struct peer *peer) { send_samples(peer, GRAPH, 1, NULL); }

void sedp_service(struct peer *peer) {
  for (unsigned builtin = 0; builtin < BUILTINS; builtin++) {
    if (builtin == GRAPH && (!MICRO_WITH_GRAPH || !peer->graph_reader)) continue;
    unsigned all = samples(builtin);
    if (peer->acked[builtin] < all) send_samples(peer, builtin, all + 1, NULL); /* a heartbeat only */
  }
  if (!due(peer->asked_ms, ASK_AGAIN_MS)) return;
  if (peer->refused && match_room()) { /* there is room now: request it all again */
    peer->refused = false;
    for (unsigned k = 0; k < 2; k++) {
      peer->in[k].next = 1;
      peer->in[k].received = 0;
    }
  }
  for (unsigned k = 0; k < 2; k++)
    if (peer->in[k].next <= peer->in[k].last)
      ask(peer, k, true);
    else if (!peer->in[k].asked)
      introduce(peer, k);
}
