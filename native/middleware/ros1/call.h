// SPDX-License-Identifier: Apache-2.0
//
// Calls ROS's XML-RPC interfaces (Master API, Slave API), and gives up after some time.
#ifndef TACHO_ROS1_CALL_H_
#define TACHO_ROS1_CALL_H_

#include <xmlrpcpp/XmlRpc.h>

#include <string>

enum class Called {
  Answered,  // *payload is what came
  Refused,   // there is no such function, or it refused
  NoAnswer,  // nobody is there, or nobody answers in time
};

// `parameters`: an array. `limit_s`: seconds after which it gives up.
Called call(const std::string &uri, const char *function, const XmlRpc::XmlRpcValue &parameters, double limit_s,
            XmlRpc::XmlRpcValue *payload);

#endif
