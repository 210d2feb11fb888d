#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/phantom/phantom_signals.hpp"
#include "kernels/portable/gradient_table.hpp"
#include "mpi/comm/session.hpp"

namespace voxherd {

using direction3 = std::array<double, 3>;

/// `count` directions spread evenly over the sphere, where opposite directions are equivalent: a spiral over the half
/// sphere, relaxed by electrostatic repulsion (Jones, Horsfield & Simmons, MRM 42:515, 1999). Deterministic.
std::vector<direction3> spread_directions(std::size_t count);

/// One b-value and its directions.
struct gradient_shell {
  double b_s_per_mm2 = 0;
  std::size_t directions = 0;
};

/// Interleaves b=0 volumes and shells as scanners do: b=0 volumes at even distances, shells alternating.
gradient_table make_gradients(std::size_t b0_count, const std::vector<gradient_shell>& shells);

/// White-matter signal without diffusion weighting; the reference of the signal-to-noise ratio.
constexpr double white_matter_S0 = 800;
constexpr double white_matter_d_mm2_per_s = 1.3e-3;

/// Volume fractions in a voxel of one, two or three fibres, on the axes of the bundles.
constexpr double largest_fractions[max_phantom_fibres][max_phantom_fibres] = {
    {0.72, 0, 0}, {0.42, 0.32, 0}, {0.32, 0.26, 0.2}};

/// The phantom's anatomy: an ellipsoid "brain" of grey matter in a shell of fluid, two ventricles, and bundles that are
/// straight, cross at 60 to 90 degrees (a third one through both), fan out, and kiss. The shapes are fixed in
/// coordinates in which the brain's half axes are 1, so that every image size contains all of them.
class anatomy {
 public:
  /// `fibres`: maximum number of fibres per voxel, 1 to 3. `brain_size`: diameter of the brain as a fraction of the
  /// image's, 0 to 1.
  anatomy(std::array<std::uint64_t, 3> size, double brain_size, std::size_t fibres);

  tissue at(std::uint64_t voxel) const;
  /// The bundle end at a voxel of white matter: bundle b, counted from 0, starts at label 2 b + 1 and ends at label 2 b
  /// + 2; 0 for none. The bundles are across, oblique, upright, straight, fan, the kissing arc at lower voxel x, the
  /// other arc. If several bundles end here, the one in which the voxel is deepest.
  int end_at(std::uint64_t voxel) const;
  std::uint64_t mask_count() const;
  std::array<std::uint64_t, 3> size() const { return size_; }

 private:
  std::array<std::uint64_t, 3> size_;
  std::array<double, 3> half_axis_voxels_;
  std::size_t fibres_;
};

/// White matter in which all fibres of a voxel cross at the same angle. The image is divided along z into one block per
/// angle, of equal numbers of slices up to one. Each voxel has its own random orientation, which depends only on its
/// index; fractions, diffusivity and S0 are those of the brain phantom's white matter.
class crossings {
 public:
  /// `fibres`: in every voxel, 1 to 3. `degrees`: between any two fibres of a voxel, 0 to 90; at most one per slice.
  crossings(std::array<std::uint64_t, 3> size, std::vector<double> degrees, std::size_t fibres);

  tissue at(std::uint64_t voxel) const;

 private:
  std::array<std::uint64_t, 3> size_;
  std::vector<double> degrees_;
  std::size_t fibres_;
};

/// Writes FOLDER/bvals and FOLDER/bvecs. Throws failure (disk).
void write_gradients(const gradient_table& g, const std::string& folder);

struct dwi_phantom_settings {
  std::string name;
  std::array<std::uint64_t, 3> size{};
  double voxel_size_mm = 2;
  double brain_size = 0.85;  ///< diameter of the brain as a fraction of the image's
  std::size_t b0_volumes = 0;
  std::vector<gradient_shell> shells;
  gradient_table gradients;  ///< of all volumes; empty: made from the shells
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
