#pragma once

#include <cuda_runtime.h>

#include <array>

#include "kernels/device/cuda_check.cuh"
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

}  // namespace voxherd::geodesic
