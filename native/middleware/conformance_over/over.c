// SPDX-License-Identifier: Apache-2.0
//
// A plugin in front of another one, so that the conformance suite, which asks for the default transport, runs over each
// transport. TACHO_OVER_PLUGIN is the library, and TACHO_OVER_TRANSPORT is the transport to which "" then refers. With
// TACHO_OVER_BEST_EFFORT, it asks for best effort if the suite asks for reliable, for transports that refuse reliable.
// With TACHO_OVER_TYPE, that is the only message type, for transports that refuse the others.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/middleware.h>
#include <time.h>

static struct tacho_middleware over;
static const struct tacho_middleware *real;
static const char *transport;
static const char *only_type[2];
static int best_effort;
static int (*real_call_within)(struct tacho_subscription *, int64_t, tacho_on_message, void *, char *);

__attribute__((visibility("default"))) void (*over_wake)(struct tacho_subscription *);  // its tacho_wake, or NULL

static struct tacho_session *open_over(const struct tacho_session_config *config, char *error) {
  struct tacho_session_config changed = *config;
  if (!*changed.transport) changed.transport = transport;
  return real->open(&changed, error);
}

static struct tacho_endpoint_config weakened(const struct tacho_endpoint_config *config) {
  struct tacho_endpoint_config changed = *config;
  if (best_effort && changed.qos.reliability == TACHO_RELIABLE) changed.qos.reliability = TACHO_BEST_EFFORT;
  return changed;
}

static struct tacho_publisher *advertise(struct tacho_session *session, const struct tacho_endpoint_config *config,
                                         const void **handle, char *error) {
  const struct tacho_endpoint_config changed = weakened(config);
  return real->advertise(session, &changed, handle, error);
}

static struct tacho_subscription *subscribe(struct tacho_session *session, const struct tacho_endpoint_config *config,
                                            tacho_on_data on_data, void *context, const void **handle, char *error) {
  const struct tacho_endpoint_config changed = weakened(config);
  return real->subscribe(session, &changed, on_data, context, handle, error);
}

// If the plugin has none, the call that it replaces.
__attribute__((visibility("default"))) int tacho_call_within(struct tacho_subscription *subscription, int64_t limit_ns,
                                                             tacho_on_message on_message, void *context, char *error) {
  if (real_call_within) return real_call_within(subscription, limit_ns, on_message, context, error);
  struct timespec now, pause = {0, 200000};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t until = now.tv_sec * 1000000000ll + now.tv_nsec + limit_ns;
  for (;;) {
    struct tacho_message message;
    const int taken = real->take(subscription, &message, error);
    if (taken == 1) {
      on_message(context, &message);
      real->give_back(subscription, &message);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (taken != 0 || now.tv_sec * 1000000000ll + now.tv_nsec >= until) return taken;
    nanosleep(&pause, NULL);
  }
}

__attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) {
  const char *plugin = getenv("TACHO_OVER_PLUGIN");
  transport = getenv("TACHO_OVER_TRANSPORT");
  best_effort = getenv("TACHO_OVER_BEST_EFFORT") != NULL;
  void *library = plugin && transport ? dlopen(plugin, RTLD_NOW | RTLD_LOCAL) : NULL;
  void *symbol = library ? dlsym(library, "tacho_middleware") : NULL;
  const struct tacho_middleware *(*entry)(void) = NULL;
  memcpy(&entry, &symbol, sizeof entry);
  if (!entry) {
    const char *why = dlerror();
    fprintf(stderr, "over: TACHO_OVER_PLUGIN and TACHO_OVER_TRANSPORT: %s\n", why ? why : "not set");
    return NULL;
  }
  real = entry();
  symbol = dlsym(library, "tacho_call_within");
  memcpy(&real_call_within, &symbol, sizeof real_call_within);
  symbol = dlsym(library, "tacho_wake");
  memcpy(&over_wake, &symbol, sizeof over_wake);
  over = *real;
  only_type[0] = getenv("TACHO_OVER_TYPE");
  if (only_type[0]) over.types = only_type;
  over.open = open_over;
  over.advertise = advertise;
  over.subscribe = subscribe;
  return &over;
}
