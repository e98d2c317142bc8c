// SPDX-License-Identifier: Apache-2.0
//
// Every process that needs RouDi holds a shared lock on one file. The keeper, a shell that started RouDi, waits for the
// exclusive lock. The kernel grants it when the last of these processes is gone, in whatever way it went, and the
// keeper then ends RouDi. A second lock lets one process at a time look for RouDi and start it, so that there are never
// two.
#include "roudi.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <tacho/middleware.h>
#include <tacho/private_folder.h>
#include <time.h>
#include <unistd.h>

// All three are in the private folder, because RouDi serves one user.
#define NEEDED "roudi.needed"
#define STARTING "roudi.starting"
#define LOG "roudi.log"
#define SOCKET "/tmp/roudi"            // RouDi's own, on which it hears of new processes
enum { PATIENCE_S = 20, PATH = 512 };  // it sets aside some 400 MB first

// Chunks for study A's largest message (2 MiB) and twice that; the default pools of RouDi hold none of these.
static const char pools[] =
    "[general]\nversion = 1\n[[segment]]\n"
    "[[segment.mempool]]\nsize = 256\ncount = 10000\n"
    "[[segment.mempool]]\nsize = 4096\ncount = 4000\n"
    "[[segment.mempool]]\nsize = 33024\ncount = 1000\n"
    "[[segment.mempool]]\nsize = 132096\ncount = 400\n"
    "[[segment.mempool]]\nsize = 528384\ncount = 120\n"
    "[[segment.mempool]]\nsize = 1052672\ncount = 100\n"
    "[[segment.mempool]]\nsize = 2101248\ncount = 60\n"
    "[[segment.mempool]]\nsize = 4202496\ncount = 10\n";

// $1: NEEDED, $2: the pools. RouDi also ends if the keeper is killed. If it hangs on a lock that a killed process held,
// it is killed 10 s after it was asked to end, because it keeps all its memory reserved.
static const char keeper[] =
    "exec 9<\"$1\"; "
    "printf %s \"$2\" | setpriv --pdeathsig TERM timeout -k 10 0 iox-roudi --config-file /dev/stdin 9<&- & roudi=$!; "
    "flock 9; kill -TERM $roudi; wait $roudi";

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // of what follows
static int needed = -1;                                    // NEEDED, locked until this process ends

static bool answers(void) {
  const struct sockaddr_un roudi = {.sun_family = AF_UNIX, .sun_path = SOCKET};
  int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool connected = probe >= 0 && connect(probe, (const struct sockaddr *)&roudi, sizeof roudi) == 0;
  if (probe >= 0) close(probe);
  return connected;
}

// The owner of RouDi: another user's RouDi gives us no memory, or memory that this user chose, and may end at any time.
// Root's may serve everybody.
static bool ours(char *error) {
  struct stat found;
  if (lstat(SOCKET, &found) != 0 || found.st_uid == geteuid() || found.st_uid == 0) return true;
  snprintf(error, TACHO_ERROR_SIZE,
           "cyclonedds: transport \"shm\": " SOCKET
           " is of user %u, whose RouDi serves no other user; expected that of "
           "user %u, or root's: wait until it has ended, remove the socket if it stays, or use \"udp\"",
           found.st_uid, geteuid());
  return false;
}

static int locked(const char *name, int kind, char *path, char *error) {
  char cause[TACHO_ERROR_SIZE];
  int file = tacho_private_path(name, path, PATH, cause) ? tacho_private_open(path, O_RDONLY, cause) : -1;
  if (file < 0) {
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: transport \"shm\": %.900s", cause);
    return -1;
  }
  int result = -1;
  while ((result = flock(file, kind)) < 0 && errno == EINTR) {
  }
  if (result == 0) return file;
  snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: transport \"shm\": %.500s cannot be locked: %s", path,
           strerror(errno));
  close(file);
  return -1;
}

// Runs in a session of its own without anything of ours: no ^C, no descriptors, and no recorder in its environment.
static bool spawn_keeper(const char *needed_path, const char *log) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  // The outer shell ends at once, so that the keeper is no process's child and leaves no zombie.
  char *const arguments[] = {"sh",          "-c", "sh -c \"$0\" keeper \"$@\" &", (char *)keeper, (char *)needed_path,
                             (char *)pools, NULL};
  char *const environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL};
  pid_t shell;
  int status = -1;
  bool spawned = posix_spawn(&shell, "/bin/sh", &files, &attributes, arguments, environment) == 0 &&
                 waitpid(shell, &status, 0) == shell && status == 0;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return spawned;
}

static bool installed(void) {
  return access("/usr/bin/iox-roudi", X_OK) == 0 || access("/usr/local/bin/iox-roudi", X_OK) == 0;
}

static bool start(const char *needed_path, char *error) {
  char log[PATH], cause[TACHO_ERROR_SIZE];
  if (!installed()) {
    snprintf(error, TACHO_ERROR_SIZE,
             "cyclonedds: transport \"shm\" needs the daemon of iceoryx, iox-roudi, which is not "
             "installed: apt-get install iceoryx, or use \"udp\"");
    return false;
  }
  if (!tacho_private_path(LOG, log, sizeof log, cause)) {
    snprintf(error, TACHO_ERROR_SIZE, "cyclonedds: transport \"shm\": %.900s", cause);
    return false;
  }
  if (spawn_keeper(needed_path, log))
    for (time_t until = time(NULL) + PATIENCE_S; time(NULL) < until;) {
      if (answers()) return true;
      nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
  snprintf(error, TACHO_ERROR_SIZE,
           "cyclonedds: transport \"shm\": iox-roudi was started and did not answer within %d s; "
           "what it said is in %.400s. It needs 500 MB in /dev/shm",
           PATIENCE_S, log);
  return false;
}

bool roudi_runs(char *error) {
  static char needed_path[PATH];
  char starting_path[PATH];
  pthread_mutex_lock(&mutex);
  if (needed < 0)
    needed = locked(NEEDED, LOCK_SH, needed_path, error);  // waits while a keeper ends one that nobody needed
  bool there = needed >= 0;
  if (there && !answers()) {
    int starting = locked(STARTING, LOCK_EX, starting_path, error);
    there = starting >= 0 && (answers() || (ours(error) && start(needed_path, error)));
    if (starting >= 0) close(starting);
  }
  there = there && ours(error);
  pthread_mutex_unlock(&mutex);
  return there;
}
