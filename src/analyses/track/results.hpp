#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis.hpp"
#include "core/device.hpp"
#include "mpi/run/known_result.hpp"
#include "src/analyses/track/inputs.hpp"
#include "src/analyses/track/sums.hpp"

namespace voxherd {

/// On rank 0.
void log_sums(const track_sums& sums, const track_inputs& in, const device& d);

/// The result: maps over `voxels`, those of all places in the order of the result, and constants. The maps are computed
/// when they are written; all arguments outlive them.
std::vector<known_output> make_track_maps(const track_sums& sums, const track_inputs& in,
                                          const std::vector<std::uint64_t>& voxels);
/// `regions`: the sums of pair_matrix::sums, if the inputs have track_inputs::regions.
std::vector<constant> make_track_constants(const track_sums& sums, const std::vector<track::pair_entry>& regions,
                                           const track_inputs& in);
known_size track_size(const track_inputs& in);

/// Outputs with default options, for the help text.
std::vector<output_spec> track_outputs();

}  // namespace voxherd
