// SPDX-License-Identifier: Apache-2.0
//
// The part of Apollo Cyber RT that we use, as the library of the wheel pycyber 0.0.6 exports it. The wheel has no
// headers. Names are those of Apollo 7. We find functions by their mangled names, and took the memory layouts here from
// the library, whose hash the build checks. A newer wheel requires checking all of it again.
#ifndef TACHO_CYBER_RT_H_
#define TACHO_CYBER_RT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace google {
namespace protobuf {
class MessageLite {
 public:
  bool ParseFromString(const std::string &bytes);
  bool SerializeToString(std::string *bytes) const;
};
}  // namespace protobuf
}  // namespace google

namespace apollo {
namespace cyber {

namespace proto {
// A protobuf message, and so a MessageLite at the same address; read and written as bytes.
class RoleAttributes {
 public:
  RoleAttributes();
  RoleAttributes(const RoleAttributes &other);
  ~RoleAttributes();

 private:
  alignas(8) char opaque_[136];
};
}  // namespace proto

namespace message {
// A message that is serialised already. Cyber RT's Python interface sends such messages, and the library has writers
// only for this type.
class PyMessageWrap {
 public:
  PyMessageWrap(const std::string &data, const std::string &type_name);
  virtual ~PyMessageWrap();
  const std::string &data() const;

 private:
  std::string data_;
  std::string type_name_;
};

class ProtobufFactory {
 public:
  static ProtobufFactory *Instance(bool create_if_needed);
  bool RegisterMessage(const std::string &proto_desc);
};
}  // namespace message

template <class Message>
class Reader {
 public:
  void Shutdown();
  void GetWriters(std::vector<proto::RoleAttributes> *writers);
  const void *receiver() const { return *reinterpret_cast<void *const *>(reinterpret_cast<const char *>(this) + 0xd0); }
};

template <class Message>
class Writer {
 public:
  void Shutdown();
  void GetReaders(std::vector<proto::RoleAttributes> *readers);
  bool Write(const std::shared_ptr<Message> &message);
  const void *transmitter() const {
    return *reinterpret_cast<void *const *>(reinterpret_cast<const char *>(this) + 0xc0);
  }
};

// The half of a node that has readers and writers.
class NodeChannelImpl {
 public:
  template <class Message>
  std::shared_ptr<Writer<Message>> CreateWriter(const proto::RoleAttributes &attributes);
  template <class Message>
  std::shared_ptr<Reader<Message>> CreateReader(const proto::RoleAttributes &attributes,
                                                const std::function<void(const std::shared_ptr<Message> &)> &callback,
                                                uint32_t pending_queue_size);
};

// Node::CreateReader allows one reader a channel and knows no queue, so we call its parts.
class Node {
 public:
  virtual ~Node();
  NodeChannelImpl *channels() const { return channels_; }

 private:
  char names_readers_and_their_mutex_[0xa0 - sizeof(void *)];
  NodeChannelImpl *channels_;
  void *services_;
};

bool Init(const char *program);
std::unique_ptr<Node> CreateNode(const std::string &name, const std::string &name_space);

namespace common {
class GlobalData {
 public:
  static GlobalData *Instance(bool create_if_needed);
  static uint64_t RegisterChannel(const std::string &name);
  void SetProcessGroup(const std::string &group);
  const std::string &HostIp() const;
};
}  // namespace common

}  // namespace cyber
}  // namespace apollo

#endif  // TACHO_CYBER_RT_H_
