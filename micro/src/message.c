/* SPDX-License-Identifier: Apache-2.0
 * Reads what comes from the network: messages, submessages (RTPS 8.3, 9.4), and datagrams that arrive as IP fragments.
 *
 * Whole submessages are read in place. One that spans two pieces is assembled in `carry`. Only a user message can be
 * too long for `carry`; its payload then goes directly into its reader's storage. Every length is checked before a byte
 * after it is read. */
#include "rtps.h"

/* SequenceNumber_t: high word, low word; 0 when not positive. */
static uint64_t get_sequence(const uint8_t *p, bool little) {
  uint32_t high = get32(p, little);
  return high >> 31 ? 0 : (uint64_t)high << 32 | get32(p + 4, little);
}

static void malformed(void) { self.counters.malformed++; }

/* Reads the parts of the inline QoS that we need (RTPS 9.6.4). Returns the offset after it, or 0. */
static uint32_t inline_qos(struct data *data, const uint8_t *at, uint32_t offset, uint32_t available) {
  while (available - offset >= 4) {
    uint32_t id = get16(at + offset, data->little_endian), size = get16(at + offset + 2, data->little_endian);
    offset += 4;
    if (id == PID_SENTINEL) return offset;
    if (size > available - offset) return 0;
    if (id == PID_STATUS_INFO && size >= 4) data->alive = !(at[offset + 3] & 3); /* disposed, unregistered */
    if (id == PID_KEY_HASH && size >= 16) data->key_hash = at + offset;
    offset += size;
  }
  return 0;
}

/* Reads the fixed part. `available` of `length` bytes are present. */
static bool read_data(struct data *data, uint8_t id, uint8_t flags, const uint8_t *at, uint32_t available,
                      uint32_t length) {
  bool little = flags & LITTLE_ENDIAN_FLAG;
  uint32_t fixed = id == DATA ? 20 : 32;
  if (available < fixed) return false;
  data->key_hash = NULL;
  data->fragment = 0;
  data->little_endian = little;
  data->alive = true;
  data->reader = get_entity(at + 4);
  data->writer = get_entity(at + 8);
  data->sequence = get_sequence(at + 12, little);
  data->key_only = flags & (id == DATA ? KEY_FLAG : FRAG_KEY_FLAG);
  data->has_payload = id == DATA_FRAG || flags & (DATA_FLAG | KEY_FLAG);
  if (id == DATA_FRAG) {
    data->fragment = get32(at + 20, little);
    data->fragments = get16(at + 24, little);
    data->fragment_size = get16(at + 26, little);
    data->sample_size = get32(at + 28, little);
    if (!data->fragment || !data->fragments || !data->fragment_size || !data->sample_size) return false;
  }
  uint32_t offset = 4u + get16(at + 2, little);
  if (offset < fixed || offset > available || !data->sequence) return false;
  if (flags & INLINE_QOS_FLAG && !(offset = inline_qos(data, at, offset, available))) return false;
  data->payload = at + offset;
  data->available = available - offset;
  data->length = length - offset;
  return true;
}

static void on_data(struct receiver *receiver, const struct data *data) {
  if (data->writer == SPDP_WRITER) {
    if (data->fragment == 0) spdp_receive(receiver, data);
    return;
  }
  struct peer *peer = find_peer(receiver->prefix);
  if (!peer) return;
  peer->heard_ms = micro_clock_ms();
  /* sedp_data would return this too, but more slowly. */
  if (!is_builtin(data->writer) || !sedp_data(peer, data)) reader_data(receiver, (uint8_t)(peer - self.peers), data);
}

/* Reads a set of sequence or fragment numbers (RTPS 9.4.2.6, 9.4.2.8) at `at`, after its base. If `counted`, a count
 * follows. */
static bool read_set(struct numbers *numbers, const uint8_t *at, uint32_t available, bool counted) {
  if (available < 4) return false;
  numbers->bits = get32(at, numbers->little_endian);
  uint32_t words = numbers->bits / 32 + (numbers->bits % 32 != 0);
  if (numbers->bits > 256 || available < 4 + words * 4 + (counted ? 4u : 0u)) return false;
  numbers->bitmap = at + 4;
  if (counted) numbers->count = get32(at + 4 + words * 4, numbers->little_endian);
  return true;
}

