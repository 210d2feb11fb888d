#pragma once

#include <vector>

#include "kernels/perfusion/settings.hpp"
#include "kernels/perfusion/time_course.hpp"

namespace voxherd::perfusion {

/// The tissue's curve at the frames for a flow of 1/s from one input (`input`: as many values as frames), delayed by
/// `tau_s`, kl in 1/s. Even and uneven frames. In double on the host: for tables that all voxels share.
std::vector<double> unit_curve(const time_course& t, const std::vector<double>& input, double kl_per_s, double tau_s,
                               discretisation_kind how);

}  // namespace voxherd::perfusion
