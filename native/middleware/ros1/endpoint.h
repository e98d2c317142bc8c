// SPDX-License-Identifier: Apache-2.0
//
// A publisher and a subscription of roscpp, whatever their message type.
#ifndef TACHO_ROS1_ENDPOINT_H_
#define TACHO_ROS1_ENDPOINT_H_

#include <ros/callback_queue.h>
#include <ros/node_handle.h>
#include <tacho/middleware.h>

#include <memory>
#include <string>

// Publishes messages by shared pointer, as nodelets do: roscpp hands the pointer over inside a process, and serialises in the
// publish call for other processes.
class Writer {
 public:
  virtual ~Writer() = default;  // unadvertises
  // A message that nobody reads any more, or a new one; `kept` says whether it still holds what was last filled in.
  virtual unsigned char *borrow(bool *kept, const void **message) = 0;
  virtual void publish(const tacho_header &header) = 0;
};

// Messages wait in roscpp's own queues, and are deserialised by the thread that takes them.
class Reader {
 public:
  virtual ~Reader() = default;  // unsubscribes: after it, on_data is not called
  virtual bool take(tacho_message *message) = 0;
  virtual void give_back() = 0;
  // Inside roscpp's callback; where no message is there, waits for one this long, as a spinner of roscpp's does.
  virtual bool call_within(int64_t limit_ns, tacho_on_message on_message, void *context) = 0;
  virtual const void *handle() const = 0;
};

struct ReaderConfig {
  std::string topic;
  uint32_t queue_size;  // 0: infinite
  ros::TransportHints hints;
  tacho_on_data on_data;  // may be NULL
  void *context;
};

struct NamedType {
  const char *name;
  size_t only_size;  // bytes of data it always carries; 0: any
  std::unique_ptr<Writer> (*writer)(ros::NodeHandle &node, const std::string &topic, size_t size, uint32_t queue_size,
                                    bool latch);
  std::unique_ptr<Reader> (*reader)(ros::NodeHandle &node, const ReaderConfig &config);
};

extern const char *const type_names[];  // NULL-terminated

// The type of that name; for "" the one that fits the size: Bytes below 4 KiB, PointCloud2 from there on. NULL: none.
const NamedType *named_type(const char *name, size_t size);

#endif
