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

// Publishes messages by shared pointer, as nodelets do: inside a process, roscpp passes the pointer on; for other
// processes, it serialises in the publish call.
class Writer {
 public:
  virtual ~Writer() = default;  // unadvertises
  // Returns a message that nobody reads any more, or a new one; `kept` is whether it still holds what was last filled
  // in.
  virtual unsigned char *borrow(bool *kept, const void **message) = 0;
  virtual void publish(const tacho_header &header) = 0;
};

// Messages wait in roscpp's own queues; the thread that takes one deserialises it.
class Reader {
 public:
  virtual ~Reader() = default;  // unsubscribes; on_data is not called afterwards
  virtual bool take(tacho_message *message) = 0;
  virtual void give_back() = 0;
  // Runs inside roscpp's callback. If there is no message, it waits for one for this long, as roscpp's spinner does.
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

// Returns the type of that name; for "" the one that fits the size: Bytes below 4 KiB, PointCloud2 from there on. NULL:
// none.
const NamedType *named_type(const char *name, size_t size);

#endif
