// SPDX-License-Identifier: Apache-2.0
#include "types.h"

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastcdr/exceptions/Exception.h>

#include <cstring>
#include <limits>

namespace fast = eprosima::fastdds::dds;
using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::CdrVersion;

namespace {

constexpr size_t TWIST = 6 * sizeof(double);
constexpr size_t ENCAPSULATION = 4;  // DDSI-RTPS 2.5, 10.2
constexpr size_t FIELDS = 256;       // more than the constant fields of any shape take

const NamedType types[] = {
    {"Bytes", Shape::Bytes, 0},
    {"Array", Shape::Array, 0},
    {"PointCloud2", Shape::PointCloud2, 0},
    {"PointCloud1m", Shape::PointCloud2, 1024 * 1024},
    {"Image", Shape::Image, 0},
    {"TwistStamped", Shape::TwistStamped, TWIST},
};

const char *shape_name(Shape shape) {
  switch (shape) {
    case Shape::Bytes:
      return "Bytes";
    case Shape::Array:
      return "Array_";
    case Shape::PointCloud2:
      return "PointCloud2";
    case Shape::Image:
      return "Image";
    case Shape::TwistStamped:
      return "TwistStamped";
  }
  return "";
}

// One function a direction and shape, in the order of the IDL.

void put_header(Cdr &cdr, const tacho_header &header) {
  cdr << header.sequence << header.stamp_ns << header.publisher << header.reserved;
}

void get_header(Cdr &cdr, tacho_header &header) {
  cdr >> header.sequence >> header.stamp_ns >> header.publisher >> header.reserved;
}

// One row of one-byte points, so that any size is a well-formed cloud.
void put_cloud(Cdr &cdr, const Message &message) {
  const uint32_t size = static_cast<uint32_t>(message.data.size());
  cdr << "lidar" << uint32_t{1} << size;
  cdr << uint32_t{1} << "intensity" << uint32_t{0} << uint8_t{2} /* UINT8 */ << uint32_t{1};
  cdr << false << uint32_t{1} << size << message.data << true;
}

void get_cloud(Cdr &cdr, Message &message) {
  std::string frame_id, name;
  uint32_t height, width, fields, offset, count, point_step, row_step;
  uint8_t datatype;
  bool is_bigendian, is_dense;
  cdr >> frame_id >> height >> width >> fields;
  for (uint32_t i = 0; i < fields; i++) cdr >> name >> offset >> datatype >> count;
  cdr >> is_bigendian >> point_step >> row_step >> message.data >> is_dense;
}

// One row of mono8.
void put_image(Cdr &cdr, const Message &message) {
  const uint32_t size = static_cast<uint32_t>(message.data.size());
  cdr << "camera" << uint32_t{1} << size << "mono8" << uint8_t{0} << size << message.data;
}

void get_image(Cdr &cdr, Message &message) {
  std::string frame_id, encoding;
  uint32_t height, width, step;
  uint8_t is_bigendian;
  cdr >> frame_id >> height >> width >> encoding >> is_bigendian >> step >> message.data;
}

void put_twist(Cdr &cdr, const Message &message) {
  double twist[6];
  std::memcpy(twist, message.data.data(), sizeof twist);
  cdr.serialize_array(twist, 6);
}

void get_twist(Cdr &cdr, Message &message) {
  double twist[6];
  cdr.deserialize_array(twist, 6);
  message.data.resize(sizeof twist);
  std::memcpy(message.data.data(), twist, sizeof twist);
}

void put(Cdr &cdr, Shape shape, const Message &message) {
  put_header(cdr, message.header);
  switch (shape) {
    case Shape::PointCloud2:
      return put_cloud(cdr, message);
    case Shape::Image:
      return put_image(cdr, message);
    case Shape::TwistStamped:
      return put_twist(cdr, message);
    default:
      cdr << message.data;
  }
}

void get(Cdr &cdr, Shape shape, Message &message) {
  get_header(cdr, message.header);
  switch (shape) {
    case Shape::PointCloud2:
      return get_cloud(cdr, message);
    case Shape::Image:
      return get_image(cdr, message);
    case Shape::TwistStamped:
      return get_twist(cdr, message);
    default:
      cdr >> message.data;
  }
}

void put_array(Cdr &cdr, const unsigned char *memory, size_t size) {
  tacho_header header;
  std::memcpy(&header, memory, sizeof header);
  put_header(cdr, header);
  cdr.serialize_array(memory + ARRAY_HEADER, size);
}

void get_array(Cdr &cdr, unsigned char *memory, size_t size) {
  tacho_header header;
  get_header(cdr, header);
  std::memcpy(memory, &header, sizeof header);
  cdr.deserialize_array(memory + ARRAY_HEADER, size);
}

}  // namespace

