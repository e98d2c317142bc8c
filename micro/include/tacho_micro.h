/* SPDX-License-Identifier: Apache-2.0
 *
 * tacho-micro: a ROS 2 node on a microcontroller, without operating system, heap or library.
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
 * Nothing here is safe to call from an interrupt. Sizes are in bytes, times in the unit of their name.
 * Specifications: DDSI-RTPS 2.5 (formal/22-04-01), DDS-XTypes 1.3 (XCDR1), the ROS 2 designs for topic names, REP-2011 (type hashes).
 */
#ifndef TACHO_MICRO_H_
#define TACHO_MICRO_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tacho_micro_cdr.h"

/* What may be changed when building; each costs RAM (docs/micro.md has the table). */
#ifndef MICRO_PEERS
#define MICRO_PEERS 64 /* DDS participants known at a time */
#endif
#ifndef MICRO_MATCHES
#define MICRO_MATCHES 16 /* pairs of an endpoint of ours and a remote one */
#endif
#ifndef MICRO_ENDPOINTS
#define MICRO_ENDPOINTS 16 /* rows of the table at most */
#endif
#ifndef MICRO_CARRY
#define MICRO_CARRY 1280 /* largest submessage of discovery that may lie across IP fragments */
#endif
#ifndef MICRO_EVENTS
#define MICRO_EVENTS 16 /* events kept until they are sent; 0 leaves them out */
#endif
#ifndef MICRO_EVENTS_SECTION
#define MICRO_EVENTS_SECTION /* where the ring lies, __attribute__((section("..."))); in .bss unless said */
#endif
#ifndef MICRO_FRAGMENTS
#define MICRO_FRAGMENTS 256u /* most DATA_FRAG fragments of one received message */
#endif

/* What may be left out (0); what is asked of a node that has not got it does not match, or is counted. */
#ifndef MICRO_WITH_RELIABLE
#define MICRO_WITH_RELIABLE 1 /* 0: the table's MICRO_RELIABLE counts as best effort */
#endif
#ifndef MICRO_WITH_TRANSIENT_LOCAL
#define MICRO_WITH_TRANSIENT_LOCAL MICRO_WITH_RELIABLE
#endif
#ifndef MICRO_WITH_FRAGMENTS
#define MICRO_WITH_FRAGMENTS 1 /* messages larger than a datagram: 0 refuses to publish them, and counts received ones as unsupported */
#endif
#ifndef MICRO_WITH_GRAPH
#define MICRO_WITH_GRAPH 1 /* ros_discovery_info: without it, `ros2 topic` shows the topics, and `ros2 node` no node */
#endif
#ifndef MICRO_WITH_TYPE_HASHES
#define MICRO_WITH_TYPE_HASHES 1
#endif

/* Ours in the header of each message (RTPS 8.3.3.1.3); none is assigned to us, and no known one is near. */
#ifndef MICRO_VENDOR
#define MICRO_VENDOR 0x017fu
#endif

/* A ROS topic's name on DDS: a fully qualified name gets the prefix rt. */
#define MICRO_TOPIC(name) "rt" name

enum micro_qos {
  MICRO_BEST_EFFORT = 0,
  MICRO_RELIABLE = 1,
  MICRO_TRANSIENT_LOCAL = 2, /* late readers get the last `depth` messages; with MICRO_RELIABLE only */
};

/* Generated from a .msg file by generator/tacho-micro-msg. */
struct micro_type {
  const char *name; /* on DDS: std_msgs::msg::dds_::String_ */
  const char *hash; /* REP-2011: RIHS01_ and 64 hexadecimal digits; NULL leaves it out */
};

/* A received message; valid during the callback only. */
struct micro_message {
  struct cdr_reader cdr;       /* its body, to be read by the generated function of its type */
  const uint8_t *writer_guid;  /* 16 bytes */
  uint64_t sequence;           /* of its writer, from 1 */
  uint64_t source_ns;          /* when it was written, on the writer's Unix clock; 0: the writer did not say */
};

/* Storage of a writer of `depth` messages of at most `size` bytes of body, and of a reader of such messages. */
#define MICRO_SLOT_WORDS(size) (5u + ((size) + 3u) / 4u)
#define MICRO_WRITER_WORDS(depth, size) ((depth) * MICRO_SLOT_WORDS(size))
#define MICRO_READER_WORDS(size) (7u + MICRO_FRAGMENTS / 32u + 1u + 1u + ((size) + 3u) / 4u)

/* One row of the table: a reader when it has on_message, a writer otherwise.
 *
 * A writer without storage is best effort and volatile, and its messages fit one datagram (MICRO_UNSTORED_MAX bytes).
 * A reader without storage takes only messages that arrive in one piece (about 1,400 bytes on Ethernet). */
