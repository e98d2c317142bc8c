/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the victim under the recorder in each of its ways and reads what it left: every event whose call had returned is in
 * the file, in order, or counted as dropped.
 *
 *   recorder_test CASE RECORDER VICTIM
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "events_reader.h"

#define WRITERS 4096
#define SKIPPED 77

static const char *recorder, *victim;
static char work[256], events[300], counts[300];

static _Atomic uint64_t *fired;

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
  (void)status;
  (void)type;
  (void)walk;
  return remove(path);
}

static void make_work(void)
{
  snprintf(work, sizeof work, "/tmp/tacho-recorder-XXXXXX");
  EXPECT(mkdtemp(work) != NULL, "%s", strerror(errno));
  snprintf(events, sizeof events, "%s/events", work);
  snprintf(counts, sizeof counts, "%s/counts", work);
  EXPECT(mkdir(events, 0755) == 0, "%s", strerror(errno));
  int fd = open(counts, O_RDWR | O_CREAT, 0600);
  EXPECT(fd >= 0 && ftruncate(fd, WRITERS * 8) == 0, "%s", strerror(errno));
  fired = mmap(NULL, WRITERS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT(fired != MAP_FAILED, "%s", strerror(errno));
  close(fd);
}

static void remove_work(void)
{
  munmap((void *)fired, WRITERS * 8);
  nftw(work, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static pid_t start(const char *mode, uint64_t count, uint64_t max_bytes, const char *more)
{
  char count_text[32], max_text[32];
  snprintf(count_text, sizeof count_text, "%llu", (unsigned long long)count);
  snprintf(max_text, sizeof max_text, "%llu", (unsigned long long)max_bytes);
  pid_t pid = fork();
  EXPECT(pid >= 0, "%s", strerror(errno));
  if (pid == 0) {
    setenv("LD_PRELOAD", recorder, 1);
    setenv("TACHO_EVENTS_DIR", events, 1);
    if (max_bytes != 0) setenv("TACHO_EVENTS_MAX_BYTES", max_text, 1);
    execl(victim, victim, mode, counts, count_text, more, (char *)NULL);
    _exit(127);
  }
  return pid;
}

static void finish(pid_t pid)
{
  int status;
  EXPECT(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the program ended with status %#x", (unsigned)status);
}

/* What the files of the events directory hold, over all. */
struct found {
  uint64_t files, closed, syncs, texts, nodes, dropped, storage_error, clocks /* bit c: clock c */;
  uint64_t next[WRITERS]; /* the number that the writer's next event must have */
  uint64_t events[WRITERS];
};

/* Reads one file, checking order and that what is missing inside a thread is what its chunks say was dropped. A thread
 * whose events are those of one writer is followed exactly; `mixed` is for signal handlers, which share a thread. */
static void read_file(const char *path, struct found *found, bool mixed)
{
  static uint64_t sequence[1 << 22];
  struct event_file file = event_file_read(path);
  EXPECT(event_file_complete(&file), "%s has no magic", path);
  memset(sequence, 0, sizeof sequence);
  found->files++;
  found->closed += file.header.closed;
  found->dropped += file.header.dropped;
  found->clocks |= UINT64_C(1) << file.header.clock;
  if (file.header.storage_error != 0) found->storage_error = file.header.storage_error;
  EXPECT(file.header.start_bound_ns < 1000000000u && file.header.start_monotonic_ns != 0, "start reading");
  EXPECT(strstr(file.header.command, "counts") != NULL, "command '%s'", file.header.command);
  EXPECT(strcmp(file.header.executable, victim) == 0, "executable '%s'", file.header.executable);
  for (uint64_t i = 0; i < file.chunks; i++) {
    const struct tacho_chunk_header *chunk = event_file_chunk(&file, i);
    if (chunk == NULL) continue;
    EXPECT(chunk->tid < sizeof sequence / sizeof *sequence, "tid %u", chunk->tid);
    EXPECT(chunk->sequence == sequence[chunk->tid], "chunk %llu of thread %u, %llu was expected",
           (unsigned long long)chunk->sequence, chunk->tid, (unsigned long long)sequence[chunk->tid]);
    sequence[chunk->tid]++;
    uint32_t at = 0;
    bool first = true;
    uint64_t last_ticks = chunk->base_ticks;
    struct event event;
    while (event_next(chunk, &at, &event)) {
      EXPECT(event.ticks >= last_ticks, "time goes back in chunk %llu", (unsigned long long)i);
      last_ticks = event.ticks;
      if (event.kind == TACHO_CLOCK_SYNC) {
        found->syncs++;
        EXPECT(event.count == 3 && event.words[0] >= file.header.start_monotonic_ns, "clock sync");
        uint64_t apart = event.ticks > event.words[0] ? event.ticks - event.words[0] : event.words[0] - event.ticks;
        EXPECT(file.header.clock != TACHO_CLOCK_MONOTONIC || apart <= event.words[2], "ticks are %llu ns from the clock",
               (unsigned long long)apart);
      } else if (event.kind == TACHO_TEXT) {
        found->texts++;
        EXPECT(event_next(chunk, &at, &event) && event.kind == TACHO_RCL_NODE_INIT, "text stands before its event");
        found->nodes++;
      } else {
        EXPECT(event.kind == TACHO_RCL_PUBLISH && event.count == 2, "kind %u", event.kind);
        uint64_t writer = event.words[0], number = event.words[1];
        EXPECT(writer < WRITERS, "writer %llu", (unsigned long long)writer);
        uint64_t missing = number - found->next[writer];
        if (mixed) {
          EXPECT(number >= found->next[writer], "order");
        } else {
          EXPECT(missing == (first ? chunk->dropped_before : 0), "writer %llu: %llu after %llu, %llu dropped",
                 (unsigned long long)writer, (unsigned long long)number, (unsigned long long)found->next[writer],
                 (unsigned long long)chunk->dropped_before);
        }
        found->next[writer] = number + 1;
        found->events[writer]++;
        first = false;
      }
    }
  }
  free(file.bytes);
}

static struct found *read_all(bool mixed)
{
  struct found *found = calloc(1, sizeof *found);
  DIR *directory = opendir(events);
  EXPECT(found != NULL && directory != NULL, "%s", events);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char path[600];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", events, entry->d_name);
    read_file(path, found, mixed);
  }
  closedir(directory);
  return found;
}

static uint64_t sum(const uint64_t *values)
{
  uint64_t total = 0;
  for (uint64_t i = 0; i < WRITERS; i++) total += values[i];
  return total;
}

static uint64_t fired_sum(void)
{
  uint64_t total = 0;
  for (uint64_t i = 0; i < WRITERS; i++) total += atomic_load(&fired[i]);
  return total;
}

static uint64_t entries(void)
{
  uint64_t count = 0;
  DIR *directory = opendir(events);
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

/* A program that fires nothing leaves nothing, and has as many descriptors as without the recorder. */
static void test_silent(void)
{
  int with, without;
  EXPECT(waitpid(start("silent", 0, 0, NULL), &with, 0) > 0 && WIFEXITED(with), "%s", strerror(errno));
  recorder = "";
  EXPECT(waitpid(start("silent", 0, 0, NULL), &without, 0) > 0 && WIFEXITED(without), "%s", strerror(errno));
  EXPECT(with == without, "%d descriptors, %d without", WEXITSTATUS(with), WEXITSTATUS(without));
  EXPECT(entries() == 0, "%llu files", (unsigned long long)entries());
}

/* A start-up burst of 75,000 events with default settings: none is lost, however fast it comes. */
static void test_burst(void)
{
  finish(start("burst", 60000, 0, NULL));
  struct found *found = read_all(false);
  EXPECT(found->files == 1 && found->closed == 1, "%llu files", (unsigned long long)found->files);
  EXPECT(found->events[0] == 60000 && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  EXPECT(found->nodes == 7500, "%llu node_init", (unsigned long long)found->nodes);
  free(found);
}

static void test_threads(void)
{
  finish(start("threads", 20000, 0, NULL));
  struct found *found = read_all(false);
  for (uint64_t i = 0; i < 16; i++) {
    EXPECT(found->next[i] <= 20000, "writer %llu", (unsigned long long)i);
  }
  EXPECT(sum(found->events) + found->dropped == 16 * 20000, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  free(found);
}

static void test_short_threads(void)
{
  finish(start("short-threads", 100, 0, NULL));
  struct found *found = read_all(false);
  EXPECT(sum(found->events) == 128 * 100 && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  free(found);
}

/* A million events a second for a while: the keeper keeps up, and storage grows far beyond what there was at start. */
static void test_growth(void)
{
  finish(start("paced", 600000, 0, NULL));
  struct found *found = read_all(false);
  EXPECT(sum(found->events) + found->dropped == 600000, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  EXPECT(found->events[0] > 400000, "%llu events", (unsigned long long)found->events[0]);
  EXPECT(found->syncs >= 2, "%llu clock syncs", (unsigned long long)found->syncs);
  free(found);
}

/* Where no counter can be trusted, time is CLOCK_MONOTONIC itself: asked for here, the case of other machines. */
static void test_monotonic(void)
{
  setenv("TACHO_EVENTS_CLOCK", "monotonic", 1);
  finish(start("burst", 1000, 0, NULL));
  struct found *found = read_all(false);
  EXPECT(found->clocks == 1u << TACHO_CLOCK_MONOTONIC && found->syncs > 0, "clocks %llx",
         (unsigned long long)found->clocks);
  EXPECT(found->events[0] == 1000 && found->dropped == 0, "%llu events", (unsigned long long)found->events[0]);
  free(found);
}

static void test_fork(void)
{
  finish(start("fork", 1000, 0, NULL));
  struct found *found = read_all(false);
  EXPECT(found->files == 3 && found->closed == 3, "%llu files, %llu closed", (unsigned long long)found->files,
         (unsigned long long)found->closed);
  EXPECT(found->events[0] == 2000 && found->events[1] == 1000 && found->events[2] == 1000 && found->dropped == 0,
         "%llu %llu %llu", (unsigned long long)found->events[0], (unsigned long long)found->events[1],
         (unsigned long long)found->events[2]);
  free(found);
}

static void test_fork_under_load(void)
{
  finish(start("fork-under-load", 300000, 0, NULL));
  struct found *found = read_all(false);
  EXPECT(found->files == 21, "%llu files", (unsigned long long)found->files);
  EXPECT(sum(found->events) + found->dropped == fired_sum(), "%llu events, %llu dropped, %llu fired",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped, (unsigned long long)fired_sum());
  free(found);
}

/* A signal handler that fires events, at 50 kHz, into a thread that does nothing else. */
static void test_signals(void)
{
  finish(start("signals", 2000000, 0, NULL));
  struct found *found = read_all(true);
  EXPECT(atomic_load(&fired[1]) > 100, "%llu signals", (unsigned long long)atomic_load(&fired[1]));
  EXPECT(sum(found->events) + found->dropped == fired_sum(), "%llu events, %llu dropped, %llu fired",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped, (unsigned long long)fired_sum());
  free(found);
}

static void test_close_all(void)
{
  finish(start("close-all", 500000, 0, NULL));
  struct found *found = read_all(false);
  EXPECT(sum(found->events) + found->dropped == 500000 && found->storage_error == 0, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  /* 256 chunks at start hold 348,672 such events: more than that means that the file could grow. */
  EXPECT(found->events[0] > 360000, "%llu events", (unsigned long long)found->events[0]);
  free(found);
}

static void test_exit_under_load(void)
{
  for (int i = 0; i < 20; i++) {
    make_work();
    finish(start("exit-under-load", 1000, 0, NULL));
    struct found *found = read_all(false);
    EXPECT(found->closed == 1, "not closed");
    uint64_t kept = sum(found->events) + found->dropped;
    EXPECT(kept >= fired_sum() && kept <= fired_sum() + 3, "%llu of %llu", (unsigned long long)kept,
           (unsigned long long)fired_sum());
    free(found);
    remove_work();
  }
  make_work();
}

/* TACHO_EVENTS_MAX_BYTES: the file stops there, what comes after is counted, the program goes on. */
static void test_max_bytes(void)
{
  finish(start("threads", 20000, 1 << 20, NULL));
  struct found *found = read_all(false);
  EXPECT(found->dropped > 0 && sum(found->events) > 0, "%llu dropped", (unsigned long long)found->dropped);
  EXPECT(sum(found->events) + found->dropped == 16 * 20000, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  free(found);
}

static void test_file_size_limit(void)
{
  finish(start("limit", 100000, 0, "1000000"));
  struct found *found = read_all(false);
  EXPECT(found->storage_error == EFBIG, "storage_error %llu", (unsigned long long)found->storage_error);
  EXPECT(found->dropped > 0 && found->events[0] > 0 && found->events[0] + found->dropped == 100000,
         "%llu events, %llu dropped", (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  free(found);
}

static void test_full_disk(void)
{
  if (mount("tacho", events, "tmpfs", 0, "size=2m") != 0) {
    fprintf(stderr, "skipped: a small tmpfs cannot be mounted here: %s\n", strerror(errno));
    remove_work();
    exit(SKIPPED);
  }
  finish(start("threads", 20000, 0, NULL));
  struct found *found = read_all(false);
  umount2(events, MNT_DETACH);
  EXPECT(found->storage_error == ENOSPC, "storage_error %llu", (unsigned long long)found->storage_error);
  EXPECT(found->dropped > 0 && sum(found->events) + found->dropped == 16 * 20000, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  free(found);
}

/* A directory that cannot be written: one line on stderr, and the program runs as before. */
static void test_no_directory(void)
{
  snprintf(events, sizeof events, "%s/missing", work);
  int saved = dup(2), line[2];
  EXPECT(pipe(line) == 0, "%s", strerror(errno));
  dup2(line[1], 2);
  pid_t pid = start("threads", 10, 0, NULL);
  dup2(saved, 2);
  close(line[1]);
  finish(pid);
  char text[2048];
  ssize_t size = read(line[0], text, sizeof text - 1);
  EXPECT(size > 0, "nothing was said");
  text[size] = '\0';
  EXPECT(strncmp(text, "tacho: this process", 19) == 0 && strchr(text, '\n') == text + size - 1, "said: %s", text);
  EXPECT(fired_sum() == 160, "the program fired %llu", (unsigned long long)fired_sum());
}

/* SIGKILL at 100 moments, from before the file is made to long after the disk's share is used up. */
static void test_kill(void)
{
  unsigned seed = (unsigned)getpid();
  uint64_t kept_all = 0, dropped_all = 0, with_file = 0;
  fprintf(stderr, "seed %u\n", seed);
  for (int i = 0; i < 100; i++) {
    make_work();
    pid_t pid = start("on", 0, i % 4 == 0 ? 4u << 20 : 64u << 20, NULL);
    /* Two kinds of moment: an instant, or an amount of events; neither is a time that anything is held to. */
    if (i % 2 == 0) {
      struct timespec moment = {0, (long)(rand_r(&seed) % 20000000)};
      nanosleep(&moment, NULL);
    } else {
      uint64_t enough = (uint64_t)rand_r(&seed) % 200000;
      while (fired_sum() < enough && waitpid(pid, NULL, WNOHANG) == 0) sched_yield();
    }
    kill(pid, SIGKILL);
    int status;
    EXPECT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "the program ended by itself");
    uint64_t committed[3];
    for (int w = 0; w < 3; w++) committed[w] = atomic_load(&fired[w]);
    if (entries() != 0) {
      char path[700];
      DIR *directory = opendir(events);
      struct dirent *entry;
      while ((entry = readdir(directory)) != NULL && entry->d_name[0] == '.') {
      }
      snprintf(path, sizeof path, "%s/%s", events, entry->d_name);
      closedir(directory);
      struct stat status_of_file;
      EXPECT(stat(path, &status_of_file) == 0, "%s", path);
      bool begun = false;
      if (status_of_file.st_size >= (off_t)TACHO_HEADER_SIZE) {
        struct event_file file = event_file_read(path);
        begun = event_file_complete(&file);
        free(file.bytes);
      }
      if (begun) {
        struct found *found = read_all(false);
        with_file++;
        uint64_t all = sum(found->events) + found->dropped, fired_all = fired_sum();
        EXPECT(all >= fired_all && all <= fired_all + 3, "%llu events, %llu dropped, %llu committed",
               (unsigned long long)sum(found->events), (unsigned long long)found->dropped,
               (unsigned long long)fired_all);
        for (int w = 0; w < 3; w++) {
          EXPECT(found->dropped > 0 || found->events[w] >= committed[w], "writer %d: %llu of %llu", w,
                 (unsigned long long)found->events[w], (unsigned long long)committed[w]);
        }
        kept_all += sum(found->events);
        dropped_all += found->dropped;
        free(found);
      } else {
        EXPECT(fired_sum() == 0, "events were committed before the file was ready");
      }
    } else {
      EXPECT(fired_sum() == 0, "events were committed before there was a file");
    }
    remove_work();
  }
  fprintf(stderr, "100 kills, %llu with a file, %llu events kept, %llu dropped and counted, none lost\n",
          (unsigned long long)with_file, (unsigned long long)kept_all, (unsigned long long)dropped_all);
  EXPECT(with_file > 50, "%llu kills came after the start", (unsigned long long)with_file);
  make_work();
}

static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {
    {"silent", test_silent},
    {"burst", test_burst},
    {"threads", test_threads},
    {"short-threads", test_short_threads},
    {"growth", test_growth},
    {"monotonic", test_monotonic},
    {"fork", test_fork},
    {"fork-under-load", test_fork_under_load},
    {"signals", test_signals},
    {"close-all", test_close_all},
    {"exit-under-load", test_exit_under_load},
    {"max-bytes", test_max_bytes},
    {"file-size-limit", test_file_size_limit},
    {"full-disk", test_full_disk},
    {"no-directory", test_no_directory},
    {"kill", test_kill},
};

int main(int argc, char **argv)
{
  if (argc != 4) return 2;
  recorder = argv[2];
  victim = realpath(argv[3], NULL);
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
