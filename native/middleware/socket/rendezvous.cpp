// SPDX-License-Identifier: Apache-2.0
#include "rendezvous.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <tacho/private_folder.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

// One announcement on the wire; the two texts follow, without NUL. Peers are builds for one machine, so the byte order
// is native.
struct Record {
  uint32_t magic, kind;
  tacho_qos qos;
  uint64_t size;
  in_addr address;
  uint16_t port, topic, type, reserved;
};
constexpr uint32_t MAGIC = 0x54534f32;  // another layout, another number
constexpr size_t MAX_RECORD = 1024;

std::string encode(const Endpoint &endpoint) {
  Record record{MAGIC,
                endpoint.kind,
                endpoint.qos,
                endpoint.size,
                endpoint.address,
                endpoint.port,
                static_cast<uint16_t>(endpoint.topic.size()),
                static_cast<uint16_t>(endpoint.type.size()),
                0};
  std::string text(reinterpret_cast<const char *>(&record), sizeof record);
  text += endpoint.topic + endpoint.type;
  if (text.size() > MAX_RECORD)
    fail("socket: %.100s...: a name of %zu bytes; expected less than %zu", endpoint.topic.c_str(), text.size(),
         MAX_RECORD);
  return text;
}

bool decode(const char *bytes, size_t size, Endpoint *endpoint) {
  Record record;
  if (size < sizeof record) return false;
  std::memcpy(&record, bytes, sizeof record);
  if (record.magic != MAGIC || sizeof record + record.topic + record.type != size) return false;
  const char *text = bytes + sizeof record;
  *endpoint = {static_cast<Endpoint::Kind>(record.kind),
               record.qos,
               record.size,
               record.address,
               record.port,
               std::string(text, record.topic),
               std::string(text + record.topic, record.type)};
  return true;
}

// Ours alone, because whoever may write there may pose as a peer.
std::string own_folder() {
  char path[512], error[TACHO_ERROR_SIZE];
  if (!tacho_private_path("socket", path, sizeof path, error) || !tacho_private_made(path, error))
    fail("socket: %.700s", error);
  return path;
}

sockaddr_un address(const std::string &path) {
  sockaddr_un made{};
  made.sun_family = AF_UNIX;
  if (path.size() >= sizeof made.sun_path)
    fail(
        "socket: %s: longer than the %zu bytes of a UNIX socket's path; set XDG_RUNTIME_DIR or TMPDIR to a shorter one",
        path.c_str(), sizeof made.sun_path - 1);
  std::memcpy(made.sun_path, path.c_str(), path.size() + 1);
  return made;
}

Descriptor unix_socket() {
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (made < 0) fail("socket: no UNIX socket: %m");
  return made;
}

}  // namespace

Rendezvous::Rendezvous(const std::string &domain, Listener &listener) : listener_(listener) {
  wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake_ < 0) fail("socket: no eventfd: %m");
  join(own_folder(), domain + ".");
  thread_ = std::thread([this] { run(); });
}

Rendezvous::~Rendezvous() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  eventfd_write(wake_, 1);
  thread_.join();
  unlink(path_.c_str());
}

void Rendezvous::join(const std::string &folder, const std::string &prefix) {
  Descriptor lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (lock < 0) fail("socket: %s: %m", folder.c_str());
  while (flock(lock, LOCK_EX) != 0)
    if (errno != EINTR) fail("socket: %s: cannot be locked: %m", folder.c_str());

  std::unique_ptr<DIR, int (*)(DIR *)> listing(opendir(folder.c_str()), closedir);
  if (!listing) fail("socket: %s: %m", folder.c_str());
  while (const dirent *entry = readdir(listing.get())) {
    if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) != 0) continue;
    const std::string path = folder + "/" + entry->d_name;
    const sockaddr_un there = address(path);
    Descriptor connection = unix_socket();
    if (connect(connection, reinterpret_cast<const sockaddr *>(&there), sizeof there) == 0)
      peers_[next_peer_++].connection = std::move(connection);
    else if (errno == ECONNREFUSED)  // its maker was killed, because all bind and listen under this lock
      unlink(path.c_str());
    else if (errno != ENOENT)  // closed just now
      fail("socket: %s: %m", path.c_str());
  }

  static std::atomic<unsigned> count{0};
  path_ = folder + "/" + prefix + std::to_string(getpid()) + "." + std::to_string(count++);
  const sockaddr_un here = address(path_);
  door_ = unix_socket();
  unlink(path_.c_str());  // of a killed process that had our id
  if (bind(door_, reinterpret_cast<const sockaddr *>(&here), sizeof here) != 0 || listen(door_, SOMAXCONN) != 0)
    fail("socket: %s: %m", path_.c_str());
}

void Rendezvous::announce(const Endpoint &endpoint) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    said_.push_back(encode(endpoint));
  }
  eventfd_write(wake_, 1);
}

std::string Rendezvous::said(size_t index) {
  std::lock_guard<std::mutex> lock(mutex_);
  return said_[index];
}

size_t Rendezvous::said_count() {
  std::lock_guard<std::mutex> lock(mutex_);
  return said_.size();
}

// Reads everything that the peer has announced; returns false at its end.
bool Rendezvous::hear(int id, Peer &peer) {
  char bytes[MAX_RECORD];
  for (;;) {
    const ssize_t size = recv(peer.connection, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (size == 0) return false;
    Endpoint endpoint;
    if (!decode(bytes, static_cast<size_t>(size), &endpoint)) {
      std::fprintf(stderr, "socket: a peer announces in %zd bytes that this build cannot read; left out\n", size);
      return false;
    }
    listener_.found(id, endpoint);
  }
}

// Sends everything that the peer has not received yet, as far as it accepts it; returns false at its end.
bool Rendezvous::tell(Peer &peer) {
  while (peer.told < said_count()) {
    const std::string text = said(peer.told);
    if (send(peer.connection, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
      return errno == EAGAIN || errno == EINTR;
    peer.told++;
  }
  return true;
}

void Rendezvous::run() {
  pthread_setname_np(pthread_self(), "rendezvous");
  std::vector<pollfd> polled;
  for (;;) {
    polled.assign({{wake_, POLLIN, 0}, {door_, POLLIN, 0}});
    const size_t said = said_count();
    for (const auto &[id, peer] : peers_)
      polled.push_back({peer.connection, static_cast<short>(peer.told < said ? POLLIN | POLLOUT : POLLIN), 0});
    if (poll(polled.data(), polled.size(), -1) < 0) continue;  // EINTR: the arguments are valid
    eventfd_t ignored;
    eventfd_read(wake_, &ignored);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) return;
    }
    size_t at = 2;
    for (auto peer = peers_.begin(); peer != peers_.end(); at++) {
      bool there = true;
      if (polled[at].revents & (POLLIN | POLLHUP | POLLERR)) there = hear(peer->first, peer->second);
      if (there) there = tell(peer->second);
      if (!there) listener_.lost(peer->first);
      peer = there ? std::next(peer) : peers_.erase(peer);
    }
    if (polled[1].revents) {
      Descriptor connection(accept4(door_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (connection >= 0)
        peers_[next_peer_++].connection = std::move(connection);
      else if (errno == EMFILE || errno == ENFILE) {
        std::fprintf(stderr, "socket: no more peers can be heard: %m; raise ulimit -n\n");
        door_ = Descriptor();
      }
    }
  }
}
