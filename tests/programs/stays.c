/* Leaves a daemon behind that goes on writing events: stays PLACE [secret]

   The daemon writes its process id to PLACE/begun when it has written events, waits for PLACE/go_on, writes far more events than its file had room for
   until then, writes PLACE/done, and ends. `secret`: it is not dumpable, so that other users cannot read its mappings. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((weak)) void ros_trace_rcl_init(const void *context);

enum { ROOM_FOR_MORE_THAN_A_FILE_BEGINS_WITH = 500000 };

static void fire(long count) {
  for (long i = 0; i < count; i++) ros_trace_rcl_init((void *)(i + 1));
}

static char *at(const char *place, const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", place, name);
  return path;
}

static void note(const char *place, const char *name) {
  char said[4096], is[4096];
  snprintf(said, sizeof said, "%s/%s.new", place, name);
  snprintf(is, sizeof is, "%s/%s", place, name);
  FILE *file = fopen(said, "w");
  if (!file) _exit(3);
  fprintf(file, "%d\n", getpid());
  fclose(file);
  rename(said, is);
}

int main(int argc, char **argv) {
  if (argc < 2 || !ros_trace_rcl_init) return 2;
  const char *place = argv[1];
  if (fork() == 0) {
    setsid();
    for (int file = 0; file < 3; file++) close(file); /* nobody waits for the ends of its pipes */
    if (argc > 2 && strcmp(argv[2], "secret") == 0) prctl(PR_SET_DUMPABLE, 0);
    fire(10);
    note(place, "begun");
    while (access(at(place, "go_on"), F_OK) != 0) usleep(1000);
    fire(ROOM_FOR_MORE_THAN_A_FILE_BEGINS_WITH);
    note(place, "done");
    _exit(0);
  }
  while (access(at(place, "begun"), F_OK) != 0) usleep(1000);
  return 0;
}
