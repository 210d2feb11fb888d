#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bench/perfusion_curves.hpp"
#include "kernels/perfusion/perfusion.hpp"

namespace voxherd::bench {

/// What became of voxels, one after another.
struct perfusion_fits {
  std::array<std::vector<float>, perfusion::map_count> maps;
  std::vector<std::uint32_t> iterations;
  std::vector<std::uint8_t> exit_code, at_bound, status;

  explicit perfusion_fits(std::size_t voxels);
  perfusion::outputs view();
  std::size_t voxels() const { return iterations.size(); }
  /// 1/s and s.
  perfusion_parameters parameters(std::size_t voxel) const;
};

/// Fits rows of concentrations once. Throws device_error; failure of a voxel to be fitted as std::runtime_error.
perfusion_fits fit_once(const device& d, const perfusion::time_course& frames, const perfusion::fit_settings& settings,
                        const std::vector<float>& rows);

}  // namespace voxherd::bench
