/* SPDX-License-Identifier: Apache-2.0
 *
 * tacho-micro runs a ROS 2 node on a microcontroller, without an operating system, heap or library.
 *
 * An application has one node, whose writers and readers stand in one constant table:
 *
 *   static uint32_t chatter[MICRO_WRITER_WORDS(4, 64)];            // keeps the last 4 messages of up to 64 bytes
 *   static const struct micro_endpoint endpoints[] = {
 *     {.topic = MICRO_TOPIC("/chatter"), .type = &std_msgs_msg_String_type, .qos = MICRO_RELIABLE,
 *      .depth = 4, .size = 64, .storage = chatter},
 *     {.topic = MICRO_TOPIC("/command"), .type = &std_msgs_msg_String_type, .on_message = on_command},
 *   };
 *   static const struct micro_node node = {.name = "talker", .ns = "/", .endpoints = endpoints, .endpoint_count = 2};
 *
 *   micro_init(&node);
 *   for (;;) { micro_spin(); ... }
 *
 * No function here is safe to call from an interrupt. Sizes are in bytes, times in the unit of their name.
 *
 * Specifications: DDSI-RTPS 2.5 (formal/22-04-01), DDS-XTypes 1.3 (XCDR1), the ROS 2 designs for topic names, REP-2011
 * (type hashes).
 */
#ifndef TACHO_MICRO_H_
#define TACHO_MICRO_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tacho_micro_cdr.h"

/* These may be set when building. Each costs RAM (docs/micro.md has the table). */
#ifndef MICRO_PEERS
#define MICRO_PEERS 64 /* DDS participants known at a time */
#endif
#ifndef MICRO_MATCHES
#define MICRO_MATCHES 16 /* pairs of a local endpoint and a remote one */
#endif
#ifndef MICRO_ENDPOINTS
#define MICRO_ENDPOINTS 16 /* most rows of the table */
#endif
#ifndef MICRO_CARRY
#define MICRO_CARRY 1280 /* largest discovery submessage that may span IP fragments */
#endif
#ifndef MICRO_EVENTS
#define MICRO_EVENTS 16 /* events kept until they are sent; 0 removes event recording */
#endif
#ifndef MICRO_EVENTS_SECTION
#define MICRO_EVENTS_SECTION /* places the ring: __attribute__((section("..."))); default: .bss */
#endif
#ifndef MICRO_FRAGMENTS
#define MICRO_FRAGMENTS 256u /* most DATA_FRAG fragments of one received message */
#endif

/* These parts may be left out (0). A remote endpoint that needs a missing part does not match, or its message is
 * counted. */
#ifndef MICRO_WITH_RELIABLE
#define MICRO_WITH_RELIABLE 1 /* 0: the table's MICRO_RELIABLE means best effort */
#endif
#ifndef MICRO_WITH_TRANSIENT_LOCAL
#define MICRO_WITH_TRANSIENT_LOCAL MICRO_WITH_RELIABLE
#endif
#ifndef MICRO_WITH_FRAGMENTS
#define MICRO_WITH_FRAGMENTS \
  1 /* messages larger than a datagram; 0: not published, and counted as unsupported when received */
#endif
#ifndef MICRO_WITH_GRAPH
#define MICRO_WITH_GRAPH 1 /* ros_discovery_info; 0: `ros2 topic` shows the topics, but `ros2 node` shows no node */
#endif
#ifndef MICRO_WITH_TYPE_HASHES
#define MICRO_WITH_TYPE_HASHES 1
#endif

/* Our vendor id in the header of each message (RTPS 8.3.3.1.3). None is assigned to us, and no known one is close to
 * it. */
#ifndef MICRO_VENDOR
#define MICRO_VENDOR 0x017fu
#endif

/* The name of a ROS topic in DDS: a fully qualified name gets the prefix rt. */
#define MICRO_TOPIC(name) "rt" name

enum micro_qos {
  MICRO_BEST_EFFORT = 0,
  MICRO_RELIABLE = 1,
  MICRO_TRANSIENT_LOCAL = 2, /* late readers get the last `depth` messages; only with MICRO_RELIABLE */
};

/* Generated from a .msg file by generator/tacho-micro-msg. */
struct micro_type {
  const char *name; /* in DDS: std_msgs::msg::dds_::String_ */
  const char *hash; /* REP-2011: RIHS01_ and 64 hexadecimal digits; NULL: none is announced */
};

/* A received message; valid only during the callback. */
struct micro_message {
  struct cdr_reader cdr;      /* its body, for the generated read function of its type */
  const uint8_t *writer_guid; /* 16 bytes */
  uint64_t sequence;          /* its number from its writer, from 1 */
  uint64_t source_ns;         /* when it was written, on the writer's Unix clock; 0: unknown */
};

/* Words of storage for a writer of `depth` messages with at most `size` bytes of body, and for a reader of such
 * messages. */
#define MICRO_SLOT_WORDS(size) (5u + ((size) + 3u) / 4u)
#define MICRO_WRITER_WORDS(depth, size) ((depth) * MICRO_SLOT_WORDS(size))
#define MICRO_READER_WORDS(size) (7u + MICRO_FRAGMENTS / 32u + 1u + 1u + ((size) + 3u) / 4u)

