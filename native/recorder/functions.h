/* SPDX-License-Identifier: Apache-2.0
 *
 * Names the functions that callbacks of C++ call. The type of `std::bind(&Planner::on_map, this, _1)` names the class
 * alone; the object holds the address of the method.
 */
#ifndef TACHO_RECORDER_FUNCTIONS_H_
#define TACHO_RECORDER_FUNCTIONS_H_

#include <stdbool.h>
#include <stddef.h>

/* Writes the readable name of the function that begins at `code`, with its arguments. False: it has no symbol, or
 * several. */
bool tacho_function_name(const void *code, char *name, size_t size);

/* Returns the name of the method that a callback of rclcpp is bound to, written to `name`. Returns `symbol` if that is
 * not the type of a bound method, or if the method is not found. `callback`: a timer's function object, or what holds
 * the std::function of a subscription, a service or a client. */
const char *function_of_callback(const void *callback, const char *symbol, char *name, size_t size);

#endif /* TACHO_RECORDER_FUNCTIONS_H_ */
