#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/failure.hpp"
#include "src/analyses/track/places.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/image_checks.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// Of any text, such as a line of a list: what is too long for a name is none.
bool is_name_of_file(const std::string& text) {
  std::error_code too_long;
  return fs::exists(text, too_long);
}

/// The name with its extension, or "" if there is no such image.
std::string find_mask_image(const std::string& name) {
  if (is_nifti_name(name)) return is_name_of_file(name) ? name : "";
  for (const char* ending : {".nii.gz", ".nii"})
    if (is_name_of_file(name + ending)) return name + ending;
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
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    refuse_surface(line, option);
    std::string found = find_mask_image(line);
    if (found.empty()) found = find_mask_image((fs::path(path).parent_path() / line).string());
    if (found.empty())
      throw failure(exit_status::missing_input,
                    fmt::format("--{}: {} line {}: {}: no such file; expected one image per line", option,
                                printable(path), number, printable(line)));
    images.push_back(found);
  }
  if (images.empty())
    throw failure(exit_status::bad_data,
                  fmt::format("--{}: {} is empty, expected one image per line", option, printable(path)));
  return images;
}

}  // namespace

std::string find_mask_file(const std::string& name, const char* option) {
  refuse_surface(name, option);
  const std::string image = find_mask_image(name);
  return image.empty() ? name : image;
}

std::vector<std::string> find_mask_files(const std::vector<std::string>& names, const char* option) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    const std::string image = find_mask_file(name, option);
    if (is_nifti_name(image) || !is_name_of_file(name) || !fs::is_regular_file(name)) {
      files.push_back(image);
      continue;
    }
    const std::vector<std::string> listed = read_list(name, option);
    files.insert(files.end(), listed.begin(), listed.end());
  }
  return files;
}

}  // namespace voxherd
