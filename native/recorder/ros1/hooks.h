/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists the functions of roscpp (ROS 1 Noetic) and nodelet that we interpose, by mangled name. They are member
 * functions that their library calls through its procedure linkage table, or virtual ones that it finds through
 * relocations of vtables. The loader looks up both by name, so the library that is loaded first gets the calls.
 * Arguments are those of the member function, its object first; none is a floating-point number.
 *
 * preload.c defines them all, each as a jump through a slot. The slot leads to the original or to a hook.
 *
 * hooks.cpp and its neighbours define the hooks, in a library of their own. preload.c loads it into recorded programs
 * that have roscpp.
 */
#ifndef TACHO_RECORDER_ROS1_HOOKS_H_
#define TACHO_RECORDER_ROS1_HOOKS_H_

#define ROS1_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define ROS1_TIMER_MANAGER(time, duration, event) "_ZN3ros12TimerManagerINS_" time "ENS_" duration "ENS_" event "EE"
#define ROS1_TIMER_ADD "3addERKS2_RKN5boost8functionIFvRKS3_EEEPNS_22CallbackQueueInterfaceERKNS7_10shared_ptrIKvEEb"
#define ROS1_TIMERS ROS1_TIMER_MANAGER("4Time", "8Duration", "10TimerEvent")
#define ROS1_WALL_TIMERS ROS1_TIMER_MANAGER("8WallTime", "12WallDuration", "14WallTimerEvent")
#define ROS1_STEADY_TIMERS ROS1_TIMER_MANAGER("10SteadyTime", "12WallDuration", "16SteadyTimerEvent")

