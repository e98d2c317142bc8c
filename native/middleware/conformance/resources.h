/* SPDX-License-Identifier: Apache-2.0
 *
 * The system's resources that this process holds, which shows what a plugin leaves behind.
 */
#ifndef TACHO_CONFORMANCE_RESOURCES_H_
#define TACHO_CONFORMANCE_RESOURCES_H_

/* Counts the entries of a folder; fails the check if it cannot be read. */
int entries(const char *folder);

/* Shared memory that this process had mapped at some time, because others use /dev/shm, too. */
struct segments {
  char names[64][128];
  int count;
};

/* Adds the segments that are mapped now. */
void note_segments(struct segments *segments);
/* Returns how many of them still exist. */
int segments_there(const struct segments *segments);

#endif
