/* SPDX-License-Identifier: Apache-2.0
 * A node of a workload on a board. One image serves all nodes: a block in memory (node_plan.h) describes its endpoints.
 *
 * It communicates with the runner on the console. It prints one line of words; it reads one letter (s: start, p: stop
 * sending by timer, e: end and report, q: leave). Its events record what it does when; it sends them on a topic of
 * their own. */
#include <string.h>

#include "board.h"
#include "chip.h"
#include "node_plan.h"
#include "std_msgs_msg_UInt8MultiArray.h"
#include "udp.h"

enum { EVENTS, CLOCK, OWN }; /* rows before those of the workload */

#define EVENTS_EVERY_MS 20u
#define EVENTS_DEPTH 4u
#define EVENTS_SIZE 1300u /* one datagram */
#define NODES_MAX 8u      /* publishers whose numbers it remembers */

/* Every message of tacho carries this before its data (native/include/tacho/middleware.h). */
struct header {
  uint64_t sequence;
  int64_t stamp_ns; /* of this board's clock */
  uint32_t publisher, reserved;
};

static const struct node_plan *const plan = (const struct node_plan *)NODE_PLAN;
static const uint8_t no_bytes[16];
static struct micro_endpoint endpoints[OWN + NODE_ROWS];
static struct micro_node node = {.ns = "/", .endpoints = endpoints};
static uint32_t events_storage[MICRO_WRITER_WORDS(EVENTS_DEPTH, EVENTS_SIZE)];
static char events_topic[96] = MICRO_TOPIC("/tacho/events/"), clock_topic[96] = MICRO_TOPIC("/tacho/clock/");
static uint64_t sent[NODE_ROWS], skipped[NODE_ROWS], taken[NODE_ROWS];
static uint32_t *arena = (uint32_t *)NODE_ARENA;

static void say(const char *what, uint32_t a, uint32_t b) {
  board_print(what);
  board_print(" ");
  board_print_number(a);
  board_print(" ");
  board_print_number(b);
  board_print("\n");
}

static uint32_t *storage(uint32_t words) {
  uint32_t *at = arena;
  arena += words;
  return at;
}

static void publish(unsigned row) {
  const struct node_row *of = &plan->row[row];
  const struct header header = {
      .sequence = sent[row]++, .stamp_ns = (int64_t)micro_clock_ns(), .publisher = of->publisher};
  const uint32_t head[3] = {
      0, 0, (uint32_t)sizeof header + of->size}; /* UInt8MultiArray: no dimensions, data_offset; length of data */
  struct cdr_writer cdr = micro_loan(OWN + row);
  cdr_write(&cdr, head, 4, 3);
  cdr_write(&cdr, &header, 1, sizeof header);
  /* The content does not matter; only copying it does. */
  cdr_write(&cdr, (const void *)NODE_ARENA, 1, of->size);
  micro_publish(OWN + row, &cdr);
}

/* Records once which publisher a writer is, and again if that changes. The reader of the events can then name each
 * message taken. */
static void name_writer(unsigned row, const struct micro_message *message, const struct header *header) {
  static struct {
    uint8_t guid[16];
    uint64_t number;
  } known[NODES_MAX];
  static unsigned next;
  uint64_t number = (uint64_t)header->publisher << 32 | (uint32_t)(message->sequence - header->sequence);
  for (unsigned i = 0; i < NODES_MAX; i++)
    if (known[i].number == number && !memcmp(known[i].guid, message->writer_guid, 16)) return;
  memcpy(known[next].guid, message->writer_guid, 16);
  known[next].number = number;
  next = (next + 1) % NODES_MAX;
  micro_record(NODE_NAMED, (uint8_t)(OWN + row), message->writer_guid, number);
}

static void take(unsigned row, const struct micro_message *message) {
  struct cdr_reader cdr = message->cdr;
  struct header header;
  uint32_t head[3];
  cdr_read(&cdr, head, 4, 3);
  cdr_read(&cdr, &header, 1, sizeof header);
  if (cdr.bad || head[0] != 0 || head[2] < sizeof header) return; /* not a message of tacho */
  name_writer(row, message, &header);
  taken[row]++;
  if (plan->row[row].triggers)
    for (unsigned i = 0; i < plan->rows; i++)
      if (!plan->row[i].reads && plan->row[i].timer == NO_TIMER) publish(i);
  micro_record(NODE_TAKEN, (uint8_t)(OWN + row), no_bytes, 0);
}

/* clang-format off */
#define CALLBACK(row) static void take_##row(const struct micro_message *message) { take(row, message); }
CALLBACK(0) CALLBACK(1) CALLBACK(2) CALLBACK(3) CALLBACK(4) CALLBACK(5) CALLBACK(6) CALLBACK(7) CALLBACK(8) CALLBACK(9) CALLBACK(10)
CALLBACK(11) CALLBACK(12) CALLBACK(13)
static void (*const callbacks[NODE_ROWS])(const struct micro_message *) = {
    take_0, take_1, take_2, take_3, take_4, take_5, take_6, take_7, take_8, take_9, take_10, take_11, take_12, take_13};
/* clang-format on */

/* There is nothing to do: an event already records that and when it was taken. */
static void on_clock(const struct micro_message *message) { (void)message; }

