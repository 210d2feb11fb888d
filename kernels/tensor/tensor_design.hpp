#pragma once

#include <vector>

#include "kernels/tensor/tensor_fitter.hpp"

namespace voxherd {

/// The numbers of a tensor_design, in host memory.
struct tensor_design_table {
  explicit tensor_design_table(const gradient_table& gradients);
  tensor_design view() const { return {q.data(), q.size() / 3, largest_b_s_per_mm2}; }

  std::vector<double> q;
  double largest_b_s_per_mm2 = 1;
};

}  // namespace voxherd
