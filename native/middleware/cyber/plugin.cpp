// SPDX-License-Identifier: Apache-2.0
//
// The cyber plugin: Apollo Cyber RT. Its library brings its own protobuf, glog and gflags, starts threads, and reads
// its configuration while it is loaded. So this part is not linked to the library, and loads the part that is
// (session.cpp) for the first session.
#include <tacho/middleware.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <string>

#include "configuration.h"
#include "failure.h"
#include "payload.h"
#include "session.h"

namespace {

using Table = struct tacho_middleware;

std::mutex mutex;
const Table *sessions;  // set once

// The file beside this plugin.
std::string library() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(&library), &self)) fail("cyber: the plugin does not find its own file");
  const std::string path = self.dli_fname;
  const size_t slash = path.rfind('/');
  return (slash == std::string::npos ? "." : path.substr(0, slash)) + "/cyber/libcyber_session.so";
}

int version(char *out, size_t size, char *error) {
  return guarded(error, [&] {
    // The build checks the hash of the library, because cyber_rt.h is valid only for this one.
    for (const std::string &needed : {library(), std::string(CYBER_LIBRARY)})
      if (access(needed.c_str(), R_OK))
        fail("cyber: %s: %s; expected the library of the wheel pycyber 0.0.6: run setup/cyber build/cyber",
             needed.c_str(), std::strerror(errno));
    std::snprintf(out, size, "Cyber RT of pycyber 0.0.6 (an unoptimised build)");
    return 0;
  });
}

void load(const tacho_session_config &config) {
  Environment environment(config);
  const std::string path = library();
  void *loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loaded) fail("cyber: %s (Debian packages: libatomic1 libuuid1)", dlerror());
  void *symbol = dlsym(loaded, "tacho_cyber_start");
  decltype(&tacho_cyber_start) start = nullptr;
  std::memcpy(&start, &symbol, sizeof start);
  if (!start) fail("cyber: %s: %s", path.c_str(), dlerror());
  char error[TACHO_ERROR_SIZE] = "";
  const Table *made = start(&environment.configuration, error);
  if (!made) fail("%s", error);
  sessions = made;
}

tacho_session *open(const tacho_session_config *config, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(mutex);
    if (*config->transport && !is_transport(config->transport))
      fail("cyber: transport \"%s\" is not known; expected default, shm, rtps or in-process", config->transport);
    if (!sessions) load(*config);
    return sessions->open(config, error);
  });
}

// Calls a function of the table that gets a session, or an object of a session; by then `sessions` is set.
template <auto entry>
struct Through;
template <class Result, class... Arguments, Result (*Table::*entry)(Arguments...)>
struct Through<entry> {
  static Result call(Arguments... arguments) { return (sessions->*entry)(arguments...); }
};

const Table middleware = {TACHO_MIDDLEWARE_ABI,
                          "cyber",
                          transport_names,
                          type_names,
                          version,
                          open,
                          Through<&Table::close>::call,
                          Through<&Table::node>::call,
                          Through<&Table::advertise>::call,
                          Through<&Table::subscribe>::call,
                          Through<&Table::publisher_matched>::call,
                          Through<&Table::subscription_matched>::call,
                          Through<&Table::borrow>::call,
                          Through<&Table::publish>::call,
                          Through<&Table::take>::call,
                          Through<&Table::give_back>::call,
                          nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) {
  return &middleware;
}
