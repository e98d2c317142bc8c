/* SPDX-License-Identifier: Apache-2.0
 *
 * Interposes the C library's datagram calls, so that any DDS of any version is recorded. All other traffic passes
 * unread: a message whose first four bytes are not those of RTPS costs one clock reading and one comparison.
 *
 * We read the program's memory only after the kernel has read or written it, so a program that passes invalid addresses
 * gets EFAULT and survives. A sent message has the time before the call, because its receiver may have it before the
 * call returns.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "original.h"
#include "rtps.h"
#include "samples.h"

#define EXPORT __attribute__((visibility("default")))
#define LIBC "libc."

/* The alias hides from the compiler that this is the C library's function, whose arguments it assumes to be checked. */
EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags);
EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags);
EXPORT ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t to_size);
EXPORT ssize_t recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *from_size);
EXPORT ssize_t __recvfrom_chk(int fd, void *bytes, size_t size, size_t room, int flags, struct sockaddr *from,
                              socklen_t *from_size);

static struct original original_sendmsg = {"sendmsg", LIBC, (void *)sendmsg, NULL};
static struct original original_recvmsg = {"recvmsg", LIBC, (void *)recvmsg, NULL};
static struct original original_sendto = {"sendto", LIBC, (void *)sendto, NULL};
static struct original original_recvfrom = {"recvfrom", LIBC, (void *)recvfrom, NULL};
static struct original original_recvfrom_chk = {"__recvfrom_chk", LIBC, (void *)__recvfrom_chk, NULL};

/* Programs may call these functions in signal handlers, and while the dynamic linker is busy. So we look up the
 * originals before main. */
__attribute__((constructor)) static void find_originals(void) {
  struct original *const all[] = {&original_sendmsg, &original_recvmsg, &original_sendto, &original_recvfrom,
                                  &original_recvfrom_chk};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) original_of(all[i]);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t room(const struct iovec *buffers, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++) size += buffers[i].iov_len;
  return size;
}

/* Records a message of which the kernel took the first `size` bytes. */
static inline void sent(const struct iovec *buffers, size_t count, size_t size, struct thread_moment at) {
  if (count == 0 || buffers[0].iov_base == NULL || !rtps_begins(buffers[0].iov_base, least(buffers[0].iov_len, size)))
    return;
  samples_sent(buffers, count, least(size, room(buffers, count)), TACHO_TRANSPORT_SOCKET, at);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  const bool looks = samples_recording();
  const struct thread_moment before = looks ? thread_moment() : (struct thread_moment){0};
  ssize_t size = ((ssize_t (*)(int, const struct msghdr *, int))original_of(&original_sendmsg))(fd, message, flags);
  if (looks && size > 0) sent(message->msg_iov, message->msg_iovlen, (size_t)size, before);
  return size;
}

EXPORT ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t to_size) {
  const bool looks = samples_recording();
  const struct thread_moment before = looks ? thread_moment() : (struct thread_moment){0};
  ssize_t taken =
      ((ssize_t (*)(int, const void *, size_t, int, const struct sockaddr *, socklen_t))original_of(&original_sendto))(
          fd, bytes, size, flags, to, to_size);
  if (looks && taken > 0) sent(&(struct iovec){(void *)bytes, size}, 1, (size_t)taken, before);
  return taken;
}

static bool is_of_datagrams(int fd) {
  int kind = 0, saved = errno;
  socklen_t size = sizeof kind;
  bool is = getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_DGRAM;
  errno = saved;
  return is;
}

/* A cut datagram (MSG_TRUNC) fills its buffers, whatever its length was. On a stream, that flag discards bytes, and
 * there may be no buffer. The error queue returns messages that were sent, not received. */
static inline void received(int fd, const struct iovec *buffers, size_t count, ssize_t size, int flags) {
  if (size <= 0 || count == 0 || buffers[0].iov_base == NULL || flags & (MSG_PEEK | MSG_ERRQUEUE) ||
      !samples_recording())
    return;
  if (flags & MSG_TRUNC && !is_of_datagrams(fd)) return;
  if (!rtps_begins(buffers[0].iov_base, least((size_t)size, buffers[0].iov_len))) return;
  samples_received(buffers, count, least((size_t)size, room(buffers, count)), TACHO_TRANSPORT_SOCKET);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
  ssize_t size = ((ssize_t (*)(int, struct msghdr *, int))original_of(&original_recvmsg))(fd, message, flags);
  if (size > 0) received(fd, message->msg_iov, message->msg_iovlen, size, flags);
  return size;
}

EXPORT ssize_t recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *from_size) {
  ssize_t got =
      ((ssize_t (*)(int, void *, size_t, int, struct sockaddr *, socklen_t *))original_of(&original_recvfrom))(
          fd, bytes, size, flags, from, from_size);
  received(fd, &(struct iovec){bytes, size}, 1, got, flags);
  return got;
}

EXPORT ssize_t __recvfrom_chk(int fd, void *bytes, size_t size, size_t space, int flags, struct sockaddr *from,
                              socklen_t *from_size) {
  ssize_t got = ((ssize_t (*)(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *))original_of(
      &original_recvfrom_chk))(fd, bytes, size, space, flags, from, from_size);
  received(fd, &(struct iovec){bytes, size}, 1, got, flags);
  return got;
}
