// SPDX-License-Identifier: Apache-2.0
#include "publishing.h"

#include "nodes.h"
#include "originals.h"
#include "record.h"

namespace {

// Copies of a publisher share the object that its one member points to.
const void *handle(const ros::Publisher &publisher) {
  static_assert(sizeof(ros::Publisher) == sizeof(boost::shared_ptr<void>), "a Publisher is a shared pointer");
  return *reinterpret_cast<const void *const *>(&publisher);
}

// How deep this thread is inside Publisher::publish. roscpp itself publishes without a Publisher (/rosout).
thread_local int publishing = 0;

struct Publishing {
  Publishing() { publishing++; }
  ~Publishing() { publishing--; }
};

}  // namespace

ros::Publisher hook_advertise(ros::NodeHandle *node, ros::AdvertiseOptions &options) {
  ros::Publisher publisher = original<decltype(hook_advertise)>(ROS1_advertise, node, options);
  if (publisher) {
    record_texts(TACHO_ROS1_PUBLISHER_INIT, options.topic, options.datatype, handle(publisher),
                 node_of(options.callback_queue), uint64_t{options.queue_size}, uint64_t{options.latch});
  }
  return publisher;
}

void hook_publish(const ros::Publisher *publisher, const boost::function<ros::SerializedMessage()> &serialize,
                  ros::SerializedMessage &message) {
  record(TACHO_ROS1_PUBLISH, handle(*publisher), message.message.get());
  Publishing scope;
  original<decltype(hook_publish)>(ROS1_publish, publisher, serialize, message);
}

// roscpp calls this only if somebody subscribes or the topic is latched. From here on, the buffer or the object
// identifies the message.
void hook_publication_publish(ros::Publication *publication, ros::SerializedMessage &message) {
  if (publishing > 0)
    record(TACHO_ROS1_SERIALIZED, message.buf.get(), uint64_t{message.num_bytes}, message.message.get());
  original<decltype(hook_publication_publish)>(ROS1_publication_publish, publication, message);
}
