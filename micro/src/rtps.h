/* SPDX-License-Identifier: Apache-2.0
 *
 * Declares what the files of the participant share: the state, all of it static, and the functions of each file.
 *
 *   udp port -> message.c (header, submessages, pieces) -> spdp.c  participants
 *                                                       -> sedp.c  endpoints, and all our built-in writers
 *                                                       -> reader.c, writer.c  the application's messages
 *   compose.c builds outgoing messages; participant.c has state, timers and public calls; ros.c the ROS graph; event.c events.
 */
#ifndef TACHO_MICRO_RTPS_H_
#define TACHO_MICRO_RTPS_H_

#include <string.h>

#include "tacho_micro.h"
#include "udp.h"

/* RTPS 9.4.5.1.1 */
enum submessage {
  PAD = 0x01,
  ACKNACK = 0x06,
  HEARTBEAT = 0x07,
  GAP = 0x08,
  INFO_TS = 0x09,
  INFO_SRC = 0x0c,
  INFO_REPLY_IP4 = 0x0d,
  INFO_DST = 0x0e,
  INFO_REPLY = 0x0f,
  NACK_FRAG = 0x12,
  HEARTBEAT_FRAG = 0x13,
  DATA = 0x15,
  DATA_FRAG = 0x16,
};
enum submessage_flag {
  LITTLE_ENDIAN_FLAG = 0x01,
  INLINE_QOS_FLAG = 0x02,
  DATA_FLAG = 0x04,
  KEY_FLAG = 0x08,
  FRAG_KEY_FLAG = 0x04,   /* of DATA, DATA_FRAG */
  FINAL_FLAG = 0x02,      /* of HEARTBEAT, ACKNACK */
  INVALIDATE_FLAG = 0x02, /* of INFO_TS */
};

/* RTPS 9.6.2.2.2 and 9.6.3.2: parameters of discovery and of inline QoS */
enum parameter {
  PID_SENTINEL = 0x0001,
  PID_PARTICIPANT_LEASE_DURATION = 0x0002,
  PID_TOPIC_NAME = 0x0005,
  PID_TYPE_NAME = 0x0007,
  PID_DOMAIN_ID = 0x000f,
  PID_PROTOCOL_VERSION = 0x0015,
  PID_VENDOR_ID = 0x0016,
  PID_RELIABILITY = 0x001a,
  PID_LIVELINESS = 0x001b,
  PID_DURABILITY = 0x001d,
  PID_OWNERSHIP = 0x001f,
  PID_DEADLINE = 0x0023,
  PID_PARTITION = 0x0029,
  PID_USER_DATA = 0x002c,
  PID_UNICAST_LOCATOR = 0x002f,
  PID_DEFAULT_UNICAST_LOCATOR = 0x0031,
  PID_METATRAFFIC_UNICAST_LOCATOR = 0x0032,
  PID_PARTICIPANT_GUID = 0x0050,
  PID_BUILTIN_ENDPOINT_SET = 0x0058,
  PID_ENDPOINT_GUID = 0x005a,
  PID_ENTITY_NAME = 0x0062,
  PID_KEY_HASH = 0x0070,
  PID_STATUS_INFO = 0x0071,
};

/* Entity ids as numbers, first octet highest (RTPS 9.3.1.2). */
enum entity {
  ENTITY_UNKNOWN = 0,
  ENTITY_PARTICIPANT = 0x000001c1,
  SPDP_WRITER = 0x000100c2,
  SPDP_READER = 0x000100c7,
  PUBLICATIONS_WRITER = 0x000003c2,
  PUBLICATIONS_READER = 0x000003c7,
  SUBSCRIPTIONS_WRITER = 0x000004c2,
  SUBSCRIPTIONS_READER = 0x000004c7,
  WRITER_KIND = 0x03,
  READER_KIND = 0x04, /* of the application, on topics without a key, like all topics of ROS 2 */
};

