#include "kernels/voxel_model/deviated_gradients.hpp"

#include <cmath>

namespace voxherd::voxel_model {

gradient_table deviated(const gradient_table& nominal, const float* deviation) {
  gradient_table bent = nominal;
  for (std::size_t i = 0; i < nominal.size(); ++i) {
    const double g[3] = {nominal.x[i], nominal.y[i], nominal.z[i]};
    double q[3], square = 0;
    for (int line = 0; line < 3; ++line) {
      q[line] = g[line];
      for (int column = 0; column < 3; ++column)
        q[line] += static_cast<double>(deviation[3 * column + line]) * g[column];
      square += q[line] * q[line];
    }
    const double inverse = square > 0 ? 1 / std::sqrt(square) : 0;
    bent.x[i] = q[0] * inverse, bent.y[i] = q[1] * inverse, bent.z[i] = q[2] * inverse;
    bent.b_s_per_mm2[i] = nominal.b_s_per_mm2[i] * square;
  }
  return bent;
}

}  // namespace voxherd::voxel_model