static bool read_numbers(struct numbers *numbers, uint8_t id, uint8_t flags, const uint8_t *at, uint32_t length) {
  bool little = flags & LITTLE_ENDIAN_FLAG;
  memset(numbers, 0, sizeof *numbers);
  if (length < 20) return false;
  numbers->little_endian = little;
  numbers->final = flags & FINAL_FLAG;
  numbers->reader = get_entity(at);
  numbers->writer = get_entity(at + 4);
  switch (id) {
    case HEARTBEAT:
      if (length < 28) return false;
      numbers->first = get_sequence(at + 8, little);
      numbers->last = get_sequence(at + 16, little);
      numbers->count = get32(at + 24, little);
      return numbers->first > 0 && numbers->last + 1 >= numbers->first && get32(at + 16, little) >> 31 == 0;
    case HEARTBEAT_FRAG:
      if (length < 24) return false;
      numbers->base = get_sequence(at + 8, little);
      numbers->fragment = get32(at + 16, little);
      numbers->count = get32(at + 20, little);
      return numbers->base > 0;
    case ACKNACK:
      numbers->base = get_sequence(at + 8, little);
      return get32(at + 8, little) >> 31 == 0 && read_set(numbers, at + 16, length - 16, true);
    case NACK_FRAG:
      numbers->base = get_sequence(at + 8, little);
      numbers->fragment = get32(at + 16, little);
      return numbers->base > 0 && numbers->fragment > 0 && read_set(numbers, at + 20, length - 20, true);
    default: /* GAP */
      if (length < 28) return false;
      numbers->first = get_sequence(at + 8, little);
      numbers->base = get_sequence(at + 16, little);
      return numbers->first > 0 && numbers->base >= numbers->first && read_set(numbers, at + 24, length - 24, false);
  }
}

static void on_numbers(struct peer *peer, uint8_t id, const struct numbers *numbers) {
  uint8_t index = (uint8_t)(peer - self.peers);
  peer->heard_ms = micro_clock_ms();
  switch (id) {
    case HEARTBEAT:
      if (!sedp_heartbeat(peer, numbers)) reader_heartbeat(index, numbers);
      break;
    case GAP:
      if (!sedp_gap(peer, numbers)) reader_gap(index, numbers);
      break;
    case ACKNACK:
      if (!sedp_acknack(peer, numbers)) writer_acknack(index, numbers);
      break;
    case NACK_FRAG:
      writer_nack_fragment(index, numbers);
      break;
    default:
      reader_heartbeat_fragment(index, numbers);
      break;
  }
}

/* Handles one submessage of `length` bytes at `at`. Fewer may be available only for DATA to discovery. */
void submessage(struct receiver *receiver, const uint8_t *at, uint32_t available, uint32_t length) {
  uint8_t id = at[0], flags = at[1];
  bool little = flags & LITTLE_ENDIAN_FLAG;
  at += 4;
  switch (id) {
    case INFO_DST:
      if (available < 12) return malformed();
      receiver->for_us = same_prefix(at, self.prefix) || !(get32(at, true) | get32(at + 4, true) | get32(at + 8, true));
      break;
    case INFO_SRC:
      if (available < 20) return malformed();
      memcpy(receiver->prefix, at + 8, 12);
      receiver->timed = false;
      break;
    case INFO_TS:
      receiver->timed = !(flags & INVALIDATE_FLAG);
      if (!receiver->timed) break;
      if (available < 8) return malformed();
      receiver->seconds = get32(at, little);
      receiver->fraction = get32(at + 4, little);
      break;
    case DATA:
    case DATA_FRAG: {
      struct data data;
      if (!receiver->for_us || same_prefix(receiver->prefix, self.prefix)) break;
      if (!read_data(&data, id, flags, at, available, length)) return malformed();
      on_data(receiver, &data);
      break;
    }
    case HEARTBEAT:
    case GAP:
    case ACKNACK:
    case NACK_FRAG:
    case HEARTBEAT_FRAG: {
      struct numbers numbers;
      if (!receiver->for_us) break;
      if (!read_numbers(&numbers, id, flags, at, length)) return malformed();
      struct peer *peer = find_peer(receiver->prefix);
      if (peer) on_numbers(peer, id, &numbers);
      break;
    }
    default:
      break; /* PAD, INFO_REPLY, and vendors' own, which are ignored (RTPS 8.3.4.1) */
  }
}

/* Returns the length of the submessage at `at`, including its head. `left` bytes of the datagram remain; 0: the length
 * contradicts that. */
INLINE uint32_t submessage_size(const uint8_t *at, uint32_t left) {
  uint32_t size = get16(at + 2, at[1] & LITTLE_ENDIAN_FLAG);
  if (size == 0 && at[0] != PAD && at[0] != INFO_TS) return left; /* RTPS 9.4.5.1.3: to the end of the message */
  return size + 4 <= left ? size + 4 : 0;
}

/* The datagram that is arriving in pieces. */
static struct {
  struct receiver receiver;
  uint32_t source, total, offset, started_ms;
  uint32_t carried; /* bytes in `carry` */
  uint32_t flowing; /* bytes of the submessage's payload that are still to come and bypass the carry */
  uint8_t *sink;    /* their destination; NULL: they are discarded */
  struct data data;
  uint8_t peer;
  bool active;
} pieces;
static uint32_t carry[MICRO_CARRY / 4];

void revoke_sink(void) { pieces.sink = NULL; }

