// SPDX-License-Identifier: Apache-2.0
//
// Names the functions that boost::function objects call.
#ifndef TACHO_RECORDER_ROS1_FUNCTIONS_H_
#define TACHO_RECORDER_ROS1_FUNCTIONS_H_

#include <ros/service_callback_helper.h>
#include <ros/subscription_callback_helper.h>

#include <boost/function.hpp>
#include <string>

// Returns the name of a plain function or of the method that boost::bind bound to an object; otherwise the name of the
// type, which for a lambda names the function that it is in.
std::string name_of_function(const boost::function_base &function);

// Return the same of the user's function that a helper of roscpp calls; empty if the helper is not roscpp's own.
std::string name_of_function(const ros::SubscriptionCallbackHelper &helper);
std::string name_of_function(const ros::ServiceCallbackHelper &helper);

#endif
