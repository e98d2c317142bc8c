// SPDX-License-Identifier: Apache-2.0
#include "failure.h"

#include <rcl/error_handling.h>
#include <stdarg.h>
#include <stdio.h>

void say_rcl(char *error, rcl_ret_t code, const char *format, ...) {
  char doing[384];
  va_list list;
  va_start(list, format);
  vsnprintf(doing, sizeof doing, format, list);
  va_end(list);
  const char *text = rcl_error_is_set() ? rcl_get_error_string().str : "no text from rcl";
  say(error, "%s: %.600s (rcl_ret_t %d)", doing, text, (int)code);
  rcl_reset_error();
}

void closed(rcl_ret_t code, const char *what) {
  if (code == RCL_RET_OK) return;
  fprintf(stderr, "ros2: %s while closing: %s\n", what, rcl_get_error_string().str);
  rcl_reset_error();
}
