/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "limits.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "events_reader.h"
#include "found.h"
#include "trial.h"

/* TACHO_EVENTS_MAX_BYTES: the file stops growing there, later events are counted as dropped, and the program continues. */
void test_max_bytes(void) {
  finish(start("threads", 20000, 1 << 20, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->dropped > 0 && sum(found->events) > 0, "%llu dropped", (unsigned long long)found->dropped);
  EXPECT(sum(found->events) + found->dropped == 16 * 20000, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  free(found);
}

void test_file_size_limit(void) {
  finish(start("limit", 100000, 0, "1000000"));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->storage_error == EFBIG, "storage_error %llu", (unsigned long long)found->storage_error);
  EXPECT(found->dropped > 0 && found->events[0] > 0 && found->events[0] + found->dropped == 100000,
         "%llu events, %llu dropped", (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  free(found);
}

void test_full_disk(void) {
  if (mount("tacho", events, "tmpfs", 0, "size=2m") != 0) {
    skip("a small tmpfs cannot be mounted here");
  }
  finish(start("threads", 20000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  umount2(events, MNT_DETACH);
  EXPECT(found->storage_error == ENOSPC, "storage_error %llu", (unsigned long long)found->storage_error);
  EXPECT(found->dropped > 0 && sum(found->events) + found->dropped == 16 * 20000, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  free(found);
}

/* If the directory cannot be written, the recorder prints one line on stderr, and the program runs as before. */
void test_no_directory(void) {
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
  EXPECT(size > 0, "nothing was printed");
  text[size] = '\0';
  EXPECT(strncmp(text, "tacho: this process", 19) == 0 && strchr(text, '\n') == text + size - 1, "printed: %s", text);
  EXPECT(fired_sum() == 160, "the program fired %llu", (unsigned long long)fired_sum());
}

/* Measures how long the victim takes now from its start to its first event. */
static uint64_t start_up_ns(void) {
  struct timespec begin, first;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pid_t pid = start("on", 0, 0, NULL);
  while (fired_sum() == 0 && waitpid(pid, NULL, WNOHANG) == 0) sched_yield();
  clock_gettime(CLOCK_MONOTONIC, &first);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  empty_work();
  return (uint64_t)(first.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)first.tv_nsec - (uint64_t)begin.tv_nsec;
}

/* SIGKILL comes at 100 moments, from before the file is created to long after the disk's share is used up. */
void test_kill(void) {
  unsigned seed = (unsigned)getpid();
  uint64_t latest_ns = 10 * start_up_ns();
  uint64_t kept_all = 0, dropped_all = 0, with_file = 0;
  fprintf(stderr, "seed %u\n", seed);
  for (int i = 0; i < 100; i++) {
    pid_t pid = start("on", 0, i % 4 == 0 ? 4u << 20 : 64u << 20, NULL);
    /* There are two kinds of moment: a point in time, or a number of events. Neither is a time limit for anything. */
    if (i % 2 == 0) {
      uint64_t ns = (uint64_t)rand_r(&seed) % latest_ns;
      struct timespec moment = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
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
    if (entries(events) != 0) {
      char path[700];
      only_entry(events, path, sizeof path);
      struct stat status_of_file;
      EXPECT(stat(path, &status_of_file) == 0, "%s", path);
      bool begun = false;
      if (status_of_file.st_size >= (off_t)TACHO_HEADER_SIZE) {
        struct event_file file = event_file_read(path);
        begun = event_file_complete(&file);
        free(file.bytes);
      }
      if (begun) {
        struct found *found = read_all(events, victim, false);
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
    empty_work();
  }
  fprintf(stderr, "100 kills, %llu with a file, %llu events kept, %llu dropped and counted, none lost\n",
          (unsigned long long)with_file, (unsigned long long)kept_all, (unsigned long long)dropped_all);
  EXPECT(with_file > 50, "%llu kills came after the start", (unsigned long long)with_file);
}
