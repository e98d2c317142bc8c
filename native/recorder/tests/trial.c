/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events_reader.h"
#include "found.h"

const char *recorder, *victim;
char **emulator, work[256], events[300];
_Atomic uint64_t *fired;

static char counts[300];

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status;
  (void)type;
  (void)walk;
  return remove(path);
}

void make_work(void) {
  snprintf(work, sizeof work, "/tmp/tacho-recorder-XXXXXX");
  EXPECT(mkdtemp(work) != NULL, "%s", strerror(errno));
  snprintf(events, sizeof events, "%s/events", work);
  snprintf(counts, sizeof counts, "%s/counts", work);
  EXPECT(mkdir(events, 0755) == 0, "%s", strerror(errno));
  int fd = open(counts, O_RDWR | O_CREAT, 0600);
  EXPECT(fd >= 0 && ftruncate(fd, WRITERS * 8) == 0, "%s", strerror(errno));
  fired = mmap(NULL, WRITERS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT(fired != MAP_FAILED, "%s", strerror(errno));
  close(fd);
}

void remove_work(void) {
  munmap((void *)fired, WRITERS * 8);
  nftw(work, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void empty_work(void) {
  remove_work();
  make_work();
}

pid_t start(const char *mode, uint64_t count, uint64_t max_bytes, const char *more) {
  char count_text[32], max_text[32];
  snprintf(count_text, sizeof count_text, "%llu", (unsigned long long)count);
  snprintf(max_text, sizeof max_text, "%llu", (unsigned long long)max_bytes);
  pid_t pid = fork();
  EXPECT(pid >= 0, "%s", strerror(errno));
  if (pid == 0) {
    setenv("TACHO_EVENTS_DIR", events, 1);
    if (max_bytes != 0) setenv("TACHO_EVENTS_MAX_BYTES", max_text, 1);
    char preload[1024];
    const char *command[64] = {0};
    size_t words = 0;
    for (; emulator[words] != NULL && words < 48; words++) command[words] = emulator[words];
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", recorder);
    if (words == 0) {
      putenv(preload);
    } else { /* the emulator itself must not be recorded */
      command[words++] = "-E";
      command[words++] = preload;
    }
    const char *const program[] = {victim, mode, counts, count_text, more};
    memcpy(command + words, program, sizeof program);
    execvp(command[0], (char **)command);
    _exit(127);
  }
  return pid;
}

void finish(pid_t pid) {
  int status;
  EXPECT(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the program ended with status %#x", (unsigned)status);
}

uint64_t fired_sum(void) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < WRITERS; i++) total += atomic_load(&fired[i]);
  return total;
}

void skip(const char *why) {
  fprintf(stderr, "skipped: %s\n", why);
  remove_work();
  exit(SKIPPED);
}
