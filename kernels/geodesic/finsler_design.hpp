#pragma once

#include <vector>

#include "kernels/geodesic/finsler_fitter.hpp"
#include "kernels/tensor/tensor_design.hpp"

namespace voxherd::geodesic {

/// Host memory of a quartic_design.
struct quartic_design_table {
  /// Throws std::invalid_argument.
  quartic_design_table(const gradient_table& gradients, const quartic_settings& settings);

  tensor_design_table tensor;
  std::vector<double> to_odf;  ///< see quartic_design
  quartic_projector projector{};

  quartic_design view() const { return {tensor.view(), to_odf.data()}; }
};

}  // namespace voxherd::geodesic
