/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements modes of the recorded program that are legal and rare: children without fork(3), handlers that do not
 * return, invalid addresses, use of every descriptor, and programs that forbid themselves the clock or system calls.
 */
#define _GNU_SOURCE
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void ros_trace_callback_start(const void *callback, bool is_intra_process);
void ros_trace_callback_end(const void *callback);

static void fire_from(uint64_t writer, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; i++) fire(writer, i);
}

static int child_of_clone(void *writer) {
  fire_from((uint64_t)(uintptr_t)writer, 0, count);
  return 0;
}

static pid_t clone_child(int flags, uint64_t writer) {
  const size_t size = 1 << 20;
  char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return stack == MAP_FAILED ? -1 : clone(child_of_clone, stack + size, flags | SIGCHLD, (void *)(uintptr_t)writer);
}

static bool ended_well(pid_t child) {
  int status;
  return waitpid(child, &status, 0) == child && status == 0;
}

/* None of these children runs fork(3)'s handlers: two use the bare system call, one uses clone(3), and one fires
 * nothing and ends in order. All continue beside the parent. */
static int raw_children(void) {
  pid_t children[4];
  fire_from(0, 0, count);
  for (uint64_t i = 0; i < 3; i++) {
#ifdef SYS_fork
    children[i] = (pid_t)(i == 0 ? syscall(SYS_fork) : syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
#else
    children[i] = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    if (children[i] != 0) continue;
    if (i < 2) fire_from(1 + i, 0, count);
    exit(0);
  }
  children[3] = clone_child(0, 3);
  fire_from(0, count, 2 * count);
  for (int i = 0; i < 4; i++) {
    if (!ended_well(children[i])) return 5 + i;
  }
  return 0;
}

/* The child has the parent's memory, including its thread's own. The parent waits. */
static int shared_child(void) {
  fire_from(0, 0, count);
  if (!ended_well(clone_child(CLONE_VM, 1))) return 5;
  fire_from(0, count, 2 * count);
  return 0;
}

static sigjmp_buf out;
static volatile uint64_t tries, jumps;

static void jump_out(int number) {
  (void)number;
  jumps++;
  siglongjmp(out, 1);
}

/* Runs a handler at 20 kHz that never returns. Interrupted events are tried again under the next number. */
static int jump(bool on_own_stack) {
  static char of_signals[1 << 16];
  if (on_own_stack && sigaltstack(&(stack_t){.ss_sp = of_signals, .ss_size = sizeof of_signals}, NULL) != 0) return 5;
  struct sigaction action = {.sa_handler = jump_out, .sa_flags = on_own_stack ? SA_ONSTACK : 0};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  struct itimerspec often = {{0, 50000}, {0, 50000}}, never = {{0, 0}, {0, 0}};
  timer_t timer;
  sigaction(SIGALRM, &action, NULL);
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 6;
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  /* Unblocks the signal after the jump. In the jump, where a busy machine always has the next one ready, the handlers
   * would fill the stack of signals. */
  sigsetjmp(out, 0);
  sigprocmask(SIG_UNBLOCK, &alarm, NULL);
  if (tries == 0) timer_settime(timer, 0, &often, NULL);
  while (jumps < count) fire(0, tries++);
  sigprocmask(SIG_BLOCK, &alarm, NULL);
  timer_settime(timer, 0, &never, NULL);
  atomic_store(&fired[0], tries);
  fire_from(1, 0, count);
  return 0;
}

static bool refused(ssize_t result) { return result == -1 && errno == EFAULT; }

/* The kernel refuses every call as usual, whether or not the memory begins like a message of a DDS. */
static int bad_addresses(void) {
  int pair[2], stream[2];
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE) != 0) return 5;
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, stream) != 0) return 6;
  memcpy(at + page - 8, "RTPS\2\3\1\17", 8);
  struct iovec nowhere = {at + page, 100}, half = {at + page - 8, 100};
  struct msghdr to_nowhere = {.msg_iov = &nowhere, .msg_iovlen = 1}, to_half = {.msg_iov = &half, .msg_iovlen = 1};
  struct msghdr no_buffers = {.msg_iov = (struct iovec *)(at + page), .msg_iovlen = 1};
  struct mmsghdr many[] = {{.msg_hdr = to_nowhere}};
  fire_from(0, 0, count);
  if (!refused(sendto(pair[0], at + page, 100, 0, NULL, 0)) ||
      !refused(sendto(pair[0], at + page - 8, 100, 0, NULL, 0)))
    return 7;
  if (!refused(sendmsg(pair[0], &to_nowhere, 0)) || !refused(sendmsg(pair[0], &to_half, 0))) return 8;
  if (!refused(sendmsg(pair[0], &no_buffers, 0)) || !refused(sendmsg(pair[0], (struct msghdr *)(at + page), 0)))
    return 9;
  if (!refused(sendmsg(pair[0], NULL, 0)) || !refused(sendmmsg(pair[0], many, 1, 0))) return 10;
  if (sendto(pair[0], at + page - 8, 8, 0, NULL, 0) != 8) return 11;
  if (!refused(recvfrom(pair[1], at + page, 8, 0, NULL, NULL))) return 12;
  if (sendto(stream[0], at + page - 8, 8, 0, NULL, 0) != 8 || !refused(recvmsg(stream[1], &to_nowhere, 0))) return 13;
  return 0;
}

/* Takes every descriptor that it may have, and reports their number. `hard`: the limit cannot be raised. */
static int every_descriptor(bool hard) {
  int taken = 0;
  struct rlimit limit = {40, 0}, now;
  if (getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_max < 100) return NOT_POSSIBLE_HERE;
  limit.rlim_max = hard ? limit.rlim_cur : now.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
  for (; taken < 30; taken++) {
    if (dup(0) < 0) return 3;
  }
  fire_from(0, 0, count); /* from the first event on there is a file */
  while (dup(0) >= 0) taken++;
  if (getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur != limit.rlim_cur || now.rlim_max != limit.rlim_max) return 4;
  fire_from(0, count, 2 * count);
  atomic_store(&fired[1], (uint64_t)taken);
  return 0;
}

int odd_mode(const char *mode, const char *more) {
  if (strcmp(mode, "raw-children") == 0) {
    return raw_children();
  } else if (strcmp(mode, "shared-child") == 0) {
    return shared_child();
  } else if (strcmp(mode, "jump") == 0) { /* argument 4: use a signal stack */
    return jump(more != NULL);
  } else if (strcmp(mode, "bad-addresses") == 0) {
    return bad_addresses();
  } else if (strcmp(mode, "every-descriptor") == 0) {
    return every_descriptor(more != NULL);
  } else if (strcmp(mode, "no-tsc") == 0) { /* if argument 4 is given, `count` events before; `count` events after */
    if (more != NULL) fire_from(0, 0, count);
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) return NOT_POSSIBLE_HERE;
    fire_from(0, more != NULL ? count : 0, more != NULL ? 2 * count : count);
  } else if (strcmp(mode, "strict") == 0) {
    fire_from(0, 0, count);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) return NOT_POSSIBLE_HERE;
    fire_from(0, count, 2 * count);
    /* The CPU-time clock is a system call, which would end the program. */
    ros_trace_callback_start(&count, false);
    ros_trace_callback_end(&count);
    syscall(SYS_exit, 0); /* this was the rest of the program: its other threads end with it */
  } else if (strcmp(mode, "leave-main") == 0) {
    fire_from(0, 0, count);
    pthread_exit(NULL);
  } else {
    return -1;
  }
  return 0;
}
