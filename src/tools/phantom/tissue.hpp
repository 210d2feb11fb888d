#pragma once

#include <array>
#include <cstdint>

#include "kernels/phantom/dwi_samples.hpp"
#include "src/tools/phantom/directions.hpp"

namespace voxherd {

/// Signal of white matter without diffusion weighting: what the signal-to-noise ratio refers to.
constexpr double white_matter_S0 = 800;

/// The phantom's anatomy: an ellipsoid "brain" of grey matter in a shell of fluid, two ventricles, and bundles that run
/// straight, cross at 60 to 90 degrees (a third one through both), fan out, and kiss. Fixed shapes in coordinates where
/// the brain's half axes are 1, so that any image size holds all of them.
class anatomy {
 public:
  /// `fibres`: most fibres in a voxel, 1 to 3. `brain_size`: the brain's diameter as a part of the image's, 0 to 1.
  anatomy(std::array<std::uint64_t, 3> size, double brain_size, std::size_t fibres);

  tissue at(std::uint64_t voxel) const;
  /// Whose end a voxel of white matter is: bundle b, counted from 0, begins at label 2 b + 1 and ends at 2 b + 2; the
  /// bundles are across, oblique, upright, straight, fan, the arc that kisses at lower voxel x, the other one. 0: no
  /// end. Where several bundles end, the one that the voxel lies deepest in.
  int end_at(std::uint64_t voxel) const;
  std::uint64_t mask_count() const;
  std::array<std::uint64_t, 3> size() const { return size_; }

 private:
  std::array<std::uint64_t, 3> size_;
  std::array<double, 3> half_axis_voxels_;
  std::size_t fibres_;
};

}  // namespace voxherd
