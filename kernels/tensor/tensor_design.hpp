#pragma once

#include <vector>

#include "kernels/tensor/tensor_fitter.hpp"

namespace voxherd {

/// The numbers behind a tensor_design, in host memory.
struct tensor_design_table {
  explicit tensor_design_table(const gradient_table& gradients);
  tensor_design view() const { return {q.data(), q.size() / 3, largest_b_s_per_mm2}; }

  std::vector<double> q;
  double largest_b_s_per_mm2 = 1;
};

std::unique_ptr<tensor_solver> make_tensor_solver_cpu(const device& d, const gradient_table& g,
                                                      const tensor_settings& s);
std::unique_ptr<tensor_solver> make_tensor_solver_cuda(const device& d, const gradient_table& g,
                                                       const tensor_settings& s);

}  // namespace voxherd
