// SPDX-License-Identifier: Apache-2.0
#include "payload.h"

#include <cstring>

const char *const type_names[] = {"Bytes", "PointCloud2", "PointCloud1m", "Image", "TwistStamped", nullptr};

namespace {

constexpr char PACKAGE[] = "tacho";
enum { VARINT = 0, LENGTH_DELIMITED = 2 };
constexpr unsigned HEADER = 1, DATA = 2;
constexpr size_t HEADER_AT = 2, DATA_KEY_AT = HEADER_AT + sizeof(tacho_header);
static_assert(sizeof(tacho_header) < 128, "the length of the header takes one byte");

void append_varint(std::string &out, unsigned long long value) {
  for (; value > 127; value >>= 7) out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
}

size_t varint_size(unsigned long long value) {
  size_t size = 1;
  for (; value > 127; value >>= 7) size++;
  return size;
}

std::string key(unsigned field, unsigned wire) { return std::string(1, static_cast<char>(field << 3 | wire)); }

// google/protobuf/descriptor.proto, FieldDescriptorProto: an optional bytes field.
std::string field(const char *name, unsigned number) {
  std::string out;
  append(out, 1, std::string(name));
  append(out, 3, number);
  append(out, 4, 1);   // LABEL_OPTIONAL
  append(out, 5, 12);  // TYPE_BYTES
  return out;
}

}  // namespace

void append(std::string &out, unsigned number, unsigned long long value) {
  out += key(number, VARINT);
  append_varint(out, value);
}

void append(std::string &out, unsigned number, const std::string &bytes) {
  out += key(number, LENGTH_DELIMITED);
  append_varint(out, bytes.size());
  out += bytes;
}

std::string full_type_name(const char *name) {
  for (const char *const *known = type_names; *known; known++)
    if (!std::strcmp(*known, *name ? name : type_names[0])) return std::string(PACKAGE) + "." + *known;
  return "";
}

std::string file_descriptor() {
  std::string out;
  append(out, 1, std::string("tacho/messages.proto"));
  append(out, 2, std::string(PACKAGE));
  for (const char *const *name = type_names; *name; name++) {
    std::string message;
    append(message, 1, std::string(*name));
    append(message, 2, field("header", HEADER));
    append(message, 2, field("data", DATA));
    append(out, 4, message);
  }
  return out;
}

size_t prefix_size(size_t size) { return DATA_KEY_AT + 1 + varint_size(size); }

std::string blank(size_t size) {
  std::string out;
  out.reserve(prefix_size(size) + size);
  append(out, HEADER, std::string(sizeof(tacho_header), '\0'));
  out += key(DATA, LENGTH_DELIMITED);
  append_varint(out, size);
  out.resize(out.size() + size);
  return out;
}

void put_header(const tacho_header &header, char *payload) { std::memcpy(payload + HEADER_AT, &header, sizeof header); }

bool read(const std::string &payload, tacho_message *message) {
  const char *bytes = payload.data();
  if (payload.size() < DATA_KEY_AT + 2 || bytes[0] != key(HEADER, LENGTH_DELIMITED)[0] ||
      bytes[1] != sizeof(tacho_header) || bytes[DATA_KEY_AT] != key(DATA, LENGTH_DELIMITED)[0])
    return false;
  unsigned long long size = 0;
  size_t at = DATA_KEY_AT + 1;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == payload.size()) return false;
    const unsigned char byte = static_cast<unsigned char>(bytes[at++]);
    size |= (byte & 127ull) << shift;
    if (byte < 128) break;
  }
  if (size != payload.size() - at) return false;
  std::memcpy(&message->header, bytes + HEADER_AT, sizeof message->header);
  message->data = bytes + at;
  message->size = size;
  return true;
}
