/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the victim under the recorder in each of its modes and reads its event files: every event whose call had
 * returned is in the file, in order, or counted as dropped.
 *
 *   recorder_test CASE RECORDER VICTIM [EMULATOR ARGUMENT ...]
 *
 * The victim may run under QEMU's user-mode emulator and so have another architecture than this program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crowds.h"
#include "events_reader.h"
#include "found.h"
#include "limits.h"
#include "odd.h"
#include "processes.h"
#include "trial.h"

/* A program that fires no events leaves no file, and has as many descriptors as without the recorder. */
static void test_silent(void) {
  int with, without;
  EXPECT(waitpid(start("silent", 0, 0, NULL), &with, 0) > 0 && WIFEXITED(with), "%s", strerror(errno));
  recorder = "";
  EXPECT(waitpid(start("silent", 0, 0, NULL), &without, 0) > 0 && WIFEXITED(without), "%s", strerror(errno));
  EXPECT(with == without, "%d descriptors, %d without", WEXITSTATUS(with), WEXITSTATUS(without));
  EXPECT(entries(events) == 0, "%llu files", (unsigned long long)entries(events));
}

/* With default settings, a start-up burst of 75,000 events is recorded without loss, however fast it comes. */
static void test_burst(void) {
  finish(start("burst", 60000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->files == 1 && found->closed == 1, "%llu files", (unsigned long long)found->files);
  EXPECT(found->events[0] == 60000 && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  EXPECT(found->nodes == 7500, "%llu node_init", (unsigned long long)found->nodes);
  free(found);
}

static void test_threads(void) {
  finish(start("threads", 20000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  for (uint64_t i = 0; i < 16; i++) {
    EXPECT(found->events[i] == 20000, "writer %llu: %llu", (unsigned long long)i, (unsigned long long)found->events[i]);
  }
  EXPECT(found->dropped == 0, "%llu dropped", (unsigned long long)found->dropped);
  free(found);
}

/* A million events a second for a while: storage grows far beyond the initial amount. */
static void test_growth(void) {
  finish(start("paced", 600000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->events[0] == 600000 && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  EXPECT(found->syncs >= 2, "%llu clock syncs", (unsigned long long)found->syncs);
  free(found);
}

/* What was written long ago takes none of the program's memory, however much it is. Still, every event is in the file. */
static void test_resident(void) {
  finish(start("resident", 6400000, 0, "40000"));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->events[0] == 6400000 && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  EXPECT(found->chunks > 2000, "%llu chunks", (unsigned long long)found->chunks);
  free(found);
}

/* If no counter can be trusted, ticks are CLOCK_MONOTONIC. The test selects it, as other machines would. */
static void test_monotonic(void) {
  setenv("TACHO_EVENTS_CLOCK", "monotonic", 1);
  finish(start("burst", 1000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->clocks == 1u << TACHO_CLOCK_MONOTONIC && found->syncs > 0, "clocks %llx",
         (unsigned long long)found->clocks);
  EXPECT(found->events[0] == 1000 && found->dropped == 0, "%llu events", (unsigned long long)found->events[0]);
  free(found);
}

/* Beyond 16 MiB a file has more than one mapping. The child must not keep any of them. */
static void test_fork_large(void) {
  finish(start("fork-large", 1500000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->files == 2 && found->closed == 2, "%llu files", (unsigned long long)found->files);
  EXPECT(found->chunks > 512, "%llu chunks", (unsigned long long)found->chunks);
  EXPECT(found->events[0] == 1501000 && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  EXPECT(found->events[1] == 1000, "%llu of the child", (unsigned long long)found->events[1]);
  free(found);
}

/* A handler forks inside the writing of an event, and the child returns from the handler. The child finishes that event
 * without recording it, and then records like any other child. */
static void test_fork_in_handler(void) {
  finish(start("fork-in-handler", 100, 0, NULL));
  struct found *found = read_all(events, victim, true);
  EXPECT(found->files == 101, "%llu files", (unsigned long long)found->files);
  for (uint64_t i = 1; i <= 100; i++) {
    EXPECT(found->events[i] == 10, "child %llu: %llu events", (unsigned long long)i,
           (unsigned long long)found->events[i]);
  }
  uint64_t kept = found->events[0] + found->dropped, all = atomic_load(&fired[0]);
  EXPECT(kept >= all && kept <= all + 100, "%llu events and drops of %llu", (unsigned long long)kept,
         (unsigned long long)all);
  free(found);
}

/* The first event comes from a thread that is pinned, has real-time priority and may never sleep. If the keeper
 * inherited these, it would never run and storage would not grow. */
static void test_real_time(void) {
  int status;
  EXPECT(waitpid(start("real-time", 1000, 0, NULL), &status, 0) > 0 && WIFEXITED(status), "%s", strerror(errno));
  if (WEXITSTATUS(status) == SKIPPED) skip("SCHED_FIFO and two CPUs are needed");
  EXPECT(WEXITSTATUS(status) == 0, "%s",
         WEXITSTATUS(status) == 5 ? "the keeper is of real-time priority" : "the keeper is pinned");
  struct found *found = read_all(events, victim, false);
  EXPECT(found->events[0] == 1000 && found->dropped == 0, "%llu events", (unsigned long long)found->events[0]);
  free(found);
}

/* Each thread writes records of one size. Chunks are filled up to the last record that fits completely. After a pause
 * of the machine there is a time among them, so only the room at their ends is certain. */
static void test_boundaries(void) {
  const uint64_t slack = 8, room = TACHO_CHUNK_SIZE - sizeof(struct tacho_chunk_header) - slack;
  char path[700];
  uint64_t seen[TACHO_MAX_WORDS + 1] = {0}, expected[TACHO_MAX_WORDS + 1];
  for (uint64_t size = 0; size <= TACHO_MAX_WORDS; size++) expected[size] = 2 * (room / (8 + 8 * size)) + 3;
  finish(start("boundaries", room, 0, NULL));
  only_entry(events, path, sizeof path);
  struct event_file file = event_file_read(path);
  EXPECT(file.header.dropped == 0, "%llu dropped", (unsigned long long)file.header.dropped);
  for (uint64_t i = 0; i < file.chunks; i++) {
    const struct tacho_chunk_header *chunk = event_file_chunk(&file, i);
    struct event event;
    struct place place = {0};
    uint32_t size = 0;
    uint64_t in_chunk = 0;
    while (chunk != NULL && event_next(&file, chunk, &place, &event)) {
      if (event.kind != 200) continue;
      EXPECT(in_chunk == 0 || event.count == size, "%u words after %u", event.count, size);
      size = event.count;
      for (uint32_t word = 0; word < size; word++) {
        EXPECT(event.words[word] == (seen[size] << 8 | word), "word %u of record %llu of %u", word,
               (unsigned long long)seen[size], size);
      }
      seen[size]++;
      in_chunk++;
    }
    EXPECT(place.at <= room, "records of %u bytes in chunk %llu", place.at, (unsigned long long)i);
    /* With a time before it, a record has 8 bytes more. */
    EXPECT(in_chunk == 0 || seen[size] == expected[size] || place.at + 16 + 8 * size > room,
           "%u bytes of records of %u words in chunk %llu", place.at, size, (unsigned long long)i);
  }
  for (uint64_t size = 0; size <= TACHO_MAX_WORDS; size++) {
    EXPECT(seen[size] == expected[size], "%llu records of %llu words", (unsigned long long)seen[size],
           (unsigned long long)size);
  }
  free(file.bytes);
}

/* There are more gids than numbers for them, and fragments beyond 2 bytes. All words come back. */
static void test_gids(void) {
  const uint64_t count = 70000;
  char path[700];
  uint64_t seen = 0;
  finish(start("gids", count, 0, NULL));
  only_entry(events, path, sizeof path);
  struct event_file file = event_file_read(path);
  EXPECT(file.header.dropped == 0, "%llu dropped", (unsigned long long)file.header.dropped);
  for (uint64_t i = 0; i < file.chunks; i++) {
    const struct tacho_chunk_header *chunk = event_file_chunk(&file, i);
    struct event event;
    struct place place = {0};
    while (chunk != NULL && event_next(&file, chunk, &place, &event)) {
      if (event.kind == TACHO_CLOCK_SYNC) continue;
      const uint64_t number = seen / 3, one = number % 1000, other = number * number % 1000;
      const uint64_t expected[3][8] = {{one, ~one, other, other << 32, number, number + 1},
                                       {one, ~one, number, ~number, 1, 1, 1, 1},
                                       {other, ~other, number, ~number, 3, 2, number, 2}};
      const uint32_t kinds[] = {TACHO_DDS_DATA_AVAILABLE, TACHO_DDS_RECEIVE, TACHO_DDS_SEND};
      EXPECT(event.kind == kinds[seen % 3] && event.count == (seen % 3 == 0 ? 6 : 8), "kind %u", event.kind);
      for (uint32_t word = 0; word < event.count; word++) {
        EXPECT(event.words[word] == expected[seen % 3][word], "word %u of event %llu", word, (unsigned long long)seen);
      }
      seen++;
    }
  }
  EXPECT(seen == 3 * count, "%llu events", (unsigned long long)seen);
  free(file.bytes);
}

static void test_fork_under_load(void) {
  finish(start("fork-under-load", 300000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->files == 21, "%llu files", (unsigned long long)found->files);
  EXPECT(sum(found->events) + found->dropped == fired_sum(), "%llu events, %llu dropped, %llu fired",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped, (unsigned long long)fired_sum());
  free(found);
}

/* A signal handler fires events at 50 kHz into a thread that does nothing else. */
static void test_signals(void) {
  finish(start("signals", 2000000, 0, NULL));
  struct found *found = read_all(events, victim, true);
  EXPECT(atomic_load(&fired[1]) > 100, "%llu signals", (unsigned long long)atomic_load(&fired[1]));
  EXPECT(sum(found->events) + found->dropped == fired_sum(), "%llu events, %llu dropped, %llu fired",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped, (unsigned long long)fired_sum());
  free(found);
}

static void test_close_all(void) {
  finish(start("close-all", 800000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  /* 256 chunks hold 697,344 such events. There are more, so the file must have grown. */
  EXPECT(found->events[0] == 800000 && found->dropped == 0 && found->storage_error == 0, "%llu events, %llu dropped",
         (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  free(found);
}

static void test_exit_under_load(void) {
  for (int i = 0; i < 20; i++) {
    finish(start("exit-under-load", 1000, 0, NULL));
    struct found *found = read_all(events, victim, false);
    EXPECT(found->closed == 1, "not closed");
    uint64_t kept = sum(found->events) + found->dropped;
    EXPECT(kept >= fired_sum() && kept <= fired_sum() + 3, "%llu of %llu", (unsigned long long)kept,
           (unsigned long long)fired_sum());
    free(found);
    empty_work();
  }
}

static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {
    {"silent", test_silent},
    {"burst", test_burst},
    {"threads", test_threads},
    {"crowd", test_crowd},
    {"crowd-alone", test_crowd_alone},
    {"least-stack", test_least_stack},
    {"short-threads", test_short_threads},
    {"pool", test_pool},
    {"pool-at-limit", test_pool_at_limit},
    {"growth", test_growth},
    {"resident", test_resident},
    {"monotonic", test_monotonic},
    {"fork", test_fork},
    {"fork-large", test_fork_large},
    {"fork-in-handler", test_fork_in_handler},
    {"fork-under-load", test_fork_under_load},
    {"real-time", test_real_time},
    {"boundaries", test_boundaries},
    {"gids", test_gids},
    {"exec", test_exec},
    {"spawn", test_spawn},
    {"removed", test_removed},
    {"locked", test_locked},
    {"sandbox", test_sandbox},
    {"stream", test_stream},
    {"signals", test_signals},
    {"close-all", test_close_all},
    {"exit-under-load", test_exit_under_load},
    {"max-bytes", test_max_bytes},
    {"file-size-limit", test_file_size_limit},
    {"full-disk", test_full_disk},
    {"no-directory", test_no_directory},
    {"kill", test_kill},
    {"raw-children", test_raw_children},
    {"shared-child", test_shared_child},
    {"jump", test_jump},
    {"jump-from-own-stack", test_jump_from_own_stack},
    {"bad-addresses", test_bad_addresses},
    {"every-descriptor", test_every_descriptor},
    {"every-descriptor-of-hard-limit", test_every_descriptor_of_hard_limit},
    {"no-tsc", test_no_tsc},
    {"no-tsc-later", test_no_tsc_later},
    {"strict", test_strict},
    {"leave-main", test_leave_main},
};

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  recorder = argv[2];
  victim = realpath(argv[3], NULL);
  emulator = argv + 4;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    if (strcmp(argv[1], tests[i].name) != 0) continue;
    make_work();
    tests[i].run();
    remove_work();
    return 0;
  }
  fprintf(stderr, "no such case: %s\n", argv[1]);
  return 2;
}
