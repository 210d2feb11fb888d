#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/failure.hpp"
#include "src/analyses/track/places.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/scan/image_checks.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

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
                  fmt::format("--{}: {} is neither an image (.nii, .nii.gz) nor a text file with names of images",
                              option, file.name()));
  return text;
}

/// The path of an image of a list; "" if there is none.
std::string find_listed(const std::string& name, const std::string& list, const char* option) {
  refuse_surface(name, option);
  const std::string found = find_image(name);
  return found.empty() ? find_image((fs::path(list).parent_path() / name).string()) : found;
}

/// The images of line `number`: FSL separates names by white space, and a name of ours may contain blanks.
std::vector<std::string> find_in_line(const std::string& line, int number, const std::string& list,
                                      const char* option) {
  if (const std::string whole = find_listed(line, list, option); !whole.empty()) return {whole};
  std::istringstream words(line);
  std::vector<std::string> images;
  for (std::string word; words >> word;) {
    const std::string found = find_listed(word, list, option);
    if (found.empty())
      throw failure(exit_status::missing_input,
                    fmt::format("--{}: {} line {}: {}: no such file; expected names of images, separated by blanks or "
                                "line ends",
                                option, printable(list), number, printable(word)));
    images.push_back(found);
  }
  return images;
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
    for (std::string& image : find_in_line(line, number, path, option)) images.push_back(std::move(image));
  }
  if (images.empty())
    throw failure(exit_status::bad_data,
                  fmt::format("--{}: {} is empty, expected names of images", option, printable(path)));
  return images;
}

}  // namespace

std::string find_mask_file(const std::string& name, const char* option) {
  refuse_surface(name, option);
  const std::string image = find_image(name);
  return image.empty() ? name : image;
}

std::vector<std::string> find_mask_files(const std::vector<std::string>& names, const char* option) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    const std::string image = find_mask_file(name, option);
    std::error_code none;  // for example a name that is too long
    if (is_nifti_name(image) || !fs::is_regular_file(name, none)) {
      files.push_back(image);
      continue;
    }
    const std::vector<std::string> listed = read_list(name, option);
    files.insert(files.end(), listed.begin(), listed.end());
  }
  return files;
}

}  // namespace voxherd
