#include "src/io/nifti/quaternion.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace voxherd {

namespace {

using matrix3 = std::array<std::array<double, 3>, 3>;

// Quotients and products with voxel sizes are rounded from long double, as nifticlib does, so that programs that use it
// store the same numbers.
double quotient(double a, double b) { return static_cast<double>(static_cast<long double>(a) / b); }

matrix3 axes(const voxel_matrix& m) {
  matrix3 axes;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) axes[r][c] = m[4 * r + c];
  return axes;
}

double determinant(const matrix3& m) {
  return m[0][0] * m[1][1] * m[2][2] - m[0][0] * m[2][1] * m[1][2] - m[1][0] * m[0][1] * m[2][2] +
         m[1][0] * m[2][1] * m[0][2] + m[2][0] * m[0][1] * m[1][2] - m[2][0] * m[1][1] * m[0][2];
}

matrix3 inverse(const matrix3& m) {
  const double scale = quotient(1, determinant(m));
  matrix3 result;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      const auto &next = m[(c + 1) % 3], &last = m[(c + 2) % 3];
      result[r][c] = scale * (next[(r + 1) % 3] * last[(r + 2) % 3] - next[(r + 2) % 3] * last[(r + 1) % 3]);
    }
  }
  return result;
}

double max_row_sum(const matrix3& m) {
  double largest = 0;
  for (const auto& row : m) largest = std::max(largest, std::abs(row[0]) + std::abs(row[1]) + std::abs(row[2]));
  return largest;
}

double max_column_sum(const matrix3& m) {
  double largest = 0;
  for (std::size_t c = 0; c < 3; ++c)
    largest = std::max(largest, std::abs(m[0][c]) + std::abs(m[1][c]) + std::abs(m[2][c]));
  return largest;
}

/// The orthogonal factor by Newton's iteration, scaled while it is far from the end (Higham, SIAM J Sci Stat Comput
/// 7:1160, 1986).
matrix3 nearest_orthogonal(matrix3 m) {
  while (determinant(m) == 0) {
    const double nudge = 1e-5 * (1e-3 + max_row_sum(m));
    for (std::size_t i = 0; i < 3; ++i) m[i][i] += nudge;
  }
  double moved = 1;
  for (int step = 0; step <= 100 && !(moved < 3e-6); ++step) {
    const matrix3 other = inverse(m);
    double gain = 1, loss = 1;
    if (moved > 0.3) {
      const double size = std::sqrt(max_row_sum(m) * max_column_sum(m));
      const double other_size = std::sqrt(max_row_sum(other) * max_column_sum(other));
      gain = std::sqrt(other_size / size);
      loss = 1 / gain;
    }
    moved = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) {
        const double mean = 0.5 * (gain * m[r][c] + loss * other[c][r]);
        moved += std::abs(mean - m[r][c]);
        m[r][c] = mean;
      }
    }
  }
  return m;
}

/// b, c, d of a proper rotation, from the largest of the four numbers or from the first if that is large enough.
std::array<double, 3> find_bcd(const matrix3& m) {
  const double four_aa = static_cast<double>(m[0][0] + m[1][1] + m[2][2] + 1.0L);
  const double differences[3] = {m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]};  // 4ab, 4ac, 4ad
  std::array<double, 3> bcd{};
  if (four_aa > 0.5) {
    const double a = 0.5 * std::sqrt(four_aa);
    for (std::size_t i = 0; i < 3; ++i) bcd[i] = quotient(0.25 * differences[i], a);
    return bcd;
  }
  const auto four_squared = [&](std::size_t i) {
    const double j = m[(i + 1) % 3][(i + 1) % 3], k = m[(i + 2) % 3][(i + 2) % 3];
    return 1 + m[i][i] - (j + k);
  };
  const std::size_t i = four_squared(0) > 1 ? 0 : four_squared(1) > 1 ? 1 : 2;
  bcd[i] = 0.5 * std::sqrt(four_squared(i));
  for (const std::size_t j : {(i + 1) % 3, (i + 2) % 3}) bcd[j] = quotient(0.25 * (m[i][j] + m[j][i]), bcd[i]);
  if (quotient(0.25 * differences[i], bcd[i]) < 0)
    for (double& number : bcd) number = -number;
  return bcd;
}

}  // namespace

voxel_matrix to_matrix(const quaternion_form& form) {
  auto [b, c, d] = form.bcd;
  double a = static_cast<double>(1.0L - (b * b + c * c + d * d));
  if (a < 1e-7L) {  // half a turn, but for rounding
    const double scale = quotient(1, std::sqrt(b * b + c * c + d * d));
    b *= scale, c *= scale, d *= scale;
    a = 0;
  } else {
    a = std::sqrt(a);
  }
  const double half[3][3] = {
      {0, b * c - a * d, b * d + a * c}, {b * c + a * d, 0, c * d - a * b}, {b * d - a * c, c * d + a * b, 0}};
  const double diagonal[3] = {a * a + b * b - c * c - d * d, a * a + c * c - b * b - d * d,
                              a * a + d * d - c * c - b * b};
  voxel_matrix m{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double size = form.sizes[axis] > 0 ? form.sizes[axis] : 1;
    if (axis == 2 && form.qfac < 0) size = -size;
    for (std::size_t r = 0; r < 3; ++r)
      m[4 * r + axis] = r == axis ? diagonal[r] * size : static_cast<double>(2.0L * half[r][axis] * size);
    m[4 * axis + 3] = form.offset[axis];
  }
  m[15] = 1;
  return m;
}

quaternion_form to_quaternion(const voxel_matrix& matrix) {
  quaternion_form form;
  matrix3 m = axes(matrix);
  for (std::size_t c = 0; c < 3; ++c) {
    form.offset[c] = matrix[4 * c + 3];
    double size = std::sqrt(m[0][c] * m[0][c] + m[1][c] * m[1][c] + m[2][c] * m[2][c]);
    if (size == 0) m[c][c] = size = 1;
    for (auto& row : m) row[c] /= size;
    form.sizes[c] = size;
  }
  m = nearest_orthogonal(m);
  if (!(determinant(m) > 0)) {
    form.qfac = -1;
    for (auto& row : m) row[2] = -row[2];
  }
  form.bcd = find_bcd(m);
  return form;
}

voxel_matrix inverse(const voxel_matrix& m) {
  const matrix3 back = inverse(axes(m));
  voxel_matrix result{};
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      result[4 * r + c] = back[r][c];
      result[4 * r + 3] -= back[r][c] * m[4 * c + 3];
    }
  }
  result[15] = 1;
  return result;
}

voxel_matrix product(const voxel_matrix& a, const voxel_matrix& b) {
  voxel_matrix c{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 4; ++k) c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
  return c;
}

}  // namespace voxherd
