#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// A mask and tensors like a brain's white matter, by formula, so that every machine has them: the paper's third
/// example (Jeong 2007: 256x256x100 voxels, 196,000 of them white matter) without its data. The mask is a sheet two to
/// three voxels thick, an ellipsoid's shell in folds 8 voxels deep, and a bridge between its sides. Fibres run along
/// the sheet and turn with the place; the ratio of S's eigenvalues goes smoothly from 3 to 100.
namespace voxherd::bench {

inline constexpr std::array<std::uint64_t, 3> brain_size{256, 256, 100};

/// S = I + (ratio - 1) t t^T in index space, t being the fibres' unit vector.
struct brain_fibre {
  std::array<double, 3> along;
  double ratio;
};
brain_fibre brain_fibre_at(std::uint64_t voxel);

/// (nz, ny, nx): 1 in the mask. Made once.
const std::vector<std::uint8_t>& brain_mask();

/// (nz, ny, nx): labels 1 to `regions`, 0 where there is none. Region r is the mask around one of its voxels, out to 3
/// voxels or where another region is nearer; the voxels in the middle come from a golden-ratio sequence.
std::vector<std::int32_t> brain_labels(std::size_t regions);

}  // namespace voxherd::bench
