#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/device.hpp"
#include "kernels/geodesic/candidates.hpp"

namespace voxherd::geodesic {

/// Sorts candidates by pair, decreasing measure (NaN last) and fibre number, and returns their indices in `c`. Fastest
/// if fibre numbers are increasing, because they then need no sort. Runs on the device, which needs up to 40 bytes per
/// candidate. Call use_device(d) first. Throws device_error, and std::invalid_argument for arrays of different lengths.
std::vector<std::uint32_t> ranked(const device& d, const candidates& c);

/// One summary per pair. `order` is the result of ranked(); the sums follow it in 32 shares, so that their bytes depend
/// neither on the device nor on its number of threads. Runs on the device.
std::vector<pair_summary> summarise(const device& d, const candidates& c, std::span<const std::uint32_t> order,
                                    std::size_t pairs);

/// Visits each pair's candidates in rank order and keeps those whose average point-to-point distance (the smaller of
/// forward and reversed: MDF, Garyfallidis 2012) to all kept ones of that pair is at least `distance_mm`, until `top`
/// are kept. sketches: (order.size(), sketch_points, 3) in world mm, in rank order. Returns the positions of the kept
/// ones in `order`, increasing. `top` 0: no limit. Runs on the device, which needs 164 bytes per candidate.
std::vector<std::uint32_t> distinct(const device& d, const candidates& c, std::span<const std::uint32_t> order,
                                    std::span<const float> sketches, std::size_t top, double distance_mm);

}  // namespace voxherd::geodesic
