// SPDX-License-Identifier: Apache-2.0
#include "segments.h"

#include <sys/ipc.h>
#include <sys/shm.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

namespace {

std::mutex mutex;
// Never destroyed, because it is used after the destructors of this library may have run.
std::set<key_t> &used = *new std::set<key_t>;

// How often this process has attached it, because Cyber RT never detaches a segment that it no longer uses.
unsigned long attached_here(int segment, key_t key) {
  char name[32];
  std::snprintf(name, sizeof name, "/SYSV%08x", static_cast<unsigned>(key));
  unsigned long count = 0;
  std::ifstream maps(
      "/proc/self/maps");  // proc(5): address, access, offset, device, inode, name; the inode is the segment's id
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string address, access, offset, device, found;
    long inode = -1;
    if (words >> address >> access >> offset >> device >> inode >> found && inode == segment && found == name) count++;
  }
  return count;
}

void remove_unused(key_t key) {
  const int segment = shmget(key, 0, 0);
  struct shmid_ds state;
  // A peer may attach between the check and the removal. It then keeps this segment, and later processes make another
  // one. In a run, all have made their endpoints before the first message creates a segment.
  if (segment >= 0 && shmctl(segment, IPC_STAT, &state) == 0 && state.shm_nattch <= attached_here(segment, key))
    shmctl(segment, IPC_RMID, nullptr);
}

void remove_all_unused() {
  std::lock_guard<std::mutex> lock(mutex);
  for (key_t key : used) remove_unused(key);
}

}  // namespace

void reclaim(uint64_t channel_id) {
  const key_t key = static_cast<key_t>(channel_id);
  std::lock_guard<std::mutex> lock(mutex);
  if (used.insert(key).second) remove_unused(key);
}

void reclaim_at_exit() { std::atexit(remove_all_unused); }
