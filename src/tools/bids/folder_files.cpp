#include "src/tools/bids/folder_files.hpp"

#include <algorithm>
#include <system_error>

namespace voxherd {

namespace fs = std::filesystem;

std::vector<named_file> list_bids_files(const fs::path& folder) {
  std::vector<named_file> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    const auto name = parse_bids_name(entry.path().filename().string());
    std::error_code ignored;
    if (name && !entry.is_directory(ignored)) files.push_back({entry.path().string(), *name});
  }
  std::sort(files.begin(), files.end(), [](const named_file& a, const named_file& b) { return a.path < b.path; });
  return files;
}

std::vector<fs::path> list_folders(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> folders;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    std::error_code ignored;
    if (entry.is_directory(ignored) && entry.path().filename().string().starts_with(prefix))
      folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace voxherd