/* clang-format off */
#define ROS1_HOOKS(HOOK) \
  /* Publisher NodeHandle::advertise(AdvertiseOptions &) */ \
  HOOK(advertise, "_ZN3ros10NodeHandle9advertiseERNS_16AdvertiseOptionsE") \
  /* void Publisher::publish(const function<SerializedMessage()> &, SerializedMessage &) const */ \
  HOOK(publish, "_ZNK3ros9Publisher7publishERKN5boost8functionIFNS_17SerializedMessageEvEEERS3_") \
  /* void Publication::publish(SerializedMessage &) */ \
  HOOK(publication_publish, "_ZN3ros11Publication7publishERNS_17SerializedMessageE") \
  /* bool TransportSubscriberLink::initialize(const ConnectionPtr &) */ \
  HOOK(subscriber_link_initialize, \
       "_ZN3ros23TransportSubscriberLink10initializeERKN5boost10shared_ptrINS_10ConnectionEEE") \
  /* bool TransportSubscriberLink::handleHeader(const Header &) */ \
  HOOK(subscriber_link_handle_header, "_ZN3ros23TransportSubscriberLink12handleHeaderERKNS_6HeaderE") \
  /* void TransportSubscriberLink::enqueueMessage(const SerializedMessage &, bool serialized, bool nocopy), virtual */ \
  HOOK(enqueue_message, "_ZN3ros23TransportSubscriberLink14enqueueMessageERKNS_17SerializedMessageEbb") \
  /* void Connection::write(const shared_array<uint8_t> &, uint32_t size, const WriteFinishedFunc &, bool immediate) */ \
  HOOK(connection_write, \
       "_ZN3ros10Connection5writeERKN5boost12shared_arrayIhEEjRKNS1_8functionIFvRKNS1_10shared_ptrIS0_EEEEEb") \
  /* bool TransportPublisherLink::initialize(const ConnectionPtr &) */ \
  HOOK(publisher_link_initialize, \
       "_ZN3ros22TransportPublisherLink10initializeERKN5boost10shared_ptrINS_10ConnectionEEE") \
  /* uint32_t Subscription::handleMessage(const SerializedMessage &, bool, bool, const shared_ptr<M_string> &, const PublisherLinkPtr &) */ \
  HOOK(handle_message, \
       "_ZN3ros12Subscription13handleMessageERKNS_17SerializedMessageEbbRKN5boost10shared_ptrISt3mapINSt7__cxx1112basic_string" \
       "IcSt11char_traitsIcESaIcEEESC_St4lessISC_ESaISt4pairIKSC_SC_EEEEERKNS5_INS_13PublisherLinkEEE") \
  /* bool TopicManager::subscribe(const SubscribeOptions &) */ \
  HOOK(subscribe, "_ZN3ros12TopicManager9subscribeERKNS_16SubscribeOptionsE") \
  /* bool TopicManager::unsubscribe(const std::string &topic, const SubscriptionCallbackHelperPtr &) */ \
  HOOK(unsubscribe, \
       "_ZN3ros12TopicManager11unsubscribeERK" ROS1_STRING "RKN5boost10shared_ptrINS_26SubscriptionCallbackHelperEEE") \
  /* void SubscriptionQueue::push(helper, deserializer, bool, const VoidConstWPtr &, bool, ros::Time, bool *was_full) */ \
  HOOK(queue_push, \
       "_ZN3ros17SubscriptionQueue4pushERKN5boost10shared_ptrINS_26SubscriptionCallbackHelperEEERKNS2_INS_19MessageDeserializerEEEb" \
       "RKNS1_8weak_ptrIKvEEbNS_4TimeEPb") \
  /* CallResult SubscriptionQueue::call(), virtual */ \
  HOOK(queue_call, "_ZN3ros17SubscriptionQueue4callEv") \
  /* VoidConstPtr MessageDeserializer::deserialize() */ \
  HOOK(deserialize, "_ZN3ros19MessageDeserializer11deserializeEv") \
  /* int32_t TimerManager::add(const D &period, const function<void(const E &)> &, CallbackQueueInterface *, const VoidConstPtr &, bool) */ \
  HOOK(timer_add, ROS1_TIMERS ROS1_TIMER_ADD) \
  HOOK(wall_timer_add, ROS1_WALL_TIMERS ROS1_TIMER_ADD) \
  HOOK(steady_timer_add, ROS1_STEADY_TIMERS ROS1_TIMER_ADD) \
  /* void TimerManager::setPeriod(int32_t, const D &, bool) */ \
  HOOK(timer_set_period, ROS1_TIMERS "9setPeriodEiRKS2_b") \
  HOOK(wall_timer_set_period, ROS1_WALL_TIMERS "9setPeriodEiRKS2_b") \
  HOOK(steady_timer_set_period, ROS1_STEADY_TIMERS "9setPeriodEiRKS2_b") \
  /* CallResult TimerQueueCallback::call(), CallResult ServiceCallback::call(), virtual */ \
  HOOK(timer_call, ROS1_TIMERS "18TimerQueueCallback4callEv") \
  HOOK(wall_timer_call, ROS1_WALL_TIMERS "18TimerQueueCallback4callEv") \
  HOOK(steady_timer_call, ROS1_STEADY_TIMERS "18TimerQueueCallback4callEv") \
  HOOK(service_call, "_ZN3ros15ServiceCallback4callEv") \
  /* bool ServiceManager::advertiseService(const AdvertiseServiceOptions &) */ \
  HOOK(advertise_service, "_ZN3ros14ServiceManager16advertiseServiceERKNS_23AdvertiseServiceOptionsE") \
  /* void CallbackQueue::addCallback(const CallbackInterfacePtr &, uint64_t), virtual */ \
  HOOK(add_callback, "_ZN3ros13CallbackQueue11addCallbackERKN5boost10shared_ptrINS_17CallbackInterfaceEEEm") \
  /* void nodelet::Nodelet::init(const std::string &name, const M_string &, const V_string &, CallbackQueueInterface *, CallbackQueueInterface *) */ \
  HOOK(nodelet_init, \
       "_ZN7nodelet7Nodelet4initERK" ROS1_STRING "RKSt3mapIS6_S6_St4lessIS6_ESaISt4pairIS7_S6_EEERKSt6vectorIS6_SaIS6_EE" \
       "PN3ros22CallbackQueueInterfaceESP_")
/* clang-format on */

#define ROS1_HOOK_NUMBER(name, symbol) ROS1_##name,
enum ros1_hook { ROS1_HOOKS(ROS1_HOOK_NUMBER) ROS1_HOOK_COUNT };
#undef ROS1_HOOK_NUMBER

/* All hooks before this one belong to roscpp. */
#define ROS1_HOOKS_OF_ROSCPP ROS1_nodelet_init

/* The entry of the library of hooks: it returns the hooks for these originals, which must stay at their address. Those
 * of roscpp are all set; that of nodelet may be filled in later. */
#define ROS1_HOOKS_ENTRY "tacho_ros1_hooks"
typedef void *const *(*ros1_hooks_entry)(void *const *originals);

#endif /* TACHO_RECORDER_ROS1_HOOKS_H_ */
