// SPDX-License-Identifier: Apache-2.0
//
// Our message as protobuf: message <Name> { bytes header = 1; bytes data = 2; } in the package tacho. It always has
// both fields in this order, so the data is in place after a prefix whose length follows from the size.
#ifndef TACHO_CYBER_PAYLOAD_H_
#define TACHO_CYBER_PAYLOAD_H_

#include <tacho/middleware.h>

#include <cstddef>
#include <string>

extern const char *const type_names[];  // NULL-terminated; the same message under different names

// Its full name, "tacho.Bytes"; empty if there is no such type.
std::string full_type_name(const char *name);

// A FileDescriptorProto of all of them.
std::string file_descriptor();

// Number of bytes before the data of a message with `size` bytes of it.
size_t prefix_size(size_t size);

// Returns a message of that size, complete except for the content.
std::string blank(size_t size);

void put_header(const tacho_header &header, char *payload);

// Returns false if these bytes are no such message.
bool read(const std::string &payload, tacho_message *message);

// Wire format, protobuf's "Encoding": a varint field, and a length-delimited one.
void append(std::string &out, unsigned field, unsigned long long value);
void append(std::string &out, unsigned field, const std::string &bytes);

#endif  // TACHO_CYBER_PAYLOAD_H_
