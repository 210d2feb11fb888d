#include "src/scan/node_resources.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

std::unique_ptr<voxel_rows> start_rows(const session& s, const std::vector<nifti_header>& files,
                                       const std::vector<std::uint64_t>& voxels, std::uint64_t max_items) {
  if (is_compressed(files)) return start_inflating(s, files, voxels, max_items);
  const int threads = loading_threads(s);
  std::unique_ptr<voxel_rows> rows;
  s.agree([&] { rows = open_plain_rows(files, voxels, threads); });
  return rows;
}

}  // namespace voxherd
