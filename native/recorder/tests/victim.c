/* SPDX-License-Identifier: Apache-2.0
 *
 * This is the recorded program of the tests. It fires events in the mode that its first argument names, and counts the
 * calls that returned in a mapping that outlives it (second argument: the file). Event n of writer w is
 * rcl_publish(publisher_handle = w, message = n).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

#include "tacho/events.h"
#include "victim.h"

#define WRITERS 4096

/* This function comes from the libtracetools with which this program is linked, or from the recorder before it. */
void ros_trace_rcl_publish(const void *publisher_handle, const void *message);
void ros_trace_rcl_node_init(const void *node, const void *rmw, const char *name, const char *name_space);

/* Only the recorder has this function. */
__attribute__((weak)) void tacho_record(uint32_t kind, const uint64_t *words, uint32_t count);

_Atomic uint64_t *fired;

void fire(uint64_t writer, uint64_t number) {
  ros_trace_rcl_publish((const void *)writer, (const void *)number);
  atomic_store_explicit(&fired[writer], number + 1, memory_order_release);
}

/* Rests after every thousand events, so that the recorder's thread gets a CPU, however busy the machine is. */
static void fire_paced(uint64_t writer, uint64_t number) {
  const struct timespec rest = {0, 1000000};
  fire(writer, number);
  if (number % 1000 == 999) nanosleep(&rest, NULL);
}

uint64_t count;

static void *fire_count(void *writer) {
  for (uint64_t i = 0; i < count; i++) fire((uint64_t)writer, i);
  return NULL;
}

static void *fire_one(void *writer_and_number) {
  const uint64_t *told = writer_and_number;
  fire(told[0], told[1]);
  return NULL;
}

static void *fire_on(void *writer) {
  for (uint64_t i = 0;; i++) fire((uint64_t)writer, i);
  return NULL;
}

static void run_threads(uint64_t first, uint64_t threads, void *(*body)(void *)) {
  pthread_t thread[WRITERS];
  for (uint64_t i = 0; i < threads; i++) {
    if (pthread_create(&thread[i], NULL, body, (void *)(first + i)) != 0) abort();
  }
  for (uint64_t i = 0; i < threads; i++) pthread_join(thread[i], NULL);
}

/* All threads exist before the first of them fires. */
static pthread_barrier_t all_there;

static void *fire_together(void *writer) {
  pthread_barrier_wait(&all_there);
  return fire_count(writer);
}

/* Runs a bare thread with the smallest possible stack. */
static void run_on_least_stack(void *(*body)(void *)) {
  pthread_t thread;
  pthread_attr_t least;
  pthread_attr_init(&least);
  if (pthread_attr_setstacksize(&least, (size_t)sysconf(_SC_THREAD_STACK_MIN)) != 0) abort();
  if (pthread_create(&thread, &least, body, NULL) != 0) abort();
  pthread_join(thread, NULL);
}

static void wait_for_go(void) {
  while (atomic_load(&fired[WRITERS - 1]) == 0) sched_yield();
}

/* Makes the kernel refuse fallocate to this process from now on, as a sandbox may. */
static bool refuse_fallocate(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fallocate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* Opens a stream on the loopback device and discards incoming bytes unread, which needs no buffer. */
static int throw_bytes_away(void) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), sender = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  if (bind(listener, (struct sockaddr *)&at, size) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, (struct sockaddr *)&at, &size) != 0 || connect(sender, (struct sockaddr *)&at, size) != 0)
    return 5;
  const int receiver = accept(listener, NULL, NULL);
  struct iovec no_buffer = {NULL, 8};
  struct msghdr message = {.msg_iov = &no_buffer, .msg_iovlen = 1};
  if (sendto(sender, "RTPSRTPSRTPSRTPS", 16, 0, NULL, 0) != 16) return 6;
  if (recvfrom(receiver, NULL, 8, MSG_TRUNC | MSG_WAITALL, NULL, NULL) != 8) return 7;
  return recvmsg(receiver, &message, MSG_TRUNC | MSG_WAITALL) == 8 ? 0 : 8;
}

/* Writer 1 is the signal handler; writer 0 is the code that it interrupts. */
static void on_signal(int number) {
  (void)number;
  int before = errno;
  fire(1, atomic_load(&fired[1]));
  if (errno != before) abort();
}

