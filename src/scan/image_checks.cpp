#include "src/scan/image_checks.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "core/escape.hpp"
#include "core/failure.hpp"
#include "core/utf8.hpp"
#include "src/io/input_file.hpp"
#include "src/io/nifti/companion.hpp"

namespace voxherd {

namespace {

std::string size_text(const image_grid& grid) {
  return fmt::format("{} x {} x {}", grid.size[0], grid.size[1], grid.size[2]);
}

/// Properties of a file as seen by this rank, to be compared with rank 0's.
std::string appearance(const nifti_header& h) {
  return fmt::format("{} bytes, {} x {} x {} x {}, type {}", input_file(h.path).size(), h.grid.size[0], h.grid.size[1],
                     h.grid.size[2], h.volumes, h.datatype);
}

}  // namespace

std::string image_name(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (const std::string_view ending : {".gz", ".nii"})
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  return valid_utf8(name);
}

void log_warnings(const nifti_header& header) {
  for (const std::string& text : header.warnings) spdlog::warn("{}: {}", header.path, text);
}

void bring_to_grid(nifti_header& companion, const nifti_header& image, mask_rules rules) {
  const std::string& name = companion.path;
  const auto found = match_companion(companion, image);
  const bool are_placed = has_orientation(companion.geometry) && has_orientation(image.geometry);
  const double apart = found && are_placed ? apart_in_voxels(reordered(companion.grid, found->order), image.grid) : 0;
  const bool is_elsewhere = apart >= same_voxel_voxels;
  const bool has_same_size = companion.grid.size == image.grid.size;
  if (!found || (is_elsewhere && !has_same_size)) {
    refuse_data("{}: has {} voxels, expected {} as in {}; resample it to this grid", name, size_text(companion.grid),
                size_text(image.grid), image.path);
  }
  if (is_elsewhere && rules == mask_rules::own)
    refuse_data(
        "{}: its matrix places voxels up to {:.3g} mm away from those of {}, expected less than half a voxel; resample "
        "it to this grid, or if only its header is wrong, copy the header's matrix from this image",
        companion.path, found->apart_mm, image.path);
  const storage_order order = is_elsewhere ? fsl_order(companion.grid, image.grid) : found->order;
  if (apart > same_place_voxels)
    spdlog::warn("{}: its matrix places voxels up to {:.3g} mm away from those of {}; voxels are matched by index{}",
                 name, found->apart_mm, image.path, order.is_as_stored() ? "" : ", in the order of this image");
  if (!order.is_as_stored())
    spdlog::info("{}: is stored in another order ({}) than {} ({}) and is read in the order of this image", name,
                 axis_codes(companion.grid), image.path, axis_codes(image.grid));
  reorder(companion, order);
}

void check_one_volume(const nifti_header& header, const char* what, mask_rules rules) {
  if (header.volumes == 1) return;
  const std::string found = fmt::format("{}: dim[4] is {}", header.path, header.volumes);
  if (rules == mask_rules::own) refuse_data("{}, expected 1: {} of one volume", found, what);
  spdlog::warn("{}; the first volume is read as {}", found, what);
}

void check_empty_mask(const std::string& path, std::uint64_t voxels, mask_rules rules) {
  if (rules == mask_rules::own) refuse_data("{}: 0 of {} voxels are above 0, expected at least one", path, voxels);
  spdlog::warn("{}: is empty: 0 of {} voxels are above 0", path, voxels);
}

void check_same_file(const session& s, const std::string& path, nifti_header& header) {
  const auto of_root = s.from_root([&] { return std::pair(appearance(header), header.order); });
  s.agree([&] {
    if (s.is_root()) return;
    header = read_nifti_header(path);
    reorder(header, of_root.second);
    const std::string found = appearance(header);
    if (found == of_root.first) return;
    refuse_data("{}: has {}, expected {} as on rank 0; check that all hosts see the same file system", path, found,
                of_root.first);
  });
}

}  // namespace voxherd
