// SPDX-License-Identifier: Apache-2.0
//
// count PID send|receive MESSAGES: single-steps every thread of a program that sends or receives UDP datagrams, and
// counts what it executes in user space inside the one-way latency. Sending: from the last reading of the clock to the
// system call that sends. Receiving: from the end of the system call that received to the first reading of the clock.
// Prints one line for each message: instructions, cache lines of code, pages of code. The vDSO reads the clock; its own
// instructions are not counted. It works on x86_64.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { MOST = 100000, LINE_BITS = 6, PAGE_BITS = 12 };
static uint64_t vdso_from, vdso_to, addresses[MOST];
static int receiving, left;

static void die(const char *what) {
  fprintf(stderr, "count: %s: %s\n", what, strerror(errno));
  exit(3);
}

static void find_vdso(pid_t pid) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *maps = fopen(path, "r");
  if (!maps) die(path);
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "[vdso]")) sscanf(line, "%lx-%lx", &vdso_from, &vdso_to);
  fclose(maps);
}

static int compare(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static int distinct(int count, int bits) {
  static uint64_t blocks[MOST];
  int found = 0;
  for (int i = 0; i < count; i++) blocks[i] = addresses[i] >> bits;
  qsort(blocks, (size_t)count, sizeof *blocks, compare);
  for (int i = 0; i < count; i++) found += i == 0 || blocks[i] != blocks[i - 1];
  return found;
}

static void print(int count) {
  printf("%d %d %d\n", count, distinct(count, LINE_BITS), distinct(count, PAGE_BITS));
  left--;
}

static int is_syscall(pid_t thread, uint64_t at) {
  unsigned char code[2];
  struct iovec here = {code, 2}, there = {(void *)at, 2};
  return process_vm_readv(thread, &here, 1, &there, 1, 0) == 2 && code[0] == 0x0f && code[1] == 0x05;
}

static int sleeps(uint64_t call) { return call == SYS_clock_nanosleep || call == SYS_futex; }

// Steps through one message. The thread has just left a system call.
static void step(pid_t thread) {
  int count = 0, clocked = 0, status;
  while (count < MOST) {
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, thread, 0, &r) != 0) die("registers");
    const int in_vdso = r.rip >= vdso_from && r.rip < vdso_to;
    if (in_vdso && receiving) return print(count);
    if (in_vdso)
      clocked = 1, count = 0;  // sending: starts again after each reading
    else if (is_syscall(thread, r.rip)) {
      const int sends = r.rax == SYS_sendmsg || r.rax == SYS_sendto;
      if (!receiving && clocked && sends) print(count);
      if (receiving || sends || sleeps(r.rax)) return;
    } else {
      addresses[count++] = r.rip;
    }
    if (ptrace(PTRACE_SINGLESTEP, thread, 0, 0) != 0 || waitpid(thread, &status, __WALL) != thread) die("step");
    if (!WIFSTOPPED(status)) return;
  }
}

static int received(const struct user_regs_struct *r) {
  const int64_t result = (int64_t)r->rax;
  return (r->orig_rax == SYS_recvfrom || r->orig_rax == SYS_recvmsg || r->orig_rax == SYS_recvmmsg) && result > 0;
}

int main(int count, char **argument) {
  if (count != 4) {
    fprintf(stderr, "usage: count PID send|receive MESSAGES\n");
    return 2;
  }
  const pid_t pid = atoi(argument[1]);
  receiving = !strcmp(argument[2], "receive");
  left = atoi(argument[3]);
  find_vdso(pid);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *tasks = opendir(path);
  if (!tasks) die(path);
  for (struct dirent *entry; (entry = readdir(tasks));)
    if (*entry->d_name != '.' && (ptrace(PTRACE_SEIZE, atoi(entry->d_name), 0, (void *)PTRACE_O_TRACESYSGOOD) != 0 ||
                                  ptrace(PTRACE_INTERRUPT, atoi(entry->d_name), 0, 0) != 0))
      die("attach");
  closedir(tasks);
  while (left > 0) {
    int status, signal = 0;
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) die("the program has ended");
    if (!WIFSTOPPED(status)) continue;
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
      struct user_regs_struct r;
      if (ptrace(PTRACE_GETREGS, thread, 0, &r) != 0) die("system call");
      // Before a call, its result is set to -ENOSYS. A sender is stepped from the call in which it slept.
      const int slept = (int64_t)r.rax != -ENOSYS && sleeps(r.orig_rax);
      if (receiving ? received(&r) : slept) step(thread);
    } else if (status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP) {
      signal = WSTOPSIG(status);
    }
    // Detach this thread explicitly at the end. The kernel would detach it too, but leave its single step on.
    if (ptrace(left > 0 ? PTRACE_SYSCALL : PTRACE_DETACH, thread, 0, signal) != 0 && errno != ESRCH) die("go on");
  }
  return 0;
}
