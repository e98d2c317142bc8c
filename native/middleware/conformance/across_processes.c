// SPDX-License-Identifier: Apache-2.0
//
// across_processes PLUGIN.so TRANSPORT [namespaces | with OTHER.so OTHERS_TRANSPORT] tests what the conformance suite
// cannot test in one process. A child echoes every message. The parent checks that each comes back unchanged and that
// on_data reports it, that a late joiner gets the whole history that it asked for, and that the end of the child is
// noticed but not reported as a message.
//
// With `with`, the child uses another plugin, whose messages are the same on the wire. With `namespaces`, parent and
// child are in network namespaces of their own, joined by two links, and get the addresses of the second link: it must
// carry everything, and the first nothing. Exits 77, skipped, if the transport or the namespaces are refused.
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tacho/middleware.h>

#include "domain.h"
#include "namespaces.h"

#define MIB (1024u * 1024u)
enum { SKIPPED = 77, MESSAGES = 20, HISTORY = 5 };
static const size_t sizes[] = {0, 16, 64, 65536, MIB};
enum { SIZES = sizeof sizes / sizeof *sizes };
static size_t sizes_used = SIZES;  // less if TACHO_OVER_LARGEST is set
static const struct tacho_qos reliable = {TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 10};
static const struct tacho_qos kept = {TACHO_RELIABLE, TACHO_TRANSIENT_LOCAL, TACHO_KEEP_LAST, HISTORY};

static const struct tacho_middleware *mw;
static char error[TACHO_ERROR_SIZE];
static atomic_int notified;
static int taken_messages;
static const char *type = "";     // the plugin's choice; between two plugins "Bytes", which all have
static atomic_int *echo_matched;  // by size; shared by both processes

static void on_data(void *context) {
  (void)context;
  atomic_fetch_add(&notified, 1);
}

#define CHECK(condition, ...)                         \
  do {                                                \
    if (!(condition)) {                               \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                   \
      fprintf(stderr, "\n");                          \
      exit(1);                                        \
    }                                                 \
  } while (0)
#define WAIT(condition)                                                                                           \
  ({                                                                                                              \
    time_t until = time(NULL) + 20;                                                                               \
    int held;                                                                                                     \
    while (!(held = !!(condition)) && time(NULL) < until) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); \
    held;                                                                                                         \
  })

static struct tacho_session *joined(unsigned domain, const char *transport, const char *address, const char *node) {
  const void *handle;
  int traced;
  struct tacho_session *session = mw->open(&(struct tacho_session_config){domain, transport, address}, error);
  if (!session) {
    printf("skipped: %s\n", error);
    exit(SKIPPED);
  }
  CHECK(mw->node(session, node, &handle, &traced, error) == 0, "%s", error);
  return session;
}

static struct tacho_publisher *publisher(struct tacho_session *session, const char *node, const char *topic,
                                         size_t size, struct tacho_qos qos) {
  const void *handle;
  struct tacho_publisher *made =
      mw->advertise(session, &(struct tacho_endpoint_config){node, topic, type, size, qos}, &handle, error);
  CHECK(made || !strcmp(topic, "/early"), "%s", error);
  return made;
}

static struct tacho_subscription *subscription(struct tacho_session *session, const char *node, const char *topic,
                                               size_t size, struct tacho_qos qos) {
  const void *handle;
  struct tacho_subscription *made = mw->subscribe(
      session, &(struct tacho_endpoint_config){node, topic, type, size, qos}, on_data, NULL, &handle, error);
  CHECK(made || !strcmp(topic, "/early"), "%s", error);
  return made;
}

static unsigned char value(uint64_t sequence, size_t at) { return (unsigned char)(sequence * 31 + at * 7 + (at >> 8)); }

static void publish(struct tacho_publisher *p, uint64_t sequence, const void *data, size_t size) {
  int was_kept;
  const void *message;
  unsigned char *room = mw->borrow(p, &was_kept, &message, error);
  CHECK(room, "%s", error);
  for (size_t i = 0; i < size; i++) room[i] = data ? ((const unsigned char *)data)[i] : value(sequence, i);
  CHECK(mw->publish(p, &(struct tacho_header){sequence, -5, 0xfedcba98u, 7}, error) == 0, "%s", error);
}

