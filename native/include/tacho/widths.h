/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists how each word of a kind of event lies in its record, one hexadecimal digit a word, the first word first. A kind
 * without words is not listed. crates/events reads this file, too.
 *
 *   1 to 8  an integer of so many bytes, little endian
 *   9       a pointer: its lowest 4 bytes. They name the object; no reader needs the rest
 *   a       a pointer in the event of its object's creation: 6 bytes
 *   b, c    the two words of a gid: 1 byte, the number that a TACHO_GID record before it in the chunk gave the gid
 *   e, f    no bytes: the word is 0 (e) or 1 (f)
 *
 * Words follow each other without gaps. If a word of an event does not fit (a negative number, a count that nobody
 * expected), the event is written as TACHO_WIDE. So a width only has to suit what is usual. A kind may have a short form:
 * a number of its own, whose digits leave out words that nearly always have the same value. Never change the digits of a
 * kind that was released: readers take them from here, and only the sizes of payloads from the file. More words may
 * follow the last one. A payload has at most 56 bytes.
 */
#ifndef TACHO_WIDTHS_H_
#define TACHO_WIDTHS_H_

#include "tacho/events.h"

/* A constant index is read by the compiler. */
static const uint64_t tacho_widths[256] = {
    [TACHO_CLOCK_SYNC] = 0x884,
    [TACHO_RCL_INIT] = 0xa,
    [TACHO_RCL_NODE_INIT] = 0xa9,
    [TACHO_RMW_PUBLISHER_INIT] = 0xa88,
    [TACHO_RCL_PUBLISHER_INIT] = 0xa994,
    [TACHO_RCLCPP_PUBLISH] = 0x99,
    [TACHO_RCLCPP_INTRA_PUBLISH] = 0x99,
    [TACHO_RCL_PUBLISH] = 0x99,
    [TACHO_RMW_PUBLISH] = 0x998,
    [TACHO_RMW_SUBSCRIPTION_INIT] = 0xa88,
    [TACHO_RCL_SUBSCRIPTION_INIT] = 0xa994,
    [TACHO_RCLCPP_SUBSCRIPTION_INIT] = 0x99,
    [TACHO_RCLCPP_SUBSCRIPTION_CALLBACK_ADDED] = 0x99,
    [TACHO_RMW_TAKE] = 0x9981,
    [TACHO_RCL_TAKE] = 0x9,
    [TACHO_RCLCPP_TAKE] = 0x9,
    [TACHO_RCL_SERVICE_INIT] = 0xa99,
    [TACHO_RCLCPP_SERVICE_CALLBACK_ADDED] = 0x99,
    [TACHO_RMW_TAKE_REQUEST] = 0x998841,
    [TACHO_RMW_SEND_RESPONSE] = 0x998848,
    [TACHO_RMW_CLIENT_INIT] = 0xa88,
    [TACHO_RCL_CLIENT_INIT] = 0xa99,
    [TACHO_RMW_SEND_REQUEST] = 0x994,
    [TACHO_RMW_TAKE_RESPONSE] = 0x99481,
    [TACHO_RCL_TIMER_INIT] = 0xa6,
    [TACHO_RCLCPP_TIMER_CALLBACK_ADDED] = 0x99,
    [TACHO_RCLCPP_TIMER_LINK_NODE] = 0x99,
    [TACHO_RCLCPP_CALLBACK_REGISTER] = 0xa,
    [TACHO_CALLBACK_START] = 0x91,
    [TACHO_CALLBACK_END] = 0x9,
    [TACHO_RCL_LIFECYCLE_STATE_MACHINE_INIT] = 0x99,
    [TACHO_RCL_LIFECYCLE_TRANSITION] = 0x9,
    [TACHO_RCLCPP_EXECUTOR_WAIT_FOR_WORK] = 0x8,
    [TACHO_RCLCPP_EXECUTOR_EXECUTE] = 0x9,
    [TACHO_RCLCPP_IPB_TO_SUBSCRIPTION] = 0x99,
    [TACHO_RCLCPP_BUFFER_TO_IPB] = 0x99,
    [TACHO_RCLCPP_CONSTRUCT_RING_BUFFER] = 0x94,
    [TACHO_RCLCPP_RING_BUFFER_ENQUEUE] = 0x9221,
    [TACHO_RCLCPP_RING_BUFFER_DEQUEUE] = 0x922,
    [TACHO_RCLCPP_RING_BUFFER_CLEAR] = 0x9,
    [TACHO_MESSAGE_LINK_PERIODIC_ASYNC] = 0x99,
    [TACHO_MESSAGE_LINK_PARTIAL_SYNC] = 0x99,
    [TACHO_DDS_WRITE] = 0x998,
    [TACHO_DISPATCH_SUBSCRIPTION_CALLBACK] = 0x998,
    [TACHO_DISPATCH_INTRA_PROCESS_SUBSCRIPTION_CALLBACK] = 0x99,
    [TACHO_MESSAGE_CONSTRUCT] = 0x99,
    [TACHO_RMW_PUBLISH_CALLED] = 0x99,
    [TACHO_RMW_TAKE_CALLED] = 0x9,
    [TACHO_DDS_SEND] = 0xbc482221,
    [TACHO_DDS_RECEIVE] = 0xbc482221,
    [TACHO_DDS_DATA_AVAILABLE] = 0xbcbc44,
    [TACHO_ROS1_NODE_INIT] = 0xa,
    [TACHO_ROS1_PUBLISHER_INIT] = 0xa941,
    [TACHO_ROS1_PUBLISH] = 0x99,
    [TACHO_ROS1_SERIALIZED] = 0x949,
    [TACHO_ROS1_SUBSCRIBER_LINK_INIT] = 0xa9122,
    [TACHO_ROS1_ENQUEUE] = 0x99,
    [TACHO_ROS1_WRITE] = 0x9498,
    [TACHO_ROS1_PUBLISHER_LINK_INIT] = 0xa1224,
    [TACHO_ROS1_RECEIVE] = 0x914998,
    [TACHO_ROS1_RECEIVED] = 0x9,
    [TACHO_ROS1_SUBSCRIPTION_INIT] = 0xa94,
    [TACHO_ROS1_SUBSCRIPTION_END] = 0x9,
    [TACHO_ROS1_QUEUE_PUSH] = 0x999,
    [TACHO_ROS1_QUEUE_OVERFLOW] = 0x9,
    [TACHO_ROS1_TAKE] = 0x99,
    [TACHO_ROS1_TIMER_INIT] = 0xa961,
    [TACHO_ROS1_TIMER_PERIOD] = 0x96,
    [TACHO_ROS1_SERVICE_INIT] = 0xa9,
    [TACHO_ROS1_CALLBACK_QUEUED] = 0x9,
    [TACHO_ROS1_CALLBACK_CALL] = 0x9,
    [TACHO_CALLBACK_GROUP_ADD_TIMER] = 0x99,
    [TACHO_CALLBACK_GROUP_ADD_SUBSCRIPTION] = 0x99,
    [TACHO_CALLBACK_GROUP_ADD_SERVICE] = 0x99,
    [TACHO_CALLBACK_GROUP_ADD_CLIENT] = 0x99,
    [TACHO_ADD_CALLBACK_GROUP] = 0x99,
    [TACHO_CONSTRUCT_EXECUTOR] = 0xa9,
    [TACHO_EXECUTOR_ENTITY_COLLECTOR_TO_EXECUTOR] = 0x99,
    [TACHO_RMW_PUBLISH_OF_UNKNOWN_RELEASE] = 0x9,
    [TACHO_NODE_PUBLISH] = 0x9444,
    [TACHO_NODE_TAKE] = 0x9448,
    [TACHO_NODE_DATA_AVAILABLE] = 0x9,
    [TACHO_NODE_SKIPPED] = 0x94,
    [TACHO_NODE_WAKE] = 0x9,
    [TACHO_NODE_DUE] = 0x948,
    [TACHO_CALLBACK_CPU] = 0x61,
    [TACHO_CALLBACK_CPU_AND_DELAY] = 0x661,
    [TACHO_RCLPY_COROUTINE] = 0x94,
    [TACHO_RCLPY_CLIENT_CALLBACK_ADDED] = 0x99,
    [TACHO_RCLPY_RESPONSE] = 0x94,
    [TACHO_RCLPY_ACTION_CALLBACK] = 0x881,
    [TACHO_SCHED_WAITS_IN] = 0x4,
    [TACHO_KERNEL_EVENTS_LOST] = 0x4,
    [TACHO_SCHED_SWITCH] = 0x323,
    [TACHO_SCHED_WAKEUP] = 0x323,
    [TACHO_IRQ_ENTRY] = 0x4,
    [TACHO_IRQ_EXIT] = 0x4,
    [TACHO_SOFTIRQ_ENTRY] = 0x1,
    [TACHO_SOFTIRQ_EXIT] = 0x1,
    [TACHO_BOARD_TO_HOST] = 0x88,
    [TACHO_HOST_TO_BOARD] = 0x88,
    [TACHO_BOARD_MATCHED] = 0x94,
    [TACHO_BOARD_TAKE] = 0x9884,
    [TACHO_NODE_REFUSED] = 0x944,
    [TACHO_RCLCPP_CALLBACK_GROUP_ADD] = 0x9911,
    [TACHO_NODE_USES] = 0x9448,
    [TACHO_RCL_ACTION_INIT] = 0xa,
    [TACHO_RCL_ACTION_REQUEST] = 0x91884886,
    [TACHO_RCL_ACTION_RESPONSE] = 0x9188446,
    [TACHO_RCL_ACTION_GOAL_STATE] = 0x881,
    [TACHO_RCL_ACTION_FEEDBACK] = 0x88,
    [TACHO_HEADER_STAMP_SENT] = 0x98,
    [TACHO_HEADER_STAMP_TAKEN] = 0x98,
    [TACHO_NODE_SIGNAL_INIT] = 0x921,
    [TACHO_NODE_SIGNAL] = 0x92288,
    [TACHO_RMW_PUBLISHER_QOS] = 0x91114,
    [TACHO_RMW_SUBSCRIPTION_QOS] = 0x91114,
    [TACHO_MESSAGE_SIZE] = 0x94,

    /* Short forms. */
    [TACHO_SHORT_RMW_TAKE] = 0x998f,
    [TACHO_SHORT_CALLBACK_START] = 0x9e,
    [TACHO_SHORT_DDS_SEND] = 0xbc48fff1,
    [TACHO_SHORT_DDS_RECEIVE] = 0xbc48fff1,
    [TACHO_SHORT_RMW_PUBLISH] = 0xe9e,
    [TACHO_SHORT_RCLCPP_RING_BUFFER_ENQUEUE] = 0x922e,
};

/* The short form of a kind, which is written if all words of an event fit it. */
static const uint8_t tacho_short[256] = {
    [TACHO_RMW_TAKE] = TACHO_SHORT_RMW_TAKE,
    [TACHO_CALLBACK_START] = TACHO_SHORT_CALLBACK_START,
    [TACHO_DDS_SEND] = TACHO_SHORT_DDS_SEND,
    [TACHO_DDS_RECEIVE] = TACHO_SHORT_DDS_RECEIVE,
    [TACHO_RMW_PUBLISH] = TACHO_SHORT_RMW_PUBLISH,
    [TACHO_RCLCPP_RING_BUFFER_ENQUEUE] = TACHO_SHORT_RCLCPP_RING_BUFFER_ENQUEUE,
};

#endif /* TACHO_WIDTHS_H_ */
