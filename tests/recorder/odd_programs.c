/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that are odd and legal, one a name: odd NAME. Each says on stdout and stderr what it saw. Each fires events of tracetools, if the
 * recorder is there; without, it does the rest alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((weak)) void ros_trace_rcl_publish(const void *publisher_handle, const void *message);
__attribute__((weak)) int own_preloaded(void);

static void fire(uintptr_t count) {
  for (uintptr_t i = 0; i < count && ros_trace_rcl_publish != NULL; i++) ros_trace_rcl_publish((void *)1, (void *)i);
}

/* The result of a call, in one line; the same with the recorder and without. */
static void say(const char *what, long result) {
  if (result < 0)
    printf("%s: %s\n", what, strerror(errno));
  else
    printf("%s: %ld\n", what, result);
  fflush(stdout);
}

static void say_end(pid_t child) {
  int status = -1;
  const pid_t ended = waitpid(child, &status, 0);
  printf("child: %s, status %#x\n", ended == child ? "ended" : strerror(errno), (unsigned)status);
  fflush(stdout);
}

static void end_by(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

static int bad_addresses(void) {
  int pair[2];
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(at + page, page, PROT_NONE);
  memcpy(at + page - 8, "RTPS\2\3\1\17", 8);
  socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
  struct iovec half = {at + page - 8, 100}, nowhere = {at + page, 100};
  struct msghdr message = {.msg_iov = &half, .msg_iovlen = 1},
                no_buffers = {.msg_iov = (struct iovec *)(at + page), .msg_iovlen = 1};
  struct mmsghdr many[] = {{.msg_hdr = message}};
  say("sendto", sendto(pair[0], at + page, 100, 0, NULL, 0));
  say("sendto, half", sendto(pair[0], at + page - 8, 100, 0, NULL, 0));
  say("sendmsg", sendmsg(pair[0], (struct msghdr *)(at + page), 0));
  say("sendmsg, no buffers", sendmsg(pair[0], &no_buffers, 0));
  say("sendmsg, half", sendmsg(pair[0], &message, 0));
  say("sendmmsg, half", sendmmsg(pair[0], many, 1, 0));
  say("writev", writev(pair[0], &nowhere, 1));
  say("sendto, whole", sendto(pair[0], at + page - 8, 8, 0, NULL, 0));
  say("recvfrom", recvfrom(pair[1], at + page, 8, MSG_DONTWAIT, NULL, NULL));
  return 0;
}

static int in_clone(void *nothing) {
  (void)nothing;
  fire(1000);
  return 3;
}

static int raw_children(void) {
  static char stack[1 << 16] __attribute__((aligned(64)));
  fire(1000);
  const pid_t raw = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (raw == 0) {
    fire(1000);
    _exit(4);
  }
  say_end(raw);
  say_end(clone(in_clone, stack + sizeof stack, SIGCHLD, NULL));
  say_end(clone(in_clone, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
  const pid_t vforked = vfork();
  if (vforked == 0) _exit(5);
  say_end(vforked);
  fire(1000);
  return 0;
}

static sigjmp_buf out;
static volatile int jumps;

static void jump_out(int number) {
  (void)number;
  jumps++;
  siglongjmp(out, 1);
}

static int jump(void) {
  struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, jump_out);
  if (sigsetjmp(out, 1) == 0) setitimer(ITIMER_REAL, &often, NULL);
  while (jumps < 200) fire(1);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarm, NULL);
  setitimer(ITIMER_REAL, &never, NULL);
  say("jumped out at least 200 times", jumps >= 200);
  return 0;
}

static int daemonise(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) return 2;
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      fire(1000);
      say("the daemon leads a session", getsid(0) == getpid());
      if (write(ends[1], "x", 1) != 1) _exit(2);
    }
    _exit(0);
  }
  say("told by the daemon", read(ends[0], &byte, 1));
  wait(NULL);
  return 0;
}

static int without_directory(void) {
  char name[] = "gone-XXXXXX", path[16];
  if (mkdtemp(name) == NULL || chdir(name) != 0) return 2;
  char up[64];
  snprintf(up, sizeof up, "../%s", name);
  say("rmdir", rmdir(up));
  fire(1000);
  say("getcwd", getcwd(path, sizeof path) != NULL ? 0 : -1);
  return 0;
}

static int limited(int resource, rlim_t most) {
  struct rlimit limit = {most, most};
  say("setrlimit", setrlimit(resource, &limit));
  fire(1000);
  return 0;
}

static int every_descriptor(void) {
  int taken = 0;
  struct rlimit limit = {64, 64};
  say("setrlimit", setrlimit(RLIMIT_NOFILE, &limit));
  while (taken < 50 && dup(0) >= 0) taken++;
  fire(1000);
  while (dup(0) >= 0) taken++;
  say("descriptors", taken);
  fire(1000);
  return 0;
}

static int little_memory(void) {
  long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm == NULL || fscanf(statm, "%ld", &pages) != 1) return 2;
  fclose(statm);
  limited(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (4 << 20)); /* less than the recorder maps */
  say("malloc", malloc(1 << 20) != NULL);
  return 0;
}

static int high_descriptors(void) {
  fire(1000);
  for (int fd = 100; fd < 1100; fd += 100) say("dup2", dup2(1, fd));
  dprintf(1000, "written to 1000\n");
  for (int fd = 990; fd < 1050; fd++) dup2(1, fd);
  dprintf(1024, "written to 1024\n");
  fire(1000);
  say("write", write(1030, "written to 1030\n", 16));
  return 0;
}

static void on_signal(int number) { fire((uintptr_t)number); }

