// SPDX-License-Identifier: Apache-2.0
#include "contract.h"
#include "exchange.h"
#include "resources.h"
#include "suite.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1024u * 1024u)
static const struct tacho_qos RELIABLE = {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 10};

// Checks

static void the_lists_are_filled(void) {
  CHECK(mw->name && *mw->name, "no name");
  CHECK(mw->transports && mw->transports[0], "no transports");
  CHECK(mw->types && mw->types[0], "no types");
}

static void open_everything_and_close(struct segments *segments) {
  const struct sort sort = {"/leak", "", MIB, RELIABLE};
  /* Static, because sessions close after the check returned, and on_data may be called until then. */
  static atomic_int notified;
  notified = 0;
  struct tacho_session *session = session_with_node();
  wait_matched(publisher(session, &sort), subscription(session, &sort, &notified));
  note_segments(segments);
  closed(session);
}

static size_t heap_bytes(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }

static void closing_leaves_nothing_behind(void) {
  struct segments segments = {.count = 0};
  // What a middleware keeps once for the process is no leak.
  for (int i = 0; i < 2; i++) open_everything_and_close(&segments);
  int descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task"), kept = segments_there(&segments);
  enum { ROUNDS = 5 };
  size_t heap = heap_bytes();
  for (int i = 0; i < ROUNDS; i++) open_everything_and_close(&segments);
  CHECK(WAIT(entries("/proc/self/fd") <= descriptors), "%d file descriptors, %d before", entries("/proc/self/fd"),
        descriptors);
  CHECK(WAIT(entries("/proc/self/task") <= threads), "%d threads, %d before", entries("/proc/self/task"), threads);
  // Some have well-known names (a port's in Fast DDS), are shared with other programs and found again, so only growth
  // with every round is a leak.
  CHECK(WAIT(segments_there(&segments) < kept + ROUNDS), "%d segments of ours in /dev/shm, %d before",
        segments_there(&segments), kept);
  // The message of 1 MiB must be gone; a few KiB a round are caches of allocators and libraries.
  CHECK(WAIT(heap_bytes() < heap + ROUNDS * 64 * 1024), "the heap grew by %zu bytes in %d rounds", heap_bytes() - heap,
        ROUNDS);
}

static void matched_in_either_order(void) {
  for (int publisher_first = 0; publisher_first < 2; publisher_first++) {
    const struct sort sort = {publisher_first ? "/publisher_first" : "/subscription_first", "", 16, RELIABLE};
    struct tacho_session *one = session_with_node(), *other = session_with_node();
    struct tacho_publisher *p = NULL;
    if (publisher_first) {
      p = publisher(one, &sort);
      CHECK(readers(p) == 0, "matched with %d before there is a subscription", readers(p));
    }
    struct tacho_subscription *s = subscription(other, &sort, NULL);
    if (!publisher_first) {
      CHECK(writers(s) == 0, "matched with %d before there is a publisher", writers(s));
      p = publisher(one, &sort);
    }
    wait_matched(p, s);
    subscription(one, &sort, NULL);
    CHECK(WAIT(readers(p) == 2), "%d of 2 subscriptions matched", readers(p));
    closed(one);
    CHECK(WAIT(writers(s) == 0), "still matched with a closed session's publisher");
    closed(other);
  }
}

static void round_trip(const struct sort *sort) {
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_publisher *p = publisher(one, sort);
  struct tacho_subscription *s = subscription(other, sort, NULL);
  wait_matched(p, s);
  for (uint64_t sequence = 0; sequence < 3; sequence++) {
    publish(p, sort, sequence);
    expect(s, sort, sequence);
  }
  expect_nothing(s);
  closed(one);
  closed(other);
}

static void every_size_comes_unchanged(void) {
  const size_t sizes[] = {0, 16, 64, 4096, MIB};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char topic[32];
    snprintf(topic, sizeof topic, "/size_%zu", sizes[i]);
    round_trip(&(struct sort){topic, "", sizes[i], RELIABLE});
  }
}

