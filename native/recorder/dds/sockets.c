/* SPDX-License-Identifier: Apache-2.0
 *
 * The C library's datagram calls, seen by any DDS of any version. All other traffic is let through unread: a message whose first
 * four bytes are not those of RTPS costs a comparison.
 */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/types.h>

#include "original.h"
#include "rtps.h"
#include "samples.h"

#define EXPORT __attribute__((visibility("default")))
#define LIBC "libc."

/* Behind an alias the compiler does not take it for the C library's, whose arguments it knows to be checked. */
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

/* These may be called in signal handlers, and while the dynamic linker is busy: they are looked up before main. */
__attribute__((constructor)) static void find_originals(void)
{
  struct original *const all[] = {&original_sendmsg, &original_recvmsg, &original_sendto, &original_recvfrom, &original_recvfrom_chk};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) original_of(all[i]);
}

static inline bool is_rtps(const struct msghdr *message)
{
  return message->msg_iovlen > 0 && rtps_begins(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
}

static size_t room(const struct iovec *buffers, size_t count)
{
  size_t size = 0;
  for (size_t i = 0; i < count; i++) size += buffers[i].iov_len;
  return size;
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
  if (samples_recording() && message != NULL && is_rtps(message)) {
    samples_sent(message->msg_iov, message->msg_iovlen, room(message->msg_iov, message->msg_iovlen), TACHO_TRANSPORT_SOCKET);
  }
  return ((ssize_t(*)(int, const struct msghdr *, int))original_of(&original_sendmsg))(fd, message, flags);
}

EXPORT ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t to_size)
{
  if (samples_recording() && rtps_begins(bytes, size)) {
    const struct iovec buffer = {(void *)bytes, size};
    samples_sent(&buffer, 1, size, TACHO_TRANSPORT_SOCKET);
  }
  return ((ssize_t(*)(int, const void *, size_t, int, const struct sockaddr *, socklen_t))original_of(&original_sendto))(
    fd, bytes, size, flags, to, to_size);
}

/* A datagram that was cut (MSG_TRUNC) fills its buffers, whatever length it had. Of a stream, that flag throws bytes away, and there need
 * be no buffer. What the error queue returns was sent, not received. */
static inline void received(const struct iovec *buffers, size_t count, ssize_t size, int flags)
{
  if (size <= 0 || count == 0 || buffers[0].iov_base == NULL || flags & (MSG_PEEK | MSG_ERRQUEUE)) return;
  const size_t first = buffers[0].iov_len;
  if (!rtps_begins(buffers[0].iov_base, (size_t)size < first ? (size_t)size : first) || !samples_recording()) return;
  const size_t fits = room(buffers, count);
  samples_received(buffers, count, (size_t)size < fits ? (size_t)size : fits, TACHO_TRANSPORT_SOCKET);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
  ssize_t size = ((ssize_t(*)(int, struct msghdr *, int))original_of(&original_recvmsg))(fd, message, flags);
  if (size > 0) received(message->msg_iov, message->msg_iovlen, size, flags);
  return size;
}

EXPORT ssize_t recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *from_size)
{
  ssize_t got = ((ssize_t(*)(int, void *, size_t, int, struct sockaddr *, socklen_t *))original_of(&original_recvfrom))(
    fd, bytes, size, flags, from, from_size);
  received(&(struct iovec){bytes, size}, 1, got, flags);
  return got;
}

EXPORT ssize_t __recvfrom_chk(int fd, void *bytes, size_t size, size_t space, int flags, struct sockaddr *from,
                              socklen_t *from_size)
{
  ssize_t got = ((ssize_t(*)(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *))original_of(
    &original_recvfrom_chk))(fd, bytes, size, space, flags, from, from_size);
  received(&(struct iovec){bytes, size}, 1, got, flags);
  return got;
}
