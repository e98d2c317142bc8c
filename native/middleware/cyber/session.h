// SPDX-License-Identifier: Apache-2.0
#ifndef TACHO_CYBER_SESSION_H_
#define TACHO_CYBER_SESSION_H_

#include <tacho/middleware.h>

#include "configuration.h"

// Starts Cyber RT, with its environment already set, and returns the functions of sessions; or NULL with a text in
// `error`.
extern "C" __attribute__((visibility("default"))) const struct tacho_middleware *tacho_cyber_start(
    const Configuration *configuration, char *error);

#endif  // TACHO_CYBER_SESSION_H_
