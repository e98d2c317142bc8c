/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Programs with a limit up to this may use all their descriptors. Beyond the limit, the kernel's table still stays
 * small. */
#define SMALL_TABLE 4096u
#define FEW 16    /* if fewer are free, they belong to the program */
#define HIGH 1000 /* programs with a larger limit rarely get this far */

/* Raises the limit for two system calls. The limit bounds the numbers that the kernel assigns, not those in use, so a
 * descriptor beyond the limit takes none from the program. */
static bool raise_limit(struct rlimit was) {
  struct rlimit raised = was;
  if (was.rlim_cur == RLIM_INFINITY || was.rlim_cur >= was.rlim_max) return false;
  raised.rlim_cur = was.rlim_max - was.rlim_cur > FEW ? was.rlim_cur + FEW : was.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

/* Moves a descriptor to the first free number from `lowest` on. If there is none, it stays. */
static int move(int fd, long lowest) {
  int moved = fd < lowest ? fcntl(fd, F_DUPFD_CLOEXEC, (int)lowest) : -1;
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

int descriptor_open(const char *path, int flags, mode_t mode, bool *keep) {
  struct rlimit limit;
  *keep = true;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return open(path, flags | O_CLOEXEC, mode);
  bool raised = limit.rlim_cur <= SMALL_TABLE && raise_limit(limit);
  int fd = open(path, flags | O_CLOEXEC, mode);
  if (fd < 0 && errno == EMFILE && !raised && (raised = raise_limit(limit))) fd = open(path, flags | O_CLOEXEC, mode);
  int cause = errno;
  /* The lowest free number is close to the limit, so at most the numbers in between are free. */
  bool few = fd >= 0 && (rlim_t)fd + FEW >= limit.rlim_cur;
  if (few && !raised) raised = raise_limit(limit);
  if (fd >= 0) fd = move(fd, raised ? (long)limit.rlim_cur : limit.rlim_cur > 1024 ? HIGH : (long)limit.rlim_cur - 8);
  if (raised) setrlimit(RLIMIT_NOFILE, &limit);
  *keep = !few || (rlim_t)fd >= limit.rlim_cur;
  errno = cause;
  return fd;
}
