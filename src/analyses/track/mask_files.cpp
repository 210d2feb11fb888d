#include "src/analyses/track/mask_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

bool is_image_name(const std::string& name) { return name.ends_with(".nii") || name.ends_with(".nii.gz"); }

/// The name with its extension, or "" if there is no such image.
std::string find_image(const std::string& name) {
  if (is_image_name(name)) return fs::exists(name) ? name : "";
  for (const char* ending : {".nii.gz", ".nii"})
    if (fs::exists(name + ending)) return name + ending;
  return "";
}

void refuse_surface(const std::string& name, const char* option) {
  for (const char* ending : {".gii", ".asc", ".vtk"})
    if (name.ends_with(ending))
      throw failure(exit_status::usage,
                    fmt::format("--{} {}: surfaces are not supported; give an image", option, printable(name)));
  for (const char* kind : {"scalar", "label", "tseries", "conn"})
    if (name.ends_with(fmt::format(".d{}.nii", kind)))
      throw failure(exit_status::usage,
                    fmt::format("--{} {}: CIFTI files are not supported; give an image", option, printable(name)));
}

std::string read_text(const std::string& path, const char* option) {
  constexpr std::uint64_t max_bytes = 1 << 20;
  const input_file file(path);
  std::string text(static_cast<std::size_t>(std::min(file.size(), max_bytes)), '\0');
  file.read(0, text.data(), text.size());
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
  };
  if (file.size() > max_bytes || std::any_of(text.begin(), text.end(), is_control))
    throw failure(exit_status::bad_data,
                  fmt::format("--{}: {} is neither an image (.nii, .nii.gz) nor a text file with one image per line",
                              option, file.name()));
  return text;
}

std::vector<std::string> read_list(const std::string& path, const char* option) {
  std::istringstream text(read_text(path, option));
  std::vector<std::string> images;
  for (std::string line; std::getline(text, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    refuse_surface(line, option);
    std::string found = find_image(line);
    if (found.empty()) found = find_image((fs::path(path).parent_path() / line).string());
    images.push_back(found.empty() ? line : found);
  }
  if (images.empty())
    throw failure(exit_status::bad_data,
                  fmt::format("--{}: {} is empty, expected one image per line", option, printable(path)));
  return images;
}

}  // namespace

std::vector<std::string> find_mask_files(const std::vector<std::string>& names, const char* option) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    refuse_surface(name, option);
    const std::string image = find_image(name);
    if (!image.empty() || is_image_name(name) || !fs::is_regular_file(name)) {
      files.push_back(image.empty() ? name : image);
      continue;
    }
    const std::vector<std::string> listed = read_list(name, option);
    files.insert(files.end(), listed.begin(), listed.end());
  }
  return files;
}

}  // namespace voxherd
