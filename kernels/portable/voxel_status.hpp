#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace voxherd {

/// Outcome of a voxel: the codes in every analysis's `status` map. All other outputs are zero unless `fitted` or
/// `not_physical`. The numbers are part of the file format: append new codes, never renumber.
enum class voxel_status : std::uint8_t {
  fitted = 0,
  all_zero = 1,          ///< every sample is zero
  constant = 2,          ///< every sample has the same value
  not_finite = 3,        ///< a sample is NaN or infinite
  too_few_positive = 4,  ///< fewer positive samples than unknowns
  singular = 5,          ///< the equations have no solution
  diverged = 6,          ///< the residual exceeds the largest sample
  no_baseline = 7,       ///< no signal before the contrast agent
  no_t1 = 8,             ///< T1 before the agent is unknown or out of bounds
  saturated = 9,         ///< most samples are brighter than any concentration of the agent allows
  not_physical = 10,     ///< fitted, and the outputs are kept, but the mean diffusivity is negative
};

struct voxel_status_text {
  voxel_status status;
  std::string_view meaning;
  bool keeps_outputs = false;  ///< the voxel has values although it is not `fitted`
};

inline constexpr std::array<voxel_status_text, 11> voxel_status_texts{{
    {voxel_status::fitted, "fitted", true},
    {voxel_status::all_zero, "all samples zero"},
    {voxel_status::constant, "all samples equal"},
    {voxel_status::not_finite, "a sample is NaN or infinite"},
    {voxel_status::too_few_positive, "too few positive samples"},
    {voxel_status::singular, "equations have no solution"},
    {voxel_status::diverged, "fit diverged"},
    {voxel_status::no_baseline, "no signal before the agent"},
    {voxel_status::no_t1, "T1 unknown or out of bounds"},
    {voxel_status::saturated, "most samples brighter than any concentration allows"},
    {voxel_status::not_physical, "negative mean diffusivity, not physical", true},
}};

}  // namespace voxherd
