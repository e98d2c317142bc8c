// SPDX-License-Identifier: Apache-2.0
#include "endpoint.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

#include "failure.h"
#include "types.h"

namespace {

constexpr size_t KIB4 = 4096, MIB = 1024 * 1024;

template <class M>
class TypedWriter : public Writer {
 public:
  TypedWriter(ros::NodeHandle &node, const std::string &topic, size_t size, uint32_t queue_size, bool latch)
      : size_(size) {
    publisher_ = node.advertise<M>(topic, queue_size, latch);
    if (!publisher_) fail("ros1: %s: no publisher; roscpp says why above", topic.c_str());
  }

  unsigned char *borrow(bool *kept, const void **message) override {
    if (!borrowed_) borrowed_ = free_slot();
    *kept = borrowed_->filled;
    borrowed_->filled = true;
    *message = borrowed_->message.get();
    return data(*borrowed_->message);
  }

  void publish(const tacho_header &header) override {
    if (!borrowed_) fail("ros1: %s: publish without a borrowed buffer", publisher_.getTopic().c_str());
    set_header(*borrowed_->message, header);
    publisher_.publish(borrowed_->message);
    borrowed_ = nullptr;
  }

 private:
  struct Slot {
    boost::shared_ptr<M> message;
    bool filled = false;
  };

  Slot *free_slot() {
    for (auto &slot : slots_)
      if (slot->message.use_count() == 1) {
        // use_count is a relaxed load: this pairs with the release of the last reader's reference.
        std::atomic_thread_fence(std::memory_order_acquire);
        return slot.get();
      }
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->message = boost::make_shared<M>();
    resize(*slots_.back()->message, size_);
    return slots_.back().get();
  }

  const size_t size_;
  ros::Publisher publisher_;
  std::vector<std::unique_ptr<Slot>> slots_;
  Slot *borrowed_ = nullptr;
};

// roscpp puts a subscription into this queue when it has received a message. It is a spinner of our own because it
// calls on_data.
class TellingQueue : public ros::CallbackQueue {
 public:
  TellingQueue(tacho_on_data on_data, void *context) : on_data_(on_data), context_(context) {}
  void addCallback(const ros::CallbackInterfacePtr &callback, uint64_t id) override {
    ros::CallbackQueue::addCallback(callback, id);
    if (on_data_) on_data_(context_);
  }

 private:
  const tacho_on_data on_data_;
  void *const context_;
};

template <class M>
class TypedReader : public Reader {
 public:
  TypedReader(ros::NodeHandle &node, const ReaderConfig &config)
      : topic_(config.topic), queue_(config.on_data, config.context) {
    ros::SubscribeOptions options;
    options.init<M>(config.topic, config.queue_size,
                    [this](const boost::shared_ptr<M const> &message) { received(message); });
    options.transport_hints = config.hints;
    options.callback_queue = &queue_;
    subscriber_ = node.subscribe(options);
    if (!subscriber_) fail("ros1: %s: no subscription; roscpp says why above", config.topic.c_str());
  }
  ~TypedReader() override { subscriber_.shutdown(); }

  bool take(tacho_message *message) override {
    check_nothing_taken();
    queue_.callOne();
    if (!taken_) return false;  // none there, or one that roscpp could not deserialise
    if (!read_from(*taken_, message)) refuse_taken();
    return true;
  }

  void give_back() override { taken_.reset(); }

  bool call_within(int64_t limit_ns, tacho_on_message on_message, void *context) override {
    check_nothing_taken();
    user_ = {on_message, context, false};
    call_one_within(std::chrono::nanoseconds(limit_ns));
    const bool called = user_.called;
    user_ = {};
    if (taken_) refuse_taken();
    return called;
  }

  const void *handle() const override { return &subscriber_; }

 private:
  struct User {
    tacho_on_message on_message = nullptr;
    void *context = nullptr;
    bool called = false;
  };

  // roscpp calls this, so it must not throw. A message that is not ours is refused later.
  void received(const boost::shared_ptr<M const> &message) {
    tacho_message ours;
    if (user_.on_message && read_from(*message, &ours)) {
      user_.called = true;
      user_.on_message(user_.context, &ours);
    } else {
      taken_ = message;
    }
  }

  static bool read_from(const M &message, tacho_message *ours) {
    ours->loan = const_cast<M *>(&message);
    return read(message, ours);
  }

  void check_nothing_taken() const {
    if (taken_) fail("ros1: %s: take before the last message was given back", topic_.c_str());
  }

  [[noreturn]] void refuse_taken() {
    taken_.reset();
    fail("ros1: %s: a message without our header; expected publishers of tacho alone on this topic", topic_.c_str());
  }

  void call_one_within(std::chrono::nanoseconds limit) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point until = Clock::now() + limit;
    for (auto left = limit; left.count() > 0; left = until - Clock::now()) {
      ros::WallDuration wait;
      wait.fromNSec(left.count());
      // Returns nothing if it was woken without a reason, or no message came.
      if (queue_.callOne(wait) != ros::CallbackQueue::Empty) return;
    }
  }

  const std::string topic_;
  TellingQueue queue_;
  boost::shared_ptr<M const> taken_;
  User user_;  // while call_within waits
  ros::Subscriber subscriber_;
};

template <class M>
std::unique_ptr<Writer> writer(ros::NodeHandle &node, const std::string &topic, size_t size, uint32_t queue_size,
                               bool latch) {
  return std::make_unique<TypedWriter<M>>(node, topic, size, queue_size, latch);
}

template <class M>
std::unique_ptr<Reader> reader(ros::NodeHandle &node, const ReaderConfig &config) {
  return std::make_unique<TypedReader<M>>(node, config);
}

template <class M>
constexpr NamedType type(const char *name, size_t only_size) {
  return {name, only_size, writer<M>, reader<M>};
}

const NamedType types[] = {
    type<std_msgs::UInt8MultiArray>("Bytes", 0),
    type<sensor_msgs::PointCloud2>("PointCloud2", 0),
    type<sensor_msgs::PointCloud2>("PointCloud1m", MIB),
    type<sensor_msgs::Image>("Image", 0),
    type<geometry_msgs::TwistStamped>("TwistStamped", TWIST),
};

}  // namespace

const char *const type_names[] = {"Bytes", "PointCloud2", "PointCloud1m", "Image", "TwistStamped", nullptr};

const NamedType *named_type(const char *name, size_t size) {
  if (!*name) name = size < KIB4 ? "Bytes" : "PointCloud2";
  for (const NamedType &type : types)
    if (!std::strcmp(type.name, name)) return &type;
  return nullptr;
}
