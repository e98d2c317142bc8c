// SPDX-License-Identifier: Apache-2.0
//
// A preloaded library that makes the connecting thread of Fast DDS 3 over TCP lose its CPU at the worst moment, each
// time: between the call that begins to connect and the one that notes the logical port
// (native/middleware/fastdds/greeting.h). If libfastdds.so lacks that function, it does nothing.
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <thread>

#define LATE "_ZN8eprosima7fastdds4rtps18TCPChannelResource16add_logical_portEtPNS1_18RTCPMessageManagerE"

extern "C" void late(void *channel, uint16_t port, void *manager) __asm__(LATE);
void late(void *channel, uint16_t port, void *manager) {
  // The plugin that loads the library is not in the scope of a preloaded one.
  static void *const library = dlopen("libfastdds.so.3.2", RTLD_NOW | RTLD_NOLOAD);
  static const auto real =
      reinterpret_cast<void (*)(void *, uint16_t, void *)>(library ? dlsym(library, LATE) : nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  real(channel, port, manager);
}
