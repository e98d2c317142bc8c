/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "odd.h"

#include <stdbool.h>
#include <sys/wait.h>

#include "events_reader.h"
#include "found.h"
#include "trial.h"

#define NUMBER(value) (unsigned long long)(value)

/* Runs the victim in this mode to its end, and reads its event files. */
static struct found *found_after(const char *mode, uint64_t count, const char *more, bool mixed) {
  int status;
  pid_t pid = start(mode, count, 0, more);
  EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "the program ended with status %#x", (unsigned)status);
  if (WEXITSTATUS(status) == SKIPPED) skip("the kernel does not let a program do this here");
  EXPECT(WEXITSTATUS(status) == 0, "the program ended with status %d", WEXITSTATUS(status));
  return read_all(events, victim, mixed);
}

/* Children created by the bare system call and by clone(3) have files of their own, and the parent's file is complete.
 * The child without events has none. */
void test_raw_children(void) {
  struct found *found = found_after("raw-children", 20000, NULL, false);
  EXPECT(found->files == 4, "%llu files", NUMBER(found->files));
  EXPECT(found->events[0] == 40000 && found->events[1] == 20000 && found->events[2] == 20000 &&
             found->events[3] == 20000 && found->dropped == 0,
         "%llu %llu %llu %llu, %llu dropped", NUMBER(found->events[0]), NUMBER(found->events[1]),
         NUMBER(found->events[2]), NUMBER(found->events[3]), NUMBER(found->dropped));
  free(found);
}

/* The recorder cannot distinguish a child in the parent's memory from the parent's thread. Its events are there, and
 * the file reports this. */
void test_shared_child(void) {
  struct found *found = found_after("shared-child", 5000, NULL, false);
  EXPECT(found->files == 1 && found->remarks == TACHO_REMARK_SHARED_THREAD, "%llu files, remarks %llu",
         NUMBER(found->files), NUMBER(found->remarks));
  EXPECT(found->events[0] == 10000 && found->events[1] == 5000 && found->dropped == 0, "%llu %llu, %llu dropped",
         NUMBER(found->events[0]), NUMBER(found->events[1]), NUMBER(found->dropped));
  free(found);
}

/* 1000 times, a handler leaves the interrupted code for ever. No thread is silent afterwards, and only dropped events
 * are counted as dropped. */
static void jumped(const char *on_own_stack) {
  struct found *found = found_after("jump", 1000, on_own_stack, true);
  const uint64_t tries = atomic_load(&fired[0]);
  EXPECT(found->dropped == 0 && found->dropped_nested == 0, "%llu dropped", NUMBER(found->dropped));
  EXPECT(found->events[0] <= tries && found->events[0] + 1000 >= tries, "%llu events of %llu", NUMBER(found->events[0]),
         NUMBER(tries));
  EXPECT(found->events[1] == 1000, "%llu events after the last handler", NUMBER(found->events[1]));
  free(found);
}

void test_jump(void) { jumped(NULL); }

void test_jump_from_own_stack(void) { jumped("on-own-stack"); }

/* The program checks what each call returns. The messages that begin like those of a DDS are sent and received, and
 * contain no sample. */
void test_bad_addresses(void) {
  struct found *found = found_after("bad-addresses", 10, NULL, false);
  EXPECT(sum(found->events) == 10 && found->dropped == 0, "%llu events", NUMBER(sum(found->events)));
  free(found);
}

/* 40 descriptors belong to the program, whatever the recorder does. It starts with three, and `fired` uses none. */
static void took_every_descriptor(const char *hard, uint64_t remarks) {
  struct found *found = found_after("every-descriptor", 500000, hard, false);
  const uint64_t taken = atomic_load(&fired[1]);
  free(found);
  found = read_all(events, victim, false);
  EXPECT(found->remarks == remarks, "remarks %llu", NUMBER(found->remarks));
  EXPECT(found->events[0] + found->dropped == 1000000, "%llu events, %llu dropped", NUMBER(found->events[0]),
         NUMBER(found->dropped));
  EXPECT(hard != NULL || found->dropped == 0, "%llu dropped", NUMBER(found->dropped));
  free(found);
  empty_work();
  recorder = "";
  finish(start("every-descriptor", 500000, 0, hard));
  EXPECT(taken == atomic_load(&fired[1]), "%llu descriptors, %llu without", NUMBER(taken),
         NUMBER(atomic_load(&fired[1])));
}

void test_every_descriptor(void) { took_every_descriptor(NULL, 0); }

void test_every_descriptor_of_hard_limit(void) { took_every_descriptor("hard", TACHO_REMARK_FEW_DESCRIPTORS); }

/* If the TSC is forbidden from the start, the clock is read by a system call. */
void test_no_tsc(void) {
  struct found *found = found_after("no-tsc", 20000, NULL, false);
  EXPECT(found->clocks == 1u << TACHO_CLOCK_MONOTONIC && found->remarks == TACHO_REMARK_NO_TSC,
         "clocks %llx, remarks %llu", NUMBER(found->clocks), NUMBER(found->remarks));
  EXPECT(found->events[0] == 20000 && found->dropped == 0, "%llu events", NUMBER(found->events[0]));
  free(found);
}

/* If the TSC is forbidden later, the later events are dropped and counted. */
void test_no_tsc_later(void) {
  struct found *found = found_after("no-tsc", 20000, "later", false);
  EXPECT(found->remarks == TACHO_REMARK_NO_TSC, "remarks %llu", NUMBER(found->remarks));
  EXPECT(found->events[0] == 20000 && found->dropped == 20000, "%llu events, %llu dropped", NUMBER(found->events[0]),
         NUMBER(found->dropped));
  free(found);
}

/* A system call would end the thread, and reading the TSC would end the program. The recorder's own thread must not
 * outlive them. */
void test_strict(void) {
  setenv("TACHO_EVENTS_CPU_TIME", "1", 1);
  struct found *found = found_after("strict", 20000, NULL, false);
  EXPECT(found->remarks == TACHO_REMARK_STRICT_SECCOMP, "remarks %llu", NUMBER(found->remarks));
  EXPECT(found->events[0] == 20000 && found->dropped == 20002, "%llu events, %llu dropped", NUMBER(found->events[0]),
         NUMBER(found->dropped));
  free(found);
}

/* main leaves by pthread_exit. The program ends with its last thread, not counting the recorder's. */
void test_leave_main(void) {
  struct found *found = found_after("leave-main", 2000, NULL, false);
  EXPECT(found->events[0] == 2000 && found->dropped == 0 && found->closed == 1, "%llu events",
         NUMBER(found->events[0]));
  free(found);
}
