#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "core/failure.hpp"
#include "kernels/track/settings.hpp"
#include "src/analyses/track/tracts.hpp"
#include "src/io/input_file.hpp"
#include "src/io/text_file.hpp"

namespace voxherd {

namespace {

namespace fs = std::filesystem;

/// Whether the folder has a file or a link of this name, also one that leads nowhere: its reader refuses it.
bool has_file(const fs::path& path) {
  std::error_code missing;
  return fs::exists(fs::symlink_status(path, missing));
}

/// "" if there is no such image.
std::string find_tract_image(const fs::path& folder, const std::string& name) {
  for (const char* ending : {".nii.gz", ".nii"})
    if (const fs::path path = folder / (name + ending); has_file(path)) return path.string();
  return "";
}

/// The number in a name such as target2.nii.gz; 0 without one; -1 for other names.
int target_number(const std::string& name) {
  constexpr std::string_view word = "target";
  const std::string stem = name.substr(0, name.find('.'));
  const std::string ending = name.substr(stem.size());
  if (!stem.starts_with(word) || (ending != ".nii" && ending != ".nii.gz")) return -1;
  if (stem == word) return 0;
  int number = 0;
  const auto [end, error] = std::from_chars(stem.data() + word.size(), stem.data() + stem.size(), number);
  return error == std::errc() && end == stem.data() + stem.size() ? number : -1;
}

std::vector<std::string> find_targets(const fs::path& folder) {
  std::vector<std::pair<int, std::string>> numbered;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const int number = target_number(entry.path().filename().string());
    if (number >= 0) numbered.emplace_back(number, entry.path().string());
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<std::string> paths;
  for (auto& [number, path] : numbered) paths.push_back(path);
  return paths;
}

/// Names become parts of the result's names.
void check_name(const std::string& name, const std::string& where) {
  const auto usual = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  if (!name.empty() && std::all_of(name.begin(), name.end(), usual)) return;
  refuse_data("{}: the tract's name \"{}\" is not made of letters, digits, _ and -", where, name);
}

tract_protocol read_tract(const fs::path& root, const std::string& name, double factor) {
  const fs::path folder = root / name;
  check_name(name, root.string());
  std::error_code too_long;  // a line of any text
  if (!fs::is_directory(folder, too_long))
    refuse_missing("{}: no such folder; expected the masks of a tract", folder.string());
  tract_protocol t{name,
                   find_tract_image(folder, "seed"),
                   find_tract_image(folder, "stop"),
                   find_tract_image(folder, "exclude"),
                   {}};
  if (t.seed.empty()) refuse_missing("{}: has no seed.nii.gz", folder.string());
  t.targets = find_targets(folder);
  t.ordered = has_file(folder / "wayorder") && t.targets.size() > 1;
  t.inverted = has_file(folder / "invert");
  t.factor = factor;
  if (t.inverted && t.targets.empty())
    refuse_data("{}: has a file invert, but no target.nii.gz to start from", folder.string());
  if (t.targets.size() > static_cast<std::size_t>(track::max_includes))
    refuse_data("{}: has {} targets, expected at most {}; remove some", folder.string(), t.targets.size(),
                track::max_includes);
  return t;
}

std::vector<tract_protocol> read_listed(const std::string& folder, const std::string& list) {
  std::vector<tract_protocol> tracts;
  int number = 0;
  for (const std::string& line : read_text_lines(list, "names of tracts, one per line")) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, factor_text = "1", minutes, more;
    if (!(words >> name)) continue;
    words >> factor_text >> minutes;  // lists of autoPtx also have a time limit
    char* end = nullptr;
    const double factor = std::strtod(factor_text.c_str(), &end);
    if (*end != '\0' || !(factor > 0 && factor <= 1e6) ||
        minutes.find_first_not_of("0123456789:") != std::string::npos || words >> more)
      refuse_data(
          "{} line {}: found \"{}\", expected the name of a tract and a factor of the number of "
          "streamlines",
          list, number, line);
    for (const tract_protocol& t : tracts)
      if (t.name == name) refuse_data("{} line {}: {} is listed twice", list, number, name);
    tracts.push_back(read_tract(folder, name, factor));
  }
  if (tracts.empty()) refuse_data("{}: lists no tract", list);
  return tracts;
}

}  // namespace

std::vector<std::string> tract_protocol::files() const {
  std::vector<std::string> all = {seed};
  for (const std::string& path : {stop, exclude})
    if (!path.empty()) all.push_back(path);
  all.insert(all.end(), targets.begin(), targets.end());
  return all;
}

std::vector<tract_protocol> read_tract_protocols(const std::string& folder, const std::string& list) {
  if (!fs::is_directory(folder)) refuse_missing("{}: no such folder; expected one folder per tract in it", folder);
  const std::string own_list = (fs::path(folder) / "structureList").string();
  if (!list.empty()) return read_listed(folder, list);
  if (has_file(own_list)) return read_listed(folder, own_list);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && !find_tract_image(entry.path(), "seed").empty())
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::vector<tract_protocol> tracts;
  for (const std::string& name : names) tracts.push_back(read_tract(folder, name, 1));
  if (tracts.empty()) refuse_missing("{}: no folder in it has a seed.nii.gz; expected one folder per tract", folder);
  return tracts;
}

}  // namespace voxherd