static void every_type_comes_unchanged(void) {
  const size_t sizes[] = {48, 4096, MIB};
  for (const char *const *type = mw->types; *type; type++) {
    int carried = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      char topic[64], error[TACHO_ERROR_SIZE] = "";
      const void *handle;
      snprintf(topic, sizeof topic, "/type_%s_%zu", *type, sizes[i]);
      const struct sort sort = {topic, *type, sizes[i], RELIABLE};
      struct tacho_session *probe = session_with_node();
      struct tacho_endpoint_config c = config(&sort);
      int accepted = mw->advertise(probe, &c, &handle, error) != NULL;
      closed(probe);
      if (accepted)
        round_trip(&sort);
      else
        CHECK(*error, "%s of %zu bytes is refused without a word", *type, sizes[i]);
      carried += accepted;
    }
    CHECK(carried, "%s is listed, and refused with 48 B, 4 KiB and 1 MiB", *type);
  }
}

static void order_is_kept(void) {
  const struct sort sort = {"/order", "", 16, {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 100}};
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_publisher *p = publisher(one, &sort);
  struct tacho_subscription *s = subscription(other, &sort, NULL);
  wait_matched(p, s);
  for (uint64_t sequence = 0; sequence < 50; sequence++) publish(p, &sort, sequence);
  for (uint64_t sequence = 0; sequence < 50; sequence++) expect(s, &sort, sequence);
}

static void keep_last_overwrites_the_oldest(void) {
  const struct sort sent = {"/keep_last", "", 16, {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 50}};
  struct sort kept = sent;
  kept.qos.depth = 3;
  static atomic_int witnessed;
  witnessed = 0;
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_publisher *p = publisher(one, &sent);
  struct tacho_subscription *s = subscription(other, &kept, NULL);
  struct tacho_subscription *witness = subscription(other, &sent, &witnessed);
  CHECK(WAIT(readers(p) == 2), "%d of 2 subscriptions matched", readers(p));
  // One by one, each seen by the witness: when it has message n+1, message n is in both queues.
  for (uint64_t sequence = 0; sequence < 10; sequence++) {
    publish(p, &sent, sequence);
    expect(witness, &sent, sequence);
  }
  struct tacho_message m = {0};
  uint64_t first = UINT64_MAX, last = 0;
  int count = 0;
  // The last may still be on its way to the queue under test; those before it have arrived.
  while (last != 9) {
    CHECK(WAIT(taken(s, &m)), "the newest message did not come; the last taken is %llu", (unsigned long long)last);
    if (!count++) first = m.header.sequence;
    CHECK(m.header.sequence >= last, "message %llu behind %llu", (unsigned long long)m.header.sequence,
          (unsigned long long)last);
    last = m.header.sequence;
    mw->give_back(s, &m);
  }
  CHECK(first == 7 || first == 6, "the oldest kept is %llu, expected 7", (unsigned long long)first);
  CHECK(count == 10 - (int)first, "%d messages kept from %llu on", count, (unsigned long long)first);
  expect_nothing(s);
}

static void on_data_is_called(void) {
  const struct sort sort = {"/on_data", "", 16, RELIABLE};
  static atomic_int notified;
  notified = 0;
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_publisher *p = publisher(one, &sort);
  struct tacho_subscription *s = subscription(other, &sort, &notified);
  wait_matched(p, s);
  for (uint64_t sequence = 0; sequence < 5; sequence++) {
    int before = atomic_load(&notified);
    publish(p, &sort, sequence);
    CHECK(WAIT(atomic_load(&notified) > before), "not called for message %llu", (unsigned long long)sequence);
    expect(s, &sort, sequence);
  }
}

static void a_message_is_there_when_on_data_is_called(void) {
  const struct sort sort = {"/there", "", 4096, RELIABLE};
  static atomic_int notified;
  notified = 0;
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_publisher *p = publisher(one, &sort);
  struct tacho_subscription *s = subscription(other, &sort, &notified);
  wait_matched(p, s);
  for (uint64_t sequence = 0; sequence < 50; sequence++) {
    int before = atomic_load(&notified);
    struct tacho_message m = {0};
    publish(p, &sort, sequence);
    CHECK(WAIT(atomic_load(&notified) > before), "on_data was not called for message %llu",
          (unsigned long long)sequence);
    CHECK(taken(s, &m), "on_data was called, but message %llu is not there", (unsigned long long)sequence);
    mw->give_back(s, &m);
  }
}

static void topics_do_not_mix(void) {
  const struct sort left = {"/left", "", 16, RELIABLE}, right = {"/right", "", 64, RELIABLE};
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_publisher *p = publisher(one, &left), *q = publisher(one, &right);
  struct tacho_subscription *s = subscription(other, &left, NULL), *t = subscription(other, &right, NULL);
  wait_matched(p, s);
  wait_matched(q, t);
  publish(p, &left, 1);
  expect(s, &left, 1);
  publish(q, &right, 2);
  expect(t, &right, 2);
  expect_nothing(s);
  expect_nothing(t);
}

