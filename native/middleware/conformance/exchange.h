/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes endpoints for the checks and exchanges messages between them. Each call must do what middleware.h says.
 */
#ifndef TACHO_CONFORMANCE_EXCHANGE_H_
#define TACHO_CONFORMANCE_EXCHANGE_H_

#include <stdatomic.h>

#include "suite.h"

/* A message type, a size, a QoS on a topic. */
struct sort {
  const char *topic, *type;
  size_t size;
  struct tacho_qos qos;
};

struct tacho_endpoint_config config(const struct sort *sort);
struct tacho_session *session_with_node(void);
struct tacho_publisher *publisher(struct tacho_session *session, const struct sort *sort);
struct tacho_subscription *subscription(struct tacho_session *session, const struct sort *sort, atomic_int *notified);
int readers(struct tacho_publisher *p);
int writers(struct tacho_subscription *s);
void wait_matched(struct tacho_publisher *p, struct tacho_subscription *s);
unsigned char value(uint64_t sequence, size_t at);
struct tacho_header header(uint64_t sequence);
void publish(struct tacho_publisher *p, const struct sort *sort, uint64_t sequence);
int taken(struct tacho_subscription *s, struct tacho_message *message);
/* The next message must have this sequence number, and be exactly what publish() sent. */
void expect(struct tacho_subscription *s, const struct sort *sort, uint64_t sequence);
void expect_nothing(struct tacho_subscription *s);

#endif
