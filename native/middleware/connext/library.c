// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <tacho/middleware.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // of what follows
static struct connext connext;
static int opened;

// ISO C has no cast from an object pointer to a function pointer.
static int found(void *library, const char *name, void *function, char *error) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  if (!symbol)
    snprintf(error, TACHO_ERROR_SIZE, "connext: no %s in " TACHO_CONNEXT_LIBRARY "; expected RTI Connext 7", name);
  return symbol != NULL;
}

static int open_library(char *error) {
  // The library names libnddscore.so and finds it beside itself; its symbols stay apart from other middlewares'.
  void *library = dlopen(TACHO_CONNEXT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(error, TACHO_ERROR_SIZE, "connext: %s; setup/python build/venv-connext setup/connext.txt gets it",
             dlerror());
    return 0;
  }
#define CONNEXT_FIND(result, name, arguments) &&found(library, #name, &connext.name, error)
  int all = 1 CONNEXT_API(CONNEXT_FIND);
#undef CONNEXT_FIND
  if (!all) return 0;
  if (!(connext.no_instance = dlsym(library, "DDS_HANDLE_NIL"))) {
    snprintf(error, TACHO_ERROR_SIZE, "connext: no DDS_HANDLE_NIL in " TACHO_CONNEXT_LIBRARY);
    return 0;
  }
  const unsigned char *version = connext.NDDS_Config_Version_get_product_version();
  if (version[0] == 7) return 1;
  snprintf(error, TACHO_ERROR_SIZE, "connext: " TACHO_CONNEXT_LIBRARY " is Connext %u.%u.%u; expected 7", version[0],
           version[1], version[2]);
  return 0;
}

const struct connext *connext_library(char *error) {
  pthread_mutex_lock(&mutex);
  if (!opened) opened = open_library(error);
  pthread_mutex_unlock(&mutex);
  return opened ? &connext : NULL;
}