static void a_lent_message_stays_unchanged(void) {
  const struct sort sort = {"/lent", "", 4096, RELIABLE};
  static atomic_int notified;
  notified = 0;
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_publisher *p = publisher(one, &sort);
  struct tacho_subscription *s = subscription(other, &sort, &notified);
  wait_matched(p, s);
  struct tacho_message m = {0};
  publish(p, &sort, 0);
  CHECK(WAIT(taken(s, &m)), "message 0 did not come");
  int before = atomic_load(&notified);
  for (uint64_t sequence = 1; sequence < 4; sequence++) publish(p, &sort, sequence);
  CHECK(WAIT(atomic_load(&notified) > before), "on_data was not called while a message was lent");
  for (size_t i = 0; i < m.size; i++)
    CHECK(((const unsigned char *)m.data)[i] == value(0, i), "byte %zu changed while lent", i);
  mw->give_back(s, &m);
  for (uint64_t sequence = 1; sequence < 4; sequence++) expect(s, &sort, sequence);
}

static void kept_buffers_hold_what_was_filled_in(void) {
  const struct sort sort = {"/kept", "", 4096, RELIABLE};
  struct tacho_session *session = session_with_node();
  struct tacho_publisher *p = publisher(session, &sort);
  for (uint64_t round = 0; round < 5; round++) {
    char error[TACHO_ERROR_SIZE] = "";
    int kept = -1;
    const void *message = NULL;
    unsigned char *data = mw->borrow(p, &kept, &message, error);
    CHECK(data, "borrow: %s", error);
    for (size_t i = 0; i < sort.size; i++) {
      if (kept) CHECK(data[i] == value(0, i), "kept, but byte %zu is not what was filled in", i);
      data[i] = value(0, i);
    }
    CHECK(round || !kept, "the first buffer says that it was filled in before");
    struct tacho_header h = header(round);
    CHECK(mw->publish(p, &h, error) == 0, "publish: %s", error);
  }
}

static void best_effort_does_not_satisfy_reliable(void) {
  const struct sort reliable = {"/offered", "", 16, RELIABLE};
  struct sort best_effort = reliable;
  best_effort.qos.reliability = TACHO_BEST_EFFORT;
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_subscription *s = subscription(other, &reliable, NULL);
  struct tacho_publisher *weak = publisher(one, &best_effort);
  struct tacho_publisher *strong = publisher(one, &reliable);
  // It is announced after the weak one, so when it is matched, the subscription has examined the weak one.
  CHECK(WAIT(readers(strong) == 1 && writers(s) >= 1), "the reliable publisher is not matched");
  CHECK(readers(weak) == 0 && writers(s) == 1, "a best-effort publisher is matched with a reliable subscription");
}

static void a_late_joiner_gets_the_last_message(void) {
  const struct sort sort = {"/late", "", 64, {TACHO_RELIABLE, TACHO_TRANSIENT_LOCAL, TACHO_KEEP_LAST, 1}};
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle;
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_endpoint_config c = config(&sort);
  struct tacho_publisher *p = mw->advertise(one, &c, &handle, error);
  if (!p) {
    CHECK(*error, "transient local is refused without a word");
    return;
  }
  for (uint64_t sequence = 0; sequence < 3; sequence++) publish(p, &sort, sequence);
  struct tacho_subscription *s = subscription(other, &sort, NULL);
  expect(s, &sort, 2);
  expect_nothing(s);
}

static void refused(const char *what, struct tacho_session *session, struct tacho_endpoint_config c) {
  const void *handle;
  char error[TACHO_ERROR_SIZE] = "";
  CHECK(!mw->advertise(session, &c, &handle, error), "advertise accepts %s", what);
  CHECK(strlen(error) > 10, "advertise refuses %s without a word", what);
  *error = 0;
  CHECK(!mw->subscribe(session, &c, NULL, NULL, &handle, error), "subscribe accepts %s", what);
  CHECK(strlen(error) > 10, "subscribe refuses %s without a word", what);
}

