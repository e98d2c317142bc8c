// SPDX-License-Identifier: Apache-2.0
#include "master.h"

#include <fcntl.h>
#include <ros/network.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tacho/private_folder.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "call.h"
#include "failure.h"
#include "master_script.h"  // MASTER_SCRIPT, MASTER_PYTHON

namespace {

constexpr uint32_t FIRST_PORT = 21311;  // of domain 0; 11311 is the user's
constexpr uint32_t LAST_DOMAIN = 999;
constexpr double START_S = 20, FOREIGN_S = 5;
constexpr int POLL_NS = 5000000;

double seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

int opened(const std::string &path) {
  char error[TACHO_ERROR_SIZE];
  const int file = tacho_private_open(path.c_str(), O_RDWR, error);
  if (file < 0) fail("ros1: %.900s", error);
  return file;
}

// `tacho doctor --clean` removes these files while it has locked them, because a lock on a removed file has no effect.
bool is_gone(int file) {
  struct stat found;
  return fstat(file, &found) == 0 && found.st_nlink == 0;
}

std::string content(int file) {
  char text[600];
  const ssize_t size = pread(file, text, sizeof text, 0);
  return std::string(text, size > 0 ? static_cast<size_t>(size) : 0);
}

void write_all(int file, const std::string &text) {
  if (ftruncate(file, 0) != 0 || pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    fail("ros1: writing the file that tells where the master is: %s", std::strerror(errno));
}

bool answers(const std::string &uri) {
  XmlRpc::XmlRpcValue request, pid;
  request[0] = "/tacho";
  return call(uri, "getPid", request, 2, &pid) == Called::Answered;
}

// On the loopback, each network namespace is a machine of its own; an interface is reachable from others.
std::string key(uint32_t domain, const std::string &address) {
  std::string place = "network";
  if (address.empty()) {
    struct stat ns;
    if (stat("/proc/self/ns/net", &ns) != 0) fail("ros1: /proc/self/ns/net: %s", std::strerror(errno));
    place = std::to_string(ns.st_ino);
  }
  char path[512], error[TACHO_ERROR_SIZE];
  if (!tacho_private_path("ros1", path, sizeof path, error) || !tacho_private_made(path, error))
    fail("ros1: %.900s", error);
  return std::string(path) + "/" + std::to_string(domain) + "-" + place;
}

// The environment of the master: ours, without what would preload a library into it or give it another address.
std::vector<std::string> environment(const std::string &ip) {
  std::vector<std::string> made{"ROS_IP=" + ip};
  for (char **entry = environ; *entry; entry++)
    if (std::strncmp(*entry, "ROS_IP=", 7) && std::strncmp(*entry, "ROS_HOSTNAME=", 13) &&
        std::strncmp(*entry, "LD_PRELOAD=", 11))
      made.push_back(*entry);
  return made;
}

// Starts the master, which takes over the exclusive lock on `lock` and writes its errors there.
void start(int lock, uint32_t port, const std::string &ip, const std::string &users) {
  write_all(lock, "");
  std::vector<std::string> arguments{MASTER_PYTHON, "-c", MASTER_SCRIPT, std::to_string(port), users};
  std::vector<std::string> variables = environment(ip);
  std::vector<char *> argv, envp;
  for (std::string &a : arguments) argv.push_back(&a[0]);
  for (std::string &v : variables) envp.push_back(&v[0]);
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  // Goes through a number above all that are in use, so that none is overwritten before it is read.
  const Descriptor high(fcntl(lock, F_DUPFD_CLOEXEC, 10));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  for (int number : {1, 2, 3}) posix_spawn_file_actions_adddup2(&files, high.number, number);
  pid_t child;
  const int failed = posix_spawn(&child, MASTER_PYTHON, &files, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&files);
  if (failed) fail("ros1: starting %s for the ROS master: %s", MASTER_PYTHON, std::strerror(failed));
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }  // it forks at once
}

}  // namespace

Descriptor::~Descriptor() {
  if (number >= 0) close(number);
}

Master::Master(uint32_t domain, const std::string &address) {
  const timespec pause{0, POLL_NS};
  if (const char *given = std::getenv("TACHO_ROS_MASTER_URI")) {
    uri_ = given;
    for (const double until = seconds() + FOREIGN_S; !answers(uri_); nanosleep(&pause, nullptr))
      if (seconds() > until)
        fail(
            "ros1: no ROS master answers at TACHO_ROS_MASTER_URI=%s; expected one, such as http://127.0.0.1:11311; "
            "without "
            "that variable tacho starts its own",
            given);
    return;
  }
  if (domain > LAST_DOMAIN)
    fail("ros1: domain %u is too high for a port of its own; expected 0 to %u", domain, LAST_DOMAIN);
  const uint32_t port = FIRST_PORT + domain;
  const std::string ip = address.empty() ? "127.0.0.1" : address, files = key(domain, address),
                    users = files + ".users";
  do {
    users_ = std::make_unique<Descriptor>(opened(users));
    while (flock(users_->number, LOCK_SH) != 0)  // waits for a master that is just ending
      if (errno != EINTR) fail("ros1: locking %s: %s", users.c_str(), std::strerror(errno));
  } while (is_gone(users_->number));

  bool started = false;
  for (const double until = seconds() + START_S; uri_.empty(); nanosleep(&pause, nullptr)) {
    const Descriptor lock(opened(files + ".master"));
    if (flock(lock.number, LOCK_EX | LOCK_NB) == 0) {  // there is no master, or none any more
      if (started)
        fail(
            "ros1: the ROS master for domain %u ended at once: %s; expected rosmaster (apt-get install "
            "python3-rosmaster) "
            "and a free port %u",
            domain, content(lock.number).c_str(), port);
      write_all(users_->number, "http://" + ip + ":" + std::to_string(port) + "/");
      start(lock.number, port, ip, users);
      started = true;
      continue;
    }
    // Another session may have started it on another address.
    const std::string told = content(users_->number);
    if (!told.empty() && answers(told))
      uri_ = told;
    else if (seconds() > until)
      fail("ros1: the ROS master for domain %u does not answer at %s within %.0f s: %s", domain, told.c_str(), START_S,
           content(lock.number).c_str());
  }
}
