/* SPDX-License-Identifier: Apache-2.0
 * A plain DDS program on Cyclone DDS (without ROS 2). Its arguments select its role; it prints one line for each event.
 *
 *   cyclone_peer DOMAIN (best_effort|reliable|durable) (pub TOPIC SIZE COUNT PERIOD_MS | sub TOPIC)...
 *
 * pub sends strings "N text...", N from 1, once a reader is matched (durable: at once), and prints "sent N"; sub prints "got TOPIC N BYTES", and
 * "matched N" when another number of writers is there.
 * Ends with its standard input. */
#include <dds/dds.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cyclone_peer.h"

#define ENDPOINTS 4

static dds_entity_t checked(dds_entity_t result, const char *what) {
  if (result >= 0) return result;
  fprintf(stderr, "cyclone_peer: %s: %s\n", what, dds_strretcode(-result));
  exit(1);
}

static dds_qos_t *qos_of(const char *name) {
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, strcmp(name, "best_effort") ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT,
                       DDS_SECS(1));
  dds_qset_durability(qos, strcmp(name, "durable") ? DDS_DURABILITY_VOLATILE : DDS_DURABILITY_TRANSIENT_LOCAL);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 200);
  /* Late readers get only the last message, unless stated otherwise. */
  dds_qset_durability_service(qos, 0, DDS_HISTORY_KEEP_LAST, 200, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED,
                              DDS_LENGTH_UNLIMITED);
  return qos;
}

static struct writer {
  dds_entity_t entity;
  int size, count, period_ms, sent;
  dds_time_t last;
} writers[ENDPOINTS];
static struct {
  dds_entity_t entity;
  const char *topic;
  uint32_t matched;
} readers[ENDPOINTS];

static void publish(struct writer *writer, int durable) {
  dds_publication_matched_status_t status;
  checked(dds_get_publication_matched_status(writer->entity, &status), "matched status");
  if (writer->sent == writer->count || (!durable && !status.current_count) ||
      dds_time() - writer->last < DDS_MSECS(writer->period_ms))
    return;
  writer->last = dds_time();
  char *text = malloc((size_t)writer->size + 32);
  int digits = sprintf(text, "%d ", ++writer->sent);
  memset(text + digits, '.', (size_t)writer->size);
  text[writer->size] = 0;
  checked(dds_write(writer->entity, &(std_msgs_msg_dds__String_){text}), "write");
  free(text);
  printf("sent %d\n", writer->sent);
}

static void take(dds_entity_t reader, const char *topic) {
  void *samples[16] = {NULL};
  dds_sample_info_t infos[16];
  int n = checked(dds_take(reader, samples, infos, 16, 16), "take");
  for (int i = 0; i < n; i++) {
    const std_msgs_msg_dds__String_ *text = samples[i];
    if (infos[i].valid_data) printf("got %s %lu %zu\n", topic, strtoul(text->data, NULL, 10), strlen(text->data));
  }
  if (n) checked(dds_return_loan(reader, samples, n), "return loan");
}

static void tell_matches(dds_entity_t reader, uint32_t *matched) {
  dds_subscription_matched_status_t status;
  checked(dds_get_subscription_matched_status(reader, &status), "matched status");
  if (status.current_count != *matched) printf("matched %u\n", *matched = status.current_count);
}

int main(int argc, char **argv) {
  int writing = 0, reading = 0;
  if (argc < 3) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  dds_entity_t participant = checked(dds_create_participant((dds_domainid_t)atoi(argv[1]), NULL, NULL), "participant");
  dds_qos_t *qos = qos_of(argv[2]);
  int durable = !strcmp(argv[2], "durable");
  for (int i = 3; i + 1 < argc;) {
    dds_entity_t topic =
        checked(dds_create_topic(participant, &std_msgs_msg_dds__String__desc, argv[i + 1], NULL, NULL), argv[i + 1]);
    if (!strcmp(argv[i], "pub") && i + 4 < argc && writing < ENDPOINTS) {
      writers[writing++] =
          (struct writer){.entity = checked(dds_create_writer(participant, topic, qos, NULL), "writer"),
                          .size = atoi(argv[i + 2]),
                          .count = atoi(argv[i + 3]),
                          .period_ms = atoi(argv[i + 4])};
      i += 5;
    } else if (!strcmp(argv[i], "sub") && reading < ENDPOINTS) {
      readers[reading].entity = checked(dds_create_reader(participant, topic, qos, NULL), "reader");
      readers[reading++].topic = argv[i + 1];
      i += 2;
    } else {
      return 2;
    }
  }
  dds_delete_qos(qos);
  printf("up\n");
  for (;;) {
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char c;
    if (poll(&input, 1, 2) > 0 && read(0, &c, 1) <= 0) break;
    for (int i = 0; i < writing; i++) publish(&writers[i], durable);
    for (int i = 0; i < reading; i++)
      tell_matches(readers[i].entity, &readers[i].matched), take(readers[i].entity, readers[i].topic);
  }
  checked(dds_delete(participant), "delete");
  return 0;
}
