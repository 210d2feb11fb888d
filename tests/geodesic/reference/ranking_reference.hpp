#pragma once

#include "kernels/geodesic/ranking.hpp"

namespace voxherd::reference {

/// Slow, obvious versions of kernels/geodesic/ranking.hpp, in double.
std::vector<std::uint32_t> ranked(const geodesic::candidates& c);
std::vector<geodesic::pair_summary> summarise(const geodesic::candidates& c, std::size_t pairs);
std::vector<std::uint32_t> distinct(const geodesic::candidates& c, const std::vector<std::uint32_t>& order,
                                    const std::vector<float>& sketches, std::size_t top, double distance_mm);

/// Candidates with the sketches of their fibres in rank order.
struct ranking_case {
  geodesic::candidates c;
  std::size_t pairs = 0;
  std::vector<std::uint32_t> order;
  std::vector<float> sketches;
};

/// Bundles of noisy arcs between `pairs` region pairs, `sizes[i]` fibres in pair i, some of them reversed; measures
/// with many ties, some NaN, infinities and zeros of both signs. Fibre numbers increase.
ranking_case bundles(const std::vector<std::size_t>& sizes, unsigned seed);

/// The same candidates in another order, so that fibre numbers do not increase.
ranking_case shuffled(const ranking_case& from, unsigned seed);

/// One test body for every backend.
void expect_ranking_equivalent_to_reference(const device& d, const ranking_case& r);

}  // namespace voxherd::reference