struct micro_endpoint {
  const char *topic; /* MICRO_TOPIC("/name"), or the name of a DDS topic as it is */
  const struct micro_type *type;
  void (*on_message)(const struct micro_message *message);
  uint8_t qos;      /* enum micro_qos, or-ed */
  uint16_t depth;   /* messages kept (KEEP_LAST); writers only */
  uint32_t size;    /* largest body; 0 without storage */
  uint32_t *storage; /* MICRO_WRITER_WORDS or MICRO_READER_WORDS */
};
#define MICRO_UNSTORED_MAX 1340u

struct micro_node {
  const char *name; /* "talker" */
  const char *ns;   /* "/" or "/vehicle" */
  const struct micro_endpoint *endpoints;
  uint8_t endpoint_count; /* at most MICRO_ENDPOINTS */
  uint8_t domain;         /* ROS_DOMAIN_ID, 0 to 231 */
  /* Peers that multicast does not reach: announced to at these addresses (host byte order), ended by 0; or NULL. */
  const uint32_t *peers;
  /* Where others reach us, if not at our own address and ports (a forwarding gateway); 0: as they are. */
  uint32_t public_address;
  uint16_t public_port_offset;
};

/* What went wrong or was refused, since micro_init; nothing is lost without being counted here. */
struct micro_counters {
  uint32_t malformed;       /* submessages or datagrams that contradict their own lengths or the specification */
  uint32_t unsupported;     /* messages in another encapsulation than CDR, or of more fragments than MICRO_FRAGMENTS */
  uint32_t oversized;       /* messages or submessages longer than the storage set aside for them */
  uint32_t lost;            /* messages that a reliable writer no longer had when we asked for them */
  uint32_t peers_refused;   /* participants not admitted: all MICRO_PEERS are in use */
  uint32_t matches_refused; /* remote endpoints not matched: all MICRO_MATCHES are in use */
  uint32_t incompatible;    /* remote endpoints of our topic and type whose QoS does not go with ours */
  uint32_t events_dropped;  /* events not recorded: the ring was full */
  uint32_t send_refused;    /* datagrams that the port could not send (no ARP answer yet, queue full) */
};

/* Starts the node: opens the ports of its domain and announces it. The node and its table must stay. False: the network could not
 * open the ports, and nothing will come or go. */
bool micro_init(const struct micro_node *node);

/* Takes in what has arrived, calls back, and does what is due. To be called whenever the port's wait returns and at least
 * every 10 ms. */
void micro_spin(void);

/* Says goodbye: all peers forget the node at once. */
void micro_close(void);

/* Room for the next message of writer `endpoint` (its row in the table), to be filled by a generated write function and handed to
 * micro_publish without any other call in between. */
struct cdr_writer micro_loan(unsigned endpoint);

/* Sends the loaned message; returns the number of readers it went to, or -1 when it did not fit (nothing is sent). */
int micro_publish(unsigned endpoint, const struct cdr_writer *message);

/* To be called after rows were appended to the table and endpoint_count was raised, where the table is not constant. */
void micro_extended(void);

/* Remote endpoints matched with `endpoint`, and whose participants have acknowledged its announcement: what is published now reaches them. */
unsigned micro_matched(unsigned endpoint);

/* Whether every reliable reader has acknowledged all that `endpoint` has published. */
bool micro_acknowledged(unsigned endpoint);

/* The GUID of `endpoint`: 16 bytes, as `ros2 topic info -v` shows it. */
void micro_guid(unsigned endpoint, uint8_t guid[16]);

const struct micro_counters *micro_counters(void);

/* Participants known at present. */
unsigned micro_peers(void);

/* The node's own events (event.c): what it published and took, by writer GUID and sequence number. */
enum micro_event_kind {
  MICRO_EVENT_PUBLISH = 1, /* at the beginning of micro_publish */
  MICRO_EVENT_TAKE = 2,    /* just before on_message */
  MICRO_EVENT_MATCHED = 3, /* sequence: matches of the endpoint */
  MICRO_EVENT_INIT = 4,    /* micro_init entered */
  MICRO_EVENT_APPLICATION = 128, /* from here on the application's own */
};
struct micro_event {
  uint64_t time_ns; /* micro_clock_ns */
  uint64_t sequence;
  uint8_t writer_guid[16];
  uint8_t kind; /* enum micro_event_kind */
  uint8_t endpoint;
};

/* Records an event of the application: a kind from MICRO_EVENT_APPLICATION on, a row in the table, 16 bytes and a number of its own. */
void micro_record(uint8_t kind, uint8_t endpoint, const uint8_t bytes[16], uint64_t number);

/* Publishes the events recorded so far on writer `endpoint`, whose type is std_msgs/msg/UInt8MultiArray (layout: docs/micro.md).
 * Returns how many were sent; they leave the ring only when a reader was there and has acknowledged those before. */
unsigned micro_publish_events(unsigned endpoint);
#define MICRO_EVENTS_PUBLISHER 0xffffffffu /* stands where messages of tacho have the number of their publisher */

#endif /* TACHO_MICRO_H_ */