/* Starts SIGALRM at 50 kHz. */
static int start_alarms(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGALRM, &action, NULL);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  struct itimerspec often = {{0, 20000}, {0, 20000}};
  return timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0;
}

static void stop_alarms(void) {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarm, NULL);
}

/* Forks `count` times in all. Each child returns from here into the interrupted code. */
static volatile sig_atomic_t forks, is_child;

static void fork_on_signal(int number) {
  (void)number;
  int before = errno, status = 0;
  if (is_child || (uint64_t)forks >= count) return;
  forks++;
  pid_t child = fork();
  if (child == 0) {
    is_child = 1;
  } else if (waitpid(child, &status, 0) != child || status != 0) {
    abort();
  }
  errno = before;
}

/* Writes wide records of `size` words: two full chunks, and three more records. `count`: bytes for records in a chunk. */
static void *fill_chunks(void *size) {
  uint64_t words[64], per_chunk = count / (8 + 8 * (uint64_t)size);
  for (uint64_t i = 0; i < 2 * per_chunk + 3; i++) {
    for (uint64_t word = 0; word < (uint64_t)size; word++) words[word] = i << 8 | word;
    tacho_record(200, words, (uint32_t)(uint64_t)size);
  }
  return NULL;
}

/* Names more gids than there are numbers: event i has the gids that i and its square make. */
static void fire_gids(void) {
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t one = i % 1000, other = i * i % 1000;
    const uint64_t available[] = {one, ~one, other, other << 32, i, i + 1};
    const uint64_t whole[] = {one, ~one, i, ~i, 1, 1, 1, 1}, piece[] = {other, ~other, i, ~i, 3, 2, i, 2};
    tacho_record(TACHO_DDS_DATA_AVAILABLE, available, 6);
    tacho_record(TACHO_DDS_RECEIVE, whole, 8);
    tacho_record(TACHO_DDS_SEND, piece, 8);
  }
}

/* Counts the mappings of event files in this process. */
static int mappings(void) {
  char line[8192];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return -1;
  while (fgets(line, sizeof line, maps) != NULL) found += strstr(line, ".events") != NULL;
  fclose(maps);
  return found;
}

/* Returns the resident memory of the event files in this process in KiB. */
static long resident_kib(void) {
  char line[8192];
  bool ours = false;
  long total = 0, kib;
  FILE *maps = fopen("/proc/self/smaps", "r");
  if (maps == NULL) return -1;
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strchr(line, '-') != NULL && strchr(line, '/') != NULL) ours = strstr(line, ".events") != NULL;
    if (ours && sscanf(line, "Rss: %ld kB", &kib) == 1) total += kib;
  }
  fclose(maps);
  return total;
}

/* Pins this thread to its current CPU, under SCHED_FIFO. */
static bool become_real_time(void) {
  cpu_set_t one;
  struct sched_param priority = {.sched_priority = 1};
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  return sched_setaffinity(0, sizeof one, &one) == 0 && sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
}

/* Returns the recorder's thread, once it runs. */
static pid_t keeper(void) {
  const struct timespec rest = {0, 1000000};
  for (;; nanosleep(&rest, NULL)) {
    DIR *tasks = opendir("/proc/self/task");
    pid_t found = 0;
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
      char path[300], name[32] = "";
      snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
      FILE *comm = fopen(path, "r");
      if (comm == NULL) continue;
      if (fgets(name, sizeof name, comm) != NULL && strcmp(name, "tacho-recorder\n") == 0) found = atoi(task->d_name);
      fclose(comm);
    }
    if (tasks != NULL) closedir(tasks);
    if (found != 0) return found;
  }
}

