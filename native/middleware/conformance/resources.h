/* SPDX-License-Identifier: Apache-2.0
 *
 * What this process holds of the system, to see what a plugin leaves behind.
 */
#ifndef TACHO_CONFORMANCE_RESOURCES_H_
#define TACHO_CONFORMANCE_RESOURCES_H_

/* Entries of a folder; fails the check where it cannot be read. */
int entries(const char *folder);

/* Shared memory that this process had mapped at some time: /dev/shm as a whole is everybody's. */
struct segments {
  char names[64][128];
  int count;
};

/* Adds those that are mapped now. */
void note_segments(struct segments *segments);
/* How many of them still exist. */
int segments_there(const struct segments *segments);

#endif
