// SPDX-License-Identifier: Apache-2.0
#include "queues.h"

#include <ros/service_callback_helper.h>
#include <ros/subscription_queue.h>

#include <typeinfo>

#include "functions.h"
#include "nodes.h"

namespace {

// This works as for subscriptions. The call includes deserialising the request before the user's function, and
// serialising the response after it.
class RecordedHelper : public ros::ServiceCallbackHelper {
 public:
  explicit RecordedHelper(const ros::ServiceCallbackHelperPtr &helper) : helper_(helper) {}
  bool call(ros::ServiceCallbackHelperCallParams &parameters) override {
    Execution execution(this);
    return helper_->call(parameters);
  }

 private:
  const ros::ServiceCallbackHelperPtr helper_;
};

}  // namespace

bool hook_advertise_service(ros::ServiceManager *services, const ros::AdvertiseServiceOptions &options) {
  const uint64_t node = options.helper ? node_of(options.callback_queue) : 0;
  if (node == 0) return original<decltype(hook_advertise_service)>(ROS1_advertise_service, services, options);
  const auto helper = boost::make_shared<RecordedHelper>(options.helper);
  ros::AdvertiseServiceOptions with_helper = options;
  with_helper.helper = helper;
  record_texts(TACHO_ROS1_SERVICE_INIT, options.service, options.datatype, helper.get(), node);
  record_text(TACHO_RCLCPP_CALLBACK_REGISTER, name_of_function(*options.helper), helper.get());
  return original<decltype(hook_advertise_service)>(ROS1_advertise_service, services, with_helper);
}

void hook_add_callback(ros::CallbackQueue *queue, const ros::CallbackInterfacePtr &item, uint64_t owner) {
  if (item && typeid(*item) != typeid(ros::SubscriptionQueue)) record(TACHO_ROS1_CALLBACK_QUEUED, item.get());
  original<decltype(hook_add_callback)>(ROS1_add_callback, queue, item, owner);
}
