#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "src/tools/phantom/tissue.hpp"

namespace voxherd {

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
