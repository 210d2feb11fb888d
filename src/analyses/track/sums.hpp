#pragma once

#include <vector>

#include "mpi/result/result_reader.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/track/inputs.hpp"

namespace voxherd {

/// Sums over all groups of streamlines.
struct track_sums {
  std::vector<std::uint64_t> density, length;   ///< by place; length: in steps
  std::vector<std::uint64_t> accepted;          ///< by seed
  std::vector<std::uint64_t> hits, hit_length;  ///< (region, region), or (seed, target)
  std::vector<std::uint64_t> directions;        ///< by place, as track::counters has them
  std::uint64_t walked = 0;

  std::uint64_t all_accepted() const;
};

/// By one process, from the step's file. Throws failure.
track_sums add_groups(const result_reader& groups, const track_inputs& in);

void log_sums(const track_sums& sums, const track_inputs& in);

/// The result: maps over `voxels`, the voxels of all places in increasing order, and constants.
std::vector<known_output> make_track_maps(const track_sums& sums, const track_inputs& in,
                                          const std::vector<std::uint64_t>& voxels);
std::vector<constant> make_track_constants(const track_sums& sums, const track_inputs& in);

/// Outputs with default options, for the help text.
std::vector<output_spec> track_outputs();

}  // namespace voxherd
