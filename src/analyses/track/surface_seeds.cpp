#include "src/analyses/track/surface_seeds.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"
#include "src/scan/label_image.hpp"

namespace voxherd {

namespace {

namespace mark = track::mark;

/// Makes the active vertices of a surface seeds, also those outside the samples. `before`: vertices of the surfaces
/// before it in the list, which key the random numbers beyond those of the voxels. Returns whether any is in the
/// samples.
bool add_vertex_seeds(std::size_t surface, std::uint32_t file, std::uint32_t region, std::uint64_t before,
                      mask_reader& masks, found_seeds& found) {
  const surface_masks& surfaces = masks.surfaces().masks();
  const surface_masks::file& mesh = surfaces.files()[surface];
  const fsl_grid& grid = masks.grid();
  const grid_space space(grid);
  bool any = false;
  for (std::uint32_t i = 0; i < mesh.vertices; ++i) {
    const std::size_t vertex = mesh.first_vertex + i;
    if (!surfaces.is_active(vertex)) continue;
    const vector3 position = surfaces.position(vertex);
    const std::array<float, 3> p = to_float(position);
    found.seeds.push_back({{p[0], p[1], p[2]}, static_cast<std::uint32_t>(grid.voxel_count() + before + i), region});
    found.places.push_back({file, i, static_cast<std::uint32_t>(vertex), to_float(space.to_world(position))});
    const auto voxel = find_voxel(grid, position);
    any = any || (voxel && masks.has_samples(*voxel));
  }
  return any;
}

/// Seeds of a list with surfaces, in its order. `owner`: number of the image, from 1, that already has the voxel.
class listed_seeds {
 public:
  listed_seeds(const std::vector<std::string>& paths, bool network, mask_reader& masks)
      : paths_(paths), network_(network), masks_(masks), owner_(masks.grid().voxel_count()), world_(masks.grid()) {}

  void add(std::size_t i) {
    const std::uint32_t region = network_ ? static_cast<std::uint32_t>(i) + 1 : 0;
    is_surface_mask(paths_[i]) ? add_surface(i, region) : add_image(i, region);
    if (network_) found_.labels.push_back(static_cast<std::int64_t>(i) + 1);
  }

  found_seeds finish() {
    if (!any_samples_ && !found_.seeds.empty())
      refuse_data("{}, ...: none of the {} seeds has samples; do they belong to this subject?", paths_.front(),
                  found_.seeds.size());
    found_.files = describe_list(paths_, sizes_, masks_.surfaces().masks());
    return std::move(found_);
  }

 private:
  void add_surface(std::size_t i, std::uint32_t region) {
    if (std::count(paths_.begin(), paths_.end(), paths_[i]) > 1)
      refuse_usage("the seeds have the surface {} twice", paths_[i]);
    surface_reader& surfaces = masks_.surfaces();
    const std::size_t surface = surfaces.add(paths_[i]);
    surfaces.use(surface).marks |= region << mark::region;
    const surface_masks::file& mesh = surfaces.masks().files()[surface];
    if (const std::string& labels = mesh.label_file; network_ && !labels.empty())
      spdlog::warn(
          "--surface-values {}: its labels are one region; for a region each, write --matrix1 and export it with "
          "--parcels {}",
          labels, labels);
    any_samples_ |= add_vertex_seeds(surface, static_cast<std::uint32_t>(i), region, vertices_, masks_, found_);
    sizes_.push_back(mesh.vertices);
    vertices_ += sizes_.back();
  }

  void add_image(std::size_t i, std::uint32_t region) {
    const auto number = static_cast<std::uint32_t>(i);
    std::uint32_t place = 0;
    for (const std::uint64_t v : masks_.read_image(paths_[i], label_kind::mask).voxels_with({})) {
      const vector3 position_mm = world_.to_world(voxel_position(masks_.grid(), v));
      const list_place here = {number, place++, list_place::no_vertex, to_float(position_mm)};
      if (owner_[v] != 0 && network_)
        refuse_data("--connectome: {} and {} overlap; remove the overlap from one of them", paths_[owner_[v] - 1],
                    paths_[i]);
      if (owner_[v] != 0) continue;
      owner_[v] = number + 1;
      masks_.mark(v, region << mark::region);
      if (!masks_.has_samples(v)) continue;
      any_samples_ = true;
      found_.seeds.push_back(seed_at(masks_.grid(), v, region));
      found_.places.push_back(here);
    }
    sizes_.push_back(place);
  }

  const std::vector<std::string>& paths_;
  bool network_, any_samples_ = false;
  mask_reader& masks_;
  found_seeds found_;
  std::vector<std::uint32_t> owner_;
  grid_space world_;
  std::vector<std::uint64_t> sizes_;  ///< vertices or voxels of each file
  std::uint64_t vertices_ = 0;
};

}  // namespace

track::seed seed_at(const image_grid& grid, std::uint64_t voxel, std::uint32_t region) {
  const auto at = [](std::uint64_t n) { return static_cast<float>(n); };
  const auto& n = grid.size;
  return {{at(voxel % n[0]), at(voxel / n[0] % n[1]), at(voxel / (n[0] * n[1]))},
          static_cast<std::uint32_t>(voxel),
          region};
}

found_seeds read_listed_seeds(const track_request& request, mask_reader& masks) {
  const std::vector<std::string>& paths = request.seeds();
  if (request.has_seeds_in_regions() && paths.size() < 2)
    refuse_usage("--connectome {}: is one surface, expected at least two masks", paths.front());
  listed_seeds list(paths, request.has_seeds_in_regions(), masks);
  for (std::size_t i = 0; i < paths.size(); ++i) list.add(i);
  return list.finish();
}

void warn_of_separate_surfaces(const track_inputs& in, std::uint64_t joining) {
  std::set<std::uint32_t> surfaces;
  for (const list_place& seed : in.seed_places)
    if (seed.is_vertex()) surfaces.insert(seed.file);
  if (joining > 0 || surfaces.size() < 2) return;
  spdlog::warn(
      "no streamline joins two of the {} surfaces of seeds; a closed surface of --stop or --exclude, such as a pial "
      "surface, "
      "ends all of them at its medial wall: restrict it to cortex with --surface-values (docs/commands/track.md, "
      "Surfaces)",
      surfaces.size());
}

}  // namespace voxherd
