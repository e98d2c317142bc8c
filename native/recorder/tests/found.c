/* SPDX-License-Identifier: Apache-2.0 */
#include "found.h"

#include <dirent.h>

#include "events_reader.h"

uint64_t entries(const char *directory) {
  uint64_t count = 0;
  DIR *stream = opendir(directory);
  EXPECT(stream != NULL, "%s", directory);
  for (struct dirent *entry; (entry = readdir(stream)) != NULL;) count += entry->d_name[0] != '.';
  closedir(stream);
  return count;
}

void only_entry(const char *directory, char *path, uint64_t size) {
  EXPECT(entries(directory) == 1, "%llu entries in %s", (unsigned long long)entries(directory), directory);
  DIR *stream = opendir(directory);
  struct dirent *entry;
  while ((entry = readdir(stream)) != NULL && entry->d_name[0] == '.') {
  }
  snprintf(path, size, "%s/%s", directory, entry->d_name);
  closedir(stream);
}

static void read_file(const char *path, const char *program, struct found *found, bool mixed) {
  static uint64_t sequence[1 << 22];
  struct event_file file = event_file_read(path);
  EXPECT(event_file_complete(&file), "%s has no magic", path);
  memset(sequence, 0, sizeof sequence);
  if (mixed) memset(found->next, 0, sizeof found->next); /* a child may repeat the event during which it was forked */
  found->files++;
  found->closed += file.header.closed;
  found->dropped += file.header.dropped;
  found->dropped_nested += file.header.dropped_nested;
  found->remarks |= file.header.remarks;
  found->clocks |= UINT64_C(1) << file.header.clock;
  if (file.header.storage_error != 0) found->storage_error = file.header.storage_error;
  EXPECT(file.header.start_bound_ns < 1000000000u && file.header.start_monotonic_ns != 0, "start reading");
  EXPECT(strstr(file.header.command, "counts") != NULL, "command '%s'", file.header.command);
  EXPECT(strcmp(file.header.executable, program) == 0, "executable '%s'", file.header.executable);
  for (uint64_t i = 0; i < file.chunks; i++) {
    const struct tacho_chunk_header *chunk = event_file_chunk(&file, i);
    if (chunk == NULL) continue;
    EXPECT(chunk->tid < sizeof sequence / sizeof *sequence, "tid %u", chunk->tid);
    if (chunk->sequence == 0) sequence[chunk->tid] = 0; /* another thread with the same number */
    EXPECT(chunk->sequence == sequence[chunk->tid], "chunk %llu of thread %u, %llu was expected",
           (unsigned long long)chunk->sequence, chunk->tid, (unsigned long long)sequence[chunk->tid]);
    sequence[chunk->tid]++;
    found->chunks++;
    struct place place = {0};
    bool first = true;
    uint64_t last_ticks = chunk->base_ticks;
    struct event event;
    while (event_next(&file, chunk, &place, &event)) {
      EXPECT(event.ticks >= last_ticks, "time goes backwards in chunk %llu", (unsigned long long)i);
      last_ticks = event.ticks;
      if (event.kind == TACHO_CLOCK_SYNC) {
        found->syncs++;
        EXPECT(event.count == 3 && event.words[0] >= file.header.start_monotonic_ns, "clock sync");
        uint64_t apart = event.ticks > event.words[0] ? event.ticks - event.words[0] : event.words[0] - event.ticks;
        EXPECT(file.header.clock != TACHO_CLOCK_MONOTONIC || apart <= event.words[2],
               "ticks are %llu ns from the clock", (unsigned long long)apart);
      } else if (event.kind == TACHO_TEXT) {
        found->texts++;
        EXPECT(event_next(&file, chunk, &place, &event) && event.kind == TACHO_RCL_NODE_INIT,
               "text stands before its event");
        found->nodes++;
      } else {
        EXPECT(event.kind == TACHO_RCL_PUBLISH && event.count == 2, "kind %u", event.kind);
        uint64_t writer = event.words[0], number = event.words[1];
        EXPECT(writer < WRITERS, "writer %llu", (unsigned long long)writer);
        uint64_t missing = number - found->next[writer];
        if (mixed) {
          EXPECT(number >= found->next[writer], "order");
        } else {
          EXPECT(missing == (first ? chunk->dropped_before : 0), "writer %llu: %llu after %llu, %llu dropped",
                 (unsigned long long)writer, (unsigned long long)number, (unsigned long long)found->next[writer],
                 (unsigned long long)chunk->dropped_before);
        }
        found->next[writer] = number + 1;
        found->events[writer]++;
        first = false;
      }
    }
  }
  free(file.bytes);
}

struct found *read_all(const char *directory, const char *program, bool mixed) {
  struct found *found = calloc(1, sizeof *found);
  DIR *stream = opendir(directory);
  EXPECT(found != NULL && stream != NULL, "%s", directory);
  for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
    char path[600];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    read_file(path, program, found, mixed);
  }
  closedir(stream);
  return found;
}

uint64_t sum(const uint64_t *values) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < WRITERS; i++) total += values[i];
  return total;
}
