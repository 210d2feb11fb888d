#include "src/scan/host_memory.hpp"

#include <algorithm>

#include "mpi/run/staged_input.hpp"
#include "src/scan/stored_rows.hpp"
#include "src/scan/voxel_rows.hpp"

namespace voxherd {

namespace {

constexpr double turned_bytes = 3 * 64;  // per voxel and file, during the transpose to rows (row_inflater)

}  // namespace

std::uint64_t items_within(std::uint64_t bytes, const std::vector<std::vector<nifti_header>>& series,
                           std::uint64_t items) {
  double a_row = 0, turned = 0;
  for (const auto& files : series) {
    if (!is_compressed(files)) continue;
    a_row += stored_rows::bytes_per_voxel(files);
    turned += turned_bytes * static_cast<double>(std::min(max_files_at_once, files.size()));
  }
  const auto limit = static_cast<double>(bytes);
  if (static_cast<double>(items) * (a_row + turned) <= limit) return staged_input::all_items;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(limit / (2 * a_row + turned)));
}

}  // namespace voxherd
