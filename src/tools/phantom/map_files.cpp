#include "src/tools/phantom/map_files.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "core/failure.hpp"
#include "src/io/nifti/nifti.hpp"

namespace voxherd {

namespace fs = std::filesystem;

std::optional<std::string> image_named(const std::string& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const char* ending : {".nii.gz", ".nii"})
      if (const std::string path = folder + "/" + name + ending; fs::exists(path)) return path;
  return std::nullopt;
}

/// Shape: voxels x volumes, volume fastest.
std::vector<float> read_image(const std::string& path, std::uint64_t volumes, std::array<std::uint64_t, 3>& size) {
  nifti_reader reader(read_nifti_header(path));
  const nifti_header& h = reader.header();
  if (h.volumes != volumes)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: field dim[4]: found {} volumes, expected {}", path, h.volumes, volumes));
  if (size[0] != 0 && h.grid.size != size)
    throw failure(exit_status::bad_data,
                  fmt::format("{}: field dim: found {} x {} x {}, expected {} x {} x {} as in the other maps", path,
                              h.grid.size[0], h.grid.size[1], h.grid.size[2], size[0], size[1], size[2]));
  size = h.grid.size;
  const std::uint64_t voxels = h.grid.voxel_count();
  std::vector<float> values(voxels * volumes), volume(voxels);
  for (std::uint64_t k = 0; k < volumes; ++k) {
    reader.read(k, 0, voxels, volume.data());
    for (std::uint64_t v = 0; v < voxels; ++v) values[v * volumes + k] = volume[v];
  }
  log_bytes_after(h, reader.check_end());
  return values;
}

std::string truth_folder(const std::string& folder) {
  if (!fs::is_directory(folder))
    throw failure(exit_status::missing_input,
                  fmt::format("{}: not a folder, expected a folder written by voxherd phantom", folder));
  return fs::is_directory(folder + "/truth") ? folder + "/truth" : folder;
}

}  // namespace voxherd
