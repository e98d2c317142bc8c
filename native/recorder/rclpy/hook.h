/* SPDX-License-Identifier: Apache-2.0
 *
 * Callbacks of rclpy. Nothing between rcl and a Python callback calls tracetools, so the recorder puts itself around the
 * callbacks: when rclpy calls rcl_init, callbacks.py is run in its interpreter.
 */
#ifndef TACHO_RECORDER_RCLPY_HOOK_H_
#define TACHO_RECORDER_RCLPY_HOOK_H_

/* rcl_init was called. Where rclpy did, and this process has not been hooked yet, hooks it. */
void rclpy_hook(void);

#endif /* TACHO_RECORDER_RCLPY_HOOK_H_ */
