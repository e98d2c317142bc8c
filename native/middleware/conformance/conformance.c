// SPDX-License-Identifier: Apache-2.0
//
// conformance PLUGIN.so loads a middleware plugin and checks the promises of middleware.h. It prints TAP. It exits 1 if
// a check fails, and 2 if the plugin cannot be loaded.
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "contract.h"
#include "domain.h"
#include "suite.h"

const struct tacho_middleware *mw;
int (*call_within)(struct tacho_subscription *, int64_t, tacho_on_message, void *, char *);
void (*wake)(struct tacho_subscription *);
unsigned domain;
jmp_buf failed;
static char reason[2048];
static struct tacho_session *sessions[16];

void fail(const char *file, int line, const char *format, ...) {
  int used = snprintf(reason, sizeof reason, "%s:%d: ", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
  va_list list;
  va_start(list, format);
  vsnprintf(reason + used, sizeof reason - (size_t)used, format, list);
  va_end(list);
  longjmp(failed, 1);
}

long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void short_sleep(void) { nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); }

struct tacho_session *opened(void) {
  char error[TACHO_ERROR_SIZE] = "";
  struct tacho_session *session = mw->open(&(struct tacho_session_config){domain, "", ""}, error);
  CHECK(session, "open: %s", error);
  for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
    if (!sessions[i]) return sessions[i] = session;
  FAIL("a check holds too many sessions");
}

struct tacho_session *joined(void) {
  char error[TACHO_ERROR_SIZE] = "";
  const void *handle = NULL;
  int traced;
  struct tacho_session *session = opened();
  CHECK(mw->node(session, "talker", &handle, &traced, error) == 0, "node: %s", error);
  return session;
}

void closed(struct tacho_session *session) {
  for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
    if (sessions[i] == session) sessions[i] = NULL;
  mw->close(session);
}

int main(int count, char **arguments) {
  char error[TACHO_ERROR_SIZE] = "", version[256] = "";
  if (count < 2 || count > 3) {
    fprintf(stderr, "usage: conformance PLUGIN.so [part of a check's name]\n");
    return 2;
  }
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const struct tacho_middleware *(*entry)(void) = NULL;
  void *symbol = dlsym(library, "tacho_middleware");
  memcpy(&entry, &symbol, sizeof entry);
  symbol = dlsym(library, "tacho_call_within");
  memcpy(&call_within, &symbol, sizeof call_within);
  symbol = dlsym(library, "tacho_wake");
  memcpy(&wake, &symbol, sizeof wake);
  if (!entry || !(mw = entry()) || mw->abi != TACHO_MIDDLEWARE_ABI) {
    fprintf(stderr, "%s: no tacho_middleware of ABI %u in it\n", arguments[1], TACHO_MIDDLEWARE_ABI);
    return 2;
  }
  symbol = dlsym(library, "over_wake");  // of the plugin behind ../conformance_over
  if (symbol) memcpy(&wake, symbol, sizeof wake);
  domain = reserved_domain();
  if (mw->version(version, sizeof version, error) < 0 || !*version) {
    fprintf(stderr, "%s: version: %s\n", mw->name, error);
    return 2;
  }
  printf("# %s: %s, domain %u\n", mw->name, version, domain);

  int number = 0, failures = 0;
  for (const struct check *check = checks; check->name; check++) {
    if (count == 3 && !strstr(check->name, arguments[2])) continue;
    long long start = now_ns();
    int bad = setjmp(failed);
    if (!bad) check->run();
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
      if (sessions[i]) closed(sessions[i]);
    printf("%sok %d - %s # %lld ms\n", bad ? "not " : "", ++number, check->name, (now_ns() - start) / 1000000);
    if (bad) printf("#   %s\n", reason);
    fflush(stdout);
    failures += bad;
  }
  printf("1..%d\n", number);
  return failures || !number;
}
