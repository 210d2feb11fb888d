#pragma once

#include <string>

#include "src/export/export_plan.hpp"

namespace voxherd {

/// The folder that bedpostX leaves and that probtrackx2 and FSLeyes read: merged_{th,ph,f}Ksamples, mean maps, dyads,
/// mask, bvals, bvecs, and xfms/eye.mat as the mark that all is there. `nodif`: a b=0 image to be masked and added, ""
/// for none. mean_thKsamples and mean_phKsamples are the angles of the mean direction dyadsK: a mean of wrapped angles
/// would say nothing. Throws failure (bad_data) for a result of another analysis.
export_plan plan_fsl_folder(const result_volumes& result, const std::string& nodif);

/// Throws failure (bad_data) unless the result is of the ball & stick model.
void require_ballstick(const result_volumes& result, const char* kind);

/// Polar angle from z (0 to pi) and azimuth from x (-pi to pi) of directions given as three planes x, y, z, in rad;
/// 0 where there is no direction.
struct direction_angles {
  std::vector<float> polar, azimuth;
};
direction_angles angles_of(std::span<const float> directions);

}  // namespace voxherd
