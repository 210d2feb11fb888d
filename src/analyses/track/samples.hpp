#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/analysis.hpp"
#include "kernels/track/field.hpp"
#include "mpi/comm/node_memory.hpp"
#include "mpi/comm/session.hpp"
#include "src/scan/fsl_grid.hpp"
#include "src/scan/mask_rules.hpp"

namespace voxherd {

/// Where posterior samples of fibre directions are, and how many.
struct sample_contents {
  fsl_grid grid;
  std::vector<std::uint64_t> voxels;  ///< linear indices in `grid` of the voxels with samples, increasing in the file
  std::int32_t fibres = 0, samples = 0;
  std::string mask;  ///< the given file whose voxels they are; "" if they are all that the samples have

  static constexpr auto members() {
    using T = sample_contents;
    return std::tuple(&T::grid, &T::voxels, &T::fibres, &T::samples, &T::mask);
  }
};

/// The same with the samples, packed, in memory shared by the ranks of a node.
struct posterior_samples : sample_contents {
  nlohmann::json provenance;  ///< fingerprints of the input files
  node_memory memory;

  std::span<const track::packed_fibre> packed() const {
    const auto bytes = memory.bytes();
    return {reinterpret_cast<const track::packed_fibre*>(bytes.data()), bytes.size() / sizeof(track::packed_fibre)};
  }
};

/// From a result of ballstick, or from a folder of bedpostX (merged_th1samples, ..., nodif_brain_mask), which may be
/// given as FOLDER/merged. `mask`: replaces the folder's, or ""; `rules`: for both. `threads`: 0 for all cores
/// of the node. Collective. Throws failure (missing_input, bad_data), the same on every rank.
posterior_samples read_posterior_samples(const session& s, const std::string& path, const std::string& mask,
                                         mask_rules rules, int threads);

}  // namespace voxherd
