#include "src/analyses/track/mask_reader.hpp"

#include <fmt/core.h>

#include "core/failure.hpp"
#include "core/text.hpp"
#include "src/analyses/track/places.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

namespace {

void check_field(const track_request& request, const sample_contents& samples, const track_space& space) {
  refuse_large_image(samples.grid);
  refuse_large_image(space.grid);
  if (request.start_fibre > samples.fibres)
    refuse_usage("--start-fibre {}: the samples have {}", request.start_fibre,
                 counted(static_cast<std::uint64_t>(samples.fibres), "fibre"));
}

}  // namespace

mask_reader::mask_reader(const track_request& request, const sample_contents& samples, const track_space& space)
    : samples_(samples),
      space_(space),
      reference_(seed_space_image(request)),
      rules_(request.masks),
      surfaces_(request.meshes, request.values_of, space.grid) {
  check_field(request, samples, space);
  found_places found = find_places(request, samples, space);
  places_ = std::move(found.places);
  warp_error_ = found.warp_error;
  notes_ = std::move(found.provenance);
}

bool mask_reader::has_samples(std::uint64_t voxel) const {
  if (!space_.is_separate) return (places_.voxels[voxel].marks & track::mark::inside) != 0;
  const auto at = find_voxel(samples_.grid, space_.to_samples(voxel_position(space_.grid, voxel)));
  return at && (places_.sample_voxels[*at].marks & track::mark::inside) != 0;
}

label_image mask_reader::read_image(const std::string& path, label_kind kind) const {
  return read_labels(path, space_.grid, kind, reference_, rules_);
}

std::vector<std::uint64_t> mask_reader::noted_voxels(const std::string& name, const label_image& image) {
  return counted_voxels(image, notes_[name]);
}

void mask_reader::move_marks(track_draw& draw) {
  for (std::size_t v = 0; v < places_.voxels.size(); ++v) {
    std::uint32_t& marks = places_.voxels[v].marks;
    const std::uint32_t own = marks & ~track::mark::inside;
    marks &= track::mark::inside;
    if (own == 0) continue;
    draw.marked.push_back(static_cast<std::uint32_t>(v));
    draw.marks.push_back(own);
  }
}

}  // namespace voxherd
