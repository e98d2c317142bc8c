/* SPDX-License-Identifier: Apache-2.0
 *
 * Records the stamp that a message carries in its header. An output with the same stamp as an input was made from that
 * input.
 */
#ifndef TACHO_RECORDER_HEADER_STAMPS_H_
#define TACHO_RECORDER_HEADER_STAMPS_H_

/* Records the stamp of a message that this rmw_publisher_t is about to publish, if its type has one. */
void header_stamps_sent(const void *publisher, const void *message);

/* Records the stamp of a message that this rmw_subscription_t has just returned, if its type has one. */
void header_stamps_taken(const void *subscription, const void *message);

/* These do the same for serialised messages (rcutils_uint8_array_t). */
void header_stamps_sent_serialized(const void *publisher, const void *message);
void header_stamps_taken_serialized(const void *subscription, const void *message);

#endif /* TACHO_RECORDER_HEADER_STAMPS_H_ */
