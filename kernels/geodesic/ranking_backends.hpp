#pragma once

#include "kernels/geodesic/pair_work.hpp"

namespace voxherd::geodesic {

std::vector<std::uint32_t> ranked_cpu(const device& d, const candidates& c);
std::vector<std::uint32_t> ranked_cuda(const candidates& c);

/// Computes the summaries of the pairs in `ranges`.
void summarise_cpu(const device& d, const candidates& c, std::span<const std::uint32_t> order,
                   std::span<const pair_range> ranges, std::span<pair_summary> out);
void summarise_cuda(const candidates& c, std::span<const std::uint32_t> order, std::span<const pair_range> ranges,
                    std::span<pair_summary> out);

/// Kept candidates of all pairs: those of range i start at kept[ranges[i].first]; counts[i] is their number.
struct picks {
  std::vector<std::uint32_t> kept;    ///< same length as the order
  std::vector<std::uint32_t> counts;  ///< same length as the ranges
};
picks distinct_cpu(const device& d, std::span<const float> sketches, std::span<const pair_range> ranges,
                   std::uint32_t top, double distance_mm);
picks distinct_cuda(std::span<const float> sketches, std::span<const pair_range> ranges, std::uint32_t top,
                    double distance_mm);

}  // namespace voxherd::geodesic