/* Our built-in writers with a history. Its samples are the rows of the constant table, with sequence numbers from 1. */
enum builtin { PUBLICATIONS, SUBSCRIPTIONS, GRAPH, BUILTINS };

/* A participant (RTPS 8.5.3). */
struct peer {
  uint8_t prefix[12];
  uint32_t address;
  uint16_t metatraffic_port, user_port;
  uint32_t heard_ms, lease_ms;
  uint32_t asked_ms; /* when SEDP samples were last requested, or came */
  /* Our readers of its PUBLICATIONS and SUBSCRIPTIONS. 32 bits suffice: a writer has one number for each endpoint it
   * ever had, and more than 2^32 of them are refused. Samples are taken in any order; the bits of `received` count from
   * `next`. */
  struct {
    uint32_t next, last, received;
    uint32_t asked; /* first number after those requested; 0: no heartbeat has come yet */
  } in[2];
  uint32_t graph_reader;   /* its reader of ros_discovery_info; 0: unknown */
  uint16_t graph_port;     /* where that reader listens: in Fast DDS on a port of its own */
  uint8_t acked[BUILTINS]; /* samples of our built-in writers that it has */
  bool used, spoke;        /* spoke: it has acknowledged something, so it is more than an announcement */
  bool multicast;          /* its announcements come by multicast, so ours reach it by multicast */
  bool refused;            /* an endpoint of it found no room among the matches */
};

/* One of our endpoints together with a remote one: ReaderProxy or WriterProxy (RTPS 8.4.7.5, 8.4.10.4). */
struct match {
  uint8_t endpoint, peer;
  bool reliable, counted;
  uint8_t asked;     /* reader: messages or fragments requested that have not come */
  uint32_t entity;   /* the remote endpoint */
  uint16_t port;     /* where it listens if it announced that; otherwise the peer's user_port */
  uint32_t count;    /* of the last HEARTBEAT or ACKNACK that we accepted; valid if `counted` */
  uint32_t asked_ms; /* reader: time of the last request; writer: time of the last heartbeat */
  uint64_t next;     /* reader: number expected next; writer: first number not acknowledged by the remote reader */
  uint64_t last;     /* reader: highest number heard of; writer: first number meant for this reader */
};

/* The head of a message in a writer's storage. Encapsulation header and body follow. */
struct slot {
  uint32_t sequence_low, size; /* size: 0 if there is none */
  uint32_t seconds, fraction;  /* when it was written; both 0: unknown */
};

/* A reader's storage: the head, then the body with its encapsulation header. */
struct assembly {
  uint32_t sequence_high, sequence_low,
      entity; /* of the message being assembled; entity and peer identify its writer */
  uint32_t size, touched_ms;
  uint16_t fragment_size, fragments, peer;
  uint16_t missing; /* fragments; 0: idle */
  uint32_t have[MICRO_FRAGMENTS / 32u +
                1u]; /* one bit a fragment; one extra word, so that shifts across words need no special case */
};

struct participant {
  const struct micro_node *node;
  uint8_t prefix[12];
  uint16_t base;              /* port of multicast discovery */
  uint16_t metatraffic, user; /* our unicast ports */
  uint32_t count;             /* one count for HEARTBEAT, ACKNACK, NACK_FRAG and HEARTBEAT_FRAG: only growth matters */
  uint32_t announced_ms, serviced_ms;
  uint8_t announcements, serviced, rounds, matches;
  struct peer peers[MICRO_PEERS];
  struct match match[MICRO_MATCHES];
  uint64_t published[MICRO_ENDPOINTS]; /* last sequence number of each writer */
  struct micro_counters counters;
};
extern struct participant self;

/* The values that the header and the INFO submessages of a message have set for later submessages (RTPS 8.3.4). */
struct receiver {
  uint8_t prefix[12];
  uint32_t address;
  uint32_t seconds, fraction; /* INFO_TS */
  bool timed, for_us, multicast;
};

