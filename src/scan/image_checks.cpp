#include "src/scan/image_checks.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "core/failure.hpp"
#include "src/io/input_file.hpp"

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
  return name;
}

void log_warnings(const nifti_header& header) {
  for (const std::string& text : header.warnings) spdlog::warn("{}: {}", printable(header.path), text);
}

void check_same_grid(const nifti_header& header, const nifti_header& image) {
  if (header.grid.size != image.grid.size) {
    throw failure(exit_status::bad_data,
                  fmt::format("{}: has {} voxels, expected {} as in {}", printable(header.path), size_text(header.grid),
                              size_text(image.grid), printable(image.path)));
  }
  const double apart = largest_displacement_mm(image.grid.size, header.grid.voxel_to_world, image.grid.voxel_to_world);
  const auto& voxel = image.grid.voxel_size_mm;
  if (apart > 0.1 * std::min({voxel[0], voxel[1], voxel[2]})) {
    spdlog::warn("{}: its matrix places voxels up to {:.3g} mm away from those of {}; voxels are matched by index",
                 printable(header.path), apart, printable(image.path));
  }
}

void check_same_file(const session& s, const std::string& path, nifti_header& header) {
  std::string expected = s.is_root() ? appearance(header) : "";
  s.broadcast(expected);
  s.agree([&] {
    if (s.is_root()) return;
    header = read_nifti_header(path);
    const std::string found = appearance(header);
    if (found == expected) return;
    throw failure(exit_status::bad_data,
                  fmt::format("{}: has {}, expected {} as on rank 0; check that all hosts see the same "
                              "file system",
                              printable(path), found, expected));
  });
}

}  // namespace voxherd
