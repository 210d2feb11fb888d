#include "tests/geodesic/reference/geodesic_reading.hpp"

#include <algorithm>

namespace voxherd::reference {

namespace {

mat3 matrix_of(const float* t) { return {{{t[0], t[1], t[2]}, {t[1], t[3], t[4]}, {t[2], t[4], t[5]}}}; }

}  // namespace

mat3_gradient inverse_gradient(const mat3& D, const mat3_gradient& dD) {
  const mat3 G = inverse(D);
  return {-1 * (G * dD[0] * G), -1 * (G * dD[1] * G), -1 * (G * dD[2] * G)};
}

field_values formula_reader::at(const vec3& world) const {
  const mat3 D = formula_.D(world);
  const mat3_gradient dD = formula_.dD(world);
  return {D, dD, inverse_gradient(D, dD)};
}

/// Gaussian elimination on the tridiagonal system.
std::vector<double> tridiagonal_coefficients(std::vector<double> f) {
  const std::size_t n = f.size();
  std::vector<double> below(n, 1.0 / 6), middle(n, 4.0 / 6), above(n, 1.0 / 6);
  above[0] = below[n - 1] = 2.0 / 6;
  for (std::size_t i = 1; i < n; ++i) {
    const double factor = below[i] / middle[i - 1];
    middle[i] -= factor * above[i - 1];
    f[i] -= factor * f[i - 1];
  }
  f[n - 1] /= middle[n - 1];
  for (std::size_t i = n - 1; i-- > 0;) f[i] = (f[i] - above[i] * f[i + 1]) / middle[i];
  return f;
}

sampled_reader::sampled_reader(const tensor_field::tensor_image& image, geodesic::interpolation how,
                               inverse_derivatives inverse_from)
    : grid_(make_grid(image)), how_(how) {
  for (std::size_t i = 0; i < image.tensor.size(); i += 6) {
    D_.push_back(matrix_of(&image.tensor[i]));
  }
  if (inverse_from == inverse_derivatives::differences) differentiate_inverse();
  if (how_ != geodesic::interpolation::bspline) return;
  prefilter(D_);
  for (auto& one : dG_)
    if (!one.empty()) prefilter(one);
}

/// From index space to the world: D = A D_idx A^T, and covariant G by the inverse axes.
sampled_reader::sampled_reader(const tensor_field::field& stored)
    : how_(stored.spline ? geodesic::interpolation::bspline : geodesic::interpolation::trilinear) {
  const tensor_field::field_view view = stored.view();
  for (std::size_t i = 0; i < 3; ++i) grid_.size[i] = std::uint64_t(view.size[i]), grid_.origin[i] = view.origin_mm[i];
  for (std::size_t i = 0; i < 9; ++i) grid_.axes[i / 3][i % 3] = view.axes[i];
  const std::size_t voxels = grid_.size[0] * grid_.size[1] * grid_.size[2],
                    floats = std::size_t(field_floats(stored.kind));
  const bool world = stored.kind == tensor_field::field_kind::world;
  const mat3 forth = world ? identity3 : grid_.axes, back = inverse(grid_.axes);
  for (std::size_t i = 0; i < voxels; ++i) {
    const float* t = view.values + i * floats;
    D_.push_back(1 / stored.scale * (forth * matrix_of(t) * transposed(forth)));
    if (stored.kind != tensor_field::field_kind::christoffel) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      mat3 slope{};
      for (std::size_t j = 0; j < 3; ++j) slope = slope + back[j][k] * matrix_of(t + 6 + 6 * j);
      dG_[k].push_back(stored.scale * (transposed(back) * slope * back));
    }
  }
}

