/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "crowds.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events_reader.h"
#include "found.h"
#include "trial.h"

static void expect_whole_crowd(uint64_t threads, uint64_t each) {
  struct found *found = read_all(events, victim, false);
  EXPECT(sum(found->events) == 1 + threads * each && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  EXPECT(found->chunks > threads, "%llu chunks", (unsigned long long)found->chunks);
  free(found);
}

/* 600 threads of one process start at once, beside processes that use all CPUs. None of their events is lost. */
void test_crowd(void) {
  pid_t spinning[8];
  for (int i = 0; i < 8; i++) {
    spinning[i] = fork();
    EXPECT(spinning[i] >= 0, "%s", strerror(errno));
    if (spinning[i] == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) {
      }
    }
  }
  pid_t pid = start("crowd", 200, 0, "600");
  atomic_store(&fired[WRITERS - 1], 1);
  finish(pid);
  for (int i = 0; i < 8; i++) {
    kill(spinning[i], SIGKILL);
    waitpid(spinning[i], NULL, 0);
  }
  expect_whole_crowd(600, 200);
}

/* Returns the recorder's own thread of a process, once it runs. */
static pid_t keeper_of(pid_t pid) {
  for (;; sched_yield()) {
    char path[300], name[32];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    pid_t found = 0;
    EXPECT(tasks != NULL && waitpid(pid, NULL, WNOHANG) == 0, "the program is gone");
    for (struct dirent *task; found == 0 && (task = readdir(tasks)) != NULL;) {
      snprintf(path, sizeof path, "/proc/%d/task/%s/comm", (int)pid, task->d_name);
      FILE *comm = fopen(path, "r");
      if (comm == NULL) continue;
      if (fgets(name, sizeof name, comm) != NULL && strcmp(name, "tacho-recorder\n") == 0) found = atoi(task->d_name);
      fclose(comm);
    }
    closedir(tasks);
    if (found != 0) return found;
  }
}

/* The same happens while ptrace(2) holds the recorder's own thread, so that it gets no CPU: the program's threads make
 * the storage they need. */
void test_crowd_alone(void) {
  if (emulator[0] != NULL) {
    skip("an emulator's threads cannot be held");
  }
  pid_t pid = start("crowd", 2000, 0, "600"), keeper = keeper_of(pid);
  int status;
  if (ptrace(PTRACE_SEIZE, keeper, 0, 0) != 0 && errno == EPERM) {
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    skip("ptrace is not allowed here");
  }
  EXPECT(ptrace(PTRACE_INTERRUPT, keeper, 0, 0) == 0, "%s", strerror(errno));
  EXPECT(waitpid(keeper, &status, __WALL) == keeper && WIFSTOPPED(status), "%s", strerror(errno));
  atomic_store(&fired[WRITERS - 1], 1);
  while (fired_sum() < 2 + 600 * 2000) sched_yield();
  /* DETACH fails if the program, and the thread with it, has ended meanwhile. */
  if (ptrace(PTRACE_DETACH, keeper, 0, 0) != 0)
    EXPECT(waitpid(keeper, &status, __WALL) == keeper, "%s", strerror(errno));
  finish(pid);
  expect_whole_crowd(600, 2000);
}

/* The first event comes from a thread with the smallest possible stack. */
void test_least_stack(void) {
  finish(start("least-stack", 1000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->events[0] == 1000 && found->dropped == 0, "%llu events", (unsigned long long)found->events[0]);
  free(found);
}

void test_short_threads(void) {
  finish(start("short-threads", 100, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(sum(found->events) == 128 * 100 && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  free(found);
}

/* A pool creates 10,000 threads, one after the other. Each takes one or two pages of storage, not a chunk, and the file
 * may grow longer accordingly. */
void test_pool(void) {
  const uint64_t threads = 10000;
  char path[700];
  finish(start("pool", threads, 100u << 20 /* 3,199 chunks */, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(sum(found->events) == threads && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  EXPECT(found->chunks >= threads, "%llu chunks", (unsigned long long)found->chunks);
  free(found);
  struct stat file;
  only_entry(events, path, sizeof path);
  EXPECT(stat(path, &file) == 0 && (uint64_t)file.st_blocks * 512 < threads * TACHO_CHUNK_SIZE / 2,
         "%llu bytes of storage", (unsigned long long)file.st_blocks * 512);
}

/* Threads that find no storage reserve none, so later threads get what others give back. */
void test_pool_at_limit(void) {
  char path[700];
  finish(start("pool", 10000, 1 << 20 /* 31 chunks */, NULL));
  struct found *found = read_all(events, victim, true);
  EXPECT(sum(found->events) + found->dropped == 10000 && sum(found->events) >= 30, "%llu events, %llu dropped",
         (unsigned long long)sum(found->events), (unsigned long long)found->dropped);
  free(found);
  only_entry(events, path, sizeof path);
  struct event_file file = event_file_read(path);
  EXPECT(file.header.chunks_reserved <= file.header.chunks_allocated + 1, "%llu reserved, %llu allocated",
         (unsigned long long)file.header.chunks_reserved, (unsigned long long)file.header.chunks_allocated);
  free(file.bytes);
}
