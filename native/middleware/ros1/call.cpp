// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <netdb.h>
#include <poll.h>
#include <ros/network.h>
#include <ros/time.h>
#include <ros/xmlrpc_manager.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace {

// XmlRpcClient writes to stderr if nobody listens, which is no error here, and its connecting has no time limit.
bool listened_to(const std::string &host, uint32_t port, double limit_s) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return false;
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  bool connected = connection >= 0 && connect(connection, found->ai_addr, found->ai_addrlen) == 0;
  if (connection >= 0 && !connected && errno == EINPROGRESS) {
    pollfd writable{connection, POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    connected = poll(&writable, 1, static_cast<int>(limit_s * 1e3)) == 1 &&
                getsockopt(connection, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  }
  if (connection >= 0) close(connection);
  freeaddrinfo(found);
  return connected;
}

}  // namespace

Called call(const std::string &uri, const char *function, const XmlRpc::XmlRpcValue &parameters, double limit_s,
            XmlRpc::XmlRpcValue *payload) {
  std::string host;
  uint32_t port;
  if (!ros::network::splitURI(uri, host, port) || !listened_to(host, port, limit_s)) return Called::NoAnswer;
  XmlRpc::XmlRpcClient client(host.c_str(), static_cast<int>(port), "/");
  if (!client.executeNonBlock(function, parameters)) return Called::NoAnswer;
  XmlRpc::XmlRpcDispatch dispatch;
  dispatch.addSource(&client, XmlRpc::XmlRpcDispatch::WritableEvent | XmlRpc::XmlRpcDispatch::Exception);
  XmlRpc::XmlRpcValue answer;
  bool done = false;
  for (const ros::SteadyTime until = ros::SteadyTime::now() + ros::WallDuration(limit_s);
       !done && ros::SteadyTime::now() < until;) {
    dispatch.work(0.05);
    done = client.executeCheckDone(answer);
  }
  dispatch.removeSource(&client);
  if (!done || !answer.valid()) return Called::NoAnswer;
  // Master and Slave API: [code, text, payload], 1 for success.
  if (client.isFault() || answer.getType() != XmlRpc::XmlRpcValue::TypeArray || answer.size() < 3 ||
      answer[0].getType() != XmlRpc::XmlRpcValue::TypeInt || static_cast<int>(answer[0]) != 1)
    return Called::Refused;
  *payload = answer[2];
  return Called::Answered;
}