/// Along the image's axes first, then by the chain rule: d/dworld_k = sum_j (axes^-1)_jk d/dindex_j.
void sampled_reader::differentiate_inverse() {
  const mat3 back = inverse(grid_.axes);
  const long n[3] = {long(grid_.size[0]), long(grid_.size[1]), long(grid_.size[2])};
  const long stride[3] = {1, n[0], n[0] * n[1]};
  for (auto& one : dG_) one.assign(D_.size(), mat3{});
  for (long i = 0; i < long(D_.size()); ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const long place = i / stride[j] % n[j];
      const auto G = [&](long offset) { return inverse(D_[std::size_t(i + offset * stride[j])]); };
      mat3 slope = 0.5 * (G(place == n[j] - 1 ? 0 : 1) + -1 * G(place == 0 ? 0 : -1));
      if (place == 0) slope = 0.5 * (-3 * G(0) + 4 * G(1) + -1 * G(2));
      if (place == n[j] - 1) slope = 0.5 * (3 * G(0) + -4 * G(-1) + G(-2));
      for (std::size_t k = 0; k < 3; ++k) dG_[k][std::size_t(i)] = dG_[k][std::size_t(i)] + back[j][k] * slope;
    }
}

void sampled_reader::prefilter(std::vector<mat3>& samples) const {
  const std::size_t n[3] = {grid_.size[0], grid_.size[1], grid_.size[2]}, stride[3] = {1, n[0], n[0] * n[1]};
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t first = 0; first < samples.size(); ++first) {
      if (first / stride[axis] % n[axis] != 0) continue;
      for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t column = 0; column < 3; ++column) {
          std::vector<double> line(n[axis]);
          for (std::size_t i = 0; i < n[axis]; ++i) line[i] = samples[first + i * stride[axis]][row][column];
          line = tridiagonal_coefficients(line);
          for (std::size_t i = 0; i < n[axis]; ++i) samples[first + i * stride[axis]][row][column] = line[i];
        }
    }
}

sampled_reader::weights sampled_reader::weights_along(std::size_t axis, double place) const {
  const long n = long(grid_.size[axis]), cell = std::clamp(long(std::floor(place)), 0l, n - 2);
  const double t = place - double(cell), s = 1 - t;
  if (how_ != geodesic::interpolation::bspline) return {{cell, cell + 1}, {s, t}, {-1, 1}};
  const auto mirrored = [n](long i) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; };
  return {{mirrored(cell - 1), cell, cell + 1, mirrored(cell + 2)},
          {s * s * s / 6, (4 - 6 * t * t + 3 * t * t * t) / 6, (4 - 6 * s * s + 3 * s * s * s) / 6, t * t * t / 6},
          {-s * s / 2, (3 * t * t - 4 * t) / 2, (4 * s - 3 * s * s) / 2, t * t / 2}};
}

field_values sampled_reader::at(const vec3& world) const {
  const vec3 voxel = grid_.voxel(world);
  const weights x = weights_along(0, voxel[0]), y = weights_along(1, voxel[1]), z = weights_along(2, voxel[2]);
  mat3 D{};
  mat3_gradient by_index{}, dD{}, dG{};
  for (std::size_t k = 0; k < z.voxel.size(); ++k)
    for (std::size_t j = 0; j < y.voxel.size(); ++j)
      for (std::size_t i = 0; i < x.voxel.size(); ++i) {
        const auto at = std::size_t((z.voxel[k] * long(grid_.size[1]) + y.voxel[j]) * long(grid_.size[0]) + x.voxel[i]);
        const double weight = x.value[i] * y.value[j] * z.value[k];
        D = D + weight * D_[at];
        by_index[0] = by_index[0] + x.slope[i] * y.value[j] * z.value[k] * D_[at];
        by_index[1] = by_index[1] + x.value[i] * y.slope[j] * z.value[k] * D_[at];
        by_index[2] = by_index[2] + x.value[i] * y.value[j] * z.slope[k] * D_[at];
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (!dG_[axis].empty()) dG[axis] = dG[axis] + weight * dG_[axis][at];
      }
  const mat3 back = inverse(grid_.axes);
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t j = 0; j < 3; ++j) dD[axis] = dD[axis] + back[j][axis] * by_index[j];
  return {D, dD, dG_[0].empty() ? inverse_gradient(D, dD) : dG};
}

}  // namespace voxherd::reference
