#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voxherd::geodesic {

/// Accepted fibres to be ranked, as arrays of the same length.
struct candidates {
  std::vector<std::uint64_t> fibre;  ///< number of the fibre
  std::vector<std::uint32_t> pair;   ///< region pair that the fibre connects, 0 to pairs - 1
  std::vector<float> measure;
  std::vector<float> length_mm;

  std::size_t size() const { return fibre.size(); }
};

inline constexpr std::size_t sketch_points = 12;  ///< number of points, as in QuickBundles (Garyfallidis 2012)

struct pair_summary {
  std::uint64_t count = 0;  ///< fibres that connect the pair
  float best = 0;           ///< largest measure; NaN if no fibre of the pair has one
  double mean_measure = 0;  ///< over the fibres whose measure is not NaN
  double mean_length_mm = 0;
};

}  // namespace voxherd::geodesic
