// SPDX-License-Identifier: Apache-2.0
//
// How a call of the plugin fails.
#ifndef TACHO_CYBER_FAILURE_H_
#define TACHO_CYBER_FAILURE_H_

#include <seam/guard.hpp>

using seam::fail;
inline constexpr seam::Guard guarded{"cyber"};

#endif  // TACHO_CYBER_FAILURE_H_
