#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/portable/function.hpp"
#include "kernels/portable/voxel_status.hpp"
#include "kernels/voxel_model/noise_model.hpp"

namespace voxherd::voxel_model {

/// Copies one voxel's signals into a padded row (zeros after the last); returns whether they can be fitted.
/// Under Rician noise, samples that are not positive become the smallest positive one, since the likelihood uses their
/// logarithm.
struct voxel_preparer {
  int measurements;
  int padded;
  noise_model noise;

  /// `order`: where the measurements are among the signals; null: in their order.
  VOXHERD_FUNCTION voxel_status operator()(const float* signals, float* row, const std::uint32_t* order) const {
    if (order == nullptr) return prepare(signals, row, [](int i) { return i; });
    return prepare(signals, row, [=](int i) { return order[i]; });
  }

 private:
  template <class Place>
  VOXHERD_FUNCTION voxel_status prepare(const float* signals, float* row, Place place) const {
    bool finite = true, zero = true, constant = true;
    float smallest_positive = 0;
    for (int i = 0; i < padded; ++i) {
      const float y = i < measurements ? signals[place(i)] : 0.0f;
      row[i] = y;
      if (i >= measurements) continue;
      finite = finite && fabsf(y) <= 3.4e38f;
      zero = zero && y == 0.0f;
      constant = constant && y == signals[0];
      if (y > 0.0f && (smallest_positive == 0.0f || y < smallest_positive)) smallest_positive = y;
    }
    const voxel_status status = !finite                     ? voxel_status::not_finite
                                : zero                      ? voxel_status::all_zero
                                : constant                  ? voxel_status::constant
                                : smallest_positive == 0.0f ? voxel_status::too_few_positive
                                                            : voxel_status::fitted;
    for (int i = 0; i < padded; ++i) {
      if (status != voxel_status::fitted)
        row[i] = 0.0f;  // so that all computations stay finite
      else if (noise == noise_model::rician && i < measurements && row[i] <= 0.0f)
        row[i] = smallest_positive;
    }
    return status;
  }
};

}  // namespace voxherd::voxel_model
