// SPDX-License-Identifier: Apache-2.0
//
// Configures Cyber RT: a folder with conf/cyber.pb.conf, and environment variables, all of which it reads once a
// process.
#ifndef TACHO_CYBER_CONFIGURATION_H_
#define TACHO_CYBER_CONFIGURATION_H_

#include <tacho/middleware.h>

#include <string>

extern const char *const transport_names[];  // NULL-terminated, default first
bool is_transport(const std::string &name);

// The transport of messages between two endpoints: apollo::cyber::proto::OptionalMode.
enum class Mode { Intra, Shm, Rtps };

struct Modes {
  Mode same_process, other_process, other_host;
};

// The configuration of this process.
struct Configuration {
  std::string transport;
  std::string address;
  unsigned domain = 0;
  Modes modes{};
  std::string suffix;           // of channel names, which keeps domains apart in shared memory
  std::string scheduler_group;  // its conf/<group>.conf; empty for Cyber RT's default
};

// Sets Cyber RT's environment variables and makes its folder. Call it before the library is loaded. It throws if the
// library would end the process: without a configuration the library aborts, without `routine_num` it crashes.
class Environment {
 public:
  explicit Environment(const tacho_session_config &config);

  Configuration configuration;

 private:
  // Removes the folder and restores CYBER_PATH at the end; Cyber RT reads neither once it is up.
  struct Folder {
    ~Folder();
    std::string path, users;
  } folder_;
};

#endif  // TACHO_CYBER_CONFIGURATION_H_
