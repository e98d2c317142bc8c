// SPDX-License-Identifier: Apache-2.0
//
// The optional tacho_take_within: a take that waits until there is a message, and no longer than it may.
#include "contract.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { BURSTS = 20, LIMIT_NS = 30000000 };
static const int64_t LONG_NS = 10000000000;

struct talker {
  struct tacho_publisher *publisher;
  size_t size;
  char error[TACHO_ERROR_SIZE];
  int failed;
};

static void notify(void *count) { atomic_fetch_add((atomic_int *)count, 1); }

// One message, then two at once, then three: of each burst the first finds the other side waiting, mostly.
static void *talk(void *context) {
  struct talker *talker = context;
  uint64_t sequence = 0;
  for (int burst = 0; burst < BURSTS; burst++) {
    for (int left = burst % 3; left >= 0 && !talker->failed; left--) {
      int kept;
      const void *message;
      unsigned char *data = mw->borrow(talker->publisher, &kept, &message, talker->error);
      const struct tacho_header header = {sequence, 0, 1, 0};
      if (data) memset(data, (int)sequence, talker->size);
      talker->failed = !data || mw->publish(talker->publisher, &header, talker->error) < 0;
      sequence++;
    }
    for (int i = 0; i < 10; i++) short_sleep();
  }
  return NULL;
}

static void check_size(const char *topic, size_t size) {
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle = NULL;
  const struct tacho_endpoint_config endpoint = {
      "talker", topic, "", size, {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 100}};
  struct tacho_session *one = joined(), *other = joined();
  struct talker talker = {.publisher = mw->advertise(one, &endpoint, &handle, error), .size = size};
  CHECK(talker.publisher, "advertise: %s", error);
  static atomic_int notified;
  notified = 0;
  struct tacho_subscription *s = mw->subscribe(other, &endpoint, mw->descriptor ? NULL : notify, &notified, &handle, error);
  CHECK(s, "subscribe: %s", error);
  CHECK(WAIT(mw->publisher_matched(talker.publisher, error) == 1 && mw->subscription_matched(s, error) == 1), "not matched");

  struct tacho_message m = {0};
  long long before = now_ns();
  CHECK(take_within(s, LIMIT_NS, &m, error) == 0, "took something where nothing was sent, or failed: %s", error);
  CHECK(now_ns() - before >= LIMIT_NS, "gave up after %lld ns of %d", now_ns() - before, LIMIT_NS);

  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, talk, &talker) == 0, "no thread");
  const uint64_t total = BURSTS / 3 * 6 + BURSTS % 3 * (BURSTS % 3 + 1) / 2;
  uint64_t next = 0;
  int taken = 1;
  for (; next < total && taken == 1; next++) {
    taken = take_within(s, LONG_NS, &m, error);
    if (taken != 1) break;
    const unsigned char *data = m.data;
    if (m.header.sequence != next || m.size != size || data[0] != (unsigned char)next || data[size - 1] != (unsigned char)next) break;
    mw->give_back(s, &m);
  }
  pthread_join(thread, NULL);
  CHECK(!talker.failed, "publish: %s", talker.error);
  CHECK(taken >= 0, "take_within: %s", error);
  CHECK(taken == 1, "message %llu of %llu did not come", (unsigned long long)next, (unsigned long long)total);
  CHECK(mw->descriptor || WAIT(notified > 0), "%llu messages came, and on_data was never called", (unsigned long long)next);
  CHECK(next == total, "took message %llu of %zu bytes, expected %llu of %zu", (unsigned long long)m.header.sequence, m.size,
        (unsigned long long)next, size);
}

void a_take_waits_for_a_message(void) {
  if (!take_within) return; // optional
  check_size("/waiting", 64);
  check_size("/waiting_long", 1 << 20); // in pieces, where the network has no longer ones
}
