/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures what three events cost the program that fires them: callback_start, rcl_publish, callback_end, through the
 * procedure linkage table as rclcpp and rcl call them. It fires them in bursts with rests, as real callbacks come, so
 * that neither recorder loses events to the disk. It prints one line for each burst: ns an event, for all events timed
 * together; and the 99th percentile of ns an event, for as many events timed in threes. Each of the latter includes one
 * clock reading.
 *
 * cost BURSTS TRIPLES [wait]: `wait` waits for a line on standard input
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void ros_trace_callback_start(const void *callback, bool is_intra_process);
void ros_trace_callback_end(const void *callback);
void ros_trace_rcl_publish(const void *publisher_handle, const void *message);

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fire(long triples) {
  for (long i = 0; i < triples; i++) {
    const void *at = (const void *)(uintptr_t)i;
    ros_trace_callback_start(at, false);
    ros_trace_rcl_publish(at, &at);
    ros_trace_callback_end(at);
  }
}

static int by_size(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static double p99(double *took, long triples) {
  for (long i = 0; i < triples; i++) {
    const void *at = (const void *)(uintptr_t)i;
    double start = now_ns();
    ros_trace_callback_start(at, false);
    ros_trace_rcl_publish(at, &at);
    ros_trace_callback_end(at);
    took[i] = (now_ns() - start) / 3;
  }
  qsort(took, (size_t)triples, sizeof *took, by_size);
  return took[triples * 99 / 100];
}

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) return 2;
  if (argc == 4) getchar();
  long bursts = atol(argv[1]), triples = atol(argv[2]);
  const struct timespec rest = {0, 2000000};
  double *took = calloc((size_t)triples + 1, sizeof *took);
  if (took == NULL) return 2;
  for (long i = 0; i < bursts; i++) {
    double start = now_ns();
    fire(triples);
    double end = now_ns();
    if (triples > 0) printf("%.3f %.3f\n", (end - start) / (double)(3 * triples), p99(took, triples));
    nanosleep(&rest, NULL);
  }
  free(took);
  return 0;
}