static int taken(struct tacho_subscription *s, struct tacho_message *m) {
  int got = mw->take(s, m, error);
  CHECK(got >= 0, "%s", error);
  return got;
}

// The next message must be that of `sequence`, or, if `later`, one that came after it; returns its own sequence number.
static uint64_t expect(struct tacho_subscription *s, uint64_t sequence, size_t size, int later) {
  struct tacho_message m;
  CHECK(WAIT(taken(s, &m)), "message %llu of %zu bytes did not come", (unsigned long long)sequence, size);
  if (later && m.header.sequence > sequence) sequence = m.header.sequence;
  CHECK(m.header.sequence == sequence && m.header.stamp_ns == -5 && m.header.publisher == 0xfedcba98u &&
            m.header.reserved == 7,
        "message %llu came with another header (sequence %llu)", (unsigned long long)sequence,
        (unsigned long long)m.header.sequence);
  CHECK(m.size == size, "took %zu bytes, expected %zu", m.size, size);
  for (size_t i = 0; i < size; i++)
    CHECK(((const unsigned char *)m.data)[i] == value(sequence, i), "byte %zu of %zu came changed", i, size);
  mw->give_back(s, &m);
  taken_messages++;
  return sequence;
}

static void names(size_t index, char *there, char *back) {
  sprintf(there, "/there_%zu", sizes[index]);
  sprintf(back, "/back_%zu", sizes[index]);
}

static volatile sig_atomic_t ending;

static void end(int number) {
  (void)number;
  ending = 1;
}

// The child sends back what comes, and what it published before anybody listened, until it is ended or killed.
static void echo(unsigned domain, const char *transport, const char *address) {
  signal(SIGTERM, end);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  struct tacho_session *session = joined(domain, transport, address, "echo");
  struct tacho_publisher *early = publisher(session, "echo", "/early", 64, kept), *back[SIZES];
  struct tacho_subscription *there[SIZES];
  for (uint64_t sequence = 0; early && sequence < 2 * HISTORY; sequence++) publish(early, sequence, NULL, 64);
  for (size_t i = 0; i < sizes_used; i++) {
    char from[32], to[32];
    names(i, from, to);
    there[i] = subscription(session, "echo", from, sizes[i], reliable);
    back[i] = publisher(session, "echo", to, sizes[i], reliable);
  }
  for (; !ending; nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL))
    for (size_t i = 0; i < sizes_used; i++) {
      struct tacho_message m;
      if (mw->subscription_matched(there[i], error) == 1) atomic_store(&echo_matched[i], 1);
      // Messages sent before the parent's subscription has matched need not arrive, so the message waits in the queue.
      if (mw->publisher_matched(back[i], error) < 1 || !taken(there[i], &m)) continue;
      publish(back[i], m.header.sequence, m.data, m.size);
      mw->give_back(there[i], &m);
    }
  mw->close(session);
  exit(0);
}

// Everything crossed the second link at least once in each direction, and only neighbours' noise crossed the first.
static void check_links(void) {
  long long sent = 0;
  for (size_t i = 0; i < sizes_used; i++) sent += MESSAGES * (long long)sizes[i];
  long long used = received_bytes(NAMESPACE_LINKS[1]), unused = received_bytes(NAMESPACE_LINKS[0]);
  CHECK(used >= sent, "%lld bytes were echoed, but only %lld came by the link that was asked for", sent, used);
  CHECK(unused < 16384, "%lld bytes came by a link that was not asked for", unused);
}

static void load(const char *plugin) {
  void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  CHECK(library, "%s", dlerror());
  void *symbol = dlsym(library, "tacho_middleware");
  const struct tacho_middleware *(*entry)(void);
  memcpy(&entry, &symbol, sizeof entry);
  CHECK(entry && (mw = entry()) && mw->abi == TACHO_MIDDLEWARE_ABI, "%s: no tacho_middleware of ABI %u in it", plugin,
        TACHO_MIDDLEWARE_ABI);
}

