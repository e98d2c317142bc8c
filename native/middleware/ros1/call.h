// SPDX-License-Identifier: Apache-2.0
//
// Calls of ROS's XML-RPC interfaces (Master API, Slave API) that give up after a time.
#ifndef TACHO_ROS1_CALL_H_
#define TACHO_ROS1_CALL_H_

#include <xmlrpcpp/XmlRpc.h>

#include <string>

enum class Called {
  Answered,  // *payload is what came
  Refused,   // there is no such function, or it says no
  NoAnswer,  // nobody is there, or says nothing in time
};

// `parameters`: an array. `limit_s`: seconds after which there is no answer.
Called call(const std::string &uri, const char *function, const XmlRpc::XmlRpcValue &parameters, double limit_s,
            XmlRpc::XmlRpcValue *payload);

#endif
