// SPDX-License-Identifier: Apache-2.0
//
// Pictures of people with transparency around them, which the drawn world shows as its obstacles.
#ifndef TACHO_TASKS_CAMERA_PEOPLE_HPP_
#define TACHO_TASKS_CAMERA_PEOPLE_HPP_

#include <filesystem>
#include <opencv2/core.hpp>

namespace camera {

// Reads a picture in PAM with four channels; gives blue, green, red, opacity.
cv::Mat read_pam(const std::filesystem::path &path);

// Puts a person into a picture at this size; what lies outside of the picture is cut.
void paste(const cv::Mat &person, const cv::Rect &at, cv::Mat &picture);

}  // namespace camera

#endif  // TACHO_TASKS_CAMERA_PEOPLE_HPP_
