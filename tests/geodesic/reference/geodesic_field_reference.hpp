#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/tensor_field/field.hpp"

namespace voxherd::reference {

/// A prepared field, slow and obvious, in double. Arrays are (nz, ny, nx, ...).
struct geodesic_field {
  std::vector<double> values;  ///< field_floats(kind) a voxel, samples (never coefficients)
  std::vector<double> FA, speed;
  std::vector<std::uint32_t> regions;
  std::vector<double> condition;  ///< largest over smallest eigenvalue of D_eff
  std::vector<double> metric;     ///< largest element of the metric in index space
  double scale = 1;
  std::uint64_t repaired = 0;
};

geodesic_field prepare_geodesic_field(const tensor_field::tensor_image& image, std::span<const std::uint32_t> regions,
                                      const tensor_field::preparation& how, tensor_field::field_kind kind);

/// Cubic B-spline coefficients of one line: the interpolation's linear system with whole-sample mirrors.
std::vector<double> spline_coefficients(const std::vector<double>& samples);

/// The same along all three axes of an image with `width` numbers per voxel.
std::vector<double> spline_coefficients(const std::array<std::uint64_t, 3>& size, std::size_t width,
                                        std::vector<double> values);

}  // namespace voxherd::reference
