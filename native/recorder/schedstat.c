/* SPDX-License-Identifier: Apache-2.0 */
#include "schedstat.h"

static bool take_number(const char **text, const char *end, char after, uint64_t *number) {
  const char *digits = *text;
  for (*number = 0; *text < end && **text >= '0' && **text <= '9'; ++*text)
    *number = 10 * *number + (uint64_t)(**text - '0');
  return *text > digits && *text < end && *(*text)++ == after;
}

bool schedstat_run_delay(const char *text, size_t size, uint64_t *ns) {
  const char *end = text + size;
  uint64_t on_cpu_ns, times;
  return take_number(&text, end, ' ', &on_cpu_ns) && take_number(&text, end, ' ', ns) &&
         take_number(&text, end, '\n', &times) && times > 0;
}
