// SPDX-License-Identifier: Apache-2.0
//
// The exception that ends a call of the plugin.
#ifndef TACHO_ROS1_FAILURE_H_
#define TACHO_ROS1_FAILURE_H_

#include <seam/guard.hpp>

using seam::fail;

#endif
