#include "src/input/voxel_rows.hpp"

#include <algorithm>

namespace voxherd {

std::uint64_t volumes_of(const std::vector<nifti_header>& files) {
  std::uint64_t volumes = 0;
  for (const nifti_header& file : files) volumes += file.volumes;
  return volumes;
}

std::unique_ptr<voxel_rows> open_rows(const session& s, const std::vector<nifti_header>& files,
                                      const std::vector<std::uint64_t>& voxels) {
  if (std::any_of(files.begin(), files.end(), [](const nifti_header& h) { return h.compressed; }))
    return inflate_rows(s, files, voxels);
  std::unique_ptr<voxel_rows> rows;
  s.agree([&] { rows = open_plain_rows(files, voxels); });
  return rows;
}

void transpose(const float* columns, std::size_t column_stride, std::size_t rows, std::size_t volumes, float* out,
               std::size_t stride) {
  constexpr std::size_t block = 16;  // floats: one cache line
  for (std::size_t k0 = 0; k0 < volumes; k0 += block) {
    const std::size_t k_end = std::min(k0 + block, volumes);
    for (std::size_t i0 = 0; i0 < rows; i0 += block) {
      const std::size_t i_end = std::min(i0 + block, rows);
      for (std::size_t i = i0; i < i_end; ++i) {
        for (std::size_t k = k0; k < k_end; ++k) out[i * stride + k] = columns[k * column_stride + i];
      }
    }
  }
}

std::vector<voxel_run> runs_of(const std::vector<std::uint64_t>& voxels, std::uint64_t first, std::uint64_t last) {
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
