#include "src/io/tracts/trk_geometry.hpp"

#include <fmt/core.h>

#include <cmath>

#include "core/failure.hpp"

namespace voxherd {

namespace {

using matrix3 = std::array<std::array<double, 3>, 3>;  // [row][column]

matrix3 cofactors(const matrix3& m) {
  matrix3 c;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t a = (i + 1) % 3, b = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
      c[i][j] = m[a][p] * m[b][q] - m[a][q] * m[b][p];
    }
  return c;
}

double determinant(const matrix3& m) {
  const matrix3 c = cofactors(m);
  return m[0][0] * c[0][0] + m[0][1] * c[0][1] + m[0][2] * c[0][2];
}

/// The orthogonal matrix nearest to `m`, by Newton's iteration for the polar decomposition (Higham 1986). Readers
/// derive the axis letters of a sheared image from it.
matrix3 nearest_rotation(matrix3 m) {
  for (int step = 0; step < 30; ++step) {
    const matrix3 c = cofactors(m);
    const double d = determinant(m);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) m[i][j] = (m[i][j] + c[i][j] / d) / 2;
  }
  return m;
}

/// One letter per voxel axis: the nearest world axis not yet taken. Readers flip coordinates if the letters differ from
/// their own choice, so the order of choice is nibabel's.
std::string axis_letters(const matrix3& axes) {
  constexpr const char* letters[3] = {"LR", "PA", "IS"};
  std::string order;
  std::array<bool, 3> taken{};
  for (std::size_t column = 0; column < 3; ++column) {
    std::size_t best = 3;
    for (std::size_t row = 0; row < 3; ++row)
      if (!taken[row] && (best == 3 || std::abs(axes[row][column]) > std::abs(axes[best][column]))) best = row;
    taken[best] = true;
    order += letters[best][axes[best][column] > 0 ? 1 : 0];
  }
  return order;
}

}  // namespace

trk_geometry make_trk_geometry(const image_grid& grid) {
  trk_geometry g;
  for (std::size_t i = 0; i < 16; ++i) g.voxel_to_world[i] = static_cast<float>(grid.voxel_to_world[i]);
  matrix3 m, axes;
  for (std::size_t column = 0; column < 3; ++column) {
    double squares = 0;
    for (std::size_t row = 0; row < 3; ++row) {
      m[row][column] = g.voxel_to_world[4 * row + column];
      squares += m[row][column] * m[row][column];
    }
    g.voxel_size_mm[column] = static_cast<float>(std::sqrt(squares));
    for (std::size_t row = 0; row < 3; ++row) axes[row][column] = m[row][column] / std::sqrt(squares);
  }
  if (!(std::abs(determinant(axes)) > 1e-6))
    throw failure(exit_status::bad_data,
                  "the image's voxel_to_world matrix cannot be inverted, which TRK needs; use --to trx or tck");
  const matrix3 c = cofactors(m);
  const double d = determinant(m);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double shift = 0.5;
    for (std::size_t row = 0; row < 3; ++row) {
      const double inverse = c[row][axis] / d;  // the inverse is the transpose of the cofactors over the determinant
      g.world_to_trk[4 * axis + row] = inverse * g.voxel_size_mm[axis];
      shift -= inverse * g.voxel_to_world[4 * row + 3];
    }
    g.world_to_trk[4 * axis + 3] = shift * g.voxel_size_mm[axis];
  }
  g.voxel_order = axis_letters(nearest_rotation(axes));
  for (std::size_t column = 0; column < 2; ++column)
    for (std::size_t row = 0; row < 3; ++row)
      g.orientation[3 * column + row] = static_cast<float>(row < 2 ? -axes[row][column] : axes[row][column]);
  return g;
}

}  // namespace voxherd
