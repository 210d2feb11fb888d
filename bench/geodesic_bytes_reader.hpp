#pragma once

#include "kernels/geodesic/place.hpp"
#include "kernels/geodesic/scalar_reader.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd::bench {

/// The values that are not read: zeros, which the compiler does not know, so that it keeps the arithmetic with them. A
/// GPU's instructions take them from constant memory at no cost.
#if defined(__CUDACC__)
static __constant__ float left_out[12];
#else
extern float left_out[12];
#endif

VOXHERD_FUNCTION inline float value_left_out(int channel) {
#if defined(__CUDACC__) && !defined(__CUDA_ARCH__)
  return static_cast<float>(0 * channel);
#else
  return left_out[channel - 12];
#endif
}

/// geodesic::trilinear_reader<24> that reads `Quads` of a voxel's six quads.
template <int Quads>
class partial_reader {
 public:
  using number = float;

  VOXHERD_FUNCTION explicit partial_reader(const geodesic::field_view& f) : field_(f) {}
  VOXHERD_FUNCTION const geodesic::field_view& field() const { return field_; }

  template <int Channels>
  VOXHERD_FUNCTION void values(const geodesic::place<float>& p, float (&out)[Channels]) const {
    const std::ptrdiff_t stride[3] = {24, std::ptrdiff_t{24} * field_.size[0],
                                      std::ptrdiff_t{24} * field_.size[0] * field_.size[1]};
    const float* first = field_.values;
    float weight[3][2];
    VOXHERD_UNROLL for (int axis = 0; axis < 3; ++axis) {
      float cell, within;
      geodesic::cell_at(p, axis, field_.size[axis], cell, within);
      first += stride[axis] * static_cast<int>(cell);
      weight[axis][0] = 1.0f - within;
      weight[axis][1] = within;
    }
    for (float& o : out) o = 0;
    VOXHERD_UNROLL for (int corner = 0; corner < 8; ++corner) {
      const int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
      add_corner(first + i * stride[0] + j * stride[1] + k * stride[2], weight[0][i] * (weight[1][j] * weight[2][k]),
                 out);
    }
  }

 private:
  template <int Channels>
  VOXHERD_FUNCTION static void add_corner(const float* at, float weight, float (&out)[Channels]) {
    VOXHERD_UNROLL for (int first = 0; first < Channels; first += 4) {
      geodesic::detail::four v;
      if (first < 4 * Quads) {
        v = geodesic::detail::load_four(at + first);
      } else {
        VOXHERD_UNROLL for (int n = 0; n < 4; ++n) v.value[n] = value_left_out(first + n);
      }
      VOXHERD_UNROLL for (int n = 0; n < 4; ++n) {
        if (first + n < Channels) out[first + n] += weight * v.value[n];
      }
    }
  }

  geodesic::field_view field_;
};

}  // namespace voxherd::bench
