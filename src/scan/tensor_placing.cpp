#include "src/scan/tensor_placing.hpp"

#include <algorithm>

#include "kernels/portable/voxel_status.hpp"
#include "mpi/run/staged_input.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd {

std::size_t place_tensors(const image_grid& grid, std::span<const std::uint64_t> voxels, std::span<const float> tensors,
                          std::span<const std::uint8_t> status, tensor_field::tensor_image& image) {
  const matrix3 frame = bvec_frame(grid);
  std::size_t left = 0;
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    const float* d6 = tensors.data() + 6 * i;
    const auto outcome = static_cast<voxel_status>(status[i]);
    const bool fitted = outcome == voxel_status::fitted || outcome == voxel_status::not_physical;
    if (!fitted || !(d6[0] + d6[3] + d6[5] > 0)) {
      ++left;
      continue;
    }
    float* place = image.tensor.data() + 6 * voxels[i];
    std::copy(d6, d6 + 6, place);
    rotate_tensor(frame, place);
    image.inside[voxels[i]] = 1;
  }
  return left;
}

kept_signals keep_signals(const session& s, dwi_series& dwi, const std::vector<std::uint8_t>& inside) {
  constexpr std::uint64_t most = 32768;
  const auto& voxels = dwi.item_voxels();
  const std::size_t width = dwi.floats_per_item();
  kept_signals kept;
  kept.gradients = dwi.gradients();
  kept.gradient_deviation = dwi.has_gradient_deviation();
  for (const std::uint64_t v : voxels)
    if (inside[v] != 0) kept.voxels.push_back(v);
  kept.rows.reserve(kept.voxels.size() * width);
  std::vector<float> piece(std::min<std::uint64_t>(most, voxels.size()) * width);
  const auto keep = [&](std::uint64_t first, std::uint64_t last) {
    const batch part{0, first, last - first};
    dwi.load(part, piece);
    for (std::uint64_t i = 0; i < part.item_count; ++i) {
      if (inside[voxels[first + i]] == 0) continue;
      const float* row = piece.data() + i * width;
      kept.rows.insert(kept.rows.end(), row, row + width);
    }
  };
  for_each_stage(s, dwi, voxels.size(), [&](std::uint64_t first, std::uint64_t last) {
    s.agree([&] {
      for (; first < last; first += most) keep(first, std::min(last, first + most));
    });
  });
  return kept;
}

}  // namespace voxherd
