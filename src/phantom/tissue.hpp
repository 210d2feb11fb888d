#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/phantom/dwi_samples.hpp"
#include "src/phantom/directions.hpp"

namespace voxherd {

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

}  // namespace voxherd
