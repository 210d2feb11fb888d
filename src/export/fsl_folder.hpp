#pragma once

#include <string>

#include "src/export/export_plan.hpp"

namespace voxherd {

extern const export_kind fsl_export;

/// bedpostX's output folder, as read by probtrackx2 and FSLeyes: merged_{th,ph,f}Ksamples, mean maps, dyads, mask,
/// bvals, bvecs, and xfms/eye.mat, which marks a complete folder. `nodif`: a b=0 image to mask and add, or "".
/// mean_thKsamples and mean_phKsamples are the angles of the mean direction dyadsK, because a mean of angles is
/// meaningless where they are not well determined. Throws failure (bad_data) for a result of another analysis.
export_plan plan_fsl_folder(const result_volumes& result, const std::string& nodif);

/// Throws failure (bad_data) unless the result is from ballstick.
void require_ballstick(const result_volumes& result, const char* kind);

/// Polar angle from z (0 to pi) and azimuth from x (-pi to pi), in rad, of directions given as three planes x, y, z; 0
/// where the direction is zero.
struct direction_angles {
  std::vector<float> polar, azimuth;
};
direction_angles find_angles(std::span<const float> directions);

}  // namespace voxherd