static int small_stack(void) {
  const size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 1024;
  stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  fire(1);
  say("sigaltstack", sigaltstack(&stack, NULL));
  sigaction(SIGUSR1, &action, NULL);
  for (int i = 0; i < 500; i++) raise(SIGUSR1);
  say("raised", 500);
  return 0;
}

static void *in_thread(void *nothing) {
  fire(500);
  return nothing;
}

static int many_threads(void) {
  pthread_t threads[200];
  int made = 0;
  while (made < 200 && pthread_create(&threads[made], NULL, in_thread, NULL) == 0) made++;
  for (int i = 0; i < made; i++) pthread_join(threads[i], NULL);
  say("threads", made);
  return 0;
}

static int namespaces(int chroots) {
  say("user", unshare(CLONE_NEWUSER));
  say("mounts", unshare(CLONE_NEWNS));
  say("pids", unshare(CLONE_NEWPID));
  if (chroots) say("chroot", chroot("/proc") == 0 ? chdir("/") : -1);
  fire(1000);
  const pid_t child = fork();
  if (child == 0) {
    fire(1000);
    say("its pid", getpid() == 1);
    exit(0);
  }
  say_end(child);
  return 0;
}

static int stopped(void) {
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)parent);
    while (state != 'T') {
      FILE *stat = fopen(path, "r");
      if (stat == NULL || fscanf(stat, "%*d %*[^)]) %c", &state) != 1) _exit(2);
      fclose(stat);
    }
    kill(parent, SIGCONT);
    _exit(0);
  }
  fire(10);
  raise(SIGSTOP);
  fire(10);
  say_end(child);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const char *name = argv[1];
#define IS(text) (strcmp(name, text) == 0)
  if (IS("exit")) {
    fire(1000);
    printf("on stdout\n");
    fprintf(stderr, "on stderr\n");
    return atoi(argv[2]);
  } else if (IS("signal")) {
    fire(1000);
    say("ends by", atoi(argv[2]));
    end_by(atoi(argv[2]));
  } else if (IS("segv")) {
    fire(1000);
    *(volatile int *)NULL = 1;
  } else if (IS("abort")) {
    fire(1000);
    abort();
  } else if (IS("close-all")) {
    for (int fd = 3; fd < 4096; fd++) close(fd);
    fire(1000);
    for (int fd = 3; fd < 4096; fd++) close(fd);
    fire(1000);
    say("open", open("/dev/null", O_RDONLY));
  } else if (IS("close-standard")) {
    close(0), close(1), close(2);
    fire(1000);
    const int first = open("/dev/null", O_RDONLY), second = open("/dev/null", O_RDONLY);
    return first == 0 && second == 1 ? 0 : 9;
  } else if (IS("bad-addresses")) {
    fire(1);
    return bad_addresses();
  } else if (IS("raw-children")) {
    return raw_children();
  } else if (IS("jump")) {
    return jump();
  } else if (IS("not-dumpable")) {
    say("prctl", prctl(PR_SET_DUMPABLE, 0));
    fire(1000);
    say("dumpable", prctl(PR_GET_DUMPABLE));
  } else if (IS("exec-chain")) {
    char next[16];
    fire(100);
    say("links left", atoi(argv[2]));
    snprintf(next, sizeof next, "%d", atoi(argv[2]) - 1);
    if (atoi(argv[2]) > 0) execl("/proc/self/exe", argv[0], name, next, NULL);
  } else if (IS("empty-environment")) {
    char *const arguments[] = {argv[0], "exit", "6", NULL}, *const environment[] = {NULL};
    fire(1000);
    execve("/proc/self/exe", arguments, environment);
  } else if (IS("daemon")) {
    return daemonise();
  } else if (IS("without-directory")) {
    return without_directory();
  } else if (IS("namespaces")) {
    return namespaces(0);
  } else if (IS("chroot")) {
    return namespaces(1);
  } else if (IS("every-descriptor")) {
    return every_descriptor();
  } else if (IS("small-files")) {
    return limited(RLIMIT_FSIZE, 100000);
  } else if (IS("no-files")) {
    return limited(RLIMIT_FSIZE, 1000);
  } else if (IS("little-memory")) {
    return little_memory();
  } else if (IS("strict")) {
    fire(1000);
    say("strict", 1);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 77;
    fire(1000);
    if (write(1, "in strict mode\n", 15) != 15) return 78;
    syscall(SYS_exit, 6);
  } else if (IS("strict-and-more")) { /* the first system call that is not allowed ends it */
    fire(1000);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 77;
    fire(1000);
    getppid();
  } else if (IS("no-tsc")) {
    say("prctl", prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
    fire(1000);
    say("fired", 1);
  } else if (IS("no-tsc-later")) {
    fire(1000);
    say("prctl", prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
    fire(1000);
    say("fired", 1);
  } else if (IS("small-stack")) {
    return small_stack();
  } else if (IS("many-threads")) {
    return many_threads();
  } else if (IS("leave-main")) {
    fire(1000);
    say("main leaves", 1);
    pthread_exit(NULL);
  } else if (IS("high-descriptors")) {
    return high_descriptors();
  } else if (IS("own-preload")) {
    fire(1000);
    say("own", own_preloaded != NULL ? own_preloaded() : -2);
  } else if (IS("pipe")) {
    int ends[2];
    signal(SIGPIPE, SIG_DFL);
    fire(1000);
    if (pipe(ends) != 0 || close(ends[0]) != 0) return 2;
    return (int)write(ends[1], "x", 1);
  } else if (IS("stopped")) {
    return stopped();
  } else if (IS("session")) {
    fire(1000);
    say("setsid", setsid() == getpid());
    say("leads", getsid(0) == getpid());
  } else if (IS("much-on-stderr")) {
    for (int i = 0; i < 100000; i++) fire(1), fprintf(stderr, "line %d\n", i);
  } else {
    return 2;
  }
  return 0;
}
