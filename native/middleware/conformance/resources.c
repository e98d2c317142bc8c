// SPDX-License-Identifier: Apache-2.0
#include "resources.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

int entries(const char *folder) {
  DIR *directory = opendir(folder);
  CHECK(directory, "%s cannot be read", folder);
  int count = 0;
  while (readdir(directory)) count++;
  closedir(directory);
  return count;
}

void note_segments(struct segments *segments) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps, "/proc/self/maps cannot be read");
  while (fgets(line, sizeof line, maps)) {
    char *name = strstr(line, "/dev/shm/");
    int known = !name;
    if (name) name[strcspn(name, " \n")] = 0;
    for (int i = 0; i < segments->count && !known; i++) known = !strcmp(segments->names[i], name);
    if (!known && segments->count < 64) snprintf(segments->names[segments->count++], 128, "%s", name);
  }
  fclose(maps);
}

int segments_there(const struct segments *segments) {
  int there = 0;
  for (int i = 0; i < segments->count; i++) there += access(segments->names[i], F_OK) == 0;
  return there;
}
