/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "release.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storage.h"

_Atomic uint32_t release_found;
static char rmw_implementation[64];
static _Atomic int seeking;   /* one thread searches; the others continue */
static _Atomic bool complete; /* both are known */

struct loaded {
  char tracetools[4096];
  char rmw[64];
};

static bool begins_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* Returns whether this is a middleware: librmw_X.so, unless it is one of the layers around the middlewares. */
static bool is_rmw_implementation(const char *file) {
  static const char *const others[] = {"librmw_implementation.", "librmw_dds_common", "librmw_security_common"};
  if (!begins_with(file, "librmw_")) return false;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (begins_with(file, others[i])) return false;
  }
  return strstr(file, "_shared_cpp") == NULL && strstr(file, "__rosidl") == NULL;
}

/* Finds libraries by name, not by symbol: rclpy loads its libraries with RTLD_LOCAL, and dlsym(RTLD_NEXT) does not look
 * there. */
static int note_library(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct loaded *loaded = context;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *file = slash != NULL ? slash + 1 : info->dlpi_name;
  if (loaded->tracetools[0] == '\0' && begins_with(file, "libtracetools") && !begins_with(file, "libtracetools_")) {
    snprintf(loaded->tracetools, sizeof loaded->tracetools, "%s", info->dlpi_name);
  }
  if (loaded->rmw[0] == '\0' && is_rmw_implementation(file)) {
    snprintf(loaded->rmw, sizeof loaded->rmw, "%.*s", (int)strcspn(file + 3, "."), file + 3);
  }
  return 0;
}

/* Reads <version>8.6.0</version> from a package.xml; returns 0 if there is none. As below, only one thread at a time
 * gets here, and it may have little stack. */
static uint32_t package_version(const char *path) {
  static char text[4096];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char *element = strstr(text, "<version>");
  unsigned major, minor, patch;
  if (element == NULL || sscanf(element, "<version> %u.%u.%u", &major, &minor, &patch) != 3) return 0;
  return major < 65536 && minor < 256 && patch < 256 ? RELEASE(major, minor, patch) : 0;
}

/* Reads PREFIX/share/tracetools/package.xml for PREFIX/lib/libtracetools.so or
 * PREFIX/lib/x86_64-linux-gnu/libtracetools.so. */
static uint32_t installed_version(const char *library) {
  static char prefix[4096], package[4200];
  if (realpath(library, prefix) == NULL) return 0;
  for (int up = 0; up < 3; up++) {
    char *slash = strrchr(prefix, '/');
    if (slash == NULL) return 0;
    *slash = '\0';
    if (up == 0) continue;
    snprintf(package, sizeof package, "%s/share/tracetools/package.xml", prefix);
    uint32_t version = package_version(package);
    if (version != 0) return version;
  }
  return 0;
}

static uint32_t distribution_version(void) {
  static const struct {
    const char *name;
    uint32_t version;
  } known[] = {{"humble", RELEASE(4, 1, 0)},
               {"iron", RELEASE(6, 3, 0)},
               {"jazzy", RELEASE(8, 2, 0)},
               {"kilted", RELEASE(8, 6, 0)},
               {"rolling", RELEASE(8, 6, 0)}};
  const char *name = getenv("ROS_DISTRO");
  for (size_t i = 0; name != NULL && i < sizeof known / sizeof *known; i++) {
    if (strcmp(name, known[i].name) == 0) return known[i].version;
  }
  return 0;
}

/* Without a package.xml, the functions of the library identify most releases. Iron and Jazzy have the same functions:
 * ROS_DISTRO decides there, or the release stays unknown. Returns the first release with these functions. */
static uint32_t version_by_symbols(const char *library) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) return 0;
  uint32_t version = 0;
  if (dlsym(handle, "ros_trace_rcl_init") != NULL) {
    uint32_t distribution = distribution_version();
    if (dlsym(handle, "ros_trace_rmw_client_init") != NULL) {
      version = RELEASE(8, 6, 0);
    } else if (dlsym(handle, "ros_trace_rclcpp_intra_publish") == NULL) {
      version = RELEASE(4, 1, 0);
    } else if (distribution == RELEASE(6, 3, 0) || distribution == RELEASE(8, 2, 0)) {
      version = distribution;
    }
  }
  dlclose(handle);
  return version;
}

static void look(void) {
  static struct loaded loaded;
  loaded.tracetools[0] = loaded.rmw[0] = '\0';
  dl_iterate_phdr(note_library, &loaded);
  if (release_known() == 0 && loaded.tracetools[0] != '\0') {
    uint32_t version = installed_version(loaded.tracetools);
    release_found = version != 0 ? version : version_by_symbols(loaded.tracetools);
  }
  if (rmw_implementation[0] == '\0') memcpy(rmw_implementation, loaded.rmw, sizeof rmw_implementation);
  if (release_known() != 0 && rmw_implementation[0] != '\0') complete = true;
}

void *release_open_tracetools(void) {
  static struct loaded loaded;
  loaded.tracetools[0] = loaded.rmw[0] = '\0';
  dl_iterate_phdr(note_library, &loaded);
  return loaded.tracetools[0] != '\0' ? dlopen(loaded.tracetools, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

void release_describe(struct tacho_file_header *header) {
  const char *distribution = getenv("ROS_DISTRO");
  snprintf(header->ros_distro, sizeof header->ros_distro, "%s", distribution != NULL ? distribution : "");
  if (!complete) look(); /* not in a child: another thread of the parent may have held the linker's locks */
  header->tracetools = release_known();
  memcpy(header->rmw_implementation, rmw_implementation, sizeof header->rmw_implementation);
}

void release_seek(void) {
  static _Atomic int tries = 32; /* a program that has neither must not pay for the search for ever */
  if (atomic_load_explicit(&complete, memory_order_relaxed)) return;
  if (atomic_load_explicit(&tries, memory_order_relaxed) <= 0) return;
  int saved = errno, cancel;
  sigset_t all, signals;
  sigfillset(&all);
  /* A signal handler that does not return would leave the linker's locks held. */
  pthread_sigmask(SIG_SETMASK, &all, &signals);
  if (atomic_exchange(&seeking, 1) != 0) goto done;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  atomic_fetch_sub_explicit(&tries, 1, memory_order_relaxed);
  look();
  struct tacho_file_header *header = storage_header;
  atomic_store_explicit((_Atomic uint32_t *)&header->tracetools, release_known(), memory_order_relaxed);
  memcpy(header->rmw_implementation, rmw_implementation, sizeof rmw_implementation);
  pthread_setcancelstate(cancel, NULL);
  atomic_store(&seeking, 0);
done:
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
  errno = saved;
}

void release_forget_seekers(void) { atomic_store(&seeking, 0); }
