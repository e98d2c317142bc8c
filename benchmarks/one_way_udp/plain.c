// SPDX-License-Identifier: Apache-2.0
//
// plain COUNT RATE: measures raw UDP, and nothing else. One process sends 88 bytes (64 of data and a header of 24) to
// another on 127.0.0.1 at a fixed rate, and prints each one-way latency in ns.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int arguments, char **argument) {
  if (arguments != 3) return 2;
  long long message[11] = {0}, count = atoll(argument[1]), period = 1000000000ll / atoll(argument[2]);
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof here;
  int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(in, (struct sockaddr *)&here, length) || getsockname(in, (struct sockaddr *)&here, &length)) return 3;
  if (fork() == 0) {
    long long due = now();
    if (connect(out, (struct sockaddr *)&here, length))
      _exit(3);  // as our plugin does: saves a route look-up a message
    for (message[0] = 0; message[0] < count; message[0]++) {
      due += period;
      struct timespec until = {due / 1000000000, due % 1000000000};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
      message[1] = now();
      if (send(out, message, sizeof message, 0) != sizeof message) _exit(3);
    }
    _exit(0);
  }
  while (message[0] < count - 1) {
    if (recv(in, message, sizeof message, 0) != sizeof message) return 3;
    printf("%lld\n", now() - message[1]);
  }
  return wait(NULL) < 0;
}
