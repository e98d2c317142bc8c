/* SPDX-License-Identifier: Apache-2.0
 *
 * Records what Fast DDS does without a socket: transport by shared memory, and the notification of a reader about new
 * data. Its libraries export every function and call them through the procedure linkage table, so our functions are
 * called first because our library is loaded first. This works with 2.14 (Jazzy) and 3.2 (Kilted), whose function names
 * differ. If a release has neither name, nothing is recorded of it.
 *
 * C++ member functions take `this` first (Itanium C++ ABI); all arguments here are pointers and integers.
 */
#include <stdbool.h>
#include <string.h>

#include "../thread.h"
#include "original.h"
#include "rtps.h"
#include "samples.h"

#define EXPORT __attribute__((visibility("default")))
#define NAMED(symbol) __asm__(symbol)
#define LIBRARY "libfast" /* libfastrtps.so.2.x, libfastdds.so.3.x */

/* Locator_t begins with its kind in all releases. The kind of shared memory is 16 up to 2.14, and 16 + the major
 * version from 3.0 on. */
static inline bool is_shared_memory(const int32_t *locator) { return *locator >= 16 && *locator < 32; }

/* The fields of CDRMessage_t and NetworkBuffer that we read; they are the same in both releases. */
struct cdr_message {
  const void *buffer;
  uint32_t position, max_size, reserved_size, length;
};

struct network_buffer {
  const void *bytes;
  uint32_t size;
};

/* std::vector of libstdc++ */
struct vector {
  const struct network_buffer *begin, *end, *capacity_end;
};

typedef uintptr_t send_2(void *, const void *, uint32_t, void *, void *, const void *);
typedef uintptr_t send_3(void *, const struct vector *, uint32_t, void *, void *, const void *);
typedef void process(void *, const int32_t *, const int32_t *, struct cdr_message *);
typedef uintptr_t data_available(void *, const uint8_t *, const int32_t *, const int32_t *);
typedef const uint8_t *reader_guid(const void *);

#define SEND_2                                                                                                        \
  "_ZN8eprosima7fastdds4rtps18SharedMemTransport4sendEPKhjPNS1_16LocatorsIteratorES6_RKNSt6chrono10time_pointINS7_3_" \
  "V2"                                                                                                                \
  "12steady_clockENS7_8durationIlSt5ratioILl1ELl1000000000EEEEEE"
#define SEND_3                                                                                        \
  "_ZN8eprosima7fastdds4rtps18SharedMemTransport4sendERKSt6vectorINS1_13NetworkBufferESaIS4_EEjPNS1_" \
  "16LocatorsIterator"                                                                                \
  "ESA_RKNSt6chrono10time_pointINSB_3_V212steady_clockENSB_8durationIlSt5ratioILl1ELl1000000000EEEEEE"
#define PROCESS_2 "_ZN8eprosima8fastrtps4rtps15MessageReceiver13processCDRMsgERKNS1_9Locator_tES5_PNS1_12CDRMessage_tE"
#define PROCESS_3 "_ZN8eprosima7fastdds4rtps15MessageReceiver13processCDRMsgERKNS1_9Locator_tES5_PNS1_12CDRMessage_tE"
#define DATA_AVAILABLE_2                                                                                           \
  "_ZN8eprosima7fastdds3dds14DataReaderImpl17on_data_availableERKNS_8fastrtps4rtps6GUID_tERKNS4_16SequenceNumber_" \
  "tESA_"
#define DATA_AVAILABLE_3 \
  "_ZN8eprosima7fastdds3dds14DataReaderImpl17on_data_availableERKNS0_4rtps6GUID_tERKNS3_16SequenceNumber_tES9_"
#define READER_GUID "_ZNK8eprosima7fastdds3dds14DataReaderImpl4guidEv"

EXPORT uintptr_t fastdds_send_2(void *, const void *, uint32_t, void *, void *, const void *) NAMED(SEND_2);
EXPORT uintptr_t fastdds_send_3(void *, const struct vector *, uint32_t, void *, void *, const void *) NAMED(SEND_3);
EXPORT void fastdds_process_2(void *, const int32_t *, const int32_t *, struct cdr_message *) NAMED(PROCESS_2);
EXPORT void fastdds_process_3(void *, const int32_t *, const int32_t *, struct cdr_message *) NAMED(PROCESS_3);
EXPORT uintptr_t fastdds_available_2(void *, const uint8_t *, const int32_t *, const int32_t *) NAMED(DATA_AVAILABLE_2);
EXPORT uintptr_t fastdds_available_3(void *, const uint8_t *, const int32_t *, const int32_t *) NAMED(DATA_AVAILABLE_3);

