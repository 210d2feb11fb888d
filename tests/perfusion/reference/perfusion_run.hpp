#pragma once

#include <vector>

#include "kernels/perfusion/perfusion.hpp"
#include "tests/perfusion/reference/dual_maps.hpp"
#include "tests/perfusion/reference/perfusion_reference.hpp"

namespace voxherd::reference {

/// All results of a fitter for a batch.
class perfusion_run {
 public:
  /// rows.size() = count x (frames + convert.extras()).
  perfusion_run(const device& d, const perfusion::time_course& frames, const std::vector<float>& rows,
                const perfusion::fit_settings& settings, const perfusion::conversion& convert = {});

  std::size_t voxels() const { return status.size(); }
  /// 1/s and s.
  perfusion_parameters parameters(std::size_t voxel) const;
  /// ml/100 g/min and s.
  perfusion_parameters deviations(std::size_t voxel) const;
  double map(perfusion::dual_map which, std::size_t voxel) const;

  std::vector<std::vector<float>> maps;
  std::vector<std::uint32_t> iterations;
  std::vector<std::uint8_t> exit_code, at_bound, status;
};

/// Rows of concentrations: each voxel's samples as floats, one voxel after another.
std::vector<float> rows_of(const std::vector<std::vector<double>>& voxels);

/// Starts of all parameters, in 1/s and s.
perfusion::fit_settings starting_at(perfusion::fit_settings s, const perfusion_parameters& start);

}  // namespace voxherd::reference
