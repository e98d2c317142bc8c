// SPDX-License-Identifier: Apache-2.0
//
// roudi_kept PLUGIN.so: when none answers, one of several processes that need RouDi at once starts it. It is kept until
// the last of them is gone, even by SIGKILL, and leaves nothing. The test has its own /tmp and /dev/shm, so that it
// neither sees nor disturbs other runs on this machine. It exits 77, skipped, if that is not permitted or there is no
// RouDi.
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <tacho/middleware.h>
#include <time.h>
#include <unistd.h>

enum { SKIPPED = 77, PROCESSES = 4 };

#define CHECK(condition, ...)                         \
  do {                                                \
    if (!(condition)) {                               \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                   \
      fprintf(stderr, "\n");                          \
      exit(1);                                        \
    }                                                 \
  } while (0)
#define WAIT(condition)                                                                                            \
  ({                                                                                                               \
    time_t until = time(NULL) + 30;                                                                                \
    int held;                                                                                                      \
    while (!(held = !!(condition)) && time(NULL) < until) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); \
    held;                                                                                                          \
  })

// Counts processes with this argument in their command that share our /tmp; *found gets the id of the last one.
static int running(const char *command, pid_t *found) {
  char ours[64] = "", theirs[64], path[300], line[4096];
  CHECK(readlink("/proc/self/ns/mnt", ours, sizeof ours - 1) > 0, "no /proc");
  DIR *proc = opendir("/proc");
  int count = 0;
  for (const struct dirent *entry; (entry = readdir(proc));) {
    if (!isdigit((unsigned char)*entry->d_name)) continue;
    memset(theirs, 0, sizeof theirs);
    snprintf(path, sizeof path, "/proc/%s/ns/mnt", entry->d_name);
    if (readlink(path, theirs, sizeof theirs - 1) < 0 || strcmp(ours, theirs)) continue;
    snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file) fclose(file);
    line[size] = 0;
    int matches = 0;
    if (!strcmp(line, "timeout")) continue;  // before it
    for (size_t at = 0; at < size; at += strlen(line + at) + 1) matches |= !strcmp(line + at, command);
    count += matches;
    if (matches && found) *found = (pid_t)atoi(entry->d_name);
  }
  closedir(proc);
  return count;
}

// A process with a session. It reports when it has one, and lives until it is killed.
static pid_t user(const char *plugin, int told[2]) {
  pid_t child = fork();
  CHECK(child >= 0, "fork failed");
  if (child) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  char error[TACHO_ERROR_SIZE] = "";
  void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL), *symbol = library ? dlsym(library, "tacho_middleware") : NULL;
  CHECK(symbol, "%s", dlerror());
  const struct tacho_middleware *(*entry)(void);
  memcpy(&entry, &symbol, sizeof entry);
  char answer = entry()->open(&(struct tacho_session_config){7, "shm", ""}, error) ? 'y' : 'n';
  if (answer == 'n') printf("%s\n", error);
  fflush(stdout);
  CHECK(write(told[1], &answer, 1) == 1, "pipe");
  for (;;) pause();
}

// Stops every thread so that it reacts to no signal but SIGKILL.
static void hang(pid_t process) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *threads = opendir(path);
  CHECK(threads, "no threads of %d", process);
  for (const struct dirent *entry; (entry = readdir(threads));) {
    pid_t thread = (pid_t)atoi(entry->d_name);
    if (thread == 0) continue;
    CHECK(ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0 && ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0,
          "ptrace: %s", strerror(errno));
    CHECK(waitpid(thread, NULL, __WALL) == thread, "waitpid");
  }
  closedir(threads);
}

static void ended(pid_t process) {
  kill(process, SIGKILL);
  CHECK(waitpid(process, NULL, 0) == process, "waitpid");
}

int main(int count, char **arguments) {
  CHECK(count == 2, "usage: roudi_kept PLUGIN.so");
  alarm(150);
  if (!strncmp(arguments[1], "/tmp/", 5)) {
    printf("skipped: %s is in /tmp, which this test hides\n", arguments[1]);
    return SKIPPED;
  }
  if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tacho", "/tmp", "tmpfs", 0, NULL) != 0 || mount("tacho", "/dev/shm", "tmpfs", 0, NULL) != 0) {
    printf("skipped: no /tmp of its own can be made here: it needs root (CAP_SYS_ADMIN)\n");
    return SKIPPED;
  }
  unsetenv("XDG_RUNTIME_DIR");  // which is not hidden
  unsetenv("TMPDIR");
  int told[2];
  CHECK(pipe(told) == 0, "pipe");
  pid_t users[PROCESSES], keeper = 0, roudi = 0;
  for (int i = 0; i < PROCESSES; i++) users[i] = user(arguments[1], told);
  for (int i = 0; i < PROCESSES; i++) {
    char answer = 0;
    CHECK(read(told[0], &answer, 1) == 1, "pipe");
    if (answer != 'y') {
      for (int j = 0; j < PROCESSES; j++) ended(users[j]);
      return SKIPPED;
    }
  }
  CHECK(running("iox-roudi", NULL) == 1, "%d RouDi run for %d processes, expected 1", running("iox-roudi", NULL),
        PROCESSES);
  for (int i = 0; i < PROCESSES - 1; i++) ended(users[i]);
  // The keeper must not end it now, because it waits for the last process's lock.
  CHECK(running("iox-roudi", NULL) == 1, "RouDi went while one process still needs it");
  ended(users[PROCESSES - 1]);
  CHECK(WAIT(running("iox-roudi", NULL) == 0), "RouDi still runs 30 s after the last process that needed it");
  CHECK(WAIT(running("keeper", NULL) == 0), "the keeper still runs 30 s after RouDi");

  char answer = 0;
  users[0] = user(arguments[1], told);
  CHECK(read(told[0], &answer, 1) == 1 && answer == 'y', "RouDi is not started again");
  CHECK(running("iox-roudi", &roudi) == 1, "no RouDi");
  hang(roudi);
  ended(users[0]);
  CHECK(WAIT(running("iox-roudi", NULL) == 0),
        "RouDi hangs, and still runs 30 s after the last process that needed it");
  while (waitpid(-1, NULL, __WALL) > 0) {
  }  // the threads that were traced
  CHECK(WAIT(running("keeper", NULL) == 0), "the keeper still runs 30 s after RouDi");

  users[0] = user(arguments[1], told);
  CHECK(read(told[0], &answer, 1) == 1 && answer == 'y', "RouDi is not started after one that was killed");
  CHECK(running("keeper", &keeper) == 1, "no keeper");
  kill(keeper, SIGKILL);
  // The keeper's end takes RouDi with it, even if processes still need it.
  CHECK(waitpid(users[0], NULL, 0) == users[0], "waitpid");
  CHECK(WAIT(running("iox-roudi", NULL) == 0), "RouDi outlives its keeper");
  printf("ok\n");
}
