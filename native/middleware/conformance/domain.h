// SPDX-License-Identifier: Apache-2.0
//
// Reserves a domain for a test that loads a plugin, by the rule of crates/runner/src/domain.rs and tests/domains.py: an abstract
// UNIX socket of the domain's name. Tests that run at once, and runs of tacho beside them, therefore have different domains.
#ifndef TACHO_CONFORMANCE_DOMAIN_H_
#define TACHO_CONFORMANCE_DOMAIN_H_

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { DOMAINS = 100 };  // DDS maps higher domains to ports that other programs are given

// Returns a domain that belongs to this process and its forks until they have ended; the kernel then removes the
// socket.
static inline unsigned reserved_domain(void) {
  for (unsigned i = 0; i < DOMAINS; i++) {
    unsigned domain = 1 + ((unsigned)getpid() + i) % DOMAINS;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tacho-domain-%u", domain);
    int taken = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (taken < 0) break;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (bind(taken, (struct sockaddr *)&name, size) == 0) return domain;
    close(taken);
  }
  fprintf(stderr, "no DDS domain from 1 to %d is free (ss -xl | grep tacho-domain)\n", DOMAINS);
  exit(2);
}

#endif
