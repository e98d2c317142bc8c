// SPDX-License-Identifier: Apache-2.0
#include "exchange.h"

#include <string.h>

struct tacho_endpoint_config config(const struct sort *sort) {
  return (struct tacho_endpoint_config){"talker", sort->topic, sort->type, sort->size, sort->qos};
}

struct tacho_session *session_with_node(void) {
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle = NULL;
  int traced = -1;
  struct tacho_session *session = opened();
  CHECK(mw->node(session, "talker", &handle, &traced, error) == 0, "node: %s", error);
  CHECK(handle, "node gives no handle");
  CHECK(traced == 0 || traced == 1, "traced is %d", traced);
  return session;
}

struct tacho_publisher *publisher(struct tacho_session *session, const struct sort *sort) {
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle = NULL;
  struct tacho_endpoint_config c = config(sort);
  struct tacho_publisher *made = mw->advertise(session, &c, &handle, error);
  CHECK(made && handle, "advertise %s: %s", sort->topic, error);
  return made;
}

static void notify(void *count) { atomic_fetch_add((atomic_int *)count, 1); }

struct tacho_subscription *subscription(struct tacho_session *session, const struct sort *sort, atomic_int *notified) {
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle = NULL;
  struct tacho_endpoint_config c = config(sort);
  struct tacho_subscription *made = mw->subscribe(session, &c, notified ? notify : NULL, notified, &handle, error);
  CHECK(made && handle, "subscribe %s: %s", sort->topic, error);
  return made;
}

int readers(struct tacho_publisher *p) {
  char error[TACHO_ERROR_SIZE] = "";
  int count = mw->publisher_matched(p, error);
  CHECK(count >= 0, "publisher_matched: %s", error);
  return count;
}

int writers(struct tacho_subscription *s) {
  char error[TACHO_ERROR_SIZE] = "";
  int count = mw->subscription_matched(s, error);
  CHECK(count >= 0, "subscription_matched: %s", error);
  return count;
}

void wait_matched(struct tacho_publisher *p, struct tacho_subscription *s) {
  CHECK(WAIT(readers(p) == 1), "the publisher found %d subscriptions, expected 1", readers(p));
  CHECK(WAIT(writers(s) == 1), "the subscription found %d publishers, expected 1", writers(s));
}

unsigned char value(uint64_t sequence, size_t at) { return (unsigned char)(sequence * 31 + at * 7 + (at >> 8)); }

struct tacho_header header(uint64_t sequence) {
  return (struct tacho_header){sequence, 1234567890123456789ll + (int64_t)sequence, 0xfedcba98u, 0x01234567u};
}

void publish(struct tacho_publisher *p, const struct sort *sort, uint64_t sequence) {
  char error[TACHO_ERROR_SIZE] = "";
  int kept = -1;
  const void *message = NULL;
  unsigned char *data = mw->borrow(p, &kept, &message, error);
  CHECK(data, "borrow: %s", error);
  CHECK(message, "borrow gives the message no address");
  CHECK(kept == 0 || kept == 1, "kept is %d", kept);
  for (size_t i = 0; i < sort->size; i++) data[i] = value(sequence, i);
  struct tacho_header h = header(sequence);
  CHECK(mw->publish(p, &h, error) == 0, "publish: %s", error);
}

int taken(struct tacho_subscription *s, struct tacho_message *message) {
  char error[TACHO_ERROR_SIZE] = "";
  int got = mw->take(s, message, error);
  CHECK(got >= 0, "take: %s", error);
  CHECK(got <= 1, "take gives %d", got);
  return got;
}

void expect(struct tacho_subscription *s, const struct sort *sort, uint64_t sequence) {
  struct tacho_message m = {0};
  CHECK(WAIT(taken(s, &m)), "%s: message %llu of %zu bytes did not come", sort->topic, (unsigned long long)sequence,
        sort->size);
  struct tacho_header h = header(sequence);
  CHECK(m.header.sequence == sequence, "%s: took message %llu, expected %llu", sort->topic,
        (unsigned long long)m.header.sequence, (unsigned long long)sequence);
  CHECK(!memcmp(&m.header, &h, sizeof h), "%s: the header came changed (stamp %lld, publisher %x, reserved %x)",
        sort->topic, (long long)m.header.stamp_ns, m.header.publisher, m.header.reserved);
  CHECK(m.size == sort->size, "%s: took %zu bytes, expected %zu", sort->topic, m.size, sort->size);
  for (size_t i = 0; i < m.size; i++)
    CHECK(((const unsigned char *)m.data)[i] == value(sequence, i), "%s: byte %zu of %zu came changed", sort->topic, i,
          m.size);
  mw->give_back(s, &m);
}

void expect_nothing(struct tacho_subscription *s) {
  struct tacho_message m;
  CHECK(!taken(s, &m), "took message %llu from a queue that should be empty", (unsigned long long)m.header.sequence);
}
