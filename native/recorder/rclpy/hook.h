/* SPDX-License-Identifier: Apache-2.0
 *
 * Records callbacks of rclpy. Nothing between rcl and a Python callback calls tracetools, so the recorder wraps the
 * callbacks: when rclpy calls rcl_init, the recorder runs callbacks.py in its interpreter.
 */
#ifndef TACHO_RECORDER_RCLPY_HOOK_H_
#define TACHO_RECORDER_RCLPY_HOOK_H_

/* Call this when rcl_init was called. If rclpy called it and this process is not hooked yet, hooks it. */
void rclpy_hook(void);

#endif /* TACHO_RECORDER_RCLPY_HOOK_H_ */
