// SPDX-License-Identifier: Apache-2.0
//
// System V shared memory of Cyber RT's SHM transport: a segment a channel, whose key is the lower half of the channel's id.
// It counts its users itself, so one that a killed process had open is never removed.
#ifndef TACHO_CYBER_SEGMENTS_H_
#define TACHO_CYBER_SEGMENTS_H_

#include <cstdint>

// Removes what killed processes left of this channel, if nobody has it attached, and does so again when this process ends.
void reclaim(uint64_t channel_id);

// Call before Cyber RT is started: what is registered first runs last, after Cyber RT has let go of its segments.
void reclaim_at_exit();

#endif  // TACHO_CYBER_SEGMENTS_H_
