// SPDX-License-Identifier: Apache-2.0
//
// Reads versions from the manifests beside the loaded libraries, because rcl has no call that returns its own.
#include "versions.h"

#include <dlfcn.h>
#include <rcl/rcl.h>
#include <rmw/rmw.h>
#include <stdio.h>
#include <string.h>
#include <tacho/middleware.h>

// <prefix>/lib/lib*.so has its manifest at <prefix>/share/<package>/package.xml (REP 149).
static int package_version(const void *symbol, const char *package, char *out, size_t size, char *error) {
  Dl_info info;
  char path[512], line[512];
  if (!dladdr(symbol, &info) || !info.dli_fname || !strrchr(info.dli_fname, '/')) {
    snprintf(error, TACHO_ERROR_SIZE, "ros2: no path is known of the library of %s", package);
    return -1;
  }
  int folder = (int)(strrchr(info.dli_fname, '/') - info.dli_fname);
  if (snprintf(path, sizeof path, "%.*s/../share/%s/package.xml", folder, info.dli_fname, package) >=
      (int)sizeof path) {
    snprintf(error, TACHO_ERROR_SIZE, "ros2: the path of %.400s is too long", info.dli_fname);
    return -1;
  }
  FILE *file = fopen(path, "r");
  if (!file) {
    snprintf(error, TACHO_ERROR_SIZE, "ros2: %s: cannot be read (%m); expected beside %.400s", path, info.dli_fname);
    return -1;
  }
  char version[64] = "";
  while (!*version && fgets(line, sizeof line, file)) {
    const char *tag = strstr(line, "<version");
    if (tag && (tag = strchr(tag, '>'))) sscanf(tag + 1, " %63[^< \n]", version);
  }
  fclose(file);
  if (!*version) {
    snprintf(error, TACHO_ERROR_SIZE, "ros2: %s: has no <version>", path);
    return -1;
  }
  return snprintf(out, size, "%s %s", package, version) < (int)size ? 0 : -1;
}

int ros2_version(char *out, size_t size, char *error) {
  char rcl[128], rmw[192];
  // ISO C has no cast from a function pointer to an object pointer, but POSIX does (dlsym relies on it).
  rcl_ret_t (*init)(int, char const *const *, const rcl_init_options_t *, rcl_context_t *) = rcl_init;
  // A function that the recorder does not interpose, unlike rmw_publish.
  const char *(*identifier)(void) = rmw_get_implementation_identifier;
  const void *in_rcl, *in_rmw;
  memcpy(&in_rcl, &init, sizeof in_rcl);
  memcpy(&in_rmw, &identifier, sizeof in_rmw);
  if (package_version(in_rcl, "rcl", rcl, sizeof rcl, error) < 0 ||
      package_version(in_rmw, rmw_get_implementation_identifier(), rmw, sizeof rmw, error) < 0)
    return -1;
  return snprintf(out, size, "%s, %s", rcl, rmw) < (int)size ? 0 : -1;
}
