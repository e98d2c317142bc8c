/* SPDX-License-Identifier: Apache-2.0
 *
 * Records actions. tracetools has no event in rcl_action, and its events of services and topics do not name goals. This
 * file interposes rcl_action's functions, which are the same from Humble to Rolling, so that each request, response,
 * feedback and state names its goal.
 *
 * It reads from messages only the fields at offset 0 that rosidl generates for every action, in C as in C++: the goal's
 * id of requests and feedback (unique_identifier_msgs/UUID, 16 bytes), and `bool accepted`, `int8 status`, `int8
 * return_code` of the responses to goal, result and cancel.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "dds/original.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default")))

typedef int32_t rcl_ret;

/* rmw_request_id_t */
struct request_id {
  uint8_t client_gid[16];
  int64_t sequence;
};

/* The fields of rcl_action_goal_info_t that we read. */
struct goal_info {
  uint8_t id[16];
  int64_t stamp;
};

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void put_init(const void *action) {
  const uint64_t words[] = {(uintptr_t)action};
  thread_put(TACHO_RCL_ACTION_INIT, words, 1);
}

/* `client_gid` is NULL if the client itself sends the request. */
static void put_request(const void *action, enum tacho_action_service service, const uint8_t *client_gid,
                        int64_t sequence, const void *request, int64_t took_ns) {
  uint64_t words[8] = {(uintptr_t)action, service, 0, 0, (uint64_t)sequence, 0, 0, (uint64_t)took_ns};
  if (client_gid != NULL) memcpy(&words[2], client_gid, 16);
  memcpy(&words[5], request, 16);
  thread_put(TACHO_RCL_ACTION_REQUEST, words, 8);
}

static void put_response(const void *action, enum tacho_action_service service, const uint8_t *client_gid,
                         int64_t sequence, const void *response, int64_t took_ns) {
  int8_t says;
  memcpy(&says, response, 1);
  uint64_t words[7] = {(uintptr_t)action,       service,          0, 0, (uint64_t)sequence,
                       (uint64_t)(int64_t)says, (uint64_t)took_ns};
  if (client_gid != NULL) memcpy(&words[2], client_gid, 16);
  thread_put(TACHO_RCL_ACTION_RESPONSE, words, 7);
}

static void put_of_goal(uint32_t kind, const uint8_t *id, uint64_t says) {
  uint64_t words[3] = {0, 0, says};
  memcpy(words, id, 16);
  thread_put(kind, words, kind == TACHO_RCL_ACTION_FEEDBACK ? 2 : 3);
}

/* Interposes a function of rcl_action. `after` runs if the call succeeded; `took_ns` is then its duration. */
#define RCL_ACTION(name, parameters, arguments, after)                                      \
  EXPORT rcl_ret name parameters;                                                           \
  static struct original original_##name = {#name, "librcl_action.", (void *)name, NULL};   \
  EXPORT rcl_ret name parameters {                                                          \
    const bool records = thread_recording();                                                \
    const int64_t began = records ? now_ns() : 0;                                           \
    const rcl_ret result = ((rcl_ret(*) parameters)original_of(&original_##name))arguments; \
    if (records && result == 0) {                                                           \
      const int64_t took_ns = now_ns() - began;                                             \
      (void)took_ns;                                                                        \
      after;                                                                                \
    }                                                                                       \
    return result;                                                                          \
  }

RCL_ACTION(rcl_action_client_init, (void *client, void *node, const void *type, const char *name, const void *options),
           (client, node, type, name, options), put_init(client))
RCL_ACTION(rcl_action_server_init,
           (void *server, void *node, void *clock, const void *type, const char *name, const void *options),
           (server, node, clock, type, name, options), put_init(server))
RCL_ACTION(rcl_action_server_init2,
           (void *server, void *node, const void *timer, const void *type, const char *name, const void *options),
           (server, node, timer, type, name, options), put_init(server))

#define CLIENT(service, SERVICE)                                                                                    \
  RCL_ACTION(rcl_action_send_##service##_request, (const void *client, const void *request, int64_t *sequence),     \
             (client, request, sequence), put_request(client, SERVICE, NULL, *sequence, request, took_ns))          \
  RCL_ACTION(rcl_action_take_##service##_response, (const void *client, struct request_id *header, void *response), \
             (client, header, response), put_response(client, SERVICE, NULL, header->sequence, response, 0))
#define SERVER(service, SERVICE)                                                                                    \
  RCL_ACTION(rcl_action_take_##service##_request, (const void *server, struct request_id *header, void *request),   \
             (server, header, request),                                                                             \
             put_request(server, SERVICE, header->client_gid, header->sequence, request, 0))                        \
  RCL_ACTION(rcl_action_send_##service##_response, (const void *server, struct request_id *header, void *response), \
             (server, header, response),                                                                            \
             put_response(server, SERVICE, header->client_gid, header->sequence, response, took_ns))

CLIENT(goal, TACHO_ACTION_SEND_GOAL)
CLIENT(cancel, TACHO_ACTION_CANCEL_GOAL)
CLIENT(result, TACHO_ACTION_GET_RESULT)
SERVER(goal, TACHO_ACTION_SEND_GOAL)
SERVER(cancel, TACHO_ACTION_CANCEL_GOAL)
SERVER(result, TACHO_ACTION_GET_RESULT)

RCL_ACTION(rcl_action_publish_feedback, (const void *server, void *feedback), (server, feedback),
           put_of_goal(TACHO_RCL_ACTION_FEEDBACK, feedback, 0))
RCL_ACTION(rcl_action_take_feedback, (const void *client, void *feedback), (client, feedback),
           put_of_goal(TACHO_RCL_ACTION_FEEDBACK, feedback, 0))

/* rcl_action's own functions return the id and the status of a goal handle. */
static struct original original_get_info = {"rcl_action_goal_handle_get_info", "librcl_action.", NULL, NULL};
static struct original original_get_status = {"rcl_action_goal_handle_get_status", "librcl_action.", NULL, NULL};

static void put_state(const void *goal_handle) {
  struct goal_info info;
  int8_t status;
  if (((rcl_ret (*)(const void *, struct goal_info *))original_of(&original_get_info))(goal_handle, &info) == 0 &&
      ((rcl_ret (*)(const void *, int8_t *))original_of(&original_get_status))(goal_handle, &status) == 0) {
    put_of_goal(TACHO_RCL_ACTION_GOAL_STATE, info.id, (uint64_t)(int64_t)status);
  }
}

RCL_ACTION(rcl_action_update_goal_state, (void *goal_handle, int event), (goal_handle, event), put_state(goal_handle))

typedef void *accept_new_goal(void *, const struct goal_info *);
EXPORT accept_new_goal rcl_action_accept_new_goal;
static struct original original_accept = {"rcl_action_accept_new_goal", "librcl_action.",
                                          (void *)rcl_action_accept_new_goal, NULL};

EXPORT void *rcl_action_accept_new_goal(void *server, const struct goal_info *info) {
  void *goal_handle = ((accept_new_goal *)original_of(&original_accept))(server, info);
  if (goal_handle != NULL && thread_recording()) put_state(goal_handle);
  return goal_handle;
}
