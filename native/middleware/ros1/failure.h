// SPDX-License-Identifier: Apache-2.0
//
// Ends a call of the plugin: thrown inside, told as text at its door.
#ifndef TACHO_ROS1_FAILURE_H_
#define TACHO_ROS1_FAILURE_H_

[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);

#endif
