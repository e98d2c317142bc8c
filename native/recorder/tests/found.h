/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums up the contents of all event files of one directory, and checks them while reading.
 */
#ifndef TACHO_RECORDER_TESTS_FOUND_H_
#define TACHO_RECORDER_TESTS_FOUND_H_

#include <stdbool.h>
#include <stdint.h>

#define WRITERS 4096

struct found {
  uint64_t files, closed, syncs, texts, nodes, dropped, dropped_nested, remarks, storage_error,
      clocks /* bit c: clock c */, chunks;
  uint64_t next[WRITERS]; /* the number that the writer's next event must have */
  uint64_t events[WRITERS];
};

/* Counts the entries of a directory. */
uint64_t entries(const char *directory);

/* Writes the path of the only file in a directory to `path`. */
void only_entry(const char *directory, char *path, uint64_t size);

/* Reads every file; each must name `program`. Checks the order of events, and that a thread's chunks count exactly its
 * missing events as dropped. A thread whose events belong to one writer is followed exactly; `mixed` is for writers
 * that share a thread. The caller frees the result. */
struct found *read_all(const char *directory, const char *program, bool mixed);

uint64_t sum(const uint64_t *values);

#endif /* TACHO_RECORDER_TESTS_FOUND_H_ */
