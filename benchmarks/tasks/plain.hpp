// SPDX-License-Identifier: Apache-2.0
//
// What the plain programs share: a message from a file, and the CPU time of a call.
#pragma once

#include <tasks/clouds.hpp>
#include <tasks/pictures.hpp>

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

inline std::vector<char> read(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline long cpu_ns() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

// Prints the least CPU time of the calls, ns, and what the last one gave.
template <class Call>
void measure(int calls, Call call) {
  long least = 0;
  double result = 0;
  for (int i = 0; i < calls; ++i) {
    const long before = cpu_ns();
    result = call();
    const long taken = cpu_ns() - before;
    least = i == 0 ? taken : std::min(least, taken);
  }
  std::printf("%ld %.9g\n", least, result);
}
