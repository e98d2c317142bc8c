// SPDX-License-Identifier: Apache-2.0
#include "segments.h"

#include <sys/ipc.h>
#include <sys/shm.h>

#include <cstdlib>
#include <mutex>
#include <set>

namespace {

std::mutex mutex;
// Never destroyed: it is used after the destructors of this library may have run.
std::set<key_t> &used = *new std::set<key_t>;

void remove_unattached(key_t key) {
  const int segment = shmget(key, 0, 0);
  struct shmid_ds state;
  // A peer may attach between the question and the removal: it then has the segment, and those that come later another one.
  // In a run, all have made their endpoints before the first message creates a segment.
  if (segment >= 0 && shmctl(segment, IPC_STAT, &state) == 0 && state.shm_nattch == 0) shmctl(segment, IPC_RMID, nullptr);
}

void remove_all_unattached() {
  std::lock_guard<std::mutex> lock(mutex);
  for (key_t key : used) remove_unattached(key);
}

}  // namespace

void reclaim(uint64_t channel_id) {
  const key_t key = static_cast<key_t>(channel_id);
  std::lock_guard<std::mutex> lock(mutex);
  if (used.insert(key).second) remove_unattached(key);
}

void reclaim_at_exit() { std::atexit(remove_all_unattached); }
