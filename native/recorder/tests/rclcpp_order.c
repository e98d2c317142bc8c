/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for a program on rclcpp. It calls the functions of tracetools in the order of rclcpp, rcl and rmw (talker,
 * listener, timer, service, intra-process hand-over), with the argument lists of FAKE_RELEASE. It prints each call in
 * words, so that the test can compare the calls with the recorded events. It sends nothing anywhere. With an argument,
 * it waits for a line on its standard input before it starts.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TRACEPOINT(name, kind, parameters, ...) \
  void ros_trace_##name parameters;             \
  void ros_trace_do_##name parameters;          \
  bool ros_trace_enabled_##name(void);
#define TRACEPOINT_TEXT TRACEPOINT
#include "../tracepoints.h"
void ros_trace_rcl_init(const void *context_handle);
void ros_trace_callback_start(const void *callback, bool is_intra_process);
void ros_trace_callback_end(const void *callback);
#if FAKE_RELEASE >= 800
void ros_trace_rmw_publish(const void *rmw_publisher_handle, const void *message, int64_t timestamp);
#else
void ros_trace_rmw_publish(const void *message);
#endif

static const uint8_t gid[24] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
#define GID_WORDS "578437695752307201 1157159078456920585"
#define AT(number) ((const void *)(uintptr_t)(number))

/* The format of a line is: name words | texts. */
#define CALL(expected, ...) \
  do {                      \
    puts(expected);         \
    __VA_ARGS__;            \
  } while (0)

