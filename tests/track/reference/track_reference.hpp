#pragma once

#include <array>
#include <map>
#include <vector>

#include "tests/track/reference/track_case.hpp"

namespace voxherd::track {

struct reference_half {
  std::vector<std::array<double, 3>> points;       ///< in voxels; the first one is the start
  std::vector<std::array<double, 3>> seed_points;  ///< the same in voxels of the seeds' image
  std::vector<std::uint32_t> fibres;  ///< number of the one that leads to each point, from 0; 0 for the start
  bool excluded = false, out_of_order = false, other_region = false;
  std::vector<bool> passed;  ///< masks to include so far
};

struct reference_streamline {
  std::array<reference_half, 2> half;
  std::array<bool, 2> counted{};
};

/// One streamline in double precision, from the description of the method, with the random numbers of the kernel and
/// the packed directions of the case. Keeps all points.
reference_streamline draw_reference(const track_case& c, const seed& from, std::uint32_t number);

/// The counts of `per_seed` streamlines of each seed.
case_counts count_reference(const track_case& c, std::uint64_t per_seed);

/// What each streamline of the case adds to a matrix: the steps of each column's first point, from the seed, negative
/// on the second half.
std::map<std::uint32_t, std::int64_t> find_crossings(const track_case& c, std::size_t seed_number,
                                                     const reference_streamline& s);

/// The same for a matrix by fibre.
std::map<std::uint32_t, std::int64_t> find_fibre_crossings(const track_case& c, const reference_streamline& s);

}  // namespace voxherd::track
