#include "src/tools/bids/folder_files.hpp"

#include <algorithm>
#include <system_error>

#include "src/io/input_file.hpp"

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

std::vector<std::string> list_inherited(const fs::path& root, const fs::path& folder, const bids_name& series,
                                        const std::string& extension) {
  std::vector<std::string> paths;
  for (fs::path at = folder;; at = at.parent_path()) {
    std::vector<named_file> files = list_bids_files(at);
    std::erase_if(files, [&](const named_file& file) {
      return file.name.suffix != series.suffix || file.name.extension != extension || !has_entities(series, file.name);
    });
    std::stable_sort(files.begin(), files.end(), [](const named_file& a, const named_file& b) {
      return a.name.entities.size() > b.name.entities.size();
    });
    for (const named_file& file : files) paths.push_back(file.path);
    if (at == root || at == at.parent_path()) return paths;
  }
}

bool is_image(const bids_name& name) { return name.extension == ".nii" || name.extension == ".nii.gz"; }

std::string read_text(const std::string& path) {
  const input_file file(path);
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  return text;
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
