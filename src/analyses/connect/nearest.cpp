#include "src/analyses/connect/nearest.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace voxherd {

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr std::int32_t none = -1;

/// A region before which no other has been added is `none`, with infinite cost, and never replaced by an infinite one.
bool is_before(float cost, std::int32_t region, float other_cost, std::int32_t other) {
  return cost < other_cost || (cost == other_cost && region < other);
}

void insert(nearest_regions& n, std::size_t voxel, float cost, std::int32_t region) {
  if (is_before(cost, region, n.first_cost[voxel], n.first[voxel])) {
    n.second[voxel] = n.first[voxel];
    n.second_cost[voxel] = n.first_cost[voxel];
    n.first[voxel] = region;
    n.first_cost[voxel] = cost;
  } else if (is_before(cost, region, n.second_cost[voxel], n.second[voxel])) {
    n.second[voxel] = region;
    n.second_cost[voxel] = cost;
  }
}

}  // namespace

nearest_regions::nearest_regions(std::size_t voxels)
    : first(voxels, none), second(voxels, none), first_cost(voxels, infinite), second_cost(voxels, infinite) {}

void nearest_regions::add(std::size_t first_region, std::span<const float> arrival, int threads) {
  constexpr std::size_t piece = 4096;  // voxels, in cache for all fronts
  const std::size_t n = voxels(), regions = arrival.size() / std::max<std::size_t>(1, n);
  const auto pieces = static_cast<std::int64_t>((n + piece - 1) / piece);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t p = 0; p < pieces; ++p) {
    const std::size_t begin = static_cast<std::size_t>(p) * piece, end = std::min(n, begin + piece);
    for (std::size_t r = 0; r < regions; ++r) {
      const auto region = static_cast<std::int32_t>(first_region + r);
      for (std::size_t v = begin; v < end; ++v) insert(*this, v, arrival[r * n + v], region);
    }
  }
}

void nearest_regions::add(const nearest_regions& others) {
  for (std::size_t v = 0; v < voxels(); ++v) {
    if (others.first[v] != none) insert(*this, v, others.first_cost[v], others.first[v]);
    if (others.second[v] != none) insert(*this, v, others.second_cost[v], others.second[v]);
  }
}

nearest_regions gather_nearest(const session& s, nearest_regions own) {
  const auto ranks = static_cast<std::size_t>(s.size());
  if (ranks == 1) return own;
  const std::size_t voxels = own.voxels();
  const auto first = s.gather_to_root(own.first), second = s.gather_to_root(own.second);
  const auto first_cost = s.gather_to_root(own.first_cost), second_cost = s.gather_to_root(own.second_cost);
  for (std::size_t r = 1; s.is_root() && r < ranks; ++r) {
    nearest_regions other(0);
    const auto cut = [&](const auto& all, auto& part) {
      part.assign(all.begin() + static_cast<std::ptrdiff_t>(r * voxels),
                  all.begin() + static_cast<std::ptrdiff_t>((r + 1) * voxels));
    };
    cut(first, other.first), cut(second, other.second);
    cut(first_cost, other.first_cost), cut(second_cost, other.second_cost);
    own.add(other);
  }
  return s.is_root() ? std::move(own) : nearest_regions(0);
}

}  // namespace voxherd
