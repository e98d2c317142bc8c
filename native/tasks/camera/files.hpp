// SPDX-License-Identifier: Apache-2.0
//
// The files that set-up got for these tasks: the detector, the video, people cut out of it.
#ifndef TACHO_TASKS_CAMERA_FILES_HPP_
#define TACHO_TASKS_CAMERA_FILES_HPP_

#include <filesystem>
#include <string>
#include <vector>

namespace camera {

// ../perception/camera/NAME from the folder of this library. It need not exist.
std::filesystem::path file(const std::string &name);

// All bytes of a file. Throws if it cannot be read, with how to get it.
std::vector<unsigned char> contents(const std::filesystem::path &path);

// The files of a folder with this ending, by their names. Throws if there are none.
std::vector<std::filesystem::path> files_of(const std::filesystem::path &folder, const std::string &ending);

}  // namespace camera

#endif  // TACHO_TASKS_CAMERA_FILES_HPP_
