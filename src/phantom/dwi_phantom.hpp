#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpi/comm/session.hpp"
#include "src/phantom/directions.hpp"
#include "src/phantom/tissue.hpp"

namespace voxherd {

struct dwi_phantom_settings {
  std::string name;
  std::array<std::uint64_t, 3> size{};
  double voxel_size_mm = 2;
  double brain_size = 0.85;  ///< diameter of the brain as a fraction of the image's
  std::size_t b0_volumes = 0;
  std::vector<gradient_shell> shells;
  std::size_t fibres = 3;
  std::vector<double> crossing_degrees;  ///< instead of a brain, a block of crossing fibres for each angle
  double snr = 30;                       ///< white-matter signal at b=0 divided by the standard deviation of the noise
  noise_settings noise;                  ///< the deviation is derived from snr
  bool compressed = false;
  int threads = 1;

  std::uint64_t volumes() const;
};

/// The presets toy, clinical, paper-hires and hcp.
const std::vector<dwi_phantom_settings>& dwi_phantom_presets();

/// Writes an FSL subject folder: data.nii[.gz], bvals, bvecs, nodif_brain_mask.nii.gz, and truth/ with f1..f3,
/// dyads1..dyads3, d, S0, fibres, ends. All ranks share the work; the bytes do not depend on their number. Needs at
/// most about 300 MB per rank for the data and one map per thread. Throws failure (disk).
void write_dwi_phantom(const session& s, const dwi_phantom_settings& settings, const std::string& folder);

}  // namespace voxherd
