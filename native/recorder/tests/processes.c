/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events_reader.h"
#include "found.h"
#include "trial.h"

/* Waits for the victim's end. If the victim reports that something is not possible here, skips the case. */
static void finish_or_skip(pid_t pid, const char *what) {
  int status;
  EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "the program ended with status %#x", (unsigned)status);
  if (WEXITSTATUS(status) == SKIPPED) skip(what);
  EXPECT(WEXITSTATUS(status) == 0, "the program ended with status %d", WEXITSTATUS(status));
}

/* A program becomes another one by exec. Each has its own file, and the first file was never closed. */
void test_exec(void) {
  finish(start("exec", 1000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->files == 2 && found->closed == 1, "%llu files, %llu closed", (unsigned long long)found->files,
         (unsigned long long)found->closed);
  EXPECT(found->events[0] == 1000 && found->events[1] == 1000 && found->dropped == 0, "%llu %llu",
         (unsigned long long)found->events[0], (unsigned long long)found->events[1]);
  free(found);
}

/* The parent fires events before and after its two children, and each child has its own file. */
static void finish_with_two_children(const char *how) {
  finish(start(how, 1000, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(found->files == 3 && found->closed == 3, "%llu files, %llu closed", (unsigned long long)found->files,
         (unsigned long long)found->closed);
  EXPECT(found->events[0] == 2000 && found->events[1] == 1000 && found->events[2] == 1000 && found->dropped == 0,
         "%llu %llu %llu", (unsigned long long)found->events[0], (unsigned long long)found->events[1],
         (unsigned long long)found->events[2]);
  free(found);
}

void test_fork(void) { finish_with_two_children("fork"); }

/* vfork and posix_spawn run none of fork's handlers. The parent continues as if there had been no child. */
void test_spawn(void) { finish_with_two_children("spawn"); }

/* Somebody removes the run while it is recorded. The program continues, and its file continues to grow without a name. */
void test_removed(void) {
  char path[700], aside[300];
  pid_t pid = start("wait", 800000, 0, NULL);
  while (fired_sum() == 0) {
    EXPECT(waitpid(pid, NULL, WNOHANG) == 0, "the program is gone");
    sched_yield();
  }
  only_entry(events, path, sizeof path);
  snprintf(aside, sizeof aside, "%s/aside", work);
  EXPECT(mkdir(aside, 0755) == 0, "%s", strerror(errno));
  char kept[400];
  snprintf(kept, sizeof kept, "%s/kept.events", aside);
  EXPECT(link(path, kept) == 0 && unlink(path) == 0 && rmdir(events) == 0, "%s", strerror(errno));
  atomic_store(&fired[WRITERS - 1], 1);
  finish(pid);
  struct found *found = read_all(aside, victim, false);
  EXPECT(found->closed == 1 && found->events[0] == 800000 && found->dropped == 0 && found->storage_error == 0,
         "%llu events, %llu dropped", (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  free(found);
}

/* A real-time program locks all its memory, including future mappings. */
void test_locked(void) {
  finish_or_skip(start("locked", 1000000, 0, NULL), "memory cannot be locked here");
  struct found *found = read_all(events, victim, false);
  EXPECT(found->events[0] == 1000000 && found->dropped == 0, "%llu events, %llu dropped",
         (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  free(found);
}

/* A sandbox refuses the system calls by which the file grows. The existing storage is used, the other events are
 * counted as dropped, and the reason is reported. */
void test_sandbox(void) {
  finish_or_skip(start("sandbox", 900000, 0, NULL), "seccomp filters cannot be set here");
  struct found *found = read_all(events, victim, false);
  EXPECT(found->storage_error == EPERM, "storage_error %llu", (unsigned long long)found->storage_error);
  EXPECT(found->events[0] > 300000 && found->dropped > 0 && found->events[0] + found->dropped == 900000,
         "%llu events, %llu dropped", (unsigned long long)found->events[0], (unsigned long long)found->dropped);
  free(found);
}

/* The victim calls recvfrom and recvmsg without a buffer, as a stream allows. */
void test_stream(void) {
  finish(start("stream", 10, 0, NULL));
  struct found *found = read_all(events, victim, false);
  EXPECT(sum(found->events) == 10 && found->dropped == 0, "%llu events", (unsigned long long)sum(found->events));
  free(found);
}
