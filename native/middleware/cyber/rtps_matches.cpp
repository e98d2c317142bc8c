// SPDX-License-Identifier: Apache-2.0
#include "rtps_matches.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <type_traits>
#include <vector>

#include "cyber_rt.h"
#include "in_front.h"

namespace eprosima {
namespace fastrtps {

namespace rtps {
struct MatchingInfo {
  enum { MATCHED, REMOVED } status;  // the other endpoint's GUID follows
};
}  // namespace rtps

class Participant;
class Publisher;
class PublisherAttributes;
class Subscriber;
class SubscriberAttributes;
class SubscriberListener;

class PublisherListener {
 public:
  virtual ~PublisherListener() = default;
  virtual void onPublicationMatched(Publisher *publisher, rtps::MatchingInfo &info) = 0;
};

class IN_FRONT Domain {
 public:
  static Publisher *createPublisher(Participant *participant, PublisherAttributes &attributes,
                                    PublisherListener *listener);
  static Subscriber *createSubscriber(Participant *participant, SubscriberAttributes &attributes,
                                      SubscriberListener *listener);
};

}  // namespace fastrtps
}  // namespace eprosima

namespace apollo {
namespace cyber {
namespace proto {
class QosProfile;
}
namespace transport {

class IN_FRONT AttributesFiller {
 public:
  static bool FillInPubAttr(const std::string &channel, const proto::QosProfile &qos,
                            eprosima::fastrtps::PublisherAttributes *attributes);
  static bool FillInSubAttr(const std::string &channel, const proto::QosProfile &qos,
                            eprosima::fastrtps::SubscriberAttributes *attributes);
};

// Cyber RT declares it virtual, and the mangled name is equal; here it must not be virtual, because it would bring a
// second vtable.
class IN_FRONT SubListener {
 public:
  void onSubscriptionMatched(eprosima::fastrtps::Subscriber *subscriber, eprosima::fastrtps::rtps::MatchingInfo &info);
};

}  // namespace transport
}  // namespace cyber
}  // namespace apollo

namespace {

using namespace eprosima::fastrtps;
using apollo::cyber::transport::AttributesFiller;

class Side {
 public:
  void matched(const void *endpoint, const rtps::MatchingInfo &info) {
    std::lock_guard<std::mutex> lock(mutex_);
    peers_[endpoint] += info.status == rtps::MatchingInfo::MATCHED ? 1 : -1;
  }
  void made(const std::string &name, const void *endpoint) {
    std::lock_guard<std::mutex> lock(mutex_);
    endpoints_[name].push_back(endpoint);
  }
  int fewest(const std::string &name) {
    std::lock_guard<std::mutex> lock(mutex_);
    const std::vector<const void *> &all = endpoints_[name];
    int least = all.empty() ? 0 : peers_[all.front()];
    for (const void *endpoint : all) least = std::min(least, peers_[endpoint]);
    return least;
  }

 private:
  std::mutex mutex_;
  std::map<const void *, int> peers_;  // a match may be reported before the call that makes its endpoint has returned
  std::map<std::string, std::vector<const void *>> endpoints_;
};

// Never destroyed, because threads of Fast RTPS may outlive destructors.
Side &writers = *new Side, &readers = *new Side;

class : public PublisherListener{void onPublicationMatched(Publisher * publisher, rtps::MatchingInfo &info)
                                     override{writers.matched(publisher, info);
}
}
&listener = *new std::remove_reference_t<decltype(listener)>;

// One thread fills in the attributes and then makes the endpoint from them. They hold the name, but out of reach.
thread_local std::string named;

}  // namespace

bool AttributesFiller::FillInPubAttr(const std::string &channel, const apollo::cyber::proto::QosProfile &qos,
                                     PublisherAttributes *attributes) {
  static const auto next = behind<decltype(&FillInPubAttr)>(
      "_ZN6apollo5cyber9transport16AttributesFiller13FillInPubAttrERKNSt7__cxx1112basic_stringIcSt11char_"
      "traitsIcESaIcEEERKNS0_5proto10QosProfileEPN8eprosima8fastrtps19PublisherAttributesE");
  std::string profile;
  if (!reinterpret_cast<const google::protobuf::MessageLite *>(&qos)->SerializeToString(&profile)) profile.clear();
  named = channel + profile;
  return next(channel, qos, attributes);
}

bool AttributesFiller::FillInSubAttr(const std::string &channel, const apollo::cyber::proto::QosProfile &qos,
                                     SubscriberAttributes *attributes) {
  static const auto next = behind<decltype(&FillInSubAttr)>(
      "_ZN6apollo5cyber9transport16AttributesFiller13FillInSubAttrERKNSt7__cxx1112basic_stringIcSt11char_"
      "traitsIcESaIcEEERKNS0_5proto10QosProfileEPN8eprosima8fastrtps20SubscriberAttributesE");
  named = channel;
  return next(channel, qos, attributes);
}

Publisher *Domain::createPublisher(Participant *participant, PublisherAttributes &attributes,
                                   PublisherListener *theirs) {
  static const auto next = behind<Publisher *(*)(Participant *, PublisherAttributes &, PublisherListener *)>(
      "_ZN8eprosima8fastrtps6Domain15createPublisherEPNS0_11ParticipantERNS0_19PublisherAttributesEPNS0_"
      "17PublisherListenerE");
  Publisher *made = next(participant, attributes, theirs ? theirs : &listener);
  if (made) writers.made(named, made);
  return made;
}

Subscriber *Domain::createSubscriber(Participant *participant, SubscriberAttributes &attributes,
                                     SubscriberListener *theirs) {
  static const auto next = behind<Subscriber *(*)(Participant *, SubscriberAttributes &, SubscriberListener *)>(
      "_ZN8eprosima8fastrtps6Domain16createSubscriberEPNS0_11ParticipantERNS0_20SubscriberAttributesEPNS0_"
      "18SubscriberListenerE");
  Subscriber *made = next(participant, attributes, theirs);
  if (made) readers.made(named, made);
  return made;
}

// Cyber RT's own function does nothing.
void apollo::cyber::transport::SubListener::onSubscriptionMatched(Subscriber *subscriber, rtps::MatchingInfo &info) {
  readers.matched(subscriber, info);
}

int rtps_readers(const std::string &channel, const std::string &qos_profile) {
  return writers.fewest(channel + qos_profile);
}
int rtps_writers(const std::string &channel) { return readers.fewest(channel); }
