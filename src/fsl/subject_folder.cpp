#include "src/fsl/subject_folder.hpp"

#include <filesystem>

#include "core/failure.hpp"

namespace voxherd {

namespace fs = std::filesystem;

std::optional<std::string> find_only_image(const std::string& folder, const std::string& name) {
  std::optional<std::string> found;
  for (const char* ending : {".nii.gz", ".nii"}) {
    const std::string path = folder + "/" + name + ending;
    if (!fs::exists(path)) continue;
    if (found) refuse_usage("both {} and {} exist; remove one of them", *found, path);
    found = path;
  }
  return found;
}

std::optional<std::string> find_either(const std::string& folder, const std::string& one, const std::string& other) {
  const auto found = find_only_image(folder, one);
  return found ? found : find_only_image(folder, other);
}

std::optional<std::string> find_text(const std::string& folder, const std::string& name) {
  for (const char* ending : {"", ".txt"})
    if (const std::string path = folder + "/" + name + ending; fs::exists(path)) return path;
  return std::nullopt;
}

std::string require_file(const std::optional<std::string>& found, const std::string& folder, const char* names) {
  if (found) return *found;
  refuse_missing("{}: found no {} in this folder", folder, names);
}

}  // namespace voxherd
