#include "src/analyses/track/place_masks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "src/io/fingerprint.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

/// Calls use(mask number, place) for the voxels of each mask that a streamline can reach.
template <class Use>
void for_each_place(const std::vector<std::string>& paths, const char* option, const image_grid& grid, track_inputs& in,
                    const Use& use) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    in.provenance[fmt::format("{} {}", option, i + 1)] = fingerprint(paths[i]);
    for (const std::uint64_t v : read_labels(paths[i], grid, label_kind::mask).voxels_with({}))
      if (in.voxels[v].place >= 0) use(static_cast<std::uint32_t>(i), static_cast<std::size_t>(in.voxels[v].place));
  }
}

/// The file's name without folder and ending, by which the target's maps are called.
std::string mask_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (const char* ending : {".gz", ".nii"})
    if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
  return name;
}

}  // namespace

void read_exit_masks(const std::vector<std::string>& paths, const image_grid& grid, track_inputs& in) {
  if (paths.empty()) return;
  in.exits.assign(in.place_voxels.size(), 0);
  for_each_place(paths, "walk-through-stop", grid, in,
                 [&](std::uint32_t mask, std::size_t place) { in.exits[place] |= 1u << mask; });
}

void read_targets(const std::vector<std::string>& paths, const image_grid& grid, track_inputs& in) {
  if (paths.empty()) return;
  std::vector<std::vector<std::uint32_t>> of_place(in.place_voxels.size());
  for_each_place(paths, "targets", grid, in,
                 [&](std::uint32_t mask, std::size_t place) { of_place[place].push_back(mask); });
  in.target_begin.push_back(0);
  for (const auto& list : of_place) {
    in.targets.insert(in.targets.end(), list.begin(), list.end());
    in.target_begin.push_back(static_cast<std::uint32_t>(in.targets.size()));
  }
  for (const std::string& path : paths) {
    const std::string name = mask_name(path);
    if (std::find(in.target_names.begin(), in.target_names.end(), name) != in.target_names.end())
      throw failure(exit_status::usage,
                    fmt::format("--targets: two files are called {}, by which their maps are named", printable(name)));
    in.target_names.push_back(name);
  }
}

}  // namespace voxherd
