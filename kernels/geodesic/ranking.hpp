#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/device.hpp"

namespace voxherd::geodesic {

/// Accepted fibres that compete, as arrays of the same length.
struct candidates {
  std::vector<std::uint64_t> fibre;  ///< its own number
  std::vector<std::uint32_t> pair;   ///< the region pair it joins, 0 to pairs - 1
  std::vector<float> measure;
  std::vector<float> length_mm;

  std::size_t size() const { return fibre.size(); }
};

inline constexpr std::size_t sketch_points = 12;  ///< as QuickBundles takes (Garyfallidis 2012)

struct pair_summary {
  std::uint64_t count = 0;  ///< fibres that join the pair
  float best = 0;           ///< largest measure; NaN where no fibre of the pair has one
  double mean_measure = 0;  ///< of the fibres whose measure is a number
  double mean_length_mm = 0;
};

/// Places in `c` in the order: pair, falling measure (NaN last), fibre number. Quickest where fibre numbers rise, as
/// they then need no sorting of their own. On the device, which holds up to 40 bytes a candidate. After use_device(d).
/// Throws device_error, std::invalid_argument for arrays of unlike length.
std::vector<std::uint32_t> ranked(const device& d, const candidates& c);

/// One summary a pair. `order` as ranked() gives it; sums follow it in 32 shares, so that their bytes depend on neither
/// the device nor its number of threads. On the device.
std::vector<pair_summary> summarise(const device& d, const candidates& c, std::span<const std::uint32_t> order,
                                    std::size_t pairs);

/// Goes through each pair's candidates in rank order and keeps one when its average point-to-point distance (the
/// smaller of forward and reversed: MDF, Garyfallidis 2012) to all kept of that pair is at least `distance_mm`, until
/// `top` are kept. sketches: (order.size(), sketch_points, 3) in world mm, in rank order. Returns the kept ones' places
/// in `order`, increasing. `top` 0: no limit. On the device, which holds 164 bytes a candidate.
std::vector<std::uint32_t> distinct(const device& d, const candidates& c, std::span<const std::uint32_t> order,
                                    std::span<const float> sketches, std::size_t top, double distance_mm);

}  // namespace voxherd::geodesic
