// SPDX-License-Identifier: Apache-2.0
//
// closing PLUGIN.so CYBER.so tests that a session with a reader is closed while the reader is notified of a writer that
// leaves: closing waits for the notification. It holds the notification up inside the reader, which is otherwise a
// matter of microseconds.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacho/middleware.h>

#include "../../conformance/domain.h"
#include "check.h"

#define ON_CHANNEL_CHANGE \
  "_ZN6apollo5cyber6ReaderINS0_7message13PyMessageWrapEE15OnChannelChangeERKNS0_5proto9ChangeMsgE"

static const struct tacho_middleware *mw;
static const char *cyber;
static atomic_int hold, notified, closed;

// Cyber RT's library finds this before its own.
__attribute__((visibility("default"))) void on_channel_change(void *reader,
                                                              const void *change) __asm__(ON_CHANNEL_CHANGE);
void on_channel_change(void *reader, const void *change) {
  void *symbol = dlsym(dlopen(cyber, RTLD_NOW | RTLD_NOLOAD), ON_CHANNEL_CHANGE);
  void (*next)(void *, const void *);
  memcpy(&next, &symbol, sizeof next);
  CHECK(next, "%s: no %s in it", cyber, ON_CHANNEL_CHANGE);
  if (atomic_exchange(&hold, 0)) {
    notified = 1;
    for (int i = 0; i < 500 && !closed; i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(!closed, "closed in the middle of a notification");
  }
  next(reader, change);
}

static void *leave(void *session) {
  mw->close(session);
  return NULL;
}

int main(int count, char **arguments) {
  CHECK(count == 3, "usage: closing PLUGIN.so CYBER.so");
  cyber = arguments[2];
  mw = middleware_of(arguments[1]);
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle;
  int traced;
  struct tacho_session *sessions[2];
  const struct tacho_session_config where = {reserved_domain(), "default", ""};
  for (int i = 0; i < 2; i++) {
    sessions[i] = mw->open(&where, error);
    CHECK(sessions[i] && mw->node(sessions[i], "node", &handle, &traced, error) == 0, "%s", error);
  }
  const struct tacho_endpoint_config config = {
      "node", "/topic", "", 64, {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 1}};
  struct tacho_subscription *reader = mw->subscribe(sessions[0], &config, NULL, NULL, &handle, error);
  struct tacho_publisher *writer = mw->advertise(sessions[1], &config, &handle, error);
  CHECK(reader && writer, "%s", error);
  CHECK(WAIT(mw->subscription_matched(reader, error) == 1), "not matched");
  hold = 1;
  pthread_t leaving;
  pthread_create(&leaving, NULL, leave, sessions[1]);
  CHECK(WAIT(notified), "the reader was not notified of a writer that leaves");
  mw->close(sessions[0]);
  closed = 1;
  pthread_join(leaving, NULL);
  puts("ok");
}
