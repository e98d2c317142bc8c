// SPDX-License-Identifier: Apache-2.0
//
// Writes events from C++, through the recorder that is preloaded beside this library.
#ifndef TACHO_RECORDER_ROS1_RECORD_H_
#define TACHO_RECORDER_ROS1_RECORD_H_

#include <cstdint>
#include <string>

#include "tacho/events.h"

extern "C" void tacho_record(uint32_t kind, const uint64_t *words, uint32_t count);
extern "C" void tacho_record_texts(uint32_t kind, const uint64_t *words, uint32_t count, const char *const *texts,
                                   uint32_t text_count);
extern "C" void ros_trace_callback_start(const void *callback, bool is_intra_process);
extern "C" void ros_trace_callback_end(const void *callback);

inline uint64_t word(const void *handle) { return reinterpret_cast<uintptr_t>(handle); }
inline uint64_t word(uint64_t number) { return number; }

// Writes one event with these words.
template <class... Words>
inline void record(tacho_kind kind, Words... words) {
  const uint64_t payload[] = {word(words)...};
  tacho_record(kind, payload, sizeof...(words));
}

// Writes one event with two texts.
template <class... Words>
inline void record_texts(tacho_kind kind, const std::string &first, const std::string &second, Words... words) {
  const uint64_t payload[] = {word(words)...};
  const char *const texts[] = {first.c_str(), second.c_str()};
  tacho_record_texts(kind, payload, sizeof...(words), texts, 2);
}

// Writes one event with one text.
template <class... Words>
inline void record_text(tacho_kind kind, const std::string &text, Words... words) {
  const uint64_t payload[] = {word(words)...};
  const char *const texts[] = {text.c_str()};
  tacho_record_texts(kind, payload, sizeof...(words), texts, 1);
}

// Makes an object once and never destroys it, because roscpp's threads continue to call the hooks while the program
// exits.
template <class T>
inline T &lasting() {
  return *new T;
}

// Records callback_start now, and callback_end when the scope ends, even by an exception. It adds CPU times if the user
// asked for them.
class Execution {
 public:
  explicit Execution(const void *callback) : callback_(callback) { ros_trace_callback_start(callback, false); }
  ~Execution() { ros_trace_callback_end(callback_); }
  Execution(const Execution &) = delete;
  Execution &operator=(const Execution &) = delete;

 private:
  const void *callback_;
};

#endif
