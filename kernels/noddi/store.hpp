#pragma once

#include "kernels/noddi/fitter.hpp"
#include "kernels/noddi/outputs.hpp"
#include "kernels/portable/voxel_status.hpp"

namespace voxherd::noddi {

/// Writes row `item` of the outputs of a best fit.
VOXHERD_FUNCTION inline void store(const fit_result& r, std::size_t item, const result_arrays& out) {
  out.put<"NDI">(item, r.ndi);
  out.put<"ODI">(item, r.odi);
  out.put<"FWF">(item, r.fwf);
  out.put<"tf">(item, 1 - r.fwf);
  out.put<"kappa">(item, kappa_of(r.odi));
  out.put<"direction">(item, r.axis);
  out.put<"S0">(item, r.s0);
  out.put<"dot">(item, r.dot);
  out.put<"sigma">(item, r.sigma);
  out.put<"residual">(item, r.residual);
}

/// Values per voxel of each output.
using output_sizes = std::array<std::size_t, result_arrays::count>;

/// Zeros for a voxel that could not be fitted. `bytes`: per voxel of each output.
VOXHERD_FUNCTION inline void clear(const output_sizes& bytes, std::size_t item, const result_arrays& out) {
  for (std::size_t i = 0; i < result_arrays::place<"status">(); ++i) {
    if (out.array[i] == nullptr) continue;
    const std::size_t width = bytes[i] / sizeof(float);
    for (std::size_t n = 0; n < width; ++n) out.floats(i)[item * width + n] = 0.0f;
  }
}

}  // namespace voxherd::noddi