const char *const type_names[] = {"Bytes", "Array", "PointCloud2", "PointCloud1m", "Image", "TwistStamped", nullptr};

const NamedType *named_type(const std::string &name) {
  for (const NamedType &type : types)
    if (name == type.name) return &type;
  return nullptr;
}

MessageType::MessageType(Shape shape, size_t size) : shape_(shape), size_(size) {
  std::string name = std::string("tachograph::") + shape_name(shape);
  if (shape == Shape::Array) name += std::to_string(size);
  set_name(name);
  max_serialized_type_size =
      static_cast<uint32_t>(ENCAPSULATION + ARRAY_HEADER + size + (shape == Shape::Array ? 0 : FIELDS));
  max_serialized_type_size = (max_serialized_type_size + 3) & ~3u;  // submessages are aligned to 4
}

bool MessageType::serialize(const void *const data, Payload &payload, Representation representation) {
  eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char *>(payload.data), payload.max_size);
  const bool first = representation == fast::DataRepresentationId_t::XCDR_DATA_REPRESENTATION;
  Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, first ? CdrVersion::XCDRv1 : CdrVersion::XCDRv2);
  payload.encapsulation = cdr.endianness() == Cdr::BIG_ENDIANNESS ? CDR_BE : CDR_LE;
  cdr.set_encoding_flag(first ? eprosima::fastcdr::EncodingAlgorithmFlag::PLAIN_CDR
                              : eprosima::fastcdr::EncodingAlgorithmFlag::PLAIN_CDR2);
  try {
    cdr.serialize_encapsulation();
    if (shape_ == Shape::Array)
      put_array(cdr, static_cast<const unsigned char *>(data), size_);
    else
      put(cdr, shape_, *static_cast<const Message *>(data));
  } catch (
      const eprosima::fastcdr::exception::Exception &) {  // the payload is too small; the write fails with our text
    return false;
  }
  payload.length = static_cast<uint32_t>(cdr.get_serialized_data_length());
  return true;
}

bool MessageType::deserialize(Payload &payload, void *data) {
  eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char *>(payload.data), payload.length);
  Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN);
  try {
    cdr.read_encapsulation();
    payload.encapsulation = cdr.endianness() == Cdr::BIG_ENDIANNESS ? CDR_BE : CDR_LE;
    if (shape_ == Shape::Array)
      get_array(cdr, static_cast<unsigned char *>(data), size_);
    else
      get(cdr, shape_, *static_cast<Message *>(data));
  } catch (const eprosima::fastcdr::exception::Exception &) {  // malformed: Fast DDS leaves the sample out
    return false;
  }
  return true;
}

uint32_t MessageType::calculate_serialized_size(const void *const data, Representation) {
  const size_t size = shape_ == Shape::Array ? size_ : static_cast<const Message *>(data)->data.size() + FIELDS;
  return static_cast<uint32_t>(ENCAPSULATION + ARRAY_HEADER + size);
}

void *MessageType::create_data() {
  if (shape_ == Shape::Array) return new unsigned char[ARRAY_HEADER + size_]();
  return new Message;
}

void MessageType::delete_data(void *data) {
  if (shape_ == Shape::Array)
    delete[] static_cast<unsigned char *>(data);
  else
    delete static_cast<Message *>(data);
}
