// SPDX-License-Identifier: Apache-2.0
//
// round_trip PLUGIN.so TRANSPORT ping|pong DOMAIN SIZE SECONDS: round trips through the middleware seam between two
// processes, like those of ddsperf's `ping waitset`: the pong of one ping sends the next from the thread that took it,
// reliable, keep last 1. ping prints the median of each second after the first in us; pong runs until its standard
// input ends.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tacho/middleware.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 20, PING_LOST_S = 5 };

static const struct tacho_middleware *mw;
static char error[TACHO_ERROR_SIZE];
static double samples[MOST];  // of one second, us

__attribute__((noreturn)) static void fail(const char *what) {
  fprintf(stderr, "round_trip: %s: %s\n", what, error);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void wake(void *there) { sem_post(there); }

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void send(struct tacho_publisher *publisher, uint64_t sequence) {
  const void *message;
  int kept;
  if (!mw->borrow(publisher, &kept, &message, error)) fail("borrow");
  if (mw->publish(publisher, &(struct tacho_header){.sequence = sequence, .stamp_ns = now_ns()}, error) < 0)
    fail("publish");
}

static void ping(struct tacho_publisher *out, struct tacho_subscription *in, sem_t *there, int seconds) {
  size_t count = 0;
  uint64_t sequence = 0;
  int64_t end_of_second = now_ns() + 1000000000ll, sent = now_ns();
  // The other end may receive our pings before its answers reach us, so we send until an answer comes.
  for (int tries = 0; tries < 10 * PING_LOST_S; tries++) {
    send(out, sequence);
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += 100000000;
    if (limit.tv_nsec >= 1000000000) limit.tv_sec++, limit.tv_nsec -= 1000000000;
    if (sem_timedwait(there, &limit) < 0) continue;
    sem_post(there);  // taken below
    break;
  }
  for (int second = 0; second < seconds;) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += PING_LOST_S;
    if (sem_timedwait(there, &limit) < 0) {
      snprintf(error, sizeof error, "no pong came for ping %llu within %d s", (unsigned long long)sequence,
               PING_LOST_S);
      fail("ping");
    }
    struct tacho_message message;
    int got = mw->take(in, &message, error);
    if (got < 0) fail("take");
    if (!got) continue;
    int64_t now = now_ns();
    int answers = message.header.sequence == sequence;
    mw->give_back(in, &message);
    if (!answers) continue;
    if (count < MOST) samples[count++] = (double)(now - sent) / 1e3;
    if (now >= end_of_second) {
      qsort(samples, count, sizeof *samples, ascending);
      if (second++) printf("%.3f\n", samples[count / 2]);
      count = 0;
      end_of_second = now_ns() + 1000000000ll;
    }
    sent = now_ns();
    send(out, ++sequence);
  }
}

static atomic_bool ended;  // standard input

// A thread of its own watches standard input: to check it before each wait would cost a system call in each round trip,
// which ddsperf does not make.
static void *await_end(void *there) {
  for (char byte; read(STDIN_FILENO, &byte, 1) > 0;) {
  }
  ended = 1;
  sem_post(there);
  return NULL;
}

static void pong(struct tacho_publisher *out, struct tacho_subscription *in, sem_t *there) {
  pthread_t input;
  if (pthread_create(&input, NULL, await_end, there)) fail("a thread for standard input");
  for (;;) {
    while (sem_wait(there) < 0) {
    }  // interrupted
    if (ended) break;
    struct tacho_message message;
    int got = mw->take(in, &message, error);
    if (got < 0) fail("take");
    if (!got) continue;
    // The data are returned unchanged, as ddsperf does.
    const void *name;
    int kept;
    void *room = mw->borrow(out, &kept, &name, error);
    if (!room) fail("borrow");
    memcpy(room, message.data, message.size);
    struct tacho_header header = message.header;
    mw->give_back(in, &message);
    if (mw->publish(out, &header, error) < 0) fail("publish");
  }
  pthread_join(input, NULL);
}

int main(int count, char **arguments) {
  if (count != 7) {
    fprintf(stderr, "usage: round_trip PLUGIN.so TRANSPORT ping|pong DOMAIN SIZE SECONDS\n");
    return 2;
  }
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "tacho_middleware") : NULL;
  const struct tacho_middleware *(*entry)(void);
  memcpy(&entry, &symbol, sizeof entry);
  if (!entry || (mw = entry())->abi != TACHO_MIDDLEWARE_ABI) {
    const char *cause = dlerror();
    snprintf(error, sizeof error, "%s", cause ? cause : "another ABI of middleware.h");
    fail(arguments[1]);
  }
  int pings = !strcmp(arguments[3], "ping"), traced;
  size_t size = (size_t)atol(arguments[5]);
  const void *handle;
  sem_t there;
  sem_init(&there, 0, 0);
  struct tacho_endpoint_config ping_topic = {
      arguments[3], "/ping", "", size, {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 1}};
  struct tacho_endpoint_config pong_topic = ping_topic;
  pong_topic.topic = "/pong";
  struct tacho_session *session =
      mw->open(&(struct tacho_session_config){(uint32_t)atoi(arguments[4]), arguments[2], ""}, error);
  if (!session || mw->node(session, arguments[3], &handle, &traced, error) < 0) fail("open");
  struct tacho_publisher *out = mw->advertise(session, pings ? &ping_topic : &pong_topic, &handle, error);
  if (!out) fail("advertise");
  struct tacho_subscription *in =
      mw->subscribe(session, pings ? &pong_topic : &ping_topic, wake, &there, &handle, error);
  if (!in) fail("subscribe");
  if (pings) {
    while (mw->publisher_matched(out, error) < 1 || mw->subscription_matched(in, error) < 1)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ping(out, in, &there, atoi(arguments[6]));
  } else {
    pong(out, in, &there);
  }
  mw->close(session);
}
