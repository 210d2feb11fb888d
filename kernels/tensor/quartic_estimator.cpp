#include "kernels/tensor/quartic_estimator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace voxherd {

namespace {

constexpr int harmonics = quartic_size;  ///< degrees 0, 2 and 4: they span the quartics on the sphere
using row15 = std::array<double, harmonics>;
using matrix15 = double[packed_size(harmonics)];

constexpr int degree_of(int n) { return n == 0 ? 0 : n < 6 ? 2 : 4; }

/// Real spherical harmonics, orthonormal.
row15 harmonics_at(double x, double y, double z) {
  row15 values{};
  const double theta = std::acos(std::clamp(z, -1.0, 1.0)), phi = std::atan2(y, x);
  int n = 0;
  for (const unsigned l : {0u, 2u, 4u})
    for (int m = -static_cast<int>(l); m <= static_cast<int>(l); ++m) {
      const double along = std::sph_legendre(l, static_cast<unsigned>(std::abs(m)), theta);
      const double around = m == 0 ? 1 : std::numbers::sqrt2 * (m > 0 ? std::cos(m * phi) : std::sin(-m * phi));
      values[static_cast<std::size_t>(n++)] = along * around;
    }
  return values;
}

/// Factor by which the ODF in constant solid angle scales a harmonic of ln(-ln E): the Funk-Radon transform of its
/// Laplace-Beltrami operator, over 16 pi^2 (Aganj 2010, equation 14). The ODF's mean is fixed.
double harmonic_odf_factor(int n) {
  constexpr double pi = std::numbers::pi;
  const int l = degree_of(n);
  const double legendre_at_0 = l == 0 ? 1 : l == 2 ? -0.5 : 0.375;
  return -l * (l + 1) * 2 * pi * legendre_at_0 / (16 * pi * pi);
}

void add_outer(const double* a, matrix15& to) {
  for (int i = 0; i < harmonics; ++i)
    for (int j = 0; j <= i; ++j) to[packed_index(i, j)] += a[i] * a[j];
}

bool is_used(const gradient_table& g, std::size_t k, const quartic_settings& s) {
  const double largest = *std::max_element(g.b_s_per_mm2.begin(), g.b_s_per_mm2.end());
  return g.b_s_per_mm2[k] > 0 && g.b_s_per_mm2[k] >= s.min_b_fraction * largest;
}

/// The normal matrix of harmonics at the used measurements, without regularisation.
void normal_matrix(const gradient_table& g, const quartic_settings& s, matrix15& normal) {
  std::fill(std::begin(normal), std::end(normal), 0.0);
  for (std::size_t k = 0; k < g.size(); ++k)
    if (is_used(g, k, s)) add_outer(harmonics_at(g.x[k], g.y[k], g.z[k]).data(), normal);
}

/// Columns of the matrix that converts coefficients of harmonics to quartics.
std::array<row15, harmonics> harmonics_as_quartics(const quartic_projector& project) {
  std::array<row15, harmonics> quartics;
  for (std::size_t n = 0; n < harmonics; ++n) {
    double right[quartic_size] = {};
    tensor_field::half_sphere directions;
    for (int i = 0; i < tensor_field::half_sphere::count; ++i) {
      double w[3], monomials[quartic_size];
      directions.next(w);
      tensor_field::quartic_monomials(w, monomials);
      const double value = harmonics_at(w[0], w[1], w[2])[n];
      for (int c = 0; c < quartic_size; ++c) right[c] += value * monomials[c];
    }
    project(right);
    std::copy(std::begin(right), std::end(right), quartics[n].begin());
  }
  return quartics;
}

quartic_projector make_projector() {
  quartic_projector p{};
  tensor_field::half_sphere directions;
  for (int i = 0; i < tensor_field::half_sphere::count; ++i) {
    double w[3], monomials[quartic_size];
    directions.next(w);
    tensor_field::quartic_monomials(w, monomials);
    add_outer(monomials, p.factor);
  }
  cholesky_factor<quartic_size>(p.factor);
  return p;
}

void check(const gradient_table& g, const quartic_settings& s) {
  const auto refuse = [](const char* why) { throw std::invalid_argument(std::string("finsler4: ") + why); };
  if (!(s.min_eigenvalue > 0) || s.min_eigenvalue > 1) refuse("min_eigenvalue not above 0 and up to 1");
  if (!(s.regularisation >= 0)) refuse("regularisation below 0");
  if (!(s.convexity > 0) || !(s.convexity < 1)) refuse("convexity not between 0 and 1");
  if (s.tensor.gradient_deviation) refuse("gradient deviation is not supported");
  if (!determines_quartic(g, s))
    refuse("the gradient table does not determine a fourth-order norm; it needs 15 directions at the larger b");
}

}  // namespace

bool determines_quartic(const gradient_table& g, const quartic_settings& s) {
  if (!determines_tensor(g)) return false;
  matrix15 normal;
  double diagonal[harmonics];
  normal_matrix(g, s, normal);
  for (int i = 0; i < harmonics; ++i) diagonal[i] = normal[packed_index(i, i)];
  if (!cholesky_factor<harmonics>(normal)) return false;
  // Pivots must be far above the rounding error of directions printed with three decimals.
  for (int i = 0; i < harmonics; ++i) {
    const double inverse_root = normal[packed_index(i, i)];
    if (1 / (inverse_root * inverse_root) < 1e-4 * diagonal[i]) return false;
  }
  return true;
}

quartic_design_table::quartic_design_table(const gradient_table& g, const quartic_settings& s)
    : tensor(g), to_odf(quartic_size * g.size(), 0.0), projector(make_projector()) {
  check(g, s);
  matrix15 normal;
  normal_matrix(g, s, normal);
  for (int n = 0; n < harmonics; ++n) {
    const double l = degree_of(n);
    normal[packed_index(n, n)] += s.regularisation * l * l * (l + 1) * (l + 1);
  }
  cholesky_factor<harmonics>(normal);
  const auto quartics = harmonics_as_quartics(projector);
  for (std::size_t k = 0; k < g.size(); ++k) {
    if (!is_used(g, k, s)) continue;
    const row15 at = harmonics_at(g.x[k], g.y[k], g.z[k]);
    double coefficient[harmonics];
    std::copy(at.begin(), at.end(), coefficient);
    cholesky_solve<harmonics>(normal, coefficient);
    for (int n = 0; n < harmonics; ++n)
      for (std::size_t c = 0; c < quartic_size; ++c)
        to_odf[quartic_size * k + c] +=
            quartics[static_cast<std::size_t>(n)][c] * harmonic_odf_factor(n) * coefficient[n];
  }
}

void rotate_quartics(std::span<const double, 9> frame, std::span<float> quartics) {
  double back[9];  // converts a world vector to the table's axes
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) back[3 * i + j] = frame[3 * j + i];
  for (std::size_t first = 0; first + quartic_size <= quartics.size(); first += quartic_size) {
    double from[quartic_size], to[quartic_size];
    std::copy_n(quartics.data() + first, quartic_size, from);
    tensor_field::quartic_transformed(from, back, to);
    for (std::size_t n = 0; n < quartic_size; ++n) quartics[first + n] = static_cast<float>(to[n]);
  }
}

}  // namespace voxherd
