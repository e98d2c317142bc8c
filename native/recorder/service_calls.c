/* SPDX-License-Identifier: Apache-2.0
 *
 * Records services if rmw itself does not report them: up to Jazzy tracetools has no events of clients, requests and
 * responses. There we interpose rmw's functions and record the events that rmw_fastrtps records from Kilted on. If rmw
 * reports them, we add nothing.
 *
 * The gid that the request carries identifies its client. rmw_fastrtps sends the gid of the client's response reader,
 * but rmw_get_gid_for_client returns another one up to Jazzy. So we read the gid when rmw_create_client asks the reader
 * for it. Up to Jazzy we record nothing of other middlewares, because their requests could not be assigned to clients.
 */
#include "service_calls.h"

#include <string.h>

#include "dds/original.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default")))
#define NAMED(symbol) __asm__(symbol)
#define LIBRARY "librmw_implementation."

typedef int32_t rmw_ret;

/* rmw_request_id_t */
struct request_id {
  uint8_t client_gid[16];
  int64_t sequence;
};

/* rmw_service_info_t */
struct service_info {
  int64_t source_timestamp, received_timestamp;
  struct request_id id;
};

_Atomic bool service_calls_told;

/* Whether this process has readers of Fast DDS. */
static _Atomic bool is_fastdds;

/* The gid of the reader that this thread asked last. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
  bool known;
  uint8_t bytes[16];
} reader_gid;

/* eprosima::fastdds::dds::DataReader::guid() of Fast DDS 2 (Humble to Jazzy), which returns a reference. */
#define READER_GUID "_ZN8eprosima7fastdds3dds10DataReader4guidEv"
EXPORT const uint8_t *fastdds_reader_guid(void *reader) NAMED(READER_GUID);
static struct original original_reader_guid = {READER_GUID, "libfast", (void *)fastdds_reader_guid, NULL};

EXPORT const uint8_t *fastdds_reader_guid(void *reader) {
  const uint8_t *gid = ((const uint8_t *(*)(void *))original_of(&original_reader_guid))(reader);
  memcpy(reader_gid.bytes, gid, sizeof reader_gid.bytes);
  reader_gid.known = true;
  atomic_store_explicit(&is_fastdds, true, memory_order_relaxed);
  return gid;
}

static bool tells_for_rmw(void) {
  return atomic_load_explicit(&is_fastdds, memory_order_relaxed) &&
         !atomic_load_explicit(&service_calls_told, memory_order_relaxed) && thread_recording();
}

typedef void *create_client(const void *, const void *, const char *, const void *);
EXPORT create_client rmw_create_client;
static struct original original_create_client = {"rmw_create_client", LIBRARY, (void *)rmw_create_client, NULL};

EXPORT void *rmw_create_client(const void *node, const void *type, const char *service, const void *qos) {
  reader_gid.known = false;
  void *client = ((create_client *)original_of(&original_create_client))(node, type, service, qos);
  if (client != NULL && reader_gid.known && tells_for_rmw()) {
    uint64_t words[3] = {(uintptr_t)client};
    memcpy(&words[1], reader_gid.bytes, sizeof reader_gid.bytes);
    thread_put(TACHO_RMW_CLIENT_INIT, words, 3);
  }
  return client;
}

/* Interposes a function of rmw. `after` runs if the call succeeded and rmw does not report it. */
#define RMW(name, parameters, arguments, after)                                             \
  EXPORT rmw_ret name parameters;                                                           \
  static struct original original_##name = {#name, LIBRARY, (void *)name, NULL};            \
  EXPORT rmw_ret name parameters {                                                          \
    const rmw_ret result = ((rmw_ret(*) parameters)original_of(&original_##name))arguments; \
    if (result == 0 && tells_for_rmw()) after;                                              \
    return result;                                                                          \
  }

static void put_sent_request(const void *client, const void *request, int64_t sequence) {
  const uint64_t words[] = {(uintptr_t)client, (uintptr_t)request, (uint64_t)sequence};
  thread_put(TACHO_RMW_SEND_REQUEST, words, 3);
}

/* If there was nothing to take, rmw has left the other arguments unchanged. */
static void put_taken_request(const void *service, const struct service_info *info, const void *request, bool taken) {
  if (!taken) return;
  uint64_t words[6] = {(uintptr_t)service, (uintptr_t)request, 0, 0, (uint64_t)info->id.sequence, true};
  memcpy(&words[2], info->id.client_gid, sizeof info->id.client_gid);
  thread_put(TACHO_RMW_TAKE_REQUEST, words, 6);
}

/* The timestamp is 0: rmw sets it, and does not report it. */
static void put_sent_response(const void *service, const struct request_id *id, const void *response) {
  uint64_t words[6] = {(uintptr_t)service, (uintptr_t)response, 0, 0, (uint64_t)id->sequence, 0};
  memcpy(&words[2], id->client_gid, sizeof id->client_gid);
  thread_put(TACHO_RMW_SEND_RESPONSE, words, 6);
}

static void put_taken_response(const void *client, const struct service_info *info, const void *response, bool taken) {
  if (!taken) return;
  const uint64_t words[] = {(uintptr_t)client, (uintptr_t)response, (uint64_t)info->id.sequence,
                            (uint64_t)info->source_timestamp, true};
  thread_put(TACHO_RMW_TAKE_RESPONSE, words, 5);
}

RMW(rmw_send_request, (const void *client, const void *request, int64_t *sequence), (client, request, sequence),
    put_sent_request(client, request, *sequence))
RMW(rmw_take_request, (const void *service, struct service_info *info, void *request, bool *taken),
    (service, info, request, taken), put_taken_request(service, info, request, *taken))
RMW(rmw_send_response, (const void *service, struct request_id *id, void *response), (service, id, response),
    put_sent_response(service, id, response))
RMW(rmw_take_response, (const void *client, struct service_info *info, void *response, bool *taken),
    (client, info, response, taken), put_taken_response(client, info, response, *taken))
