#include "src/analyses/connect/nearest.hpp"

#include <algorithm>
#include <limits>

#include "mpi/result/result_reader.hpp"

namespace voxherd {

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

/// Fronts read at once: few enough to stay in cache while voxels are compared.
constexpr std::size_t fronts_at_once = 16;

nearest_regions search(const std::string& file, const std::vector<std::int32_t>& labels, std::size_t begin,
                       std::size_t end, std::size_t voxels, int threads) {
  nearest_regions found(voxels);
  const result_reader arrivals(file, tables::walked_or_own);
  for (std::size_t r = begin; r < end; r += fronts_at_once) {
    const std::size_t count = std::min(fronts_at_once, end - r);
    found.add(std::span(labels).subspan(r, count), arrivals.read_rows<float>("arrival", r, count), threads);
  }
  return found;
}

}  // namespace

nearest_regions::nearest_regions(std::size_t voxels)
    : first_label(voxels), second_label(voxels), first_cost(voxels, infinite), second_cost(voxels, infinite) {}

void nearest_regions::add(std::span<const std::int32_t> labels, std::span<const float> arrival, int threads) {
  constexpr std::size_t piece = 4096;  // voxels, in cache for all fronts
  const std::size_t n = voxels();
  const auto pieces = static_cast<std::int64_t>((n + piece - 1) / piece);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t p = 0; p < pieces; ++p) {
    const std::size_t begin = static_cast<std::size_t>(p) * piece, end = std::min(n, begin + piece);
    for (std::size_t r = 0; r < labels.size(); ++r) {
      const float* const cost = arrival.data() + r * n;
      for (std::size_t v = begin; v < end; ++v) {
        if (cost[v] < first_cost[v]) {
          second_label[v] = first_label[v];
          second_cost[v] = first_cost[v];
          first_label[v] = labels[r];
          first_cost[v] = cost[v];
        } else if (cost[v] < second_cost[v]) {
          second_label[v] = labels[r];
          second_cost[v] = cost[v];
        }
      }
    }
  }
}

void nearest_regions::add(const nearest_regions& later) {
  for (std::size_t v = 0; v < voxels(); ++v) {
    const bool is_first = later.first_cost[v] < first_cost[v];
    // The best of those that are not first: of the earlier regions, unless a later one is cheaper.
    const float earlier = is_first ? first_cost[v] : second_cost[v];
    const std::int32_t earlier_label = is_first ? first_label[v] : second_label[v];
    const float other = is_first ? later.second_cost[v] : later.first_cost[v];
    const std::int32_t other_label = is_first ? later.second_label[v] : later.first_label[v];
    second_cost[v] = other < earlier ? other : earlier;
    second_label[v] = other < earlier ? other_label : earlier_label;
    if (!is_first) continue;
    first_cost[v] = later.first_cost[v];
    first_label[v] = later.first_label[v];
  }
}

nearest_regions find_nearest(const session& s, const std::string& arrivals, const std::vector<std::int32_t>& labels,
                             std::size_t voxels, int threads) {
  const auto ranks = static_cast<std::size_t>(s.size()), rank = static_cast<std::size_t>(s.rank());
  nearest_regions own(0);
  s.agree([&] {
    own = search(arrivals, labels, labels.size() * rank / ranks, labels.size() * (rank + 1) / ranks, voxels, threads);
  });
  if (ranks == 1) return own;
  const auto first_label = s.gather_to_root(own.first_label), second_label = s.gather_to_root(own.second_label);
  const auto first_cost = s.gather_to_root(own.first_cost), second_cost = s.gather_to_root(own.second_cost);
  for (std::size_t r = 1; s.is_root() && r < ranks; ++r) {
    nearest_regions later(0);
    const auto cut = [&](const auto& all, auto& part) {
      part.assign(all.begin() + static_cast<std::ptrdiff_t>(r * voxels),
                  all.begin() + static_cast<std::ptrdiff_t>((r + 1) * voxels));
    };
    cut(first_label, later.first_label), cut(second_label, later.second_label);
    cut(first_cost, later.first_cost), cut(second_cost, later.second_cost);
    own.add(later);
  }
  return s.is_root() ? own : nearest_regions(0);
}

}  // namespace voxherd
