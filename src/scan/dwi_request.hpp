#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/options.hpp"
#include "src/scan/direction_frame.hpp"
#include "src/scan/mask_rules.hpp"

namespace voxherd {

/// The files of a diffusion-weighted series; "" for none.
struct dwi_request {
  std::string dwi, bvals, bvecs, mask, gradient_deviation;
  std::optional<direction_frame> frame = {};    ///< of the directions; none: FSL's, MRtrix's of its tables
  std::optional<double> max_b0_s_per_mm2 = {};  ///< none: 50
  bool needs_b0 = true;
  std::uint32_t part = 0, parts = 1;  ///< only one of so many equal parts of the mask's voxels, for xfibres
  mask_rules masks = mask_rules::own;
};

/// Where a part of the mask's voxels begins: voxels / parts in each, and what remains in the last one, as FSL's
/// split_parts_gpu divides them. Of more parts than voxels, the first ones have a voxel each and the others none; with
/// FSL's division, the last one would have all.
std::uint64_t part_begin(std::uint64_t voxels, std::uint32_t part, std::uint32_t parts);

const option_table<dwi_request>& dwi_options();

}  // namespace voxherd
