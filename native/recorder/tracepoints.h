/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists the functions of tracetools in all releases from 4.1 (Humble) to 8.6 (Kilted, Rolling) as one table: which
 * function becomes which kind of event, with which words. Except for rmw_publish, which is not in the table, a function
 * has the same arguments in every release that has it. rcl_init, callback_start and callback_end are in tracepoints.c
 * because they do more.
 *
 *   TRACEPOINT(name, KIND, (parameters), (arguments), words ...)
 *   TRACEPOINT_TEXT(name, KIND, (parameters), (arguments), TEXTS(text ...), words ...)
 *   TRACEPOINT_OF_SERVICE(name, KIND, (parameters), (arguments), words ...)  if rmw itself reports it (service_calls.h)
 *
 * The arguments are the names of the parameters.
 *
 * P(pointer) is one word, I(number) is one word, GID(bytes) two. FUNCTION(callback, symbol) is a text (functions.h).
 */
#ifndef TRACEPOINT_OF_SERVICE
#define TRACEPOINT_OF_SERVICE TRACEPOINT
#endif

/* clang-format off */
TRACEPOINT_TEXT(rcl_node_init, TACHO_RCL_NODE_INIT,
  (const void *node_handle, const void *rmw_handle, const char *name, const char *name_space),
  (node_handle, rmw_handle, name, name_space),
  TEXTS(name, name_space), P(node_handle), P(rmw_handle))

/* Publishing */
TRACEPOINT(rmw_publisher_init, TACHO_RMW_PUBLISHER_INIT,
  (const void *rmw_publisher_handle, const uint8_t *gid),
  (rmw_publisher_handle, gid), P(rmw_publisher_handle), GID(gid))
TRACEPOINT_TEXT(rcl_publisher_init, TACHO_RCL_PUBLISHER_INIT,
  (const void *publisher_handle, const void *node_handle, const void *rmw_publisher_handle, const char *topic,
   size_t queue_depth), (publisher_handle, node_handle, rmw_publisher_handle, topic, queue_depth),
  TEXTS(topic), P(publisher_handle), P(node_handle), P(rmw_publisher_handle), I(queue_depth))
TRACEPOINT(rclcpp_publish, TACHO_RCLCPP_PUBLISH,
  (const void *publisher_handle, const void *message), (publisher_handle, message), P(publisher_handle), P(message))
TRACEPOINT(rclcpp_intra_publish, TACHO_RCLCPP_INTRA_PUBLISH,
  (const void *publisher_handle, const void *message), (publisher_handle, message), P(publisher_handle), P(message))
TRACEPOINT(rcl_publish, TACHO_RCL_PUBLISH,
  (const void *publisher_handle, const void *message), (publisher_handle, message), P(publisher_handle), P(message))

/* Subscribing */
TRACEPOINT(rmw_subscription_init, TACHO_RMW_SUBSCRIPTION_INIT,
  (const void *rmw_subscription_handle, const uint8_t *gid),
  (rmw_subscription_handle, gid), P(rmw_subscription_handle), GID(gid))
TRACEPOINT_TEXT(rcl_subscription_init, TACHO_RCL_SUBSCRIPTION_INIT,
  (const void *subscription_handle, const void *node_handle, const void *rmw_subscription_handle, const char *topic,
   size_t queue_depth), (subscription_handle, node_handle, rmw_subscription_handle, topic, queue_depth),
  TEXTS(topic), P(subscription_handle), P(node_handle), P(rmw_subscription_handle), I(queue_depth))
TRACEPOINT(rclcpp_subscription_init, TACHO_RCLCPP_SUBSCRIPTION_INIT,
  (const void *subscription_handle, const void *subscription),
  (subscription_handle, subscription), P(subscription_handle), P(subscription))
TRACEPOINT(rclcpp_subscription_callback_added, TACHO_RCLCPP_SUBSCRIPTION_CALLBACK_ADDED,
  (const void *subscription, const void *callback), (subscription, callback), P(subscription), P(callback))
TRACEPOINT(rmw_take, TACHO_RMW_TAKE,
  (const void *rmw_subscription_handle, const void *message, int64_t source_timestamp, bool taken),
  (rmw_subscription_handle, message, source_timestamp, taken),
  P(rmw_subscription_handle), P(message), I(source_timestamp), I(taken))
TRACEPOINT(rcl_take, TACHO_RCL_TAKE, (const void *message), (message), P(message))
TRACEPOINT(rclcpp_take, TACHO_RCLCPP_TAKE, (const void *message), (message), P(message))

/* Services */
TRACEPOINT_TEXT(rcl_service_init, TACHO_RCL_SERVICE_INIT,
  (const void *service_handle, const void *node_handle, const void *rmw_service_handle, const char *service),
  (service_handle, node_handle, rmw_service_handle, service),
  TEXTS(service), P(service_handle), P(node_handle), P(rmw_service_handle))
TRACEPOINT(rclcpp_service_callback_added, TACHO_RCLCPP_SERVICE_CALLBACK_ADDED,
  (const void *service_handle, const void *callback), (service_handle, callback), P(service_handle), P(callback))
TRACEPOINT_OF_SERVICE(rmw_take_request, TACHO_RMW_TAKE_REQUEST,
  (const void *rmw_service_handle, const void *request, const uint8_t *client_gid, int64_t sequence_number, bool taken),
  (rmw_service_handle, request, client_gid, sequence_number, taken),
  P(rmw_service_handle), P(request), GID(client_gid), I(sequence_number), I(taken))
