// SPDX-License-Identifier: Apache-2.0
//
// The optional tacho_call_within: waits until there is a message, and no longer than it may, and gives it to a function.
#include "contract.h"
#include "suite.h"

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
  atomic_int heard;  // the listener has the first message, or gave up
};

struct listener {
  uint64_t next;  // sequence number of the message that comes now
  size_t size;
  int calls, right;
  struct tacho_message last;
};

static void listen_to(void *context, const struct tacho_message *m) {
  struct listener *listener = context;
  const unsigned char *data = m->data, expected = (unsigned char)listener->next;
  listener->calls++;
  listener->last = *m;
  listener->right = m->header.sequence == listener->next && m->size == listener->size && data[0] == expected &&
                    data[m->size - 1] == expected;
}

static void notify(void *count) { atomic_fetch_add((atomic_int *)count, 1); }

// One message, then two at once, then three: of each burst the first finds the other side waiting, mostly. What comes
// before the first is taken may be lost (Cyber RT's readers begin with the newest), so the second waits for that.
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
    while (!talker->heard) short_sleep();
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
  struct tacho_subscription *s =
      mw->subscribe(other, &endpoint, mw->descriptor ? NULL : notify, &notified, &handle, error);
  CHECK(s, "subscribe: %s", error);
  CHECK(WAIT(mw->publisher_matched(talker.publisher, error) == 1 && mw->subscription_matched(s, error) == 1),
        "not matched");

  struct listener listener = {.size = size};
  long long before = now_ns();
  CHECK(call_within(s, LIMIT_NS, listen_to, &listener, error) == 0, "called where nothing was sent, or failed: %s",
        error);
  CHECK(now_ns() - before >= LIMIT_NS, "gave up after %lld ns of %d", now_ns() - before, LIMIT_NS);

  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, talk, &talker) == 0, "no thread");
  const uint64_t total = BURSTS / 3 * 6 + BURSTS % 3 * (BURSTS % 3 + 1) / 2;
  int called = 1;
  while (listener.next < total) {
    called = call_within(s, LONG_NS, listen_to, &listener, error);
    if (called != 1 || !listener.right) break;
    listener.next++;
    talker.heard = 1;
  }
  talker.heard = 1;
  pthread_join(thread, NULL);
  CHECK(!talker.failed, "publish: %s", talker.error);
  CHECK(called >= 0, "call_within: %s", error);
  CHECK(called == 1, "message %llu of %llu did not come", (unsigned long long)listener.next, (unsigned long long)total);
  CHECK(listener.next == total, "got message %llu of %zu bytes, expected %llu of %zu",
        (unsigned long long)listener.last.header.sequence, listener.last.size, (unsigned long long)listener.next, size);
  CHECK(listener.calls == (int)total, "%d calls for %llu messages", listener.calls, (unsigned long long)total);
  CHECK(mw->descriptor || WAIT(notified > 0), "%d messages came, and on_data was never called", listener.calls);
  struct tacho_message none;
  CHECK(mw->take(s, &none, error) == 0, "a message was not given back, or came twice: %s", error);
}

void a_call_waits_for_a_message(void) {
  if (!call_within) return;  // optional
  check_size("/waiting", 64);
  check_size("/waiting_long", 1 << 20);  // in pieces, if the network limits their length
}

static void *wake_later(void *subscription) {
  for (int i = 0; i < 50; i++)
    short_sleep();  // long enough for the other thread to sleep, mostly; right whether it does or not
  wake(subscription);
  return NULL;
}

void a_call_without_a_limit_is_woken(void) {
  if (!wake) return;  // optional
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle = NULL;
  const struct tacho_endpoint_config endpoint = {
      "talker", "/woken", "", 64, {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 100}};
  struct tacho_session *one = joined(), *other = joined();
  struct talker talker = {.publisher = mw->advertise(one, &endpoint, &handle, error), .size = 64};
  struct tacho_subscription *s = mw->subscribe(other, &endpoint, NULL, NULL, &handle, error);
  CHECK(talker.publisher && s, "endpoints: %s", error);
  CHECK(WAIT(mw->publisher_matched(talker.publisher, error) == 1 && mw->subscription_matched(s, error) == 1),
        "not matched");
  struct listener listener = {.size = 64};
  for (int round = 0; round < 5; round++) {
    CHECK(call_within(s, LIMIT_NS, listen_to, &listener, error) == 0, "called where nothing was sent, or failed: %s",
          error);
    wake(s);  // before the wait
    CHECK(call_within(s, INT64_MAX, listen_to, &listener, error) == 0, "called where nothing was sent, or failed: %s",
          error);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wake_later, s) == 0, "no thread");
    const int called = call_within(s, INT64_MAX, listen_to, &listener, error);
    pthread_join(thread, NULL);
    CHECK(called == 0, "called where nothing was sent, or failed: %s", error);
  }
  // No wake-up is left over, which would end a wait for a message.
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, talk, &talker) == 0, "no thread");
  const uint64_t total = BURSTS / 3 * 6 + BURSTS % 3 * (BURSTS % 3 + 1) / 2;
  int called = 1;
  while (listener.next < total && called == 1) {
    called = call_within(s, INT64_MAX, listen_to, &listener, error);
    listener.next += called == 1;
    talker.heard = 1;
  }
  pthread_join(thread, NULL);
  CHECK(!talker.failed && called == 1, "message %llu of %llu: %s%s", (unsigned long long)listener.next,
        (unsigned long long)total, talker.error, error);
}
