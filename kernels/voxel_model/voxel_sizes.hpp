#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/portable/output_arrays.hpp"
#include "kernels/voxel_model/noise_model.hpp"

namespace voxherd::voxel_model {

/// The sizes of an estimator's arrays, and how a voxel's signals are prepared.
struct voxel_sizes {
  int measurements;  ///< K
  int padded;        ///< signals of a voxel: complete slots
  bool deviates;     ///< nine numbers of the gradient deviation follow a voxel's signals
  noise_model noise;
  int parameters;     ///< of a chain's start and acceptance, at most
  int sample_floats;  ///< of a voxel's chain; 0: no chain
  const std::uint32_t* order =
      nullptr;  ///< each measurement's place in the series, in the device's memory; null: its own

  VOXHERD_FUNCTION int row_floats() const { return measurements + (deviates ? 9 : 0); }
};

/// Bytes per voxel of each output.
template <class Outputs>
using output_sizes = std::array<std::size_t, output_arrays<Outputs>::count>;

/// `status` is the last output of every table.
template <class Outputs>
VOXHERD_FUNCTION inline void put_status(std::uint8_t status, std::size_t item, const output_arrays<Outputs>& out) {
  if (auto* const codes = static_cast<std::uint8_t*>(out.array[out.count - 1])) codes[item] = status;
}

/// Zeros in all other outputs, for a voxel that could not be fitted.
template <class Outputs>
VOXHERD_FUNCTION inline void clear(const output_sizes<Outputs>& bytes, std::size_t item,
                                   const output_arrays<Outputs>& out) {
  for (std::size_t i = 0; i + 1 < out.count; ++i) {
    if (out.array[i] == nullptr) continue;
    const std::size_t width = bytes[i] / sizeof(float);
    for (std::size_t v = 0; v < width; ++v) out.floats(i)[item * width + v] = 0.0f;
  }
}

}  // namespace voxherd::voxel_model