/* One row of the table: a reader if it has on_message, otherwise a writer.
 *
 * A writer without storage is best effort and volatile, and its messages must fit one datagram (MICRO_UNSTORED_MAX
 * bytes). A reader without storage takes only messages that arrive in one piece (about 1,400 bytes on Ethernet). */
struct micro_endpoint {
  const char *topic; /* MICRO_TOPIC("/name"), or the unchanged name of a DDS topic */
  const struct micro_type *type;
  void (*on_message)(const struct micro_message *message);
  uint8_t qos;       /* enum micro_qos, or-ed */
  uint16_t depth;    /* messages kept (KEEP_LAST); writers only */
  uint32_t size;     /* largest body; 0: no storage */
  uint32_t *storage; /* MICRO_WRITER_WORDS or MICRO_READER_WORDS */
};
#define MICRO_UNSTORED_MAX 1340u

struct micro_node {
  const char *name; /* "talker" */
  const char *ns;   /* "/" or "/vehicle" */
  const struct micro_endpoint *endpoints;
  uint8_t endpoint_count; /* at most MICRO_ENDPOINTS */
  uint8_t domain;         /* ROS_DOMAIN_ID, 0 to 231 */
  /* Addresses of peers that multicast does not reach (host byte order), ended by 0; the node announces itself there.
   * NULL: none. */
  const uint32_t *peers;
  /* The address and port offset at which others reach us through a forwarding gateway. 0: our own. */
  uint32_t public_address;
  uint16_t public_port_offset;
};

/* Counts what failed or was refused since micro_init. Nothing is lost without being counted here. */
struct micro_counters {
  uint32_t malformed;       /* submessages or datagrams that contradict their own lengths or the specification */
  uint32_t unsupported;     /* messages in an encapsulation other than CDR, or of more fragments than MICRO_FRAGMENTS */
  uint32_t oversized;       /* messages or submessages that exceed the storage for them */
  uint32_t lost;            /* messages that a reliable writer no longer had when we requested them */
  uint32_t peers_refused;   /* participants not admitted because all MICRO_PEERS are in use */
  uint32_t matches_refused; /* remote endpoints not matched because all MICRO_MATCHES are in use */
  uint32_t incompatible;    /* remote endpoints of our topic and type with incompatible QoS */
  uint32_t events_dropped;  /* events not recorded because the ring was full */
  uint32_t send_refused;    /* datagrams that the port could not send (no ARP answer yet, queue full) */
};

/* Starts the node: opens the ports of its domain and announces it. The node and its table must stay valid. False: the
 * network could not open the ports, and the node cannot communicate. */
bool micro_init(const struct micro_node *node);

/* Processes what has arrived, calls the callbacks, and does what is due. Call it whenever the port's wait returns, and
 * at least every 10 ms. */
void micro_spin(void);

/* Announces that the node ends, so that all peers forget it at once. */
void micro_close(void);

/* Returns room for the next message of writer `endpoint` (its row in the table). Fill it with a generated write
 * function and pass it to micro_publish. Make no other call in between. */
struct cdr_writer micro_loan(unsigned endpoint);

/* Sends the loaned message. Returns the number of readers it was sent to, or -1 if it did not fit (nothing is sent). */
int micro_publish(unsigned endpoint, const struct cdr_writer *message);

/* If the table is not constant, call this after appending rows to it and raising endpoint_count. */
void micro_extended(void);

/* Returns the number of remote endpoints that match `endpoint` and whose participants have acknowledged its
 * announcement. What is published now reaches them. */
unsigned micro_matched(unsigned endpoint);

/* Returns whether every reliable reader has acknowledged all messages of `endpoint`. */
bool micro_acknowledged(unsigned endpoint);

/* Writes the GUID of `endpoint`: 16 bytes, as `ros2 topic info -v` shows it. */
void micro_guid(unsigned endpoint, uint8_t guid[16]);

const struct micro_counters *micro_counters(void);

/* Returns the number of participants known now. */
unsigned micro_peers(void);

/* Kinds of the node's own events (event.c): what it published and took, by writer GUID and sequence number. */
enum micro_event_kind {
  MICRO_EVENT_PUBLISH = 1,       /* at the beginning of micro_publish */
  MICRO_EVENT_TAKE = 2,          /* just before on_message */
  MICRO_EVENT_MATCHED = 3,       /* sequence: matches of the endpoint */
  MICRO_EVENT_INIT = 4,          /* micro_init was entered */
  MICRO_EVENT_APPLICATION = 128, /* kinds from here on belong to the application */
};
struct micro_event {
  uint64_t time_ns; /* micro_clock_ns */
  uint64_t sequence;
  uint8_t writer_guid[16];
  uint8_t kind; /* enum micro_event_kind */
  uint8_t endpoint;
};

/* Records an event of the application: a kind from MICRO_EVENT_APPLICATION on, a row in the table, 16 bytes and a
 * number. */
void micro_record(uint8_t kind, uint8_t endpoint, const uint8_t bytes[16], uint64_t number);

/* Publishes the recorded events on writer `endpoint`, whose type is std_msgs/msg/UInt8MultiArray (layout:
 * docs/micro.md). Returns how many were sent. Events leave the ring only if there was a reader, and it had acknowledged
 * the previous ones. */
unsigned micro_publish_events(unsigned endpoint);
/* This value replaces the publisher number of tacho's messages. */
#define MICRO_EVENTS_PUBLISHER 0xffffffffu

#endif /* TACHO_MICRO_H_ */
