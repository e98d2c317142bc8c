// SPDX-License-Identifier: Apache-2.0
//
// The optional descriptor of a subscription is readable if a message may have come since take() last found none, and
// soon not any more.
#include "contract.h"
#include "suite.h"

#include <poll.h>

static const struct tacho_endpoint_config endpoint = {
    "talker", "/descriptor", "", 64, {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 10}};

static int is_readable(int descriptor, int milliseconds) {
  struct pollfd polled = {descriptor, POLLIN, 0};
  CHECK(poll(&polled, 1, milliseconds) >= 0, "the descriptor %d cannot be waited for", descriptor);
  return polled.revents != 0;
}

// Takes all messages that are there, and checks their order.
static void take_all(struct tacho_subscription *s, uint64_t *next) {
  char error[TACHO_ERROR_SIZE] = "";
  struct tacho_message message = {0};
  int taken;
  while ((taken = mw->take(s, &message, error)) == 1) {
    CHECK(message.header.sequence == *next, "took message %llu, expected %llu",
          (unsigned long long)message.header.sequence, (unsigned long long)*next);
    (*next)++;
    mw->give_back(s, &message);
  }
  CHECK(taken == 0, "take: %s", error);
}

void a_descriptor_tells_of_messages(void) {
  if (!mw->descriptor) return;  // optional
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle = NULL;
  struct tacho_session *one = joined(), *other = joined();
  struct tacho_publisher *p = mw->advertise(one, &endpoint, &handle, error);
  CHECK(p, "advertise: %s", error);
  struct tacho_subscription *s = mw->subscribe(other, &endpoint, NULL, NULL, &handle, error);
  CHECK(s, "subscribe: %s", error);
  int descriptor = mw->descriptor(s, error);
  CHECK(descriptor >= 0, "descriptor: %s", error);
  CHECK(WAIT(mw->publisher_matched(p, error) == 1 && mw->subscription_matched(s, error) == 1), "not matched");

  uint64_t sent = 0, next = 0;
  // Matching may have made it readable; a take that finds nothing ends that.
  CHECK(WAIT((take_all(s, &next), !is_readable(descriptor, 0))), "readable without a message");
  for (int round = 0; round < 20; round++) {
    // One message, or some at once: the first must wake the waiting thread, and none may stay behind without a sign.
    for (int burst = round % 3; burst >= 0; burst--) {
      int kept;
      const void *message;
      CHECK(mw->borrow(p, &kept, &message, error), "borrow: %s", error);
      struct tacho_header header = {sent++, 0, 1, 0};
      CHECK(mw->publish(p, &header, error) == 0, "publish: %s", error);
    }
    while (next < sent) {
      CHECK(is_readable(descriptor, 10000), "not readable, and message %llu is not taken", (unsigned long long)next);
      take_all(s, &next);
    }
  }
  CHECK(WAIT((take_all(s, &next), !is_readable(descriptor, 0))), "readable when all is taken");
}
