// SPDX-License-Identifier: Apache-2.0
//
// Manages the System V shared memory of Cyber RT's SHM transport: one segment a channel, whose key is the lower half of
// the channel's id. A segment counts its users itself, so nobody ever removes one that a killed process had open.
#ifndef TACHO_CYBER_SEGMENTS_H_
#define TACHO_CYBER_SEGMENTS_H_

#include <cstdint>

// Removes what killed processes left of this channel, if nobody has it attached, and again when this process ends.
void reclaim(uint64_t channel_id);

// Call it before Cyber RT starts: the first function that is registered runs last, after Cyber RT has released its
// segments.
void reclaim_at_exit();

#endif  // TACHO_CYBER_SEGMENTS_H_