int main(int count, char **arguments) {
  (void)arguments;
  if (count > 1) getchar();
  static char long_symbol[5000];
  memset(long_symbol, 's', sizeof long_symbol - 1);

  CALL("rcl_init 1", ros_trace_rcl_init(AT(1)));
  CALL("rcl_node_init 10 11 | talker /demo", ros_trace_rcl_node_init(AT(10), AT(11), "talker", "/demo"));
  CALL("rmw_publisher_init 21 " GID_WORDS, ros_trace_rmw_publisher_init(AT(21), gid));
  CALL("rcl_publisher_init 20 10 21 7 | /demo/chatter",
       ros_trace_rcl_publisher_init(AT(20), AT(10), AT(21), "/demo/chatter", 7));
  CALL("rmw_subscription_init 31 " GID_WORDS, ros_trace_rmw_subscription_init(AT(31), gid));
  CALL("rcl_subscription_init 30 10 31 5 | /demo/chatter",
       ros_trace_rcl_subscription_init(AT(30), AT(10), AT(31), "/demo/chatter", 5));
  CALL("rclcpp_subscription_init 30 32", ros_trace_rclcpp_subscription_init(AT(30), AT(32)));
  CALL("rclcpp_subscription_callback_added 32 33", ros_trace_rclcpp_subscription_callback_added(AT(32), AT(33)));
  if (ros_trace_enabled_rclcpp_callback_register()) {
    CALL("rclcpp_callback_register 33 | Listener::on_chatter(std::string)",
         ros_trace_do_rclcpp_callback_register(AT(33), "Listener::on_chatter(std::string)"));
    printf("rclcpp_callback_register 34 | %.4092s...\n", long_symbol);
    ros_trace_do_rclcpp_callback_register(AT(34), long_symbol);
  }
  CALL("rcl_timer_init 40 100000000", ros_trace_rcl_timer_init(AT(40), 100000000));
  CALL("rclcpp_timer_callback_added 40 41", ros_trace_rclcpp_timer_callback_added(AT(40), AT(41)));
  CALL("rclcpp_timer_link_node 40 10", ros_trace_rclcpp_timer_link_node(AT(40), AT(10)));
  CALL("rcl_service_init 50 10 51 | /demo/reset", ros_trace_rcl_service_init(AT(50), AT(10), AT(51), "/demo/reset"));
  CALL("rclcpp_service_callback_added 50 52", ros_trace_rclcpp_service_callback_added(AT(50), AT(52)));
  CALL("rcl_client_init 60 10 61 | /demo/reset", ros_trace_rcl_client_init(AT(60), AT(10), AT(61), "/demo/reset"));
  CALL("rcl_lifecycle_state_machine_init 10 70", ros_trace_rcl_lifecycle_state_machine_init(AT(10), AT(70)));
  CALL("rcl_lifecycle_transition 70 | unconfigured inactive",
       ros_trace_rcl_lifecycle_transition(AT(70), "unconfigured", "inactive"));

  for (uintptr_t i = 0; i < 3; i++) {
    CALL("rclcpp_executor_get_next_ready", ros_trace_rclcpp_executor_get_next_ready());
    CALL("rclcpp_executor_wait_for_work 18446744073709551615", ros_trace_rclcpp_executor_wait_for_work(-1));
    CALL("rclcpp_executor_execute 40", ros_trace_rclcpp_executor_execute(AT(40)));
    CALL("callback_start 41 0", ros_trace_callback_start(AT(41), false));
    CALL("rclcpp_publish 20 80", ros_trace_rclcpp_publish(AT(20), AT(80)));
    CALL("rcl_publish 20 80", ros_trace_rcl_publish(AT(20), AT(80)));
#if FAKE_RELEASE >= 800
    CALL("rmw_publish 21 80 1234567890", ros_trace_rmw_publish(AT(21), AT(80), 1234567890));
#else
    CALL("rmw_publish 0 80 0", ros_trace_rmw_publish(AT(80)));
#endif
    CALL("callback_end 41", ros_trace_callback_end(AT(41)));
    CALL("rclcpp_executor_execute 30", ros_trace_rclcpp_executor_execute(AT(30)));
    CALL("rmw_take 31 81 1234567890 1", ros_trace_rmw_take(AT(31), AT(81), 1234567890, true));
    CALL("rcl_take 81", ros_trace_rcl_take(AT(81)));
    CALL("rclcpp_take 81", ros_trace_rclcpp_take(AT(81)));
    CALL("callback_start 33 1", ros_trace_callback_start(AT(33), true));
    CALL("callback_end 33", ros_trace_callback_end(AT(33)));
  }
#if FAKE_RELEASE >= 603
  CALL("rclcpp_construct_ring_buffer 90 10", ros_trace_rclcpp_construct_ring_buffer(AT(90), 10));
  CALL("rclcpp_buffer_to_ipb 90 91", ros_trace_rclcpp_buffer_to_ipb(AT(90), AT(91)));
  CALL("rclcpp_ipb_to_subscription 91 32", ros_trace_rclcpp_ipb_to_subscription(AT(91), AT(32)));
  CALL("rclcpp_intra_publish 20 82", ros_trace_rclcpp_intra_publish(AT(20), AT(82)));
  CALL("rclcpp_ring_buffer_enqueue 90 1 2 0", ros_trace_rclcpp_ring_buffer_enqueue(AT(90), 1, 2, false));
  CALL("rclcpp_ring_buffer_dequeue 90 1 1", ros_trace_rclcpp_ring_buffer_dequeue(AT(90), 1, 1));
  CALL("rclcpp_ring_buffer_clear 90", ros_trace_rclcpp_ring_buffer_clear(AT(90)));
#endif
#if FAKE_RELEASE >= 806
  CALL("rmw_client_init 61 " GID_WORDS, ros_trace_rmw_client_init(AT(61), gid));
  CALL("rmw_send_request 61 83 1", ros_trace_rmw_send_request(AT(61), AT(83), 1));
  CALL("rmw_take_request 51 84 " GID_WORDS " 1 1", ros_trace_rmw_take_request(AT(51), AT(84), gid, 1, true));
  CALL("rmw_send_response 51 85 " GID_WORDS " 1 99", ros_trace_rmw_send_response(AT(51), AT(85), gid, 1, 99));
  CALL("rmw_take_response 61 86 1 99 1", ros_trace_rmw_take_response(AT(61), AT(86), 1, 99, true));
#endif
  return 0;
}
