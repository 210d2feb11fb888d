#include "src/analyses/connect/components.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace voxherd {

disjoint_sets::disjoint_sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0u); }

std::uint32_t disjoint_sets::root(std::uint32_t of) {
  while (parent_[of] != of) {
    parent_[of] = parent_[parent_[of]];
    of = parent_[of];
  }
  return of;
}

std::uint32_t disjoint_sets::join(std::uint32_t a, std::uint32_t b) {
  const auto [first, second] = std::minmax({root(a), root(b)});
  parent_[second] = first;
  return first;
}

voxel_neighbours::voxel_neighbours(const std::array<std::uint64_t, 3>& size, const std::vector<std::uint64_t>& voxels)
    : voxels_(voxels), number_of_(size[0] * size[1] * size[2], -1) {
  for (std::size_t d = 0; d < 3; ++d) size_[d] = static_cast<std::int64_t>(size[d]);
  for (std::size_t n = 0; n < voxels.size(); ++n) number_of_[voxels[n]] = static_cast<std::int32_t>(n);
}

std::array<std::int64_t, 3> voxel_neighbours::place(std::uint32_t number) const {
  const auto v = static_cast<std::int64_t>(voxels_[number]);
  return {v % size_[0], v / size_[0] % size_[1], v / (size_[0] * size_[1])};
}

std::int32_t voxel_neighbours::number_at(std::int64_t x, std::int64_t y, std::int64_t z) const {
  if (x < 0 || y < 0 || z < 0 || x >= size_[0] || y >= size_[1] || z >= size_[2]) return -1;
  return number_of_[static_cast<std::size_t>((z * size_[1] + y) * size_[0] + x)];
}

std::vector<std::uint32_t> islands_of(const voxel_neighbours& space, std::size_t voxels) {
  disjoint_sets sets(voxels);
  for (std::uint32_t n = 0; n < voxels; ++n)
    space.each(n, 6, [&](std::uint32_t other) {
      if (other < n) sets.join(n, other);
    });
  std::vector<std::uint32_t> island(voxels);
  for (std::uint32_t n = 0; n < voxels; ++n) island[n] = sets.root(n);
  return island;
}

unreached_voxels count_unreached(const std::vector<std::uint32_t>& island, const std::vector<float>& arrival) {
  std::vector<std::uint64_t> voxels(island.size()), unreached(island.size());
  for (std::size_t n = 0; n < island.size(); ++n) {
    ++voxels[island[n]];
    unreached[island[n]] += std::isinf(arrival[n]) ? 1 : 0;
  }
  unreached_voxels found;
  for (std::size_t i = 0; i < island.size(); ++i) {
    found.voxels += unreached[i];
    const bool whole = voxels[i] > 0 && unreached[i] == voxels[i];
    found.islands += whole ? 1 : 0;
    if (whole) found.largest_island = std::max(found.largest_island, voxels[i]);
    if (!whole) found.elsewhere += unreached[i];
  }
  return found;
}

}  // namespace voxherd
