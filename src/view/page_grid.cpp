#include "src/view/page_grid.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/portable/symmetric_eigen3.hpp"
#include "src/io/nifti/nifti_writer.hpp"
#include "src/scan/grid_space.hpp"

namespace voxherd::view {

namespace {

vector3 world_of(const image_grid& grid, std::uint64_t voxel) {
  return grid_space(grid).to_world(voxel_position(grid, voxel));
}

}  // namespace

page_grid::page_grid(const image_grid& grid) : view_(grid) {
  const vector3 origin = world_of(grid, view_.voxel({0, 0, 0}));
  const std::array<int, 3> file_axes = view_.file_axes();
  auto& m = reordered_.voxel_to_world;
  m[15] = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    reordered_.size[axis] = view_.size(static_cast<int>(axis));
    reordered_.voxel_size_mm[axis] = view_.spacing_mm(static_cast<int>(axis));
    const auto file_axis = static_cast<std::size_t>(std::abs(file_axes[axis]) - 1);
    for (std::size_t row = 0; row < 3; ++row) {
      const double along = grid.voxel_to_world[4 * row + file_axis];
      m[4 * row + axis] = file_axes[axis] < 0 ? -along : along;
      m[4 * row + 3] = origin[row];
    }
  }
}

std::uint64_t page_grid::on_page(std::uint64_t voxel) const {
  const auto at = view_.place(voxel);
  return at[0] + reordered_.size[0] * (at[1] + reordered_.size[1] * at[2]);
}

std::uint64_t page_grid::in_file(std::uint64_t voxel) const {
  const auto& n = reordered_.size;
  return view_.voxel({voxel % n[0], voxel / n[0] % n[1], voxel / n[0] / n[1]});
}

std::array<std::uint64_t, 3> page_grid::middle_of(std::span<const std::uint64_t> voxels) const {
  const auto& n = reordered_.size;
  if (voxels.empty()) return {n[0] / 2, n[1] / 2, n[2] / 2};
  vector3 centroid{};
  for (const std::uint64_t v : voxels)
    for (std::size_t d = 0; d < 3; ++d)
      centroid[d] += static_cast<double>(view_.place(v)[d]) / static_cast<double>(voxels.size());
  const auto squared_mm = [&](std::uint64_t voxel) {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d)
      sum += std::pow(reordered_.voxel_size_mm[d] * (static_cast<double>(view_.place(voxel)[d]) - centroid[d]), 2);
    return sum;
  };
  return view_.place(*std::ranges::min_element(voxels, {}, squared_mm));
}

template <class T>
std::vector<T> page_grid::reorder(std::span<const T> values, std::size_t components, std::size_t component) const {
  std::vector<T> to;
  to.reserve(reordered_.voxel_count());
  for (std::uint64_t z = 0; z < reordered_.size[2]; ++z)
    for (std::uint64_t y = 0; y < reordered_.size[1]; ++y)
      for (std::uint64_t x = 0; x < reordered_.size[0]; ++x)
        to.push_back(values[view_.voxel({x, y, z}) * components + component]);
  return to;
}

std::vector<float> page_grid::reordered(std::span<const float> values, std::size_t components,
                                        std::size_t component) const {
  return reorder(values, components, component);
}

std::vector<std::int32_t> page_grid::reordered(std::span<const std::int32_t> labels) const {
  return reorder(labels, 1, 0);
}

namespace {

template <class T>
std::string nifti_file(const nifti_image& image, std::span<const T> values) {
  const std::vector<std::byte> header = nifti_header_bytes(image);
  std::string file(reinterpret_cast<const char*>(header.data()), header.size());
  file.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return file;
}

}  // namespace

std::string page_grid::nifti(std::span<const float> values) const {
  nifti_image image;
  image.grid = reordered_;
  return nifti_file(image, values);
}

std::string page_grid::nifti(std::span<const std::int32_t> labels) const {
  nifti_image image;
  image.grid = reordered_;
  image.has_int32 = true;
  return nifti_file(image, labels);
}

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