/* A DATA or DATA_FRAG (RTPS 8.3.8.2, 8.3.8.3) whose fixed part was read. */
struct data {
  uint32_t reader, writer;
  uint64_t sequence;
  bool little_endian, alive, key_only, has_payload;
  const uint8_t *key_hash; /* 16 bytes, or NULL */
  const uint8_t *payload;
  uint32_t available, length;     /* of the payload: bytes present, bytes in total */
  uint32_t fragment, sample_size; /* fragment: number of the first one here, from 1; 0: not fragmented */
  uint16_t fragments, fragment_size;
};

/* The fields that a HEARTBEAT, ACKNACK, GAP, NACK_FRAG or HEARTBEAT_FRAG has of these. */
struct numbers {
  uint32_t reader, writer, count;
  uint64_t first, last;  /* HEARTBEAT; GAP: first and base - 1 */
  uint64_t base;         /* of the set; NACK_FRAG: number of the message */
  uint32_t fragment;     /* NACK_FRAG: base of the set; HEARTBEAT_FRAG: last one */
  uint32_t bits;         /* in the set */
  const uint8_t *bitmap; /* words in the submessage's byte order */
  bool little_endian, final;
};

/* Every message uses these small functions. A call would be longer than they are, even for -Os. */
#define INLINE static inline __attribute__((always_inline))

/* Read and compare unaligned bytes in a given byte order. All callers have checked the length. */
INLINE uint16_t get16(const uint8_t *p, bool little) {
  return little ? (uint16_t)(p[0] | p[1] << 8) : (uint16_t)(p[0] << 8 | p[1]);
}
INLINE uint32_t get32(const uint8_t *p, bool little) {
  uint32_t v;
  memcpy(&v, p, 4);
  return little == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? v : __builtin_bswap32(v);
}
INLINE bool same_prefix(const uint8_t *a, const uint8_t *b) {
  return get32(a + 4, true) == get32(b + 4, true) && get32(a + 8, true) == get32(b + 8, true) &&
         get32(a, true) == get32(b, true);
}
static inline uint32_t get_entity(const uint8_t *p) { return get32(p, false); }
static inline bool is_builtin(uint32_t entity) { return (entity & 0xc0) == 0xc0; } /* RTPS 9.3.1.2 */
/* Returns whether bit i of a NumberSet is set (RTPS 9.4.2.6: the highest bit of each word comes first). */
static inline bool set_has(const struct numbers *set, uint32_t i) {
  return i < set->bits && get32(set->bitmap + i / 32 * 4, set->little_endian) >> (31 - i % 32) & 1;
}

/* Returns whether a count belongs to a duplicate, or to a message that was overtaken (RTPS 8.3.8.6.3). A count that is
 * far off is accepted. Otherwise one wrong count would make us ignore all later ones. */
static inline bool is_old(uint32_t count, uint32_t last) { return last - count < 1000u; }

/* compose.c: builds one message at a time. What does not fit is not sent. */
void begin(const uint8_t *to_prefix);
void put8(uint8_t value);
void put16(uint16_t value);
void put32(uint32_t value);
void put64(uint64_t value); /* as SequenceNumber_t */
void put_bytes(const void *bytes, uint32_t size);
void put_zeros(uint32_t size);
void put_entity(uint32_t entity);
void put_parameter(uint16_t id, uint16_t size);
void put_string(uint16_t id, const char *a, const char *b); /* one text of two parts */
uint32_t open_submessage(uint8_t id, uint8_t flags);
void close_submessage(uint32_t mark);
uint32_t open_data(uint32_t reader, uint32_t writer, uint64_t sequence, uint8_t flags);
void put_time(uint32_t seconds, uint32_t fraction); /* INFO_TS; nothing if both are 0 */
void put_nothing(uint32_t size);                    /* leaves the bytes there unchanged */
void put_heartbeat(uint32_t reader, uint32_t writer, uint64_t first, uint64_t last);
void put_gap(uint32_t reader, uint32_t writer, uint64_t first, uint64_t next);
uint32_t composed(void); /* bytes so far */
void send_to(uint32_t address, uint16_t port);

