#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/perfusion/conversion.hpp"
#include "kernels/phantom/noise.hpp"
#include "mpi/comm/session.hpp"
#include "src/phantom/liver_anatomy.hpp"

namespace voxherd {

/// Shape of the input curves between the frames.
enum class inputs_between_frames {
  continuous,  ///< the model curve, in steps of 0.1 s
  sampled,     ///< linear interpolation between frames, as a fit assumes
};

enum class stored_type { float32, int16 };

struct liver_phantom_settings {
  std::string name;
  std::array<std::uint64_t, 3> size{};
  std::array<double, 3> voxel_size_mm{};
  std::uint64_t frames = 48;
  double spacing_s = 2.37;
  std::uint64_t liver_voxels = 0, aorta_voxels = 0, portal_voxels = 0;

  perfusion::signal_kind signal = perfusion::signal_kind::spoiled_echo;
  double repetition_s = 0.0035, flip_deg = 15, relaxivity_per_mM_s = 4.5;
  std::vector<double> vfa_flip_deg{2, 5, 10, 15};  ///< flip angles of the series for T1, with the same repetition time
  inputs_between_frames inputs = inputs_between_frames::continuous;

  double cnr = 50;       ///< largest enhancement of healthy liver divided by the standard deviation of the noise
  noise_settings noise;  ///< the deviation is derived from cnr
  stored_type type = stored_type::float32;
  bool compressed = false;
  int threads = 1;

  liver_anatomy_settings anatomy() const { return {size, liver_voxels, aorta_voxels, portal_voxels}; }
};

/// The presets toy, clinical and paper.
const std::vector<liver_phantom_settings>& liver_phantom_presets();

/// Arrival of the contrast agent in the aorta, s after the first frame.
inline constexpr double agent_arrival_s = 10;

/// Writes dce.nii[.gz], times.txt, curves.csv, the masks liver, aorta and portal, phantom.json, and truth/ with kl, ka,
/// kp, tau_a, tau_p, T1, regions; also vfa.nii[.gz] and vfa_flip_angles.txt for spoiled echoes. All ranks share the
/// work; the bytes do not depend on their number. Throws failure (disk; usage if the image is too small).
void write_liver_phantom(const session& s, const liver_phantom_settings& settings, const std::string& folder);

}  // namespace voxherd