static void make_endpoints(void) {
  endpoints[EVENTS] = (struct micro_endpoint){.topic = strcat(events_topic, plan->name),
                                              .type = &std_msgs_msg_UInt8MultiArray_type,
                                              .qos = MICRO_RELIABLE,
                                              .depth = EVENTS_DEPTH,
                                              .size = EVENTS_SIZE,
                                              .storage = events_storage};
  endpoints[CLOCK] = (struct micro_endpoint){
      .topic = strcat(clock_topic, plan->name), .type = &std_msgs_msg_UInt8MultiArray_type, .on_message = on_clock};
  for (unsigned i = 0; i < plan->rows; i++) {
    const struct node_row *row = &plan->row[i];
    uint32_t size = 12 + (uint32_t)sizeof(struct header) + row->size;
    endpoints[OWN + i] = (struct micro_endpoint){.topic = row->topic,
                                                 .type = &std_msgs_msg_UInt8MultiArray_type,
                                                 .qos = row->qos,
                                                 .depth = row->depth,
                                                 .size = size};
    if (row->reads) endpoints[OWN + i].on_message = callbacks[i];
    endpoints[OWN + i].storage = storage(row->reads ? MICRO_READER_WORDS(size) : MICRO_WRITER_WORDS(row->depth, size));
  }
  node.name = plan->name;
  node.endpoint_count = (uint8_t)(OWN + plan->rows);
}

/* Returns whether every row has its peers. Reports a row that has not, if it is another one than before. */
static bool all_matched(void) {
  static uint32_t said = ~0u;
  bool heard = micro_matched(EVENTS) > 0 && micro_matched(CLOCK) > 0;
  for (unsigned i = 0; i < plan->rows; i++) {
    unsigned found = micro_matched(OWN + i);
    if (found >= plan->row[i].expected) continue;
    if (said != (i << 16 | found)) say("unmatched", i, found);
    said = i << 16 | found;
    return false;
  }
  return heard;
}

/* Returns when activation k of a timer is due, in ns after the start. */
static uint64_t due_ns(const struct node_timer *timer, uint64_t k) {
  return timer->phase_ns + (k * 1000000000000u + timer->rate_mhz / 2) / timer->rate_mhz;
}

static void run_timer(unsigned index, uint64_t start_ns) {
  static uint64_t activations[NODE_TIMERS];
  const struct node_timer *timer = &plan->timer[index];
  uint64_t k = activations[index], since_ns = micro_clock_ns() - start_ns, missed = 0;
  if (since_ns < due_ns(timer, k)) return;
  /* If the node is behind by a period or more, it sends the latest message and skips those before it. */
  while (since_ns >= due_ns(timer, k + 1)) k++, missed++;
  activations[index] = k + 1;
  micro_record(NODE_TIMER, (uint8_t)index, no_bytes, 0);
  for (unsigned i = 0; i < plan->rows; i++) {
    if (plan->row[i].reads || plan->row[i].timer != index) continue;
    uint64_t due[2] = {start_ns + due_ns(timer, k), 0};
    skipped[i] += missed;
    if (missed) micro_record(NODE_SKIPS, (uint8_t)(OWN + i), no_bytes, missed);
    micro_record(NODE_SENDS, (uint8_t)(OWN + i), (const uint8_t *)due, sent[i]);
    publish(i);
  }
  micro_record(NODE_TIMER_END, (uint8_t)index, no_bytes, 0);
}

/* Sends the remaining events, as long as somebody takes them. */
static void send_events(void) {
  uint32_t since = micro_clock_ms();
  while (micro_clock_ms() - since < 2000u && micro_matched(EVENTS)) {
    micro_spin();
    if (micro_publish_events(EVENTS) == 0 && micro_acknowledged(EVENTS)) break;
    board_wait();
  }
}

static void report(void) {
  const struct micro_counters *counters = micro_counters();
  for (unsigned i = 0; i < plan->rows; i++) {
    say("messages", i, (uint32_t)(plan->row[i].reads ? taken[i] : sent[i]));
    if (skipped[i]) say("skipped", i, (uint32_t)skipped[i]);
  }
  for (unsigned i = 0; i < sizeof *counters / 4; i++) say("counter", i, ((const uint32_t *)counters)[i]);
  say("arena", (uint32_t)((uintptr_t)arena - NODE_ARENA), 0);
  board_print("done\n");
}

int main(void) {
  board_start(&node);
  if (plan->magic != NODE_PLAN_MAGIC || plan->size != sizeof *plan || plan->rows > NODE_ROWS ||
      plan->timers > NODE_TIMERS) {
    say("failed: plan of size", plan->size, (uint32_t)sizeof *plan);
    return 1;
  }
  make_endpoints();
  if ((uintptr_t)arena > NODE_ARENA_END) {
    say("failed: memory of messages in kB, and limit", (uint32_t)((uintptr_t)arena - NODE_ARENA) / 1024,
        (NODE_ARENA_END - NODE_ARENA) / 1024);
    return 1;
  }
  if (!micro_init(&node)) {
    board_print("failed: no ports\n");
    return 1;
  }
  board_print("up\n");
  bool matched = false, started = plan->at_once, timers = true;
  uint64_t start_ns = micro_clock_ns();
  uint32_t events_ms = 0;
  for (;;) {
    micro_spin();
    if (!matched && all_matched()) {
      matched = true;
      micro_record(NODE_READY, 0, no_bytes, 0);
      board_print("matched\n");
    }
    switch (board_read()) {
      case 's':
        started = true, start_ns = micro_clock_ns();
        break;
      case 'p':
        timers = false;
        break;
      case 'e':
        started = false;
        send_events();
        report();
        break;
      case 'q':
        micro_close();
        return 0;
    }
    for (unsigned i = 0; started && timers && i < plan->timers; i++) run_timer(i, start_ns);
    if (micro_clock_ms() - events_ms >= EVENTS_EVERY_MS) {
      events_ms = micro_clock_ms();
      micro_publish_events(EVENTS);
    }
    board_wait();
  }
}
