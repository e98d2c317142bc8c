/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define SMALL_TABLE 4096u /* programs with a limit of no more descriptors may come to use them all; the kernel's table stays small beyond, too */
#define FEW 16            /* fewer are the program's alone */
#define HIGH 1000         /* where programs with a larger limit hardly come */

/* The limit bounds the numbers that are given out, not those that are in use: a descriptor beyond it takes none of the program's. The limit is
 * raised for two system calls. */
static bool raise_limit(struct rlimit was)
{
  struct rlimit raised = was;
  if (was.rlim_cur == RLIM_INFINITY || was.rlim_cur >= was.rlim_max) return false;
  raised.rlim_cur = was.rlim_max - was.rlim_cur > FEW ? was.rlim_cur + FEW : was.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

/* Moves a descriptor to the first free number from `lowest` on; where there is none it stays. */
static int move(int fd, long lowest)
{
  int moved = fd < lowest ? fcntl(fd, F_DUPFD_CLOEXEC, (int)lowest) : -1;
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

int descriptor_open(const char *path, int flags, mode_t mode, bool *keep)
{
  struct rlimit limit;
  *keep = true;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return open(path, flags | O_CLOEXEC, mode);
  bool raised = limit.rlim_cur <= SMALL_TABLE && raise_limit(limit);
  int fd = open(path, flags | O_CLOEXEC, mode);
  if (fd < 0 && errno == EMFILE && !raised && (raised = raise_limit(limit))) fd = open(path, flags | O_CLOEXEC, mode);
  int cause = errno;
  /* The lowest free number is close to the limit: no more are free than there are numbers between. */
  bool few = fd >= 0 && (rlim_t)fd + FEW >= limit.rlim_cur;
  if (few && !raised) raised = raise_limit(limit);
  if (fd >= 0) fd = move(fd, raised ? (long)limit.rlim_cur : limit.rlim_cur > 1024 ? HIGH : (long)limit.rlim_cur - 8);
  if (raised) setrlimit(RLIMIT_NOFILE, &limit);
  *keep = !few || (rlim_t)fd >= limit.rlim_cur;
  errno = cause;
  return fd;
}