int main(int count, char **arguments) {
  int namespaces = count == 4 && !strcmp(arguments[3], "namespaces"),
      with = count == 6 && !strcmp(arguments[3], "with");
  CHECK(count == 3 || namespaces || with,
        "usage: across_processes PLUGIN.so TRANSPORT [namespaces | with OTHER.so OTHERS_TRANSPORT]");
  for (int i = 1; with && i < count; i += 3)
    if (access(arguments[i], R_OK) < 0) {
      printf("skipped: %s is not built\n", arguments[i]);
      return SKIPPED;
    }
  const char *largest = getenv("TACHO_OVER_LARGEST");  // bytes of a message
  while (largest && sizes_used > 1 && sizes[sizes_used - 1] > strtoull(largest, NULL, 10)) sizes_used--;
  alarm(170);  // ends a plugin that hangs
  echo_matched = mmap(NULL, SIZES * sizeof *echo_matched, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(echo_matched != MAP_FAILED, "no shared memory");
  unsigned domain = reserved_domain();
  // This comes before the middleware is loaded, because libraries then draw random names and start threads.
  pid_t child = namespaces ? fork_into_namespaces(error) : fork();
  if (child < 0 && namespaces) {
    printf("skipped: %s\n", error);
    return SKIPPED;
  }
  CHECK(child >= 0, "fork failed");
  if (with) type = "Bytes";
  load(arguments[!child && with ? 4 : 1]);
  if (!child) echo(domain, arguments[with ? 5 : 2], namespaces ? NAMESPACE_ADDRESSES[1] : "");

  struct tacho_session *session = joined(domain, arguments[2], namespaces ? NAMESPACE_ADDRESSES[0] : "", "parent");
  struct tacho_subscription *s = NULL;
  for (size_t i = 0; i < sizes_used; i++) {
    char to[32], from[32];
    names(i, to, from);
    struct tacho_publisher *p = publisher(session, "parent", to, sizes[i], reliable);
    s = subscription(session, "parent", from, sizes[i], reliable);
    CHECK(WAIT(mw->publisher_matched(p, error) == 1 && mw->subscription_matched(s, error) == 1 &&
               atomic_load(&echo_matched[i])),
          "%s: not matched on both sides: our publisher with %d, our subscription with %d, the child's subscription "
          "with %d",
          to, mw->publisher_matched(p, error), mw->subscription_matched(s, error), atomic_load(&echo_matched[i]));
    for (uint64_t sequence = 0; sequence < MESSAGES; sequence++) {
      int before = atomic_load(&notified);
      publish(p, sequence, NULL, sizes[i]);
      CHECK(WAIT(atomic_load(&notified) > before), "%s: on_data was not called for message %llu", from,
            (unsigned long long)sequence);
      expect(s, sequence, sizes[i], 0);
    }
  }
  if (namespaces) check_links();
  struct tacho_subscription *late = subscription(session, "parent", "/early", 64, kept);
  // Shared memory may refuse transient local, and sockets keep nothing.
  CHECK(late || strcmp(arguments[2], "udp") || !strcmp(mw->name, "socket"), "%s", error);
  // If TACHO_HISTORY_BEGINS_LATE is set, the first messages of the history may be missing, but none after them.
  int begins_late = getenv("TACHO_HISTORY_BEGINS_LATE") != NULL;
  for (uint64_t sequence = HISTORY; late && sequence < 2 * HISTORY; sequence++) {
    sequence = expect(late, sequence, 64, begins_late);
    begins_late = 0;
  }
  int before = atomic_load(&notified);
  // The child is not killed on "shm", because a killed process that holds a lock of iceoryx 2 stops the daemon, and so
  // every process. It is not killed on "tcp" either, because Fast DDS 3.2 sometimes locks itself up when a TCP peer is
  // killed.
  kill(child, strcmp(arguments[2], "shm") && strcmp(arguments[2], "tcp") ? SIGKILL : SIGTERM);
  CHECK(waitpid(child, NULL, 0) == child, "waitpid");
  CHECK(WAIT(mw->subscription_matched(s, error) == 0), "still matched with a publisher that was killed 20 s ago");
  // A message may be taken before it is reported, so a late report may be that of a message.
  int told = atomic_load(&notified), owed = taken_messages > before ? taken_messages - before : 0;
  CHECK(told - before <= owed, "on_data was called %d times for a publisher's end", told - before - owed);
  mw->close(session);
  printf("ok: %s%s\n", *arguments[2] ? arguments[2] : "the default transport", namespaces ? " between namespaces" : "");
}
