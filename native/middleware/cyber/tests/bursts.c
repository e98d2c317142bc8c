// SPDX-License-Identifier: Apache-2.0
//
// bursts PLUGIN.so TRANSPORT tests order and completeness, which the conformance suite cannot test here. Cyber RT's
// reader begins with the newest message that is there when its callback runs for the first time, so messages of a first
// burst may be lost. After one message, bursts from two threads come whole and in order.
#include <pthread.h>
#include <stdio.h>

#include <tacho/middleware.h>

#include "../../conformance/domain.h"
#include "check.h"

enum { BURST = 200, TOPICS = 2 };
static const struct tacho_qos deep = {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 2 * BURST};
static const struct tacho_middleware *mw;

static void publish(struct tacho_publisher *p, uint64_t sequence) {
  char error[TACHO_ERROR_SIZE] = "";
  int kept;
  const void *message;
  CHECK(mw->borrow(p, &kept, &message, error), "%s", error);
  CHECK(mw->publish(p, &(struct tacho_header){sequence, 0, 0, 0}, error) == 0, "%s", error);
}

static void expect(struct tacho_subscription *s, uint64_t sequence) {
  char error[TACHO_ERROR_SIZE] = "";
  struct tacho_message m;
  int got;
  CHECK(WAIT((got = mw->take(s, &m, error)) != 0), "message %llu did not come", (unsigned long long)sequence);
  CHECK(got == 1, "take: %s", error);
  CHECK(m.header.sequence == sequence, "took message %llu, expected %llu", (unsigned long long)m.header.sequence,
        (unsigned long long)sequence);
  mw->give_back(s, &m);
}

static void *burst(void *publisher) {
  for (uint64_t sequence = 1; sequence <= BURST; sequence++) publish(publisher, sequence);
  return NULL;
}

int main(int count, char **arguments) {
  CHECK(count == 3, "usage: bursts PLUGIN.so TRANSPORT");
  mw = middleware_of(arguments[1]);
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle;
  int traced;
  struct tacho_session *session = mw->open(&(struct tacho_session_config){reserved_domain(), arguments[2], ""}, error);
  CHECK(session && mw->node(session, "node", &handle, &traced, error) == 0, "%s", error);
  struct tacho_publisher *publishers[TOPICS];
  struct tacho_subscription *subscriptions[TOPICS];
  for (int i = 0; i < TOPICS; i++) {
    const char *topic = i ? "/right" : "/left";
    const struct tacho_endpoint_config config = {"node", topic, "", 64, deep};
    publishers[i] = mw->advertise(session, &config, &handle, error);
    subscriptions[i] = mw->subscribe(session, &config, NULL, NULL, &handle, error);
    CHECK(publishers[i] && subscriptions[i], "%s", error);
    CHECK(WAIT(mw->publisher_matched(publishers[i], error) == 1), "%s: not matched", topic);
    publish(publishers[i], 0);
    expect(subscriptions[i], 0);
  }
  pthread_t threads[TOPICS];
  for (int i = 0; i < TOPICS; i++) pthread_create(&threads[i], NULL, burst, publishers[i]);
  for (int i = 0; i < TOPICS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < TOPICS; i++)
    for (uint64_t sequence = 1; sequence <= BURST; sequence++) expect(subscriptions[i], sequence);
  mw->close(session);
  printf("ok: %s\n", arguments[2]);
}
