/* SPDX-License-Identifier: Apache-2.0
 *
 * Records the size of one in 8 messages of each publisher. To find it out takes up to an eighth of the time that
 * serialising takes (1000 poses).
 */
#ifndef TACHO_RECORDER_MESSAGE_SIZES_H_
#define TACHO_RECORDER_MESSAGE_SIZES_H_

/* Records the size of a message that this rmw_publisher_t is about to publish, if it is its turn. */
void message_sizes_sent(const void *publisher, const void *message);

/* Does the same for a serialised message (rcutils_uint8_array_t). */
void message_sizes_sent_serialized(const void *publisher, const void *message);

#endif /* TACHO_RECORDER_MESSAGE_SIZES_H_ */
