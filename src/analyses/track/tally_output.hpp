#pragma once

#include <cstddef>
#include <vector>

#include "core/analysis.hpp"
#include "kernels/track/tally.hpp"

namespace voxherd {

struct track_inputs;
class track_sums;
class tract_maps;

namespace track {

/// What a run writes of a tally: each has one, in src/analyses/track/tallies.
struct tally_output {
  /// The flag of `voxherd track` that asks for it, and its help; null: it depends on other options.
  const char* option = nullptr;
  const char* help = nullptr;
  const char* needs = "";  ///< other options, without which it has no meaning
  bool is_for_experts = false;
  /// Whether a tally without a flag is counted; one with a flag may depend on more than that. Null: always.
  bool (*is_wanted)(const track_inputs& in) = nullptr;

  /// Adds the maps of one tract. They take so many bytes per voxel.
  void (*add_maps)(const tract_maps& to) = nullptr;
  std::size_t (*map_bytes)(const track_inputs& in) = nullptr;
  void (*add_constants)(const track_sums& sums, const track_inputs& in, std::vector<constant>& all) = nullptr;
};

}  // namespace track

}  // namespace voxherd
