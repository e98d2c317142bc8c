/* SPDX-License-Identifier: Apache-2.0
 *
 * Sends an RTPS message with one DATA submessage through a loopback socket, with sendmsg and recvmsg like a DDS. Prints
 * ns a message (sent and received), one line for each burst.
 *
 * datagram BURSTS MESSAGES [sent]: `sent` uses a pair of local sockets and reads with read(2), which the recorder does
 * not inspect
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  long bursts = atol(argv[1]), messages = atol(argv[2]);
  int only_sent = argc > 3, pair[2];
  uint8_t head[32] = {'R', 'T', 'P', 'S', 2, 3, 1, 15, 1, 2, 3, 4, 5, 6, 7, 8,
                      9,   10,  11,  12,  9, 1, 8, 0,  1, 2, 3, 4, 5, 6, 7, 8};
  uint8_t data[88] = {0x15, 5, 84, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 3};
  uint8_t got[2048];
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof to;
  int receiver = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(receiver, (struct sockaddr *)&to, size) != 0 || getsockname(receiver, (struct sockaddr *)&to, &size) != 0)
    return 1;
  if (only_sent && socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) return 1;
  struct iovec out[] = {{head, sizeof head}, {data, sizeof data}}, in = {got, sizeof got};
  struct msghdr sent = {.msg_name = &to, .msg_namelen = size, .msg_iov = out, .msg_iovlen = 2};
  if (only_sent) sent.msg_name = NULL, sent.msg_namelen = 0;
  struct msghdr received = {.msg_iov = &in, .msg_iovlen = 1};
  uint32_t sequence = 0;
  for (long burst = 0; burst < bursts; burst++) {
    double start = now_ns();
    for (long i = 0; i < messages; i++) {
      sequence++;
      memcpy(data + 20, &sequence, sizeof sequence);
      if (sendmsg(only_sent ? pair[0] : sender, &sent, 0) < 0) return 1;
      ssize_t size_of_it = only_sent ? read(pair[1], got, sizeof got) : recvmsg(receiver, &received, 0);
      if (size_of_it != (ssize_t)(sizeof head + sizeof data)) return 1;
    }
    printf("%.3f\n", (now_ns() - start) / (double)messages);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
  return 0;
}
