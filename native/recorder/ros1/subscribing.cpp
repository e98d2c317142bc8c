// SPDX-License-Identifier: Apache-2.0
#include "subscribing.h"

#include <map>
#include <mutex>

#include "functions.h"
#include "nodes.h"
#include "originals.h"
#include "record.h"

namespace {

// Stands between roscpp and the helper that calls the user's function. Nothing else lies between its call and the first
// line of that function.
class RecordedHelper : public ros::SubscriptionCallbackHelper {
 public:
  explicit RecordedHelper(const ros::SubscriptionCallbackHelperPtr &helper) : helper_(helper) {}
  ros::VoidConstPtr deserialize(const ros::SubscriptionCallbackHelperDeserializeParams &parameters) override {
    return helper_->deserialize(parameters);
  }
  void call(ros::SubscriptionCallbackHelperCallParams &parameters) override {
    Execution execution(this);
    helper_->call(parameters);
  }
  const std::type_info &getTypeInfo() override { return helper_->getTypeInfo(); }
  bool isConst() override { return helper_->isConst(); }
  bool hasHeader() override { return helper_->hasHeader(); }

 private:
  const ros::SubscriptionCallbackHelperPtr helper_;
};

// Subscribers know only their own helpers, and unsubscribe with them.
using Key = std::pair<std::string, const ros::SubscriptionCallbackHelper *>;  // topic, own helper
std::mutex recorded_mutex;
auto &recorded = lasting<std::multimap<Key, boost::shared_ptr<RecordedHelper>>>();

boost::shared_ptr<RecordedHelper> forget(const std::string &topic, const ros::SubscriptionCallbackHelper *helper) {
  std::lock_guard<std::mutex> lock(recorded_mutex);
  const auto found = recorded.find({topic, helper});
  if (found == recorded.end()) return nullptr;
  auto known = found->second;
  recorded.erase(found);
  return known;
}

// The queue that this thread calls. It is set while roscpp takes a message from the queue.
thread_local ros::SubscriptionQueue *calling = nullptr;

}  // namespace

bool hook_subscribe(ros::TopicManager *topics, const ros::SubscribeOptions &options) {
  const uint64_t node = options.helper ? node_of(options.callback_queue) : 0;
  if (node == 0) return original<decltype(hook_subscribe)>(ROS1_subscribe, topics, options);
  const auto helper = boost::make_shared<RecordedHelper>(options.helper);
  ros::SubscribeOptions with_helper = options;
  with_helper.helper = helper;
  record_texts(TACHO_ROS1_SUBSCRIPTION_INIT, options.topic, options.datatype, helper.get(), node,
               uint64_t{options.queue_size});
  record_text(TACHO_RCLCPP_CALLBACK_REGISTER, name_of_function(*options.helper), helper.get());
  {
    std::lock_guard<std::mutex> lock(recorded_mutex);
    recorded.emplace(Key{options.topic, options.helper.get()}, helper);
  }
  bool subscribed = false;
  try {
    subscribed = original<decltype(hook_subscribe)>(ROS1_subscribe, topics, with_helper);
  } catch (...) {
    forget(options.topic, options.helper.get());
    record(TACHO_ROS1_SUBSCRIPTION_END, helper.get());
    throw;
  }
  if (!subscribed) {
    forget(options.topic, options.helper.get());
    record(TACHO_ROS1_SUBSCRIPTION_END, helper.get());
  }
  return subscribed;
}

bool hook_unsubscribe(ros::TopicManager *topics, const std::string &topic,
                      const ros::SubscriptionCallbackHelperPtr &helper) {
  const auto known = forget(topic, helper.get());
  if (!known) return original<decltype(hook_unsubscribe)>(ROS1_unsubscribe, topics, topic, helper);
  record(TACHO_ROS1_SUBSCRIPTION_END, known.get());
  const ros::SubscriptionCallbackHelperPtr instead = known;
  return original<decltype(hook_unsubscribe)>(ROS1_unsubscribe, topics, topic, instead);
}

void hook_queue_push(ros::SubscriptionQueue *queue, const ros::SubscriptionCallbackHelperPtr &helper,
                     const ros::MessageDeserializerPtr &deserializer, bool has_tracked_object,
                     const ros::VoidConstWPtr &tracked_object, bool nonconst_need_copy, ros::Time receipt_time,
                     bool *was_full) {
  record(TACHO_ROS1_QUEUE_PUSH, helper.get(), queue, deserializer.get());
  bool full = false;
  original<decltype(hook_queue_push)>(ROS1_queue_push, queue, helper, deserializer, has_tracked_object, tracked_object,
                                      nonconst_need_copy, receipt_time, &full);
  if (full) record(TACHO_ROS1_QUEUE_OVERFLOW, helper.get());
  if (was_full) *was_full = full;
}

ros::CallbackInterface::CallResult hook_queue_call(ros::SubscriptionQueue *queue) {
  struct Calling {  // callbacks may spin, and so call other queues
    ros::SubscriptionQueue *before = calling;
    explicit Calling(ros::SubscriptionQueue *now) { calling = now; }
    ~Calling() { calling = before; }
  } scope(queue);
  return original<decltype(hook_queue_call)>(ROS1_queue_call, queue);
}

// This is the first thing that SubscriptionQueue::call does with an item that it took from the queue.
ros::VoidConstPtr hook_deserialize(ros::MessageDeserializer *deserializer) {
  if (calling) record(TACHO_ROS1_TAKE, calling, deserializer);
  calling = nullptr;
  return original<decltype(hook_deserialize)>(ROS1_deserialize, deserializer);
}