/* message.c */
void revoke_sink(void); /* from now on, what is being written into a reader's storage is discarded */
void submessage(struct receiver *receiver, const uint8_t *at, uint32_t available, uint32_t length);

/* spdp.c */
void spdp_announce(void);
void spdp_announce_to(const struct peer *peer);
void spdp_receive(struct receiver *receiver, const struct data *data);
void spdp_farewell(void);

/* sedp.c */
void sedp_greet(struct peer *peer);                         /* announces all our endpoints to a new peer */
bool sedp_data(struct peer *peer, const struct data *data); /* false: not from a built-in writer that we read */
bool sedp_heartbeat(struct peer *peer, const struct numbers *heartbeat);
bool sedp_gap(struct peer *peer, const struct numbers *gap);
bool sedp_told(const struct peer *peer,
               unsigned endpoint); /* whether it has acknowledged the announcement of our endpoint */
bool sedp_acknack(struct peer *peer, const struct numbers *acknack);
void sedp_service(struct peer *peer); /* does what is due */
void graph_send(struct peer *peer);

/* reader.c */
void reader_matched(struct match *match);
void reader_data(struct receiver *receiver, uint8_t peer, const struct data *data);
void reader_heartbeat(uint8_t peer, const struct numbers *heartbeat);
void reader_heartbeat_fragment(uint8_t peer, const struct numbers *heartbeat);
void reader_gap(uint8_t peer, const struct numbers *gap);
void reader_service(struct match *match);
/* Returns where the rest of a message's payload goes while it arrives in pieces: NULL if nobody wants it. Call
 * reader_sink_done at the end. */
uint8_t *reader_sink(uint8_t peer, const struct data *data);
void reader_sink_done(struct receiver *receiver, uint8_t peer, const struct data *data);

/* writer.c */
void writer_matched(struct match *match, bool durable); /* durable: the reader wants earlier messages */
void writer_acknack(uint8_t peer, const struct numbers *acknack);
void writer_nack_fragment(uint8_t peer, const struct numbers *nack);
void writer_service(struct match *match);

/* participant.c */
struct peer *find_peer(const uint8_t *prefix);
void peer_forget(struct peer *peer);
struct match *match_add(uint8_t endpoint, struct peer *peer, uint32_t entity);
bool match_room(void); /* whether match_add would find a place */
void match_remove(struct match *match);
unsigned matches_of(unsigned endpoint);
INLINE const struct micro_endpoint *endpoint_of(const struct match *match) {
  return &self.node->endpoints[match->endpoint];
}
INLINE bool is_writer(const struct micro_endpoint *endpoint) { return !endpoint->on_message; }
INLINE bool is_reliable(const struct match *match) { return MICRO_WITH_RELIABLE && match->reliable; }
static inline uint32_t entity_of(unsigned endpoint) {
  return (uint32_t)(endpoint + 1) << 8 | (is_writer(&self.node->endpoints[endpoint]) ? WRITER_KIND : READER_KIND);
}
static inline uint32_t graph_writer(void) { return 0xff00u | WRITER_KIND; }
/* Returns whether time `since` lies `ms` or more back. */
static inline bool due(uint32_t since, uint32_t ms) { return micro_clock_ms() - since >= ms; }

/* ros.c: ros_discovery_info, from which ROS 2 knows which node owns which endpoint */
extern const struct micro_endpoint graph_endpoint;
void put_graph(void);

/* event.c */
#if MICRO_EVENTS
void event(uint8_t kind, uint8_t endpoint, const uint8_t *prefix, uint32_t entity, uint64_t sequence);
#else
#define event(kind, endpoint, prefix, entity, sequence) ((void)0)
#endif

#endif