TRACEPOINT_OF_SERVICE(rmw_send_response, TACHO_RMW_SEND_RESPONSE,
  (const void *rmw_service_handle, const void *response, const uint8_t *client_gid, int64_t sequence_number,
   int64_t timestamp), (rmw_service_handle, response, client_gid, sequence_number, timestamp),
  P(rmw_service_handle), P(response), GID(client_gid), I(sequence_number), I(timestamp))
TRACEPOINT_OF_SERVICE(rmw_client_init, TACHO_RMW_CLIENT_INIT,
  (const void *rmw_client_handle, const uint8_t *gid), (rmw_client_handle, gid), P(rmw_client_handle), GID(gid))
TRACEPOINT_TEXT(rcl_client_init, TACHO_RCL_CLIENT_INIT,
  (const void *client_handle, const void *node_handle, const void *rmw_client_handle, const char *service),
  (client_handle, node_handle, rmw_client_handle, service),
  TEXTS(service), P(client_handle), P(node_handle), P(rmw_client_handle))
TRACEPOINT_OF_SERVICE(rmw_send_request, TACHO_RMW_SEND_REQUEST,
  (const void *rmw_client_handle, const void *request, int64_t sequence_number),
  (rmw_client_handle, request, sequence_number),
  P(rmw_client_handle), P(request), I(sequence_number))
TRACEPOINT_OF_SERVICE(rmw_take_response, TACHO_RMW_TAKE_RESPONSE,
  (const void *rmw_client_handle, const void *response, int64_t sequence_number, int64_t source_timestamp, bool taken),
  (rmw_client_handle, response, sequence_number, source_timestamp, taken),
  P(rmw_client_handle), P(response), I(sequence_number), I(source_timestamp), I(taken))

/* Timers, callbacks */
TRACEPOINT(rcl_timer_init, TACHO_RCL_TIMER_INIT,
  (const void *timer_handle, int64_t period_ns), (timer_handle, period_ns), P(timer_handle), I(period_ns))
TRACEPOINT(rclcpp_timer_callback_added, TACHO_RCLCPP_TIMER_CALLBACK_ADDED,
  (const void *timer_handle, const void *callback), (timer_handle, callback), P(timer_handle), P(callback))
TRACEPOINT(rclcpp_timer_link_node, TACHO_RCLCPP_TIMER_LINK_NODE,
  (const void *timer_handle, const void *node_handle), (timer_handle, node_handle), P(timer_handle), P(node_handle))
TRACEPOINT_TEXT(rclcpp_callback_register, TACHO_RCLCPP_CALLBACK_REGISTER,
  (const void *callback, const char *symbol), (callback, symbol), TEXTS(FUNCTION(callback, symbol)), P(callback))

/* Lifecycle */
TRACEPOINT(rcl_lifecycle_state_machine_init, TACHO_RCL_LIFECYCLE_STATE_MACHINE_INIT,
  (const void *node_handle, const void *state_machine), (node_handle, state_machine), P(node_handle), P(state_machine))
TRACEPOINT_TEXT(rcl_lifecycle_transition, TACHO_RCL_LIFECYCLE_TRANSITION,
  (const void *state_machine, const char *start_label, const char *goal_label),
  (state_machine, start_label, goal_label),
  TEXTS(start_label, goal_label), P(state_machine))

/* Executor */
TRACEPOINT(rclcpp_executor_get_next_ready, TACHO_RCLCPP_EXECUTOR_GET_NEXT_READY, (void), ())
TRACEPOINT(rclcpp_executor_wait_for_work, TACHO_RCLCPP_EXECUTOR_WAIT_FOR_WORK, (int64_t timeout_ns),
  (timeout_ns), I(timeout_ns))
TRACEPOINT(rclcpp_executor_execute, TACHO_RCLCPP_EXECUTOR_EXECUTE, (const void *handle), (handle), P(handle))

/* Intra-process */
TRACEPOINT(rclcpp_ipb_to_subscription, TACHO_RCLCPP_IPB_TO_SUBSCRIPTION,
  (const void *ipb, const void *subscription), (ipb, subscription), P(ipb), P(subscription))
TRACEPOINT(rclcpp_buffer_to_ipb, TACHO_RCLCPP_BUFFER_TO_IPB,
  (const void *buffer, const void *ipb), (buffer, ipb), P(buffer), P(ipb))
TRACEPOINT(rclcpp_construct_ring_buffer, TACHO_RCLCPP_CONSTRUCT_RING_BUFFER,
  (const void *buffer, uint64_t capacity), (buffer, capacity), P(buffer), I(capacity))
TRACEPOINT(rclcpp_ring_buffer_enqueue, TACHO_RCLCPP_RING_BUFFER_ENQUEUE,
  (const void *buffer, uint64_t index, uint64_t size, bool overwritten),
  (buffer, index, size, overwritten), P(buffer), I(index), I(size), I(overwritten))
TRACEPOINT(rclcpp_ring_buffer_dequeue, TACHO_RCLCPP_RING_BUFFER_DEQUEUE,
  (const void *buffer, uint64_t index, uint64_t size), (buffer, index, size), P(buffer), I(index), I(size))
TRACEPOINT(rclcpp_ring_buffer_clear, TACHO_RCLCPP_RING_BUFFER_CLEAR, (const void *buffer), (buffer), P(buffer))
/* clang-format on */
