/* SPDX-License-Identifier: Apache-2.0
 *
 * Records the stamp that a message carries in its header. An output with the same stamp as an input was made from that
 * input.
 */
#ifndef TACHO_RECORDER_HEADER_STAMPS_H_
#define TACHO_RECORDER_HEADER_STAMPS_H_

#include "rmw_endpoints.h"

/* Records the stamp of a message that is about to be published, if its type has one. */
void header_stamps_sent(const struct rmw_endpoint *publisher, const void *message);

/* Records the stamp of a message that was just taken, if its type has one. */
void header_stamps_taken(const struct rmw_endpoint *subscription, const void *message);

/* These do the same for serialised messages. */
void header_stamps_sent_serialized(const struct rmw_endpoint *publisher, const struct rmw_serialized *message);
void header_stamps_taken_serialized(const struct rmw_endpoint *subscription, const struct rmw_serialized *message);

#endif /* TACHO_RECORDER_HEADER_STAMPS_H_ */
