/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel prints, whole, cut off anywhere, and where it does not count.
 */
#undef NDEBUG
#include "../schedstat.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  uint64_t ns = 1;
  const char *counted = "943437 5012 17\n";
  assert(schedstat_run_delay(counted, strlen(counted), &ns) && ns == 5012);
  for (size_t size = 0; size < strlen(counted); size++) assert(!schedstat_run_delay(counted, size, &ns));
  const char *no_wait = "943437 0 1\n";
  assert(schedstat_run_delay(no_wait, strlen(no_wait), &ns) && ns == 0);
  const char *others[] = {"0 0 0\n", "943437 5012\n", "943437  5012 17\n", "-1 5012 17\n", "version 15\n"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert(!schedstat_run_delay(others[i], strlen(others[i]), &ns));

  char here[80];
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  size_t size = file == NULL ? 0 : fread(here, 1, sizeof here, file);
  if (file != NULL) fclose(file);
  const bool counts = size > 0 && memcmp(here, "0 0 0", 5) != 0;
  assert(schedstat_run_delay(here, size, &ns) == counts);
  return 0;
}
