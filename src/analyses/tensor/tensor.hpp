#pragma once

#include <optional>
#include <vector>

#include "kernels/tensor/tensor.hpp"
#include "mpi/comm/session.hpp"
#include "src/analyses/common/regions.hpp"
#include "src/analyses/common/run_options.hpp"
#include "src/scan/dwi.hpp"

namespace voxherd {

/// `voxherd tensor`.
struct tensor_request {
  dwi_request series;
  item_region_request regions;
  std::optional<std::vector<double>> shells_s_per_mm2;  ///< none: all volumes
  tensor_weighting weighting = tensor_weighting::iterated;
  int iterations = 2;  ///< iterations of the iterated fit
  low_sample_rule low_samples = low_sample_rule::millionth_of_largest;
  run_request run;
};

const option_table<tensor_request>& tensor_options();

/// Collective. Throws failure, the same on every rank.
exit_status run_tensor(session& s, const tensor_request& request);

}  // namespace voxherd