static struct original original_send_2 = {SEND_2, LIBRARY, (void *)fastdds_send_2, NULL};
static struct original original_send_3 = {SEND_3, LIBRARY, (void *)fastdds_send_3, NULL};
static struct original original_process_2 = {PROCESS_2, LIBRARY, (void *)fastdds_process_2, NULL};
static struct original original_process_3 = {PROCESS_3, LIBRARY, (void *)fastdds_process_3, NULL};
static struct original original_available_2 = {DATA_AVAILABLE_2, LIBRARY, (void *)fastdds_available_2, NULL};
static struct original original_available_3 = {DATA_AVAILABLE_3, LIBRARY, (void *)fastdds_available_3, NULL};
static struct original original_guid = {READER_GUID, LIBRARY, NULL, NULL};

EXPORT uintptr_t fastdds_send_2(void *self, const void *bytes, uint32_t size, void *from, void *to,
                                const void *deadline) {
  if (samples_recording()) {
    samples_sent(&(struct iovec){(void *)bytes, size}, 1, size, TACHO_TRANSPORT_SHARED_MEMORY, thread_moment());
  }
  return ((send_2 *)original_of(&original_send_2))(self, bytes, size, from, to, deadline);
}

EXPORT uintptr_t fastdds_send_3(void *self, const struct vector *buffers, uint32_t size, void *from, void *to,
                                const void *deadline) {
  if (samples_recording()) {
    /* The header and the submessages are in the first pieces. We read no more pieces of a longer message. */
    struct iovec pieces[16];
    size_t count = 0;
    for (const struct network_buffer *b = buffers->begin; b != buffers->end && count < 16; b++) {
      pieces[count++] = (struct iovec){(void *)b->bytes, b->size};
    }
    samples_sent(pieces, count, size, TACHO_TRANSPORT_SHARED_MEMORY, thread_moment());
  }
  return ((send_3 *)original_of(&original_send_3))(self, buffers, size, from, to, deadline);
}

/* Every transport delivers its messages here. Those of sockets were already recorded when the socket call returned. */
static inline void received(const int32_t *locator, const struct cdr_message *message) {
  if (!samples_recording() || samples_came_by_socket(message->buffer)) return;
  enum tacho_transport transport = is_shared_memory(locator) ? TACHO_TRANSPORT_SHARED_MEMORY : TACHO_TRANSPORT_OTHER;
  samples_received(&(struct iovec){(void *)message->buffer, message->length}, 1, message->length, transport);
}

EXPORT void fastdds_process_2(void *self, const int32_t *source, const int32_t *reception,
                              struct cdr_message *message) {
  received(reception, message);
  ((process *)original_of(&original_process_2))(self, source, reception, message);
}

EXPORT void fastdds_process_3(void *self, const int32_t *source, const int32_t *reception,
                              struct cdr_message *message) {
  received(reception, message);
  ((process *)original_of(&original_process_3))(self, source, reception, message);
}

/* SequenceNumber_t is {int32_t high; uint32_t low} */
static inline uint64_t sequence_of(const int32_t *number) {
  return (uint64_t)(uint32_t)number[0] << 32 | (uint32_t)number[1];
}

static inline void available(const void *reader, const uint8_t *writer, const int32_t *first, const int32_t *last) {
  if (!samples_recording() || (writer[15] & 0xc0) != 0) return;
  const uint8_t *guid = ((reader_guid *)original_of(&original_guid))(reader);
  uint64_t words[6];
  memcpy(words, guid, 16);
  memcpy(words + 2, writer, 16);
  words[4] = sequence_of(first);
  words[5] = sequence_of(last);
  thread_put(TACHO_DDS_DATA_AVAILABLE, words, 6);
}

EXPORT uintptr_t fastdds_available_2(void *self, const uint8_t *writer, const int32_t *first, const int32_t *last) {
  available(self, writer, first, last);
  return ((data_available *)original_of(&original_available_2))(self, writer, first, last);
}

EXPORT uintptr_t fastdds_available_3(void *self, const uint8_t *writer, const int32_t *first, const int32_t *last) {
  available(self, writer, first, last);
  return ((data_available *)original_of(&original_available_3))(self, writer, first, last);
}
