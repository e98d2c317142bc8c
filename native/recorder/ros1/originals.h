// SPDX-License-Identifier: Apache-2.0
//
// Calls the original functions behind the interposed ones.
#ifndef TACHO_RECORDER_ROS1_ORIGINALS_H_
#define TACHO_RECORDER_ROS1_ORIGINALS_H_

#include <utility>

#include "hooks.h"

extern void *const *originals;

// Calls the original of a hook. Function is its type, with the object as first argument.
template <class Function, class... Arguments>
inline decltype(auto) original(ros1_hook hook, Arguments &&...arguments) {
  return reinterpret_cast<Function *>(originals[hook])(std::forward<Arguments>(arguments)...);
}

#endif
