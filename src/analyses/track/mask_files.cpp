#include "src/analyses/track/mask_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/text.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/nifti.hpp"
#include "src/io/surfaces/surfaces.hpp"
#include "src/io/text_file.hpp"
#include "src/scan/image_checks.hpp"
#include "src/scan/surface_space.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

void refuse_cifti(const std::string& name, const char* option) {
  for (const char* kind : {"scalar", "label", "tseries", "conn"})
    if (name.ends_with(fmt::format(".d{}.nii", kind)))
      refuse_usage("--{} {}: CIFTI files are not supported; give an image", option, name);
}

std::vector<std::string> read_lines(const std::string& path, const char* option) {
  constexpr std::uint64_t max_bytes = 1 << 20;
  constexpr const char* expected =
      "an image (.nii, .nii.gz), a surface (.surf.gii, text of FreeSurfer or VTK) or a text file with names of masks";
  std::vector<std::string> lines = read_text_lines(path, expected, max_bytes);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; };
  for (const std::string& line : lines)
    if (std::any_of(line.begin(), line.end(), is_control))
      refuse_data("--{}: {}: contains binary data, expected {}", option, path, expected);
  return lines;
}

/// The path of an image or a surface; "" if there is none.
std::string find_mask(const std::string& name) {
  const std::string image = find_image(name);
  std::error_code none;  // for example a name that is too long
  return image.empty() && fs::is_regular_file(name, none) && is_surface_file(name) ? name : image;
}

/// The path of a mask of a list; "" if there is none.
std::string find_listed(const std::string& name, const std::string& list, const char* option) {
  refuse_cifti(name, option);
  const std::string found = find_mask(name);
  return found.empty() ? find_mask((fs::path(list).parent_path() / name).string()) : found;
}

/// The masks of line `number`: FSL separates names by white space, and a name of ours may contain blanks.
std::vector<std::string> find_in_line(const std::string& line, int number, const std::string& list,
                                      const char* option) {
  if (const std::string whole = find_listed(line, list, option); !whole.empty()) return {whole};
  std::istringstream words(line);
  std::vector<std::string> masks;
  for (std::string word; words >> word;) {
    const std::string found = find_listed(word, list, option);
    if (found.empty())
      refuse_missing(
          "--{}: {} line {}: {}: no such file; expected names of images or surfaces, separated "
          "by blanks or line ends",
          option, list, number, word);
    masks.push_back(found);
  }
  return masks;
}

std::vector<std::string> read_list(const std::string& path, const char* option) {
  std::vector<std::string> masks;
  int number = 0;
  for (std::string line : read_lines(path, option)) {
    ++number;
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t") - first + 1);
    for (std::string& mask : find_in_line(line, number, path, option)) masks.push_back(std::move(mask));
  }
  if (masks.empty()) refuse_data("--{}: {} is empty, expected names of masks", option, path);
  return masks;
}

}  // namespace

std::string find_mask_file(const std::string& name, const char* option) {
  refuse_cifti(name, option);
  const std::string found = find_mask(name), image = found.empty() ? name : found;
  if (is_surface_mask(image)) refuse_usage("--{} {}: is a surface, expected an image", option, name);
  return image;
}

std::vector<std::string> find_mask_files(const std::vector<std::string>& names, const char* option) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    refuse_cifti(name, option);
    const std::string mask = find_mask(name);
    std::error_code none;
    if (!mask.empty() || is_nifti_name(name) || !fs::is_regular_file(name, none)) {
      files.push_back(mask.empty() ? name : mask);
      continue;
    }
    const std::vector<std::string> listed = read_list(name, option);
    files.insert(files.end(), listed.begin(), listed.end());
  }
  return files;
}

std::string mask_name(const std::string& path) {
  return one_line(is_surface_mask(path) ? valid_utf8(std::filesystem::path(path).filename().string())
                                        : image_name(path));
}

const std::string& first_image(const std::vector<std::string>& masks) {
  const auto found = std::find_if_not(masks.begin(), masks.end(), is_surface_mask);
  if (found == masks.end())
    refuse_usage("--xfm: the seeds are surfaces ({}); give --seedref, the image in whose space they are",
                 masks.front());
  return *found;
}

}  // namespace voxherd
