// SPDX-License-Identifier: Apache-2.0
//
// The message types that the fastdds plugin carries, serialised as CDR (XCDR1, final). In IDL:
//
//   struct Header { unsigned long long sequence; long long stamp_ns; unsigned long publisher; unsigned long reserved; };
//   struct Bytes        { Header header; sequence<octet> data; };
//   struct Array_N      { Header header; octet data[N]; };
//   struct PointCloud2  { Header header; string frame_id; unsigned long height, width; sequence<PointField> fields;
//                         boolean is_bigendian; unsigned long point_step, row_step; sequence<octet> data; boolean is_dense; };
//   struct Image        { Header header; string frame_id; unsigned long height, width; string encoding;
//                         octet is_bigendian; unsigned long step; sequence<octet> data; };
//   struct TwistStamped { Header header; double twist[6]; };
//   struct PointField   { string name; unsigned long offset; octet datatype; unsigned long count; };
//
// PointCloud2, Image and TwistStamped have the fields of their ROS namesakes, so that a workload written for ROS 2 makes
// Fast DDS serialise the same. Array_N is plain: its memory is its CDR, so it can be lent and shared without a copy.
#ifndef TACHO_FASTDDS_TYPES_H_
#define TACHO_FASTDDS_TYPES_H_

#include <tacho/middleware.h>

#include <fastdds/dds/topic/TopicDataType.hpp>
#include <string>
#include <vector>

enum class Shape { Bytes, Array, PointCloud2, Image, TwistStamped };

// A named type; if `only_size` is not 0, its messages have exactly this many bytes of data.
struct NamedType {
  const char *name;
  Shape shape;
  size_t only_size;
};

extern const char *const type_names[];  // NULL-terminated
const NamedType *named_type(const std::string &name);

// A message in memory, of every shape except Array: the fields that vary. The other fields are constants of the shape.
struct Message {
  tacho_header header{};
  std::vector<unsigned char> data;
};

// An Array in memory: the header and then the data.
constexpr size_t ARRAY_HEADER = sizeof(tacho_header);

class MessageType : public eprosima::fastdds::dds::TopicDataType {
 public:
  // `size`: the expected bytes of data, for which memory is reserved; exact for an Array.
  MessageType(Shape shape, size_t size);

  using Payload = eprosima::fastdds::rtps::SerializedPayload_t;
  using Representation = eprosima::fastdds::dds::DataRepresentationId_t;
  bool serialize(const void *const data, Payload &payload, Representation representation) override;
  bool deserialize(Payload &payload, void *data) override;
  uint32_t calculate_serialized_size(const void *const data, Representation representation) override;
  void *create_data() override;
  void delete_data(void *data) override;
  // The types have no keys.
  bool compute_key(Payload &, eprosima::fastdds::rtps::InstanceHandle_t &, bool) override { return false; }
  bool compute_key(const void *const, eprosima::fastdds::rtps::InstanceHandle_t &, bool) override { return false; }
  bool is_bounded() const override { return shape_ == Shape::Array; }
  bool is_plain(Representation) const override { return shape_ == Shape::Array; }

 private:
  const Shape shape_;
  const size_t size_;
};

#endif
