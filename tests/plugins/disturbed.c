// SPDX-License-Identifier: Apache-2.0
//
// A middleware plugin for tests: it passes calls to another one, TACHO_DISTURBED_PLUGIN, and disturbs its messages by
// known amounts:
//
//   TACHO_DROP_EVERY_<node>=N  every N-th message that this node would take is dropped
//   TACHO_DELAY_US_<node>=T    no message is taken sooner than T us after its stamp
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacho/middleware.h>

static struct tacho_middleware disturbed;
static const struct tacho_middleware *real;

struct disturbed_subscription {
  struct tacho_subscription *real;
  unsigned long drop_every, taken;
  long long delay_ns;
};

static unsigned long setting(const char *what, const char *node) {
  char name[256];
  snprintf(name, sizeof name, "%s_%s", what, node);
  const char *value = getenv(name);
  return value ? strtoul(value, NULL, 10) : 0;
}

static struct disturbed_subscription *of(struct tacho_subscription *subscription) {
  return (struct disturbed_subscription *)subscription;
}

static struct tacho_subscription *subscribe(struct tacho_session *session, const struct tacho_endpoint_config *config,
                                            tacho_on_data on_data, void *context, const void **handle, char *error) {
  struct disturbed_subscription *made = calloc(1, sizeof *made);
  if (!made) {
    snprintf(error, TACHO_ERROR_SIZE, "no memory for a subscription");
    return NULL;
  }
  made->drop_every = setting("TACHO_DROP_EVERY", config->node);
  made->delay_ns = 1000LL * (long long)setting("TACHO_DELAY_US", config->node);
  made->real = real->subscribe(session, config, on_data, context, handle, error);
  if (made->real) return (struct tacho_subscription *)made;  // ends with the process
  free(made);
  return NULL;
}

static int matched(struct tacho_subscription *subscription, char *error) {
  return real->subscription_matched(of(subscription)->real, error);
}

static int descriptor(struct tacho_subscription *subscription, char *error) {
  return real->descriptor(of(subscription)->real, error);
}

static void give_back(struct tacho_subscription *subscription, struct tacho_message *message) {
  real->give_back(of(subscription)->real, message);
}

static void sleep_until(long long ns) {
  const struct timespec until = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

static int take(struct tacho_subscription *subscription, struct tacho_message *message, char *error) {
  struct disturbed_subscription *s = of(subscription);
  for (;;) {
    int taken = real->take(s->real, message, error);
    if (taken <= 0) return taken;
    s->taken++;
    if (s->drop_every == 0 || s->taken % s->drop_every != 0) break;
    real->give_back(s->real, message);
  }
  if (s->delay_ns > 0) sleep_until(message->header.stamp_ns + s->delay_ns);
  return 1;
}

__attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) {
  const char *plugin = getenv("TACHO_DISTURBED_PLUGIN");
  void *library = plugin ? dlopen(plugin, RTLD_NOW | RTLD_LOCAL) : NULL;
  void *symbol = library ? dlsym(library, "tacho_middleware") : NULL;
  const struct tacho_middleware *(*entry)(void) = NULL;
  memcpy(&entry, &symbol, sizeof entry);
  if (!entry) {
    const char *why = plugin ? dlerror() : NULL;
    fprintf(stderr, "disturbed: TACHO_DISTURBED_PLUGIN: %s\n", why ? why : "not set");
    return NULL;
  }
  real = entry();
  disturbed = *real;
  disturbed.name = "disturbed";
  disturbed.subscribe = subscribe;
  disturbed.subscription_matched = matched;
  disturbed.take = take;
  disturbed.give_back = give_back;
  if (real->descriptor) disturbed.descriptor = descriptor;
  return &disturbed;
}