/* Handles a submessage that is longer than the carry, once the carry is full. `size` is the submessage's. */
static void overflow_carry(uint32_t size) {
  uint8_t *at = (uint8_t *)carry;
  pieces.flowing = size - MICRO_CARRY;
  pieces.sink = NULL;
  struct peer *peer = find_peer(pieces.receiver.prefix);
  if ((at[0] != DATA && at[0] != DATA_FRAG) || !pieces.receiver.for_us || !peer) return;
  struct data *data = &pieces.data;
  if (!read_data(data, at[0], at[1], at + 4, MICRO_CARRY - 4, size - 4)) return malformed();
  if (data->writer == PUBLICATIONS_WRITER || data->writer == SUBSCRIPTIONS_WRITER) {
    self.counters.oversized++;
    /* The available bytes say who it is. Without this call, we would request it for ever. */
    sedp_data(peer, data);
    return;
  }
  pieces.peer = (uint8_t)(peer - self.peers);
  pieces.sink = reader_sink(pieces.peer, data);
  if (!pieces.sink) return;
  memcpy(pieces.sink, data->payload, data->available);
  pieces.sink += data->available;
}

/* Handles all whole submessages in `size` bytes of one datagram, of which `left` bytes remain from here on. Returns how
 * many bytes it used. */
static uint32_t whole_submessages(struct receiver *receiver, const uint8_t *at, uint32_t size, uint32_t left) {
  uint32_t used = 0;
  while (size - used >= 4) {
    uint32_t length = submessage_size(at + used, left - used);
    if (!length) {
      malformed();
      return left; /* no later submessage can be found */
    }
    if (length > size - used) break;
    submessage(receiver, at + used, length - 4, length - 4);
    used += length;
  }
  return used;
}

static void next_piece(const uint8_t *at, uint32_t size) {
  while (size) {
    uint32_t left = pieces.total - pieces.offset, n;
    if (pieces.flowing) {
      n = size < pieces.flowing ? size : pieces.flowing;
      if (pieces.sink) {
        memcpy(pieces.sink, at, n);
        pieces.sink += n;
      }
      pieces.flowing -= n;
      if (!pieces.flowing && pieces.sink) reader_sink_done(&pieces.receiver, pieces.peer, &pieces.data);
    } else if (pieces.carried || size < 4) {
      /* `left` counts from here; the submessage began `carried` bytes before. */
      uint8_t *to = (uint8_t *)carry;
      uint32_t want = 4, whole = 0;
      if (pieces.carried >= 4) {
        whole = submessage_size(to, left + pieces.carried);
        want = whole < MICRO_CARRY ? whole : MICRO_CARRY;
      }
      n = want - pieces.carried < size ? want - pieces.carried : size;
      memcpy(to + pieces.carried, at, n);
      pieces.carried += n;
      if (pieces.carried >= 4 && !(whole = submessage_size(to, left - n + pieces.carried))) {
        malformed();
        pieces.active = false;
        return;
      }
      if (whole && (pieces.carried == whole || pieces.carried == MICRO_CARRY)) {
        pieces.carried = 0;
        if (whole <= MICRO_CARRY)
          submessage(&pieces.receiver, to, whole - 4, whole - 4);
        else
          overflow_carry(whole);
      }
    } else {
      n = whole_submessages(&pieces.receiver, at, size, left);
      if (n > size) {
        pieces.active = false;
        return;
      }
      if (n == 0) { /* a submessage that continues in the next piece: carry its first four bytes, then as above */
        n = 4;
        memcpy(carry, at, n);
        pieces.carried = n;
      }
    }
    at += n;
    size -= n;
    pieces.offset += n;
  }
}

static bool read_header(struct receiver *receiver, const struct udp_piece *piece) {
  if (piece->size < 20 || get32(piece->data, false) != 0x52545053 || piece->data[4] != 2)
    return false; /* RTPS 8.3.6.3: RTPS, major version */
  memcpy(receiver->prefix, piece->data + 8, 12);
  receiver->timed = false;
  receiver->address = piece->source;
  receiver->for_us = true;
  receiver->multicast = piece->port == self.base;
  return true;
}

void micro_receive(const struct udp_piece *piece) {
  if (piece->offset == 0 && piece->size == piece->total) {
    struct receiver receiver;
    if (read_header(&receiver, piece))
      whole_submessages(&receiver, piece->data + 20, piece->size - 20, piece->size - 20);
    else
      malformed();
    return;
  }
  if (piece->offset > piece->total || piece->size > piece->total - piece->offset) return malformed();
  if (piece->offset == 0) {
    /* Pieces of two senders may interleave. We finish the first datagram, unless it has stopped coming. */
    if (pieces.active && piece->source != pieces.source && !due(pieces.started_ms, 20)) return;
    pieces.active = read_header(&pieces.receiver, piece);
    if (!pieces.active) return malformed();
    pieces.source = piece->source;
    pieces.total = piece->total;
    pieces.offset = 20;
    pieces.started_ms = micro_clock_ms();
    pieces.carried = pieces.flowing = 0;
    next_piece(piece->data + 20, piece->size - 20);
  } else if (pieces.active && piece->source == pieces.source && piece->total == pieces.total &&
             piece->offset == pieces.offset) {
    next_piece(piece->data, piece->size);
  } else {
    return;
  }
  if (pieces.offset == pieces.total) pieces.active = false;
}
