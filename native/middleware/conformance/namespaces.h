/* SPDX-License-Identifier: Apache-2.0
 *
 * Two network namespaces joined by two veth links, as two machines with two networks. They end with their processes.
 */
#ifndef TACHO_CONFORMANCE_NAMESPACES_H_
#define TACHO_CONFORMANCE_NAMESPACES_H_

#include <sys/types.h>

/* Names of the links, the same on both sides. */
extern const char *const NAMESPACE_LINKS[2];
/* IPv4 addresses on the second link: of the caller, of its child. */
extern const char *const NAMESPACE_ADDRESSES[2];

/* Forks like fork(), with caller and child each in a namespace of its own, with /etc/machine-id and /dev/shm as on a
 * machine of its own. Returns a negative value, with the cause in `error` (TACHO_ERROR_SIZE), if that is not permitted.
 * The child returns when the links are up. */
pid_t fork_into_namespaces(char *error);

/* Returns the bytes that came in by a link of the caller's namespace since it was made; negative if there is no such
   link. */
long long received_bytes(const char *link);

#endif
