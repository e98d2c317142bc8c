// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace camera {
namespace {

constexpr const char *MEND = ": make perception";

}  // namespace

std::filesystem::path file(const std::string &name) {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&file), &info) || !info.dli_fname) {
    throw std::runtime_error("found no path of the library of camera tasks, expected one from the dynamic linker");
  }
  return std::filesystem::path(info.dli_fname).parent_path().parent_path() / "perception" / "camera" / name;
}

std::vector<unsigned char> contents(const std::filesystem::path &path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path.string() + ": cannot be read" + MEND);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path &folder, const std::string &ending) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ending) found.push_back(entry.path());
  }
  if (found.empty())
    throw std::runtime_error(folder.string() + ": found no file *" + ending + ", expected some" + MEND);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace camera
