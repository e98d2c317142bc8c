/* SPDX-License-Identifier: Apache-2.0
 *
 * The DDS domains of this process and how they are configured.
 *
 * Cyclone DDS has one configuration for a domain in a process. All sessions of a process in a domain share it, and the
 * last one to leave ends it, with its threads and sockets.
 */
#ifndef TACHO_CYCLONEDDS_DOMAINS_H_
#define TACHO_CYCLONEDDS_DOMAINS_H_

#include <stdbool.h>
#include <stdint.h>

struct domain;

/* "udp" (the default) and "shm"; NULL at the end. */
extern const char *const domain_transports[];

/* NULL: refused, with the cause in `error` (TACHO_ERROR_SIZE). An empty transport is the default one. The address is
 * the IPv4 address of the only interface to use, empty to stay on this machine. */
struct domain *domain_join(uint32_t id, const char *transport, const char *address, char *error);
void domain_leave(struct domain *domain);
/* Whether its messages go through shared memory. */
bool domain_is_shared_memory(const struct domain *domain);

#endif
