#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// A mask and tensors similar to a brain's white matter, computed by formula, so that no data are needed: the paper's
/// third example (Jeong 2007: 256x256x100 voxels, 196,000 of them white matter) without its data. The mask is a sheet
/// two to three voxels thick, the shell of an ellipsoid in folds 8 voxels deep, and a bridge between its sides. Fibres
/// are in the sheet and rotate with the position; the ratio of S's eigenvalues varies smoothly from 3 to 100.
namespace voxherd::bench {

inline constexpr std::array<std::uint64_t, 3> brain_size{256, 256, 100};

/// S = I + (ratio - 1) t t^T in index space, where t is the unit vector of the fibres.
struct brain_fibre {
  std::array<double, 3> along;
  double ratio;
};
brain_fibre brain_fibre_at(std::uint64_t voxel);

/// (nz, ny, nx): 1 in the mask. Computed once.
const std::vector<std::uint8_t>& brain_mask();

/// (nz, ny, nx): labels 1 to `regions`, 0 elsewhere. Region r is the mask around one of its voxels, up to 3 voxels away
/// or to where another region is nearer; the central voxels come from a golden-ratio sequence.
std::vector<std::int32_t> brain_labels(std::size_t regions);

}  // namespace voxherd::bench