static int open_descriptors(void) {
  int open = 0;
  for (int fd = 0; fd < 4096; fd++) open += fcntl(fd, F_GETFD) >= 0;
  return open;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const char *mode = argv[1];
  int fd = open(argv[2], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, WRITERS * 8) != 0) return 2;
  fired = mmap(NULL, WRITERS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fired == MAP_FAILED) return 2;
  close(fd);
  count = strtoull(argv[3], NULL, 10);

  if (strcmp(mode, "silent") == 0) {
    return open_descriptors();
  } else if (strcmp(mode, "burst") == 0) { /* like a start-up: all at once, including texts */
    for (uint64_t i = 0; i < count; i++) {
      if (i % 8 == 0) ros_trace_rcl_node_init((void *)1, (void *)2, "a_node_with_a_long_name", "/in/a/name/space");
      fire(0, i);
    }
  } else if (strcmp(mode, "threads") == 0) {
    run_threads(0, 16, fire_count);
  } else if (strcmp(mode, "short-threads") == 0) {
    for (uint64_t round = 0; round < 8; round++) run_threads(round * 16, 16, fire_count);
  } else if (strcmp(mode, "pool") == 0) { /* `count` threads, few at a time, one event each */
    const uint64_t all = count;
    for (uint64_t i = 0; i < all; i++) {
      pthread_t thread;
      const uint64_t writer_and_number[] = {i % 1000, i / 1000};
      if (pthread_create(&thread, NULL, fire_one, (void *)writer_and_number) != 0) abort();
      pthread_join(thread, NULL);
    }
  } else if (strcmp(mode, "crowd") ==
             0) { /* argument 4: number of threads; they fire at once when the last word says so */
    fire(0, 0);
    wait_for_go();
    pthread_barrier_init(&all_there, NULL, (unsigned)atoi(argv[4]));
    run_threads(1, strtoull(argv[4], NULL, 10), fire_together);
  } else if (strcmp(mode, "least-stack") == 0) {
    run_on_least_stack(fire_count);
  } else if (strcmp(mode, "writer") == 0) { /* argument 4: which */
    fire_count((void *)(uintptr_t)atoi(argv[4]));
  } else if (strcmp(mode, "exec") == 0) {
    fire_count((void *)0);
    execl("/proc/self/exe", argv[0], "writer", argv[2], argv[3], "1", NULL);
    return 5;
  } else if (strcmp(mode, "spawn") == 0) { /* by vfork and by posix_spawn; this program continues beside each child */
    pid_t children[2];
    fire_count((void *)0);
    children[0] = vfork();
    if (children[0] == 0) {
      execl("/proc/self/exe", argv[0], "writer", argv[2], argv[3], "1", NULL);
      _exit(5);
    }
    char *const arguments[] = {argv[0], "writer", argv[2], argv[3], "2", NULL};
    if (posix_spawn(&children[1], "/proc/self/exe", NULL, NULL, arguments, environ) != 0) return 6;
    for (uint64_t i = count; i < 2 * count; i++) fire(0, i);
    for (int i = 0; i < 2; i++) {
      int status;
      if (waitpid(children[i], &status, 0) != children[i] || status != 0) return 7;
    }
  } else if (strcmp(mode, "wait") == 0) { /* fires one event, and the others when the last word says so */
    fire(0, 0);
    wait_for_go();
    for (uint64_t i = 1; i < count; i++) fire(0, i);
  } else if (strcmp(mode, "locked") == 0) { /* 77: not possible here */
    struct rlimit lockable;
    /* An ordinary user's 8 MiB are enough for this program, but not with a mapped file. */
    if (geteuid() != 0 && getrlimit(RLIMIT_MEMLOCK, &lockable) == 0 && lockable.rlim_cur < 256u << 20) return 77;
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 77;
    fire_count((void *)0);
  } else if (strcmp(mode, "sandbox") == 0) { /* 77: not possible here */
    fire(0, 0);
    if (!refuse_fallocate()) return 77;
    for (uint64_t i = 1; i < count; i++) fire(0, i);
  } else if (strcmp(mode, "stream") == 0) {
    fire_count((void *)0);
    return throw_bytes_away();
  } else if (strcmp(mode, "on") == 0) { /* until killed */
    run_threads(0, 3, fire_on);
  } else if (strcmp(mode, "fork") == 0) { /* parent 0, child 1 with events, child without, child of a child 2 */
    fire_count((void *)0);
    pid_t with = fork();
    if (with == 0) {
      fire_count((void *)1);
      pid_t below = fork();
      if (below == 0) {
        fire_count((void *)2);
        exit(0);
      }
      waitpid(below, NULL, 0);
      exit(0);
    }
    pid_t without = fork();
    if (without == 0) exit(0);
    waitpid(with, NULL, 0);
    waitpid(without, NULL, 0);
    for (uint64_t i = count; i < 2 * count; i++) fire(0, i);
  } else if (strcmp(mode, "fork-large") == 0) { /* parent 0, child 1; a thousand events each after the fork */
    for (uint64_t i = 0; i < count; i++) fire_paced(0, i);
    if (mappings() < 2) return 5;
    pid_t child = fork();
    if (child == 0) {
      if (mappings() != 0) _exit(6);
      for (uint64_t i = 0; i < 1000; i++) fire(1, i);
      exit(mappings() == 1 ? 0 : 7);
    }
    for (uint64_t i = count; i < count + 1000; i++) fire(0, i);
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return 8;
  } else if (strcmp(mode, "fork-in-handler") == 0) { /* parent 0, children 1 to `count`, ten events each */
    fire(0, 0);
    if (start_alarms(fork_on_signal) != 0) return 2;
    for (uint64_t i = 1; (uint64_t)forks < count || is_child; i++) {
      fire(0, i);
      if (!is_child) continue;
      for (uint64_t number = 0; number < 10; number++) fire((uint64_t)forks, number);
      exit(0);
    }
    stop_alarms();
  } else if (strcmp(mode, "boundaries") == 0) { /* `count` words a chunk */
    run_threads(0, 64, fill_chunks);
  } else if (strcmp(mode, "gids") == 0) {
    fire_gids();
  } else if (strcmp(mode, "real-time") == 0) { /* 77: not possible here */
    cpu_set_t at_start, of_keeper;
    if (sched_getaffinity(0, sizeof at_start, &at_start) != 0 || CPU_COUNT(&at_start) < 2) return 77;
    if (!become_real_time()) return 77;
    fire_count((void *)0);
    pid_t tid = keeper();
    if (sched_getscheduler(tid) != SCHED_OTHER) return 5;
    if (sched_getaffinity(tid, sizeof of_keeper, &of_keeper) != 0 || !CPU_EQUAL(&at_start, &of_keeper)) return 6;
  } else if (strcmp(mode, "fork-under-load") == 0) { /* fork while other threads write: children exit, none hangs */
    pthread_t thread[2];
    for (uint64_t i = 0; i < 2; i++) pthread_create(&thread[i], NULL, fire_count, (void *)i);
    for (uint64_t i = 0; i < 20; i++) {
      pid_t child = fork();
      if (child == 0) {
        fire(2 + i, 0);
        exit(0);
      }
      waitpid(child, NULL, 0);
    }
    for (uint64_t i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  } else if (strcmp(mode, "signals") == 0) {
    if (start_alarms(on_signal) != 0) return 2;
    errno = 77;
    fire_count((void *)0);
    stop_alarms();
    if (errno != 77) return 4;
  } else if (strcmp(mode, "close-all") == 0) { /* this program closes unknown descriptors, and reuses their numbers */
    fire(0, 0);
    for (int other = 3; other < 65536; other++) close(other);
    int own = open(argv[2], O_RDWR);
    for (uint64_t i = 1; i < count; i++) fire_paced(0, i);
    if (own != 3) return 5;
  } else if (strcmp(mode, "exit-under-load") == 0) { /* main returns while threads write */
    pthread_t thread;
    for (uint64_t i = 0; i < 3; i++) pthread_create(&thread, NULL, fire_on, (void *)i);
    while (atomic_load(&fired[0]) < count || atomic_load(&fired[1]) < count || atomic_load(&fired[2]) < count) {
    }
  } else if (strcmp(mode, "limit") == 0) { /* RLIMIT_FSIZE, argument 4; SIGXFSZ would end the program */
    struct rlimit limit = {strtoull(argv[4], NULL, 10), RLIM_INFINITY};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    fire_count((void *)0);
  } else if (strcmp(mode, "paced") == 0) { /* 1000 events a millisecond: more than any stack fires for long */
    for (uint64_t i = 0; i < count; i++) fire_paced(0, i);
  } else if (strcmp(mode, "resident") == 0) { /* waits until at most argument 4 KiB are resident */
    const struct timespec rest = {0, 10000000};
    for (uint64_t i = 0; i < count; i++) fire_paced(0, i);
    while (resident_kib() > atol(argv[4])) nanosleep(&rest, NULL);
  } else {
    const int code = odd_mode(mode, argv[4]);
    return code >= 0 ? code : 2;
  }
  return 0;
}
