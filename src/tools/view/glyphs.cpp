#include "src/tools/view/glyphs.hpp"

#include "kernels/portable/symmetric_eigen3.hpp"

namespace voxherd::view {

namespace {

/// Numbers voxels so that every n-th one is on a regular lattice of planes.
std::uint64_t lattice_number(std::uint64_t voxel, const std::array<std::uint64_t, 3>& size) {
  return voxel % size[0] + 2 * (voxel / size[0] % size[1]) + 3 * (voxel / size[0] / size[1]);
}

void append_eigen(const float* d, std::vector<float>& to) {
  const auto e =
      symmetric_eigen3<double>(static_cast<double>(d[0]), static_cast<double>(d[1]), static_cast<double>(d[2]),
                               static_cast<double>(d[3]), static_cast<double>(d[4]), static_cast<double>(d[5]));
  for (const double value : e.value) to.push_back(static_cast<float>(value));
  for (const auto& vector : e.vector)
    for (const double x : vector) to.push_back(static_cast<float>(x));
}

}  // namespace

glyph_set make_glyphs(std::span<const std::uint64_t> voxels, std::span<const float> tensors, const page_grid& grid,
                      std::uint64_t max_count) {
  const auto& size = grid.grid().size;
  glyph_set g;
  for (;; ++g.stride) {
    std::uint64_t count = 0;
    for (const std::uint64_t v : voxels) count += lattice_number(grid.on_page(v), size) % g.stride == 0 ? 1 : 0;
    if (count <= max_count) break;
  }
  for (const std::uint64_t v : voxels) {
    const std::uint64_t place = grid.on_page(v);
    if (lattice_number(place, size) % g.stride != 0) continue;
    g.voxels.push_back(static_cast<std::uint32_t>(place));
    append_eigen(tensors.data() + 6 * v, g.eigen);
  }
  return g;
}

}  // namespace voxherd::view
