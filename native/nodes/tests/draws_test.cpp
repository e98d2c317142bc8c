// SPDX-License-Identifier: Apache-2.0
//
// One seed draws the same in Rust, C++ and Python: a test of each reads tests/fixtures/draws.txt, which is the argument.
#include "draws.hpp"

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

int main(int, char **arguments) {
  std::ifstream file(arguments[1]);
  std::set<std::string> kinds;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    uint64_t seed = 0;
    int64_t first = 0, second = 0;
    std::string what, equals;
    words >> seed >> what;
    if (what != "bits") words >> first >> second;
    words >> equals;
    Draws draws(seed);
    for (uint64_t expected; words >> expected;) {
      const uint64_t drawn = what == "bits"      ? draws.bits()
                             : what == "uniform" ? static_cast<uint64_t>(draws.uniform_ns(first, second))
                                                 : static_cast<uint64_t>(draws.normal_ns(first, second));
      if (drawn != expected) {
        std::fprintf(stderr, "%s: drawn %llu instead of %llu\n", line.c_str(), static_cast<unsigned long long>(drawn),
                     static_cast<unsigned long long>(expected));
        return 1;
      }
      kinds.insert(what);
    }
  }
  if (kinds == std::set<std::string>{"bits", "uniform", "normal"}) return 0;
  std::fprintf(stderr, "%s: expected lines of bits, uniform and normal, found %zu kinds\n", arguments[1], kinds.size());
  return 1;
}
