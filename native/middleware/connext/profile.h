/* SPDX-License-Identifier: Apache-2.0
 *
 * QoS as profiles of Connext's XML. Connext itself reads them and reports mistakes, so we rely on no layout of a QoS.
 */
#ifndef TACHO_CONNEXT_PROFILE_H_
#define TACHO_CONNEXT_PROFILE_H_

#include <stddef.h>
#include <tacho/middleware.h>

#include "library.h"

#define PROFILE_LIBRARY "tacho"
#define PROFILE "asked"
enum { PROFILE_SIZE = 4096 };

/* The transport of the messages. */
enum transport { UDP, SHM };
/* "udp" (the default), "shm"; NULL-terminated. */
extern const char *const transport_names[];

/* The most data that a message can carry: the bound of DDS::Octets that Connext gets, less our header. */
enum { PROFILE_LARGEST = (256 << 20) - (int)sizeof(struct tacho_header) };

/* QoS of a participant on a transport. The address is that of the only interface to use; empty to stay on this
   machine. */
void profile_of_participant(char *out, enum transport transport, const char *address);
/* QoS of a writer or reader of messages of `size` bytes of data. */
void profile_of_endpoint(char *out, int writes, const struct tacho_qos *qos, size_t size);

/* Makes it the only profile that Connext knows, until profile_done(), which must be called in any case. Negative:
   refused. */
int profile_use(const struct connext *connext, const char *text, char *error);
void profile_done(void);

#endif
