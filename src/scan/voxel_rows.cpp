#include "src/scan/voxel_rows.hpp"

#include <algorithm>

namespace voxherd {

std::uint64_t total_volumes(const std::vector<nifti_header>& files) {
  std::uint64_t volumes = 0;
  for (const nifti_header& file : files) volumes += file.volumes;
  return volumes;
}

std::unique_ptr<voxel_rows> start_rows(const session& s, const std::vector<nifti_header>& files,
                                       const std::vector<std::uint64_t>& voxels, std::uint64_t max_items) {
  if (is_compressed(files)) return start_inflating(s, files, voxels, max_items);
  std::unique_ptr<voxel_rows> rows;
  s.agree([&] { rows = open_plain_rows(files, voxels); });
  return rows;
}

bool is_compressed(const std::vector<nifti_header>& files) {
  return std::any_of(files.begin(), files.end(), [](const nifti_header& h) { return h.compressed; });
}

std::vector<voxel_run> find_runs(const std::vector<std::uint64_t>& voxels, std::uint64_t first, std::uint64_t last) {
  std::vector<voxel_run> runs;
  for (std::uint64_t item = first; item < last;) {
    std::uint64_t end = item + 1;
    while (end < last && voxels[end] == voxels[end - 1] + 1) ++end;
    runs.push_back({voxels[item], item, end - item});
    item = end;
  }
  return runs;
}

}  // namespace voxherd
