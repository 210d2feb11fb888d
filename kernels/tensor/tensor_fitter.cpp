#include "kernels/tensor/tensor_fitter.hpp"

#include <algorithm>
#include <cmath>

namespace voxherd {

tensor_design_table::tensor_design_table(const gradient_table& gradients) {
  for (const double b : gradients.b_s_per_mm2) largest_b_s_per_mm2 = std::max(largest_b_s_per_mm2, b);
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const double size = std::sqrt(gradients.b_s_per_mm2[k] / largest_b_s_per_mm2);
    q.insert(q.end(), {size * gradients.x[k], size * gradients.y[k], size * gradients.z[k]});
  }
}

bool determines_tensor(const gradient_table& gradients) {
  const tensor_design_table table(gradients);
  // The normal matrix of an ordinary fit, with pivots far above rounding.
  constexpr int n = tensor_fitter::unknowns;
  double normal[packed_size(n)] = {}, diagonal[n];
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const double* q = table.q.data() + 3 * k;
    const double x[n] = {q[0] * q[0], 2 * q[0] * q[1], 2 * q[0] * q[2], q[1] * q[1], 2 * q[1] * q[2], q[2] * q[2], 1};
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) normal[packed_index(i, j)] += x[i] * x[j];
  }
  for (int i = 0; i < n; ++i) diagonal[i] = normal[packed_index(i, i)];
  if (!cholesky_factor<n>(normal)) return false;
  for (int i = 0; i < n; ++i) {
    const double inverse_root = normal[packed_index(i, i)];
    if (1 / (inverse_root * inverse_root) < 1e-9 * diagonal[i]) return false;
  }
  return true;
}

}  // namespace voxherd
