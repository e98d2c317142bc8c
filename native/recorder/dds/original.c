/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "original.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No system has this many libraries. If one does, we search only the first ones. */
#define LIBRARIES_MAX 4096

struct search {
  struct original *original;
  const char *paths[LIBRARIES_MAX];
  size_t count;
};

/* Stores only paths, because nothing may be opened within dl_iterate_phdr. The paths stay valid as long as their
 * libraries are loaded. */
static int note(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  if (info->dlpi_name[0] == '/' && search->count < LIBRARIES_MAX) search->paths[search->count++] = info->dlpi_name;
  return 0;
}

static bool is_named(const char *path, const char *start) {
  const char *slash = strrchr(path, '/');
  return strncmp(slash != NULL ? slash + 1 : path, start, strlen(start)) == 0;
}

static void *look(const struct search *search, bool named) {
  const struct original *original = search->original;
  for (size_t i = 0; i < search->count; i++) {
    if (is_named(search->paths[i], original->library) != named) continue;
    void *library = dlopen(search->paths[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) continue;
    void *found = dlsym(library, original->symbol);
    dlclose(library);
    if (found != NULL && found != original->ours) return found;
  }
  return NULL;
}

void *original_search(struct original *original) {
  int saved = errno;
  void *found = dlsym(RTLD_NEXT, original->symbol);
  if (found == NULL || found == original->ours) {
    /* rclpy loads its libraries with RTLD_LOCAL, where RTLD_NEXT does not look. */
    struct search *search = calloc(1, sizeof *search); /* 32 KiB: too much for a thread with a small stack */
    if (search != NULL) {
      search->original = original;
      dl_iterate_phdr(note, search);
      found = look(search, true);
      if (found == NULL) found = look(search, false);
      free(search);
    }
  }
  if (found == NULL) {
    fprintf(stderr,
            "tacho: %s was called, and no loaded library has it: the program cannot go on under this recorder\n",
            original->symbol);
    abort();
  }
  atomic_store_explicit(&original->found, found, memory_order_release);
  errno = saved;
  return found;
}
