#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bench/program.hpp"
#include "kernels/geodesic/tracker.hpp"

namespace voxherd::bench {

/// Score arrays of `count` fibres in page-locked memory.
class score_memory {
 public:
  score_memory(const device& d, std::size_t count);
  const geodesic::score_arrays& view() const { return view_; }

 private:
  host_buffer memory_;
  geodesic::score_arrays view_;
};

/// An image without tensors yet: voxels of 1 mm, all of them inside.
tensor_field::tensor_image blank_image(const std::array<std::uint64_t, 3>& size);

/// A flat anisotropic metric transformed by waves: the pullback by (x, y + 2 sin kx, z + 2 sin ky + 1.5 cos kx) with k
/// = 2 pi / 64 voxels and eigenvalues 1, 0.2, 0.1. Its geodesics along x are known and stay in the image.
tensor_field::tensor_image wave_image(const std::array<std::uint64_t, 3>& size);

/// Seeds distributed over the first part of the image (`columns` voxels along x), with axes along those geodesics.
std::vector<geodesic::seed> wave_seeds(std::size_t count, std::size_t columns);

/// Bytes of the field that one step of the scheme reads: 8 voxels per evaluation or, for a B-spline, 64, regardless of
/// caches and texture units. The read on entering a voxel (16 bytes) is not counted.
double bytes_per_step(geodesic::ray_form form, geodesic::interpolation reading, geodesic::integrator method);

struct wave_run {
  geodesic::ray_form form;
  geodesic::interpolation reading;
  geodesic::integrator method;
  float step_mm;
  std::uint32_t steps;
};

/// The paper's benchmark: fibres of equal length in a large image, none of which ends early. Fields are kept from one
/// problem to the next, because creating them takes longer than using them.
std::unique_ptr<problem> make_wave_problem(const device& d, const std::array<std::uint64_t, 3>& size,
                                           const wave_run& how, std::size_t fibres);

}  // namespace voxherd::bench
