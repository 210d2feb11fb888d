#include <algorithm>
#include <cmath>

#include "src/io/cifti/cifti.hpp"
#include "src/io/nifti/quaternion.hpp"

namespace voxherd {

voxel_matcher::voxel_matcher(const image_grid& from, const image_grid& to) : from_size_(from.size), to_size_(to.size) {
  const voxel_matrix m = product(inverse(to.voxel_to_world), from.voxel_to_world);
  std::copy_n(m.begin(), matrix_.size(), matrix_.begin());
}

std::array<double, 3> voxel_matcher::position(std::uint64_t voxel) const {
  const double at[3] = {static_cast<double>(voxel % from_size_[0]),
                        static_cast<double>(voxel / from_size_[0] % from_size_[1]),
                        static_cast<double>(voxel / (from_size_[0] * from_size_[1]))};
  std::array<double, 3> to{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double* row = &matrix_[4 * d];
    to[d] = row[0] * at[0] + row[1] * at[1] + row[2] * at[2] + row[3];
  }
  return to;
}

std::optional<std::uint64_t> voxel_matcher::find(std::uint64_t voxel) const {
  constexpr double max_offset = 0.1;  // voxels
  const std::array<double, 3> at = position(voxel);
  std::uint64_t index = 0;
  for (std::size_t d = 3; d-- > 0;) {
    const double nearest = std::round(at[d]);
    if (!(std::abs(at[d] - nearest) <= max_offset) || nearest < 0 || !(nearest < static_cast<double>(to_size_[d])))
      return std::nullopt;
    index = index * to_size_[d] + static_cast<std::uint64_t>(nearest);
  }
  return index;
}

}  // namespace voxherd
