#include "src/scan/single_voxels.hpp"

#include <algorithm>

#include "src/scan/voxel_rows.hpp"

namespace voxherd {

namespace {

/// Volume by volume, because a compressed file can only be read forwards.
void inflate(const std::vector<nifti_header>& files, const std::vector<std::uint64_t>& voxels, std::uint64_t volumes,
             std::vector<float>& rows) {
  const std::vector<voxel_run> runs = find_runs(voxels, 0, voxels.size());
  std::vector<float> values;
  std::uint64_t column = 0;
  for (const nifti_header& h : files) {
    nifti_reader reader(h);
    for (std::uint64_t v = 0; v < h.volumes; ++v, ++column)
      for (const voxel_run& run : runs) {
        values.resize(run.count);
        reader.read(v, run.first_voxel, run.count, values.data());
        for (std::uint64_t i = 0; i < run.count; ++i) rows[(run.first_item + i) * volumes + column] = values[i];
      }
  }
}

}  // namespace

std::vector<float> read_single_voxels(const std::vector<nifti_header>& files,
                                      const std::vector<std::uint64_t>& voxels) {
  const std::uint64_t volumes = total_volumes(files);
  std::vector<float> rows(voxels.size() * volumes);
  if (voxels.empty()) return rows;
  if (is_compressed(files)) {
    inflate(files, voxels, volumes, rows);
  } else {
    open_plain_rows(files, voxels)->load(0, voxels.size(), value_places::in_rows(rows.data(), volumes));
  }
  return rows;
}

single_voxels::single_voxels(std::vector<nifti_header> files, std::vector<std::uint64_t> of_interest)
    : files_(std::move(files)), of_interest_(std::move(of_interest)), volumes_(total_volumes(files_)) {}

std::vector<float> single_voxels::read(std::uint64_t voxel) {
  const auto place = std::lower_bound(of_interest_.begin(), of_interest_.end(), voxel);
  const bool is_kept = place != of_interest_.end() && *place == voxel && is_compressed(files_) &&
                       of_interest_.size() * volumes_ <= max_floats;
  if (!is_kept) return read_single_voxels(files_, {voxel});
  if (rows_.empty()) rows_ = read_single_voxels(files_, of_interest_);
  const auto first = rows_.begin() + (place - of_interest_.begin()) * static_cast<std::ptrdiff_t>(volumes_);
  return {first, first + static_cast<std::ptrdiff_t>(volumes_)};
}

}  // namespace voxherd
