/* SPDX-License-Identifier: Apache-2.0
 *
 * What the event files of one directory hold, over all, checked while it is read.
 */
#ifndef TACHO_RECORDER_TESTS_FOUND_H_
#define TACHO_RECORDER_TESTS_FOUND_H_

#include <stdbool.h>
#include <stdint.h>

#define WRITERS 4096

struct found {
  uint64_t files, closed, syncs, texts, nodes, dropped, dropped_nested, remarks, storage_error, clocks /* bit c: clock c */, chunks;
  uint64_t next[WRITERS]; /* the number that the writer's next event must have */
  uint64_t events[WRITERS];
};

/* Entries of a directory. */
uint64_t entries(const char *directory);

/* The path of the only file in a directory. */
void only_entry(const char *directory, char *path, uint64_t size);

/* Reads every file, of which each must name `program`, checking order and that what is missing inside a thread is what its
 * chunks say was dropped. A thread whose events are those of one writer is followed exactly; `mixed` is for writers that
 * share a thread. To be freed. */
struct found *read_all(const char *directory, const char *program, bool mixed);

uint64_t sum(const uint64_t *values);

#endif /* TACHO_RECORDER_TESTS_FOUND_H_ */
