#include "src/fsl/slices.hpp"

#include <fmt/core.h>

#include <filesystem>

namespace voxherd {

namespace fs = std::filesystem;

std::string subject_path(const std::string& subject) {
  const fs::path path = fs::absolute(subject).lexically_normal();
  return path.filename().empty() ? path.parent_path().string() : path.string();  // "subject/" has an empty name
}

std::string slice_image(const std::string& subject, const std::string& image, std::uint64_t slice) {
  return fmt::format("{}/{}_slice_{:04}", subject, image, slice);
}

std::string slice_folder(const std::string& subject, std::uint64_t slice) {
  return fmt::format("{}.bedpostX/diff_slices/data_slice_{:04}", subject, slice);
}

}  // namespace voxherd