static void what_cannot_be_honoured_is_refused(void) {
  const struct sort good = {"/refused", "", 16, RELIABLE};
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle;
  int traced;
  struct tacho_session *session = session_with_node();
  struct tacho_endpoint_config c = config(&good);
  c.type = "NoSuchType";
  refused("an unknown type", session, c);
  c = config(&good);
  c.qos.reliability = 7;
  refused("an unknown reliability", session, c);
  c = config(&good);
  c.qos.durability = 7;
  refused("an unknown durability", session, c);
  c = config(&good);
  c.qos.history = 7;
  refused("an unknown history", session, c);
  c = config(&good);
  c.qos.depth = 0;
  refused("keep last of depth 0", session, c);
  c = config(&good);
  c.node = "nobody";
  refused("a node that was not made", session, c);
  CHECK(mw->node(session, "talker", &handle, &traced, error) < 0 && *error, "the same node is made twice");
  *error = 0;
  CHECK(!mw->open(&(struct tacho_session_config){domain, "no such transport", ""}, error),
        "an unknown transport is accepted");
  CHECK(strlen(error) > 10, "an unknown transport is refused without a word");
}

enum { BURST = 200 };
static struct sort threaded[2] = {{"/thread_0", "", 16, {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_ALL, 1}},
                                  {"/thread_1", "", 16, {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_ALL, 1}}};
struct worker {
  struct tacho_publisher *publisher;
  const char *failure;
};

static void *publish_many(void *argument) {
  struct worker *worker = argument;
  char error[TACHO_ERROR_SIZE];
  for (uint64_t sequence = 0; sequence < BURST && !worker->failure; sequence++) {
    int kept;
    const void *message;
    unsigned char *data = mw->borrow(worker->publisher, &kept, &message, error);
    for (size_t i = 0; data && i < threaded->size; i++) data[i] = value(sequence, i);
    struct tacho_header h = header(sequence);
    if (!data || mw->publish(worker->publisher, &h, error) < 0) worker->failure = strdup(error);
  }
  return NULL;
}

static void two_threads_share_a_session(void) {
  struct tacho_session *one = session_with_node(), *other = session_with_node();
  struct tacho_subscription *s[2];
  struct worker workers[2] = {0};
  pthread_t threads[2];
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle;
  struct tacho_endpoint_config c = config(&(struct sort){"/keep_all", "", 16, threaded->qos});
  if (!mw->advertise(one, &c, &handle, error)) {
    CHECK(*error, "keep all is refused without a word");
    for (int i = 0; i < 2; i++)
      threaded[i].qos = (struct tacho_qos){TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, BURST};
  }
  for (int i = 0; i < 2; i++) {
    workers[i].publisher = publisher(one, &threaded[i]);
    s[i] = subscription(other, &threaded[i], NULL);
    wait_matched(workers[i].publisher, s[i]);
  }
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, publish_many, &workers[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; i++) CHECK(!workers[i].failure, "%s", workers[i].failure);
  for (int i = 0; i < 2; i++)
    for (uint64_t sequence = 0; sequence < BURST; sequence++) expect(s[i], &threaded[i], sequence);
}

const struct check checks[] = {
    {"name, transports and types are listed", the_lists_are_filled},
    {"closing leaves no thread, descriptor, segment or memory behind", closing_leaves_nothing_behind},
    {"publisher and subscription find each other in either order", matched_in_either_order},
    {"messages of every size come unchanged", every_size_comes_unchanged},
    {"messages of every type come unchanged", every_type_comes_unchanged},
    {"order is kept", order_is_kept},
    {"keep last overwrites the oldest", keep_last_overwrites_the_oldest},
    {"on_data is called", on_data_is_called},
    {"a message is there when on_data is called", a_message_is_there_when_on_data_is_called},
    {"a descriptor tells of messages", a_descriptor_tells_of_messages},
    {"a call waits for a message", a_call_waits_for_a_message},
    {"a call without a limit is woken", a_call_without_a_limit_is_woken},
    {"two topics do not mix", topics_do_not_mix},
    {"a lent message stays unchanged", a_lent_message_stays_unchanged},
    {"kept buffers hold what was filled in", kept_buffers_hold_what_was_filled_in},
    {"a best-effort publisher does not satisfy a reliable subscription", best_effort_does_not_satisfy_reliable},
    {"a late joiner gets the last message of a transient-local publisher", a_late_joiner_gets_the_last_message},
    {"what cannot be honoured is refused with a text", what_cannot_be_honoured_is_refused},
    {"two threads share a session", two_threads_share_a_session},
    {NULL, NULL}};
