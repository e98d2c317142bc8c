// SPDX-License-Identifier: Apache-2.0
//
// A camera that replays the frames of a real video. It decodes each one, as a driver of a camera with compressed
// pictures does.
#include "files.hpp"
#include "kinds.hpp"

#include <tasks/pictures.hpp>

#include <turbojpeg.h>

#include <memory>

namespace camera {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"first", "", 0, 1e6, 0, "number of the frame that it begins with"},
    {"frames", "", 0, 1e6, 0, "how many frames it replays, again and again; 0: up to the last"},
};
enum { FIRST, FRAMES };
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("picture", sizeof(tasks::Picture))};

struct Destroy {
  void operator()(void *decoder) const { tjDestroy(decoder); }
};

class Video : public tasks::Task {
 public:
  explicit Video(const tasks::Config &config)
      : decoder_(tjInitDecompress()), paths_(files_of(file("video"), ".jpg")), output_(config.raw.outputs[0]) {
    if (!decoder_) throw std::runtime_error("found no decoder of JPEG, expected one");
    const auto first = static_cast<size_t>(config.value(FIRST)), count = static_cast<size_t>(config.value(FRAMES));
    if (first >= paths_.size() || count > paths_.size() - first) {
      throw std::runtime_error("found first: " + std::to_string(first) + ", frames: " + std::to_string(count) +
                               ", expected frames of the " + std::to_string(paths_.size()) + " in " +
                               paths_.front().parent_path().string());
    }
    paths_.erase(paths_.begin(), paths_.begin() + static_cast<std::ptrdiff_t>(first));
    if (count > 0) paths_.resize(count);
    frames_.reserve(paths_.size());
    for (const auto &path : paths_) frames_.push_back(contents(path));
    camera_ = size_of(0);
    tasks::require_room(output_, camera_);
    topic_ = output_.topic;
  }

  void run(const tacho_task_call &call) override {
    tacho_task_output &output = call.outputs[0];
    if (!output.data) return;
    const size_t index = shown_ % frames_.size();
    const tasks::Camera camera = size_of(index);
    if (camera.width != camera_.width || camera.height != camera_.height) {
      throw std::runtime_error(paths_[index].string() + ": found a picture of " + std::to_string(camera.width) + " x " +
                               std::to_string(camera.height) + ", expected the size of the first one");
    }
    const tasks::Picture head = {{tasks::Picture::KIND, static_cast<uint32_t>(index), call.now_ns}, camera_};
    std::memcpy(output.data, &head, sizeof head);
    auto *pixels = static_cast<unsigned char *>(output.data) + sizeof head;
    const std::vector<unsigned char> &frame = frames_[index];
    // A warning leaves a picture with damaged parts; a camera with a fault must not pass for one without.
    if (tjDecompress2(decoder_.get(), frame.data(), frame.size(), pixels, static_cast<int>(camera_.width), 0,
                      static_cast<int>(camera_.height), TJPF_BGR, 0) != 0) {
      refuse(index);
    }
    output.publish = 1;
    ++shown_;
  }

  void figures(const tasks::Figures &figure) override { figure("frames", "", static_cast<double>(shown_)); }

 private:
  tasks::Camera size_of(size_t index) {
    int width, height, samples, colours;
    const std::vector<unsigned char> &frame = frames_[index];
    if (tjDecompressHeader3(decoder_.get(), frame.data(), frame.size(), &width, &height, &samples, &colours) != 0) {
      refuse(index);
    }
    tasks::Camera camera{};
    // Its lens is not known. This is about that of a camera that watches a street.
    camera.focal = width;
    camera.centre_x = width / 2.0, camera.centre_y = height / 2.0;
    camera.width = static_cast<uint32_t>(width), camera.height = static_cast<uint32_t>(height);
    return camera;
  }

  [[noreturn]] void refuse(size_t index) {
    throw std::runtime_error(paths_[index].string() + ": cannot be decoded: " + tjGetErrorStr2(decoder_.get()));
  }

  std::unique_ptr<void, Destroy> decoder_;
  std::vector<std::filesystem::path> paths_;
  tacho_task_endpoint output_;
  std::string topic_;
  std::vector<std::vector<unsigned char>> frames_;
  tasks::Camera camera_{};
  uint64_t shown_ = 0;
};

}  // namespace

constexpr tacho_task_kind VIDEO =
    tasks::source<Video>("video", "the frames of a real video: people beside parked cars", PARAMETERS, OUTPUTS);

}  // namespace camera
