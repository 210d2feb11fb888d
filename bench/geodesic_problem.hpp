#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bench/program.hpp"
#include "kernels/geodesic/tracker.hpp"

namespace voxherd::bench {

/// Score arrays of `count` fibres in memory that copies fast from the device.
class score_memory {
 public:
  score_memory(const device& d, std::size_t count);
  const geodesic::score_arrays& view() const { return view_; }

 private:
  host_buffer memory_;
  geodesic::score_arrays view_;
};

/// A flat anisotropic metric seen through waves, the pullback by (x, y + 2 sin kx, z + 2 sin ky + 1.5 cos kx) with
/// k = 2 pi / 64 voxels and eigenvalues 1, 0.2, 0.1: its geodesics along x are known, and stay in the image.
geodesic::tensor_image wave_image(const std::array<std::uint64_t, 3>& size);

/// Seeds spread over the first part of the image (`columns` voxels along x), their axes along those geodesics.
std::vector<geodesic::seed> wave_seeds(std::size_t count, std::size_t columns);

/// Bytes of the field that one step reads, as the scheme has it: 8 voxels an evaluation or, of a B-spline, 64; whatever
/// caches and filtering units make of that. What is read on entering a voxel (16 bytes) is not counted.
double bytes_per_step(geodesic::ray_form form, geodesic::interpolation reading, geodesic::integrator method);

struct wave_run {
  geodesic::ray_form form;
  geodesic::interpolation reading;
  geodesic::integrator method;
  float step_mm;
  std::uint32_t steps;
};

/// The paper's benchmark: fibres of equal length in a large image, none of which ends early. Fields are kept from one
/// problem to the next, as they take longer to make than to use.
std::unique_ptr<problem> make_wave_problem(const device& d, const std::array<std::uint64_t, 3>& size,
                                           const wave_run& how, std::size_t fibres);

}  // namespace voxherd::bench
