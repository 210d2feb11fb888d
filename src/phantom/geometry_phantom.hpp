#pragma once

#include <string>

#include "kernels/phantom/dispersed_signal.hpp"
#include "src/phantom/bundle_geometry.hpp"
#include "src/phantom/phantom_options.hpp"

namespace voxherd {

/// What a phantom of bundles is made of, apart from their geometry.
struct geometry_phantom_settings {
  std::string geometry;
  phantom_size size{};  ///< zero: the sphere fills the image
  double voxel_size_mm = 2;
  bundle_diffusion white;
  double grey_mm2_per_s = 0.2e-3, fluid_mm2_per_s = 3e-3;
  gradient_table gradients;
  double snr = 30;
  noise_settings noise;
  bool compressed = false;
  int threads = 1;
};

/// Writes what write_dwi_phantom() writes, with truth/ of volume shares (f1..f4, dyads1..dyads4, white, fluid), ends,
/// the voxels to score, and bundles.json with names, radii, centre lines and connected ends. Collective.
void write_geometry_phantom(const session& s, const geometry_phantom_settings& settings, const std::string& folder);

}  // namespace voxherd
