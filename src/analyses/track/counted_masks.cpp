#include "src/analyses/track/counted_masks.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/failure.hpp"
#include "src/analyses/track/mask_files.hpp"

namespace voxherd {

namespace {

/// Calls use(mask number, place) for the voxels of each mask that a streamline can reach, and of_surface(mask number,
/// surface) for each surface.
template <class Use, class OfSurface>
void for_each_place(const std::vector<std::string>& paths, const char* option, mask_reader& masks, const Use& use,
                    const OfSurface& of_surface) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    const std::string name = fmt::format("{} {}", option, i + 1);
    masks.note(name, paths[i]);
    if (is_surface_mask(paths[i])) {
      of_surface(number, masks.surfaces().add(paths[i]));
      continue;
    }
    for (const std::uint64_t v : masks.noted_voxels(name, masks.read_image(paths[i], label_kind::mask)))
      if (const std::int32_t place = masks.places().voxels[v].place; place >= 0)
        use(number, static_cast<std::size_t>(place));
  }
}

bool has_images(const std::vector<std::string>& paths) {
  return !std::all_of(paths.begin(), paths.end(), is_surface_mask);
}

std::vector<std::uint32_t> read_exit_masks(const std::vector<std::string>& paths, mask_reader& masks) {
  std::vector<std::uint32_t> exits;
  if (has_images(paths)) exits.assign(masks.places().place_voxels.size(), 0);
  for_each_place(
      paths, "walk-through-stop", masks, [&](std::uint32_t mask, std::size_t place) { exits[place] |= 1u << mask; },
      [&](std::uint32_t mask, std::size_t surface) { masks.surfaces().use(surface).exits |= 1u << mask; });
  return exits;
}

/// Adds the targets, whose columns follow those of the `regions` of the seeds.
void read_targets(const std::vector<std::string>& paths, std::size_t regions, mask_reader& masks, track_masks& all) {
  if (paths.empty()) return;
  std::vector<std::vector<std::uint32_t>> of_place(masks.places().place_voxels.size());
  const auto first = static_cast<std::uint32_t>(regions);
  for_each_place(
      paths, "targets", masks, [&](std::uint32_t mask, std::size_t place) { of_place[place].push_back(first + mask); },
      [&](std::uint32_t mask, std::size_t surface) { masks.surfaces().add_target(surface, first + mask); });
  all.target_begin.push_back(0);
  for (const auto& list : of_place) {
    all.targets.insert(all.targets.end(), list.begin(), list.end());
    all.target_begin.push_back(static_cast<std::uint32_t>(all.targets.size()));
  }
  for (const std::string& path : paths) {
    const std::string name = mask_name(path);
    if (std::find(all.target_names.begin(), all.target_names.end(), name) != all.target_names.end())
      refuse_usage("--targets: two files are called {}, by which their maps are named", name);
    all.target_names.push_back(name);
  }
}

/// Surfaces whose vertices are columns of a matrix.
void add_column_surfaces(const track_request& request, const found_seeds& seeds, surface_reader& surfaces) {
  if (!request.matrix1.empty() && !seeds.places.empty()) surfaces.need_columns();
  for (const column_option& option : column_options) {
    const std::string& mask = request.*option.mask;
    if (mask.empty()) continue;
    for (const std::string& path : find_mask_files({mask}, option.name)) {
      if (!is_surface_mask(path)) continue;
      (void)surfaces.add(path);
      surfaces.need_columns();
    }
  }
}

}  // namespace

track_masks read_counted_masks(const track_request& request, const found_seeds& seeds, mask_reader& masks) {
  track_masks all;
  all.exits = read_exit_masks(request.walk_through_stop, masks);
  read_targets(request.targets, seeds.labels.size(), masks, all);
  add_column_surfaces(request, seeds, masks.surfaces());
  return all;
}

}  // namespace voxherd
