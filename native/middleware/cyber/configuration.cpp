// SPDX-License-Identifier: Apache-2.0
#include "configuration.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>

#include "failure.h"

const char *const transport_names[] = {"default", "shm", "rtps", "in-process", nullptr};

bool is_transport(const std::string &name) {
  for (const char *const *known = transport_names; *known; known++)
    if (name == *known) return true;
  return false;
}

namespace {

constexpr char GROUP[] = "tacho", NOTIFIER_GROUP[] = "239.255.0.100";

std::string text_of(const std::string &path, const char *who) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || text.empty()) fail("cyber: %s: %s cannot be read (%s)", who, path.c_str(), std::strerror(errno));
  return text;
}

void write(const std::string &path, const std::string &text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) fail("cyber: %s cannot be written (%s)", path.c_str(), std::strerror(errno));
}

const char *word(Mode mode) { return mode == Mode::Intra ? "INTRA" : mode == Mode::Shm ? "SHM" : "RTPS"; }

// Returns whether this machine routes the multicast group of Cyber RT's notifier.
bool group_can_be_joined() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  ip_mreq group = {};
  group.imr_multiaddr.s_addr = inet_addr(NOTIFIER_GROUP);
  const bool joined = !setsockopt(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group);
  close(socket);
  return joined;
}

// If shared memory is never used, its notifier waits in vain: "condition" polls 7,000 times a second, which costs 11 %
// of a CPU in each process, while "multicast" waits in poll(). If "multicast" cannot join its group, it would poll
// without a pause.
const char *notifier(const Modes &modes) {
  const bool unused =
      modes.same_process != Mode::Shm && modes.other_process != Mode::Shm && modes.other_host != Mode::Shm;
  return unused && group_can_be_joined() ? "multicast" : "condition";
}

// The values are those that Apollo 7 ships as conf/cyber.pb.conf, except for communication_mode and the unused
// notifier.
std::string shipped(const Modes &modes) {
  return std::string(R"(transport_conf {
  shm_conf { notifier_type: ")") +
         notifier(modes) + R"(" shm_type: "xsi" shm_locator { ip: ")" + NOTIFIER_GROUP + R"(" port: 8888 } }
  participant_attr { lease_duration: 12 announcement_period: 3 domain_id_gain: 200 port_base: 10000 }
  communication_mode { same_proc: )" +
         word(modes.same_process) + " diff_proc: " + word(modes.other_process) +
         " diff_host: " + word(modes.other_host) +
         R"( }
  resource_limit { max_history_depth: 1000 }
}
run_mode_conf { run_mode: MODE_REALITY clock_mode: MODE_CYBER }
scheduler_conf { routine_num: 100 default_proc_num: 16 }
)";
}

Modes modes_of(const std::string &transport) {
  if (transport == "default") return {Mode::Intra, Mode::Shm, Mode::Rtps};
  if (transport == "shm") return {Mode::Shm, Mode::Shm, Mode::Shm};
  if (transport == "rtps") return {Mode::Rtps, Mode::Rtps, Mode::Rtps};
  return {Mode::Intra, Mode::Intra, Mode::Intra};
}

// The user's configuration of one relation, or Cyber RT's default for it.
Mode said(const std::string &text, const char *key, Mode otherwise) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(std::string(key) + R"(\s*:\s*(\w+))"))) return otherwise;
  if (found[1] == "INTRA") return Mode::Intra;
  if (found[1] == "SHM") return Mode::Shm;
  if (found[1] == "RTPS") return Mode::Rtps;
  fail("cyber: CYBER_PATH: conf/cyber.pb.conf has %s: %s; expected INTRA, SHM or RTPS", key, found[1].str().c_str());
}

std::string without_comments(const std::string &text) { return std::regex_replace(text, std::regex("#[^\n]*"), ""); }

