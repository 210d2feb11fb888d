#pragma once

#include <cuda_runtime.h>

#include <array>

#include "kernels/device/cuda_check.cuh"
#include "kernels/geodesic/place.hpp"
#include "kernels/geodesic/trace_job.hpp"
#include "kernels/tensor_field/field.hpp"

namespace voxherd::geodesic {

/// The 24 values of a christoffel field as six textures of four channels each, filtered by the hardware.
class texture_field {
 public:
  texture_field(const tensor_field::field_view& f, cudaStream_t stream);
  ~texture_field();
  texture_field(const texture_field&) = delete;
  texture_field& operator=(const texture_field&) = delete;

  const std::array<cudaTextureObject_t, 6>& objects() const { return objects_; }

 private:
  std::array<cudaArray_t, 6> arrays_{};
  std::array<cudaTextureObject_t, 6> objects_{};
};

/// Trilinear interpolation by the GPU's texture unit, whose weights are multiples of 1/256, as in the paper.
class texture_reader {
 public:
  using number = float;

  VOXHERD_FUNCTION explicit texture_reader(const trace_job& job) : job_(job) {}
  VOXHERD_FUNCTION const field_view& field() const { return job_.field; }

  template <int Channels>
  VOXHERD_FUNCTION void values(const place<float>& p, float (&out)[Channels]) const {
#if defined(__CUDA_ARCH__)
    // Voxel centres are at 0.5 in a texture.
    const float x = p.cell[0] + (p.rest[0] + 0.5f), y = p.cell[1] + (p.rest[1] + 0.5f),
                z = p.cell[2] + (p.rest[2] + 0.5f);
    VOXHERD_UNROLL for (int t = 0; 4 * t < Channels; ++t) {
      const float4 v = tex3D<float4>(job_.textures[t], x, y, z);
      const float four[4] = {v.x, v.y, v.z, v.w};
      VOXHERD_UNROLL for (int n = 0; n < 4; ++n) {
        if (4 * t + n < Channels) out[4 * t + n] = four[n];
      }
    }
#endif
  }

 private:
  const trace_job& job_;
};

}  // namespace voxherd::geodesic