// The user's own conf/cyber.pb.conf.
std::string of_user(const std::string &home, Modes *modes) {
  const std::string text = text_of(home + "/conf/cyber.pb.conf", "CYBER_PATH"), plain = without_comments(text);
  if (!std::regex_search(plain, std::regex(R"(routine_num\s*:)")))
    fail(
        "cyber: CYBER_PATH: %s/conf/cyber.pb.conf has no scheduler_conf { routine_num: 100 }, without which Cyber RT "
        "crashes",
        home.c_str());
  modes->same_process = said(plain, "same_proc", Mode::Intra);
  modes->other_process = said(plain, "diff_proc", Mode::Shm);
  modes->other_host = said(plain, "diff_host", Mode::Rtps);
  if (modes->other_process == Mode::Intra)
    fail(
        "cyber: CYBER_PATH: %s/conf/cyber.pb.conf has diff_proc: INTRA, which delivers nothing between processes; "
        "expected SHM or RTPS",
        home.c_str());
  return text;
}

// Cyber RT takes its configuration only from there; what the user has set stays in force.
void offer(const char *variable, const std::string &value) {
  if (setenv(variable, value.c_str(), 0)) fail("cyber: %s cannot be set (%s)", variable, std::strerror(errno));
}

}  // namespace

Environment::Environment(const tacho_session_config &config) {
  configuration.transport = *config.transport ? config.transport : transport_names[0];
  configuration.address = config.address;
  configuration.domain = config.domain;
  const std::string &transport = configuration.transport;
  if (config.domain > 220)  // ports from 10000 + 200 x domain on
    fail("cyber: domain %u is too high; expected 0 to 220, because its ports begin at 10000 + 200 x domain",
         config.domain);

  const char *home = std::getenv("CYBER_PATH"), *scheduler = std::getenv("TACHO_CYBER_SCHEDULER");
  std::string text;
  if (home && *home) {
    folder_.users = home;
    if (transport != "default")
      fail(
          "cyber: transport %s, but CYBER_PATH is set and its conf/cyber.pb.conf chooses; expected transport default, "
          "or "
          "CYBER_PATH unset",
          transport.c_str());
    text = of_user(home, &configuration.modes);
  } else {
    configuration.modes = modes_of(transport);
    text = shipped(configuration.modes);
  }
  const std::string policy = scheduler && *scheduler ? text_of(scheduler, "TACHO_CYBER_SCHEDULER") : "";
  if (!policy.empty() &&
      !std::regex_search(without_comments(policy), std::regex(R"re(policy\s*:\s*"(classic|choreography)")re")))
    fail("cyber: TACHO_CYBER_SCHEDULER: %s has no scheduler_conf with policy: \"classic\" or \"choreography\"",
         scheduler);

  const char *base = std::getenv("TMPDIR");
  std::string path = std::string(base && *base ? base : "/tmp") + "/tacho-cyber-XXXXXX";
  if (!mkdtemp(path.data())) fail("cyber: no folder %s (%s)", path.c_str(), std::strerror(errno));
  folder_.path = path;
  if (mkdir((path + "/conf").c_str(), 0700)) fail("cyber: no folder %s/conf (%s)", path.c_str(), std::strerror(errno));
  write(path + "/conf/cyber.pb.conf", text);
  if (!policy.empty()) {
    configuration.scheduler_group = GROUP;
    write(path + "/conf/" + GROUP + ".conf", policy);
  }
  if (setenv("CYBER_PATH", path.c_str(), 1)) fail("cyber: CYBER_PATH cannot be set (%s)", std::strerror(errno));

  // Processes find a segment only by the name of the channel, whatever the domain. In a domain that the user gives,
  // names stay unchanged, so that scheduler configurations and other programs on Cyber RT know them.
  if (!std::getenv("CYBER_DOMAIN_ID")) configuration.suffix = "@" + std::to_string(config.domain);
  offer("CYBER_DOMAIN_ID", std::to_string(config.domain));
  offer("CYBER_IP", *config.address ? config.address : "127.0.0.1");
  // Only errors, and to stderr; otherwise there would be log files, and a thread that writes them.
  if (!std::getenv("GLOG_log_dir")) {
    offer("GLOG_logtostderr", "1");
    offer("GLOG_minloglevel", "2");
  }
}

Environment::Folder::~Folder() {
  if (users.empty())
    unsetenv("CYBER_PATH");
  else
    setenv("CYBER_PATH", users.c_str(), 1);
  if (path.empty()) return;
  for (const char *file : {"/conf/cyber.pb.conf", "/conf/tacho.conf"}) unlink((path + file).c_str());
  rmdir((path + "/conf").c_str());
  rmdir(path.c_str());
}
